"""What the engine needs from outside, as Protocols, and the bundles that hand them to its paths.

Rules this module keeps:
- No method of a view takes a tenant or a user, so none can be given the wrong one: a view is opened
  under a Scope and sees what the Scope allows.
- The index proposes points; it is never believed. The record disposes.
- Keys come as objects that seal, open and blind; key bytes never pass a port.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.ids import (
    EventId,
    KeyId,
    MemoryId,
    NamespaceId,
    RecallId,
    SpaceId,
    TenantId,
    UserId,
    WriterId,
)
from core.model import (
    AnyScope,
    AuditEvent,
    Fact,
    Filter,
    Guarded,
    Json,
    Kept,
    Owner,
    Page,
    Row,
)
from core.scope import OperatorScope, Role, Scope, SourceKind, TenantScope

Vector = NDArray[np.float32]
"""Shape (dimension,); unit length."""
Vectors = NDArray[np.float32]
"""Shape (n, dimension); each row of unit length."""


class Clock(Protocol):
    """The process's own clock: only for what the database does not time."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


# ---------------------------------------------------------------- keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an envelope stands; authenticated with it, so that moved ciphertext does not open.

    Args:
        record: id of the row; memories, recalls and replies have ids of their own.
        version: of the record, from 1.
        field: such as `content`, `details`, `vector.0`, `recall`, `reply`.
        namespace: of the memory; the nil UUID where none applies.
    """

    record: UUID
    version: int
    field: str
    namespace: UUID = UUID(int=0)


class OwnerKeys(Protocol):
    """The keys of one owner, unwrapped for a short while. Every method is pure and fast."""

    owner: Owner

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """Return an envelope of `plaintext`, bound to the owner and to `place`."""
        ...

    def open(self, place: Place, envelope: bytes) -> bytes:
        """Return the plaintext. Raises: Tampered."""
        ...

    def digest(self, label: str, text: str) -> bytes:
        """Return the 32-byte keyed digest of `text` under `label` (deduplication)."""
        ...

    def blind(self, label: str, text: str) -> bytes:
        """Return the 16-byte keyed look-up value of `text` under `label` (tags, sessions)."""
        ...

    def terms(self, words: Sequence[str]) -> list[int]:
        """Return the signed 64-bit blind token of each word, in order."""
        ...

    def rotate(self, vectors: Vectors) -> Vectors:
        """Return `vectors`, shape (n, d), under the owner's orthogonal transform.

        Obfuscation, not encryption: inner products are kept to 1e-5.
        """
        ...


class TenantKeys(Protocol):
    """The keys of one tenant, unwrapped for a short while. Every method is pure and fast."""

    tenant: TenantId

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """Return an envelope of `plaintext`, bound to the tenant and to `place`."""
        ...

    def open(self, place: Place, envelope: bytes) -> bytes:
        """Return the plaintext. Raises: Tampered."""
        ...

    def blind(self, label: str, text: str) -> bytes:
        """Return the 16-byte keyed look-up value of `text` under `label` (users, namespaces)."""
        ...

    def point_id(self, owner: Owner, memory: MemoryId, chunk: int) -> UUID:
        """Return the id of one point in the index: a keyed hash, so that none can be aimed at."""
        ...

    def seal_pointer(self, memory: MemoryId, version: int) -> str:
        """Return the sealed pointer that a point's payload carries."""
        ...

    def open_pointer(self, pointer: str) -> tuple[MemoryId, int]:
        """Return (memory, version). Raises: Tampered."""
        ...


class Keyring(Protocol):
    """Hands out keys; unwraps them from the key store and forgets them after `cache_seconds`."""

    async def tenant(self, tenant: TenantId) -> TenantKeys:
        """Return the tenant's keys. Raises: NotFound (no such tenant), Unavailable."""
        ...

    async def create_tenant(self, tenant: TenantId) -> TenantKeys:
        """Make the tenant's first key version. Raises: Conflict, Unavailable."""
        ...

    async def owner(self, owner: Owner) -> OwnerKeys | None:
        """Return the owner's keys, or None when it has none. Raises: Unavailable."""
        ...

    async def ensure_owner(self, owner: Owner) -> OwnerKeys:
        """Return the owner's keys, making the first version if there is none; safe under races.

        Raises: Unavailable.
        """
        ...


# ---------------------------------------------------------------- models


