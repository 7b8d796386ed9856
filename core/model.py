"""The values that travel through the engine: frozen, keyword-only, and quiet in `repr`.

Rules this module keeps:
- A `Draft` is trusted by no stage. A `Guarded` is what the guard let through; only `gateway.guard`
  makes one, and the engine takes nothing else.
- Anything that holds text of a person is left out of `repr`.
- Times are aware and in UTC; scores and weights are floats in [0, 1].
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from core.ids import EventId, MemoryId, NamespaceId, RecallId, SpaceId, TenantId, UserId
from core.placeholders import NO_ORIGINALS, Marks, Originals
from core.scope import Scope, SourceKind
from core.words import Kind, Layer, Persistence, Sensitivity, State, Status, Trust

# Handed on: whoever takes the values takes their words along.
__all__ = ["Kind", "Layer", "Persistence", "Sensitivity", "State", "Status", "Trust"]

Json = Any
"""A JSON value: None, bool, int, float, str, or lists and string-keyed dicts of the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose key seals a memory: a user, or a `members` space. Everything kept has exactly one.

    Args:
        id: of the user or the space.
        person: in a `members` space, whom the memory is about: its envelopes are under a random key
            of (space, person), and look-ups, terms and vectors under the space's, which every
            member searches. None names the space without a person: it looks up and opens nothing.
    """

    tenant: TenantId
    id: UUID
    is_space: bool = False
    person: UserId | None = None

    def __post_init__(self) -> None:
        if self.person is not None and not self.is_space:
            raise ValueError("only what is kept in a space is about somebody beside its owner")

    @classmethod
    def of(cls, scope: Scope) -> Self:
        """Return the owner of what `scope` keeps outside `members` spaces: its user."""
        return cls(tenant=scope.tenant, id=scope.user)

    @classmethod
    def of_space(cls, scope: Scope, space: SpaceId, person: UserId | None = None) -> Self:
        """Return the owner of what is kept in a `members` space about `person`."""
        return cls(tenant=scope.tenant, id=space, is_space=True, person=person)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a call aims, as the caller spelled it; access enforcement turns it into a Scope.

    Args:
        user_id: outside id; None when the credential pins one.
        namespaces: outside names; None means the default (a write) or all allowed ones (a read).
        spaces: None means those one is a member of, empty means none.
    """

    user_id: str | None = field(default=None, repr=False)
    namespaces: tuple[str, ...] | None = None
    spaces: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """What was done to a finding: its kind, the action, the field and how often. No text."""

    kind: str
    action: str
    field: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The texts of a memory beside its content; sealed together.

    Args:
        tags: at most 64 of at most 128 characters.
        metadata: a JSON object of at most 16 KiB.
        entities: names of people, places and things in the content.
        source_ref, session_id, task: as the caller gave them.
        author: who wrote this version: `key:<id>` of an API key or `user:<user_id>` of a token;
            the gateway's own, never a caller's.
        person: outside id of whom it is about; kept in a `members` space alone, where others than
            that person's agents read it.
    """

    tags: tuple[str, ...] = field(default=(), repr=False)
    metadata: Mapping[str, Json] = field(default_factory=dict, repr=False)
    entities: tuple[str, ...] = field(default=(), repr=False)
    source_ref: str | None = field(default=None, repr=False)
    session_id: str | None = field(default=None, repr=False)
    task: str | None = field(default=None, repr=False)
    author: str | None = field(default=None, repr=False)
    person: str | None = field(default=None, repr=False)

    def signed(self, author: str | None, person: str | None) -> Self:
        """Return the same details, written by `author` about `person`."""
        return type(self)(
            tags=self.tags,
            metadata=self.metadata,
            entities=self.entities,
            source_ref=self.source_ref,
            session_id=self.session_id,
            task=self.task,
            author=author,
            person=person,
        )

    def to_bytes(self) -> bytes:
        """Return the JSON form that is sealed; empty fields are left out."""
        values = {
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
            "entities": list(self.entities),
            "source_ref": self.source_ref,
            "session_id": self.session_id,
            "task": self.task,
            "author": self.author,
            "person": self.person,
        }
        kept = {name: value for name, value in values.items() if value}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the details that `to_bytes` wrote; decode after encode is identity."""
        values = json.loads(data)
        return cls(
            tags=tuple(values.get("tags", ())),
            metadata=values.get("metadata", {}),
            entities=tuple(values.get("entities", ())),
            source_ref=values.get("source_ref"),
            session_id=values.get("session_id"),
            task=values.get("task"),
            author=values.get("author"),
            person=values.get("person"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory on its way in, as the caller wrote it.

    Args:
        content: 1 to 32,768 characters.
        expires_at, ttl_seconds: the sooner one wins; `session_end` is kept by `until_session_end`.
        wait_merged: False answers as soon as the guarded text is durable.
    """

    content: str = field(repr=False)
    details: Details = Details()
    layer: Layer = Layer.SEMANTIC
    kind: Kind = Kind.FACT
    importance: float = 0.5
    confidence: float = 0.7
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    ttl_seconds: int | None = None
    until_session_end: bool = False
    persistence: Persistence = Persistence.DURABLE
    source_kind: SourceKind | None = None
    extract: bool = True
    outcome: str | None = None
    wait_merged: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """What the guard let through: the only thing the engine's write accepts.

    Args:
        draft: with every string transformed as the policy asks.
        source_kind: from the channel and the credential's ceiling.
        redactions: what was done, without text.
        sensitivity: class of what was found.
        expire_seconds: how long the policy lets it be kept at most; None for no such end.
        marks: what the placeholders in it stand for until they have their person's words.
        originals: what they stand for from then on; see `core.pseudonyms`.
    """

    draft: Draft
    source_kind: SourceKind
    redactions: tuple[Redaction, ...] = ()
    sensitivity: Sensitivity = Sensitivity.NONE
    expire_seconds: int | None = None
    marks: Marks = field(default_factory=dict, repr=False)
    originals: Originals = NO_ORIGINALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One statement drawn from a guarded text."""

    text: str = field(repr=False)
    kind: Kind
    details: Details = Details()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Everything of one version of a memory that is not text: ids, enums, numbers and times.

    Args:
        ends_by: when it expires at the latest, for a policy's sake; None for no such end.
    """

    id: MemoryId
    version: int
    namespace: NamespaceId
    space: SpaceId | None
    layer: Layer
    kind: Kind
    state: State
    importance: float
    confidence: float
    persistence: Persistence
    sensitivity: Sensitivity
    trust: Trust
    source_kind: SourceKind
    outcome: str | None
    occurred_at: datetime | None
    expires_at: datetime | None
    until_session_end: bool
    ends_by: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Standing):
    """One version as the record keeps it: sealed texts, keyed look-up values, clear numbers.

    Args:
        content, details: envelopes.
        digest: keyed digest of the canonical text, 32 bytes; unique among an owner's live memories
            of one namespace, layer and kind.
        session: keyed look-up of the session id, 16 bytes, or None.
        tags: keyed look-ups of the tags, 16 bytes each.
        terms: blind lexical token (signed 64 bit) -> how often; empty until tokenised.
        token_count: sum of `terms`, for length normalisation.
        vectors: one envelope a chunk, in order; empty when not embedded yet.
        embedder: name of the model that made `vectors`.
        author: keyed look-up of who wrote it, 16 bytes, under the tenant's key; counted for as long
            as the memory lives, whoever revises it.
        pseudonyms: token of each placeholder in the texts -> envelope of its value.
    """

    session: bytes | None
    tags: tuple[bytes, ...]
    digest: bytes
    content: bytes = field(repr=False)
    details: bytes = field(repr=False)
    terms: Mapping[int, int] = field(repr=False)
    token_count: int
    vectors: tuple[bytes, ...] = field(repr=False)
    embedder: str
    author: bytes | None = None
    pseudonyms: Mapping[bytes, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Standing):
    """One version as read from the record, still sealed."""

    user: UserId
    valid_from: datetime | None
    valid_until: datetime | None
    created_at: datetime
    updated_at: datetime
    last_used_at: datetime | None
    uses: int
    chunks: int
    content: bytes = field(repr=False)
    details: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory, opened for a caller whose Scope covers it."""

    row: Row
    content: str = field(repr=False)
    details: Details


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an update asks for; None leaves a field as it is, metadata is merged key by key.

    Args:
        expected_version: from `If-Match`; None to skip the check.
    """

    content: str | None = field(default=None, repr=False)
    tags: tuple[str, ...] | None = field(default=None, repr=False)
    metadata: Mapping[str, Json] | None = field(default=None, repr=False)
    importance: float | None = None
    confidence: float | None = None
    expires_at: datetime | None = None
    clear_expiry: bool = False
    expected_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedChange:
    """A change that passed the guard; made only by `gateway.guard`. Fields as of `Guarded`."""

    change: Change
    redactions: tuple[Redaction, ...] = ()
    sensitivity: Sensitivity = Sensitivity.NONE
    expire_seconds: int | None = None
    marks: Marks = field(default_factory=dict, repr=False)
    originals: Originals = NO_ORIGINALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a write did with one fact."""

    id: MemoryId
    status: Status
    version: int
    supersedes: MemoryId | None = None
    expires_at: datetime | None = None
    sensitivity: Sensitivity = Sensitivity.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a write returns: outcomes, redactions, and the audit event that stands for it."""

    outcomes: tuple[Outcome, ...]
    redactions: tuple[Redaction, ...]
    event_id: EventId


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookups:
    """A query's tags and session under the keys of one owner."""

    tags: tuple[bytes, ...] = ()
    session: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions that are part of every search path, never applied to a list already cut.

    Args:
        tags, session: keyed look-ups as in `Kept`.
        elsewhere: the same tags and session under the keys of other owners, where one search is
            over several: a memory carries the look-ups of its own owner alone.
        tags_all: True asks for every tag, False for any.
        created_after, created_before: half-open [after, before).
        states: which states to show; recall sees `active` only.
    """

    layers: frozenset[Layer] = frozenset()
    kinds: frozenset[Kind] = frozenset()
    tags: tuple[bytes, ...] = ()
    tags_all: bool = False
    session: bytes | None = None
    elsewhere: tuple[Lookups, ...] = ()
    created_after: datetime | None = None
    created_before: datetime | None = None
    min_confidence: float = 0.0
    states: frozenset[State] = frozenset({State.ACTIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a list, newest first. `after` is the last key of the page before."""

    rows: tuple[Row, ...]
    more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a recall asks, after the guard.

    Args:
        text: guarded, at most 4,096 characters.
        limit: 1 to 50; None lets the engine choose 3 to 12.
        max_tokens: budget for the contents returned, in the embedder's tokens.
        timeout_ms: deadline for the proposals; what is there then is the answer.
        marks: as of `Guarded`; each owner that is searched gives them words of its own.
    """

    text: str = field(repr=False)
    tags: tuple[str, ...] = field(default=(), repr=False)
    tags_all: bool = False
    session_id: str | None = field(default=None, repr=False)
    layers: frozenset[Layer] = frozenset()
    kinds: frozenset[Kind] = frozenset()
    created_after: datetime | None = None
    created_before: datetime | None = None
    as_of: datetime | None = None
    min_confidence: float = 0.0
    min_score: float = 0.0
    limit: int | None = None
    max_tokens: int = 800
    timeout_ms: int = 300
    explain: bool = False
    marks: Marks = field(default_factory=dict, repr=False)

    def saying(self, text: str, marks: Marks | None = None) -> Self:
        """Return the same question in other words; without `marks` no placeholder is one."""
        return type(self)(
            text=text,
            tags=self.tags,
            tags_all=self.tags_all,
            session_id=self.session_id,
            layers=self.layers,
            kinds=self.kinds,
            created_after=self.created_after,
            created_before=self.created_before,
            as_of=self.as_of,
            min_confidence=self.min_confidence,
            min_score=self.min_score,
            limit=self.limit,
            max_tokens=self.max_tokens,
            timeout_ms=self.timeout_ms,
            explain=self.explain,
            marks=marks or {},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """One memory as a recall returns it.

    Args:
        score: in [0, 1], comparable across queries.
        detail: `full` or `summary`.
        explain: ranks and scores by path.
    """

    memory: Memory
    content: str = field(repr=False)
    score: float
    detail: str
    explain: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The answer of a recall. `degraded` names what was missing; empty means the full answer."""

    id: RecallId
    items: tuple[Recalled, ...]
    degraded: tuple[str, ...]
    withheld: int
    event_id: EventId
