"""The record: one transaction under one Scope. No method takes a tenant or a user."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.event import AuditEvent
from core.ids import MemoryId, NamespaceId, RecallId, SpaceId, UserId
from core.model import Filter, Kept, Page, Row
from core.scope import AnyScope, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Inserted:
    """What the record did with a `Kept`.

    Args:
        existing: the live memory with the same digest, locked until the view ends; None if stored.
        created_at: the database's time.
    """

    existing: Row | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate: where it came from and how well it scored there (meaning differs by path)."""

    id: MemoryId
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An idempotency key on its way to its one effect.

    Args:
        key: keyed hash of (principal, key), 16 bytes.
        body: keyed hash of method, path and body, 16 bytes.
    """

    key: bytes
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A kept answer to an idempotency key: what it was for, and the sealed reply."""

    body: bytes
    sealed: bytes = field(repr=False)
    id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexable:
    """What the index needs of one live memory: its row and its sealed vectors.

    Args:
        terms: blind lexical token -> how often.
        session, tags: keyed look-ups.
        vectors: one envelope a chunk; empty when the text is not embedded yet.
    """

    row: Row
    session: bytes | None
    tags: tuple[bytes, ...]
    terms: Mapping[int, int] = field(repr=False)
    vectors: tuple[bytes, ...] = field(repr=False)
    embedder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedPseudonym:
    """What is kept of one placeholder in one version of a memory.

    Args:
        token: of its word, 10 bytes.
        space: which the memory is in; it and `user` tell whose key opens `sealed`.
    """

    memory: MemoryId
    version: int
    namespace: NamespaceId
    space: SpaceId | None
    user: UserId
    token: bytes
    sealed: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedVectors:
    """The vectors of a live memory that no index has, one envelope a chunk, in order."""

    memory: MemoryId
    version: int
    namespace: NamespaceId
    vectors: tuple[bytes, ...] = field(repr=False)


class MemoryView(Protocol):
    """One transaction under one Scope. It commits when the block ends and rolls back on an error.

    Every method raises Unavailable when the record cannot answer.
    """

    now: datetime
    """The database's time of this transaction."""

    async def insert(self, kept: Kept) -> Inserted:
        """Keep a new memory with its terms and vectors, and queue it for the index.

        When a live memory with the same digest exists, nothing is inserted and that row comes back,
        locked. Holds under concurrency by a unique constraint.
        """
        ...

    async def revise(self, kept: Kept, *, expected_version: int) -> Row:
        """Replace a live memory by `kept` (same id, version + 1); the old version stays in history.

        Raises:
            NotFound: not live in this scope.
            PreconditionFailed: its version is not `expected_version`.
            Conflict: another live memory already says the same (same digest).
        """
        ...

    async def adjust(self, memory: MemoryId, *, confidence: float) -> Row:
        """Set the confidence of a live memory and touch `updated_at`; no new version, no text."""
        ...

    async def attach(
        self, memory: MemoryId, version: int, vectors: Sequence[bytes], embedder: str
    ) -> bool:
        """Add vectors made after the acknowledgement, and queue the memory for the index again.

        Returns False, and does nothing, when that version is no longer the live one.
        """
        ...

    async def get(self, memory: MemoryId, *, lock: bool = False) -> Row:
        """Return one live memory (any state but forgotten, not expired). Raises: NotFound."""
        ...

    async def find(self, memories: Sequence[MemoryId], where: Filter) -> list[Row]:
        """Return those of `memories` that are in scope, live, not expired and match `where`."""
        ...

    async def lexical(
        self,
        terms: Sequence[int],
        where: Filter,
        limit: int,
        *,
        space: SpaceId | None = None,
    ) -> list[Proposal]:
        """Return the best by BM25 over this owner's own statistics.

        Args:
            space: a `members` space, which is an owner of its own; None for the scope's person,
                what agents share of the person included.

        The score is the share of the query's idf mass that a text covers, 0 to 1.
        """
        ...

    async def recent(self, where: Filter, limit: int) -> list[Proposal]:
        """Return the newest, newest first; those not indexed yet are always among them."""
        ...

    async def sensitive(self, where: Filter, embedder: str, limit: int) -> list[SealedVectors]:
        """Return the vectors of what is `sensitive` of the scope's person, outside `members`
        spaces: of the newest `limit` memories, newest first. No index has them.

        Args:
            embedder: name of the model; a memory without vectors of it is left out.
        """
        ...

    async def page(
        self,
        where: Filter,
        after: tuple[datetime, UUID] | None,
        limit: int,
        *,
        shared: bool = False,
    ) -> Page:
        """Return one page, newest first, strictly older than `after`.

        Args:
            shared: True asks for what is in a space alone.
        """
        ...

    async def versions(self, memory: MemoryId) -> list[Row]:
        """Return every kept version of a live memory, newest first. Raises: NotFound."""
        ...

    async def indexable(self, memory: MemoryId) -> Indexable:
        """Return what the index needs of a live memory. Raises: NotFound."""
        ...

    async def pseudonyms(self, memory: MemoryId) -> list[SealedPseudonym]:
        """Return what the placeholders in the live version of a live memory stand for.

        Only a scope that writes or reveals sees any.
        """
        ...

    async def pseudonyms_of(self, tokens: Sequence[bytes]) -> list[SealedPseudonym]:
        """Return what these tokens stand for in live memories about the scope's person, the newest
        of each owner; a token that is nobody's, or another person's, is not among them.
        """
        ...

    async def forget(self, memories: Sequence[MemoryId]) -> list[MemoryId]:
        """Remove texts, versions, terms, vectors and pseudonyms; leave tombstones; queue removal of
        points.

        Returns the ids that were live in this scope.
        """
        ...

    async def stored(self, author: bytes | None, most: int) -> int:
        """Return how many live memories an author keeps, what this view adds not counted.

        Close to `most` nobody else who asks adds one until the view ends, so that who finds room
        here has it.

        Args:
            author: keyed hash; None for the tenant.
        """
        ...

    async def used(self, memories: Sequence[MemoryId]) -> None:
        """Count one use of each; rows that are locked are skipped, never waited for."""
        ...

    async def keep_recall(self, recall: RecallId, sealed: bytes, *, days: int) -> None:
        """Keep the sealed record of a recall for `days`."""
        ...

    async def recall_record(self, recall: RecallId) -> bytes:
        """Return the sealed record of a recall of this scope's user. Raises: NotFound."""
        ...

    async def record(self, event: AuditEvent) -> None:
        """Append the audit event of what this transaction does. Raises: Unavailable."""
        ...

    async def settle(self, claim: Claim, reply: Reply) -> None:
        """Keep the reply of an idempotency key. Raises: Repeated when somebody was first."""
        ...


class Repeated(Exception):
    """The idempotency key has had its effect; the transaction is void, the kept reply answers."""


class RecordStore(Protocol):
    """The record: PostgreSQL in life, a fake in fast tests, both held to one contract."""

    def view(self, scope: Scope) -> AbstractAsyncContextManager[MemoryView]:
        """Open one transaction that sees exactly what `scope` allows."""
        ...

    async def append(self, event: AuditEvent) -> None:
        """Append one audit event by itself, for what has no effect in the record.

        The event names its tenant; a refusal has no allow decision, so no scope to come with.

        Raises: Unavailable, and then nobody is answered.
        """
        ...

    async def replayed(self, scope: AnyScope, claim: Claim) -> Reply | None:
        """Return the kept, unexpired reply of `claim.key`, or None."""
        ...

    async def now(self) -> datetime:
        """Return the database's time."""
        ...
