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

from core.ids import MemoryId, RecallId, TenantId
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
from core.scope import Scope

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

    async def vectors(self, memory: MemoryId) -> tuple[int, list[bytes]]:
        """Return (version, envelopes by chunk) of a live memory. Raises: NotFound."""
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
        delete: True when the memory is gone and its points must go.
        chunks: how many points it had, for a removal.
    """

    task: int
    tenant: TenantId
    owner: UUID
    owner_is_space: bool
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
    embed_later: "EmbedLater"


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


class EmbedLater(Protocol):
    """Takes over the embedding of a long text after the acknowledgement."""

    def __call__(self, scope: Scope, memory: MemoryId, version: int) -> None:
        """Queue it; never blocks. What is lost in a crash is found again by its missing vectors."""
        ...