class Embedder(Protocol):
    """Turns text into vectors. One model, one dimension, for the life of the process."""

    name: str
    dimension: int
    max_tokens: int
    """Longer texts are cut into chunks of at most this many tokens."""
    floor: float
    ceiling: float
    """Cosines of this model that mean unrelated and same; relevance is scaled between them."""

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, shape (n, dimension). Raises: Unavailable."""
        ...

    async def query(self, text: str) -> Vector:
        """Return the vector of a question. Raises: Unavailable."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model reads in `text`."""
        ...

    def chunks(self, text: str) -> list[str]:
        """Return `text` cut into pieces of at most `max_tokens`, cut at sentences where it can."""
        ...


class Extractor(Protocol):
    """Turns one guarded text into facts."""

    async def extract(self, guarded: Guarded) -> Sequence[Fact]:
        """Return at least one fact."""
        ...


class Tokenizer(Protocol):
    """Cuts text into the words of the lexical index, the same way for texts and for queries."""

    def words(self, text: str) -> list[str]:
        """Return the words in order, repeats included."""
        ...

    def canonical(self, text: str) -> str:
        """Return the spelling under which two texts count as the same."""
        ...


# ---------------------------------------------------------------- record


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
        key: keyed hash of (principal, method, path, key), 32 bytes.
        body: digest of the body, 32 bytes.
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

    async def lexical(self, terms: Sequence[int], where: Filter, limit: int) -> list[Proposal]:
        """Return the best by BM25 over this scope's own statistics; score = idf mass covered, 0..1."""
        ...

    async def recent(self, where: Filter, limit: int) -> list[Proposal]:
        """Return the newest, newest first; those not indexed yet are always among them."""
        ...

    async def page(self, where: Filter, after: tuple[datetime, UUID] | None, limit: int) -> Page:
        """Return one page, newest first, strictly older than `after`."""
        ...

    async def versions(self, memory: MemoryId) -> list[Row]:
        """Return every kept version of a live memory, newest first. Raises: NotFound."""
        ...

    async def indexable(self, memory: MemoryId) -> Indexable:
        """Return what the index needs of a live memory. Raises: NotFound."""
        ...

    async def forget(self, memories: Sequence[MemoryId]) -> list[MemoryId]:
        """Remove texts, versions, terms and vectors; leave tombstones; queue removal of points.

        Returns the ids that were live in this scope.
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


class Repeated(Exception):  # noqa: N818 - reads as what happened
    """The idempotency key has had its effect; the transaction is void, the kept reply answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexTask:
    """One memory whose points must follow the record. Ids and versions only, never text.

    Args:
        task: the queue's own number.
        delete: True when the memory is gone and its points must go.
        chunks: how many points it had, for a removal.
    """

    task: int
    tenant: TenantId
    user: UserId
    namespace: NamespaceId
    space: SpaceId | None
    space_is_owner: bool
    memory: MemoryId
    version: int
    delete: bool
    chunks: int


class RecordStore(Protocol):
    """The record. PostgreSQL in life, an in-memory fake in fast tests, both held to one contract."""

    def view(self, scope: Scope) -> AbstractAsyncContextManager[MemoryView]:
        """Open one transaction that sees exactly what `scope` allows."""
        ...

    async def append(self, scope: AnyScope, event: AuditEvent) -> None:
        """Append one audit event by itself, for what has no effect in the record."""
        ...

    async def replayed(self, scope: AnyScope, claim: Claim) -> Reply | None:
        """Return the kept, unexpired reply of `claim.key`, or None."""
        ...

    async def now(self) -> datetime:
        """Return the database's time."""
        ...


class Outbox(Protocol):
    """The worker's side of the record: it lists ids, then mints one ordinary Scope an item."""

    async def lease(self, limit: int, seconds: int) -> list[IndexTask]:
        """Take at most `limit` tasks, oldest first; no other worker gets them for `seconds`."""
        ...

    async def done(self, tasks: Sequence[IndexTask]) -> None:
        """Remove finished tasks."""
        ...

    async def pending(self) -> int:
        """Return how many tasks wait."""
        ...

    async def requeue_all(self) -> int:
        """Queue every live memory again, for a rebuild of the index; returns how many."""
        ...


# ---------------------------------------------------------------- directory and audit


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """One API key as the record keeps it.

    Args:
        grants: sealed under the tenant's key: `{"name", "namespaces", "users"}`.
        secret_mac: HMAC of the secret under the pepper, 32 bytes.
        previous_mac: of the secret before a rotation; None once its overlap has passed.
        usable: not revoked and not expired, by the database's time.
    """

    id: KeyId
    tenant: TenantId | None
    roles: frozenset[Role]
    ceiling: SourceKind
    grants: bytes = field(repr=False)
    secret_mac: bytes = field(repr=False)
    previous_mac: bytes | None = field(repr=False)
    pepper_version: int
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    usable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRow:
    """One tenant: its id, its sealed name (under the tenant's own key), and when it was made."""

    id: TenantId
    name: bytes = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Inside ids of what a caller named.

    Args:
        user: None when nothing is kept about that person.
        namespaces: keyed look-up -> id, of those that exist.
    """

    user: UserId | None
    namespaces: Mapping[bytes, NamespaceId]


class AdminView(Protocol):
    """One transaction of a tenant's administration or the operator's; it opens no memory."""

    now: datetime

    async def insert_tenant(self, row: TenantRow, name_key: bytes) -> None:
        """Keep a new tenant. Operator only. Raises: Conflict (the name's keyed look-up exists)."""
        ...

    async def tenants(self, after: UUID | None, limit: int) -> list[TenantRow]:
        """Return tenants, oldest first. Operator only."""
        ...

    async def erase_tenant(self, tenant: TenantId) -> int:
        """Remove everything of a tenant but its audit trail; returns how many memories went.

        Operator only. Raises: NotFound.
        """
        ...

    async def insert_key(self, row: KeyRow) -> None:
        """Keep a new API key."""
        ...

    async def keys(self) -> list[KeyRow]:
        """Return the tenant's keys, newest first, revoked ones included."""
        ...

    async def key(self, key: KeyId) -> KeyRow:
        """Return one of the tenant's keys. Raises: NotFound."""
        ...

    async def rotate_key(self, key: KeyId, secret_mac: bytes, *, overlap_seconds: int) -> KeyRow:
        """Give a key a new secret; the old one works for `overlap_seconds` more.

        Raises: NotFound (also: revoked).
        """
        ...

    async def revoke_key(self, key: KeyId) -> None:
        """End a key at once. Raises: NotFound."""
        ...

    async def events(
        self,
        *,
        since: datetime | None,
        until: datetime | None,
        on_behalf_of: frozenset[str],
        action: str | None,
        after: tuple[datetime, UUID] | None,
        limit: int,
    ) -> "list[LoggedEvent]":
        """Return the tenant's audit events, newest first, strictly older than `after`.

        Args:
            on_behalf_of: keyed hashes to keep; empty keeps all.
        """
        ...

    async def record(self, event: AuditEvent) -> None:
        """As in `MemoryView`."""
        ...

    async def settle(self, claim: Claim, reply: Reply) -> None:
        """As in `MemoryView`."""
        ...


class Directory(Protocol):
    """Tenants, people, namespaces and API keys. Every method raises Unavailable."""

    async def find_key(self, key: KeyId) -> KeyRow | None:
        """Return one key of whatever tenant; the only look-up that names none."""
        ...

    async def resolve(
        self, tenant: TenantId, user: bytes, namespaces: Sequence[bytes] | None
    ) -> Resolved:
        """Return the ids behind keyed look-ups; None asks for every namespace of the tenant."""
        ...

    async def ensure(
        self, tenant: TenantId, user: bytes, namespace: bytes, sealed_name: bytes
    ) -> tuple[UserId, NamespaceId]:
        """Return the ids, making what is missing; safe under races.

        Args:
            sealed_name: the namespace's name, sealed, kept if it is new.
        """
        ...

    async def namespace_names(self, tenant: TenantId) -> Mapping[NamespaceId, bytes]:
        """Return the sealed name of each namespace of the tenant."""
        ...

    def admin(self, scope: TenantScope | OperatorScope) -> AbstractAsyncContextManager[AdminView]:
        """Open one transaction of administration."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedEvent:
    """An audit event with its place among its writer's own and a MAC the database cannot make.

    Args:
        number: running number of this writer, from 1, no gaps but voided ones.
        digest: SHA-256 of the event's canonical form, 32 bytes.
        mac: HMAC over (writer, number, digest), 32 bytes.
    """

    event: AuditEvent
    writer: WriterId
    number: int
    digest: bytes
    mac: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent:
    """An audit event as read from the log; `sequence`, `prev`, `hash` are None until sealed."""

    signed: SignedEvent
    sequence: int | None
    prev: bytes | None
    hash: bytes | None


class AuditWriter(Protocol):
    """Numbers and MACs audit events for one process. Pure memory; the record keeps them."""

    def sign(self, event: AuditEvent) -> SignedEvent:
        """Return `event` with the next number."""
        ...

    def committed(self, signed: SignedEvent) -> None:
        """Its transaction committed."""
        ...

    def lost(self, signed: SignedEvent) -> None:
        """Its transaction did not commit: the number will be voided, so that no gap stays."""
        ...


# ---------------------------------------------------------------- index


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One chunk of a memory in the index. Everything that names a thing is a keyed hash.

    Args:
        id: keyed hash of (tenant, owner, memory, chunk).
        vector: rotated under the owner's key, shape (dimension,).
        terms: blind lexical tokens and weights, for the sparse vector.
        payload: `tenant`, `owner`, `user`, `namespace`, `space`, `session`, `tags` as hex of keyed
            look-ups; `layer`, `kind`, `created` (epoch seconds), `expires` (epoch seconds or
            0), `confidence`, `version` as numbers or enums; `pointer` sealed.
    """

    id: UUID
    vector: Vector = field(repr=False)
    terms: Mapping[int, float] = field(repr=False)
    payload: Mapping[str, Json] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What one owner's search may see, in the index's own keyed words; made from a Scope.

    Args:
        tenant, owner: keyed look-ups; both are conditions of every call.
        user: keyed look-up of the person; None only for a `members` space.
        namespaces: keyed look-ups, or empty for a space.
        space: keyed look-up of the space, or None for what is in no space.
        vector: the query, rotated under this owner's key.
        terms: the query's blind tokens under this owner's key.
        now: epoch seconds; what expired by then is not proposed.
    """

    tenant: str
    owner: str
    user: str | None
    namespaces: tuple[str, ...]
    space: str | None
    vector: Vector = field(repr=False)
    terms: tuple[int, ...] = field(repr=False)
    where: Filter
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHit:
    """A point that the index proposes: its sealed pointer and its cosine to the query."""

    id: UUID
    pointer: str
    score: float


class Index(Protocol):
    """The vector index. Every method raises Unavailable when it cannot answer in time."""

    async def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        """Write points of one tenant; the same id is replaced."""
        ...

    async def remove(self, tenant: str, owner: str, ids: Sequence[UUID]) -> None:
        """Remove points of one owner."""
        ...

    async def search(
        self, reach: Reach, *, limit: int, also: Sequence[UUID] = ()
    ) -> list[IndexHit]:
        """Return the nearest points within `reach`, best first, and the score of each of `also`
        (proposed by other paths) that lies within it."""
        ...

    async def count(self, tenant: str, owner: str) -> int:
        """Return how many points one owner has."""
        ...

    async def empty(self) -> bool:
        """Return True when the index holds no point at all (new, or its folder was lost)."""
        ...

    async def ready(self) -> bool:
        """Return True when the index answers."""
        ...


# ---------------------------------------------------------------- caches


class QueryCache(Protocol):
    """Embedded queries, sealed under the person's key, for minutes. Losing it costs time only."""

    async def get(self, keys: OwnerKeys, embedder: str, text: str) -> Vector | None:
        """Return the cached vector, or None; a fault of the cache is None as well."""
        ...

    async def put(self, keys: OwnerKeys, embedder: str, text: str, vector: Vector) -> None:
        """Keep `vector` for some minutes; a fault of the cache is swallowed and counted."""
        ...


class Spans(Protocol):
    """Tracing, as far as the engine knows it: a named step. Attributes come from an allow-list."""

    def step(self, name: str) -> AbstractAsyncContextManager[None]:
        """Time one step of a path under `name`."""
        ...


# ---------------------------------------------------------------- bundles


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStages:
    """What the engine's write needs."""

    extractor: Extractor
    tokenizer: Tokenizer
    embedder: Embedder
    keyring: Keyring
    store: RecordStore
    spans: Spans
    wake_index: "Wake"
    """Called after each commit that queued something; the indexer also embeds what has no vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallStages:
    """What the engine's recall needs."""

    tokenizer: Tokenizer
    embedder: Embedder
    keyring: Keyring
    store: RecordStore
    index: Index
    cache: QueryCache
    spans: Spans


class Wake(Protocol):
    """Tells the indexer that the outbox has something."""

    def __call__(self) -> None:
        """Wake it; never blocks."""
        ...
