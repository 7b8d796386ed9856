"""`MemoryView` on PostgreSQL: one transaction under one Scope, told by story.

Rules this module keeps:
- It hands on and decides nothing: single memories are in `memories`, finding them in `search`,
  kept replies in `idempotency`, audit events in `journal`.
- What nobody waits for (a use, a kept recall, the audit event) is written with the commit.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from core.adapters.postgres import idempotency
from core.adapters.postgres.journal import Journal
from core.adapters.postgres.memories import Memories
from core.adapters.postgres.pool import Transaction
from core.adapters.postgres.queries import query
from core.adapters.postgres.search import Search
from core.adapters.postgres.walls import scope_parameters
from core.errors import NotFound
from core.event import AuditEvent
from core.ids import MemoryId, RecallId, SpaceId
from core.model import Filter, Kept, Page, Row
from core.ports import Claim, Indexable, Inserted, Proposal, Reply, SealedPseudonym, SealedVectors
from core.scope import Scope


class PostgresView:
    """Implements `core.ports.MemoryView`; what a method does is said there."""

    def __init__(self, transaction: Transaction, scope: Scope, journal: Journal) -> None:
        self.now = transaction.now
        self._transaction = transaction
        self._scope = scope
        self._journal = journal
        parameters = scope_parameters(scope)
        self._memories = Memories(transaction, parameters, scope.writable.members)
        self._search = Search(transaction, parameters)

    def finish(self) -> None:
        """Leave what has to be done last. To be called once, before the commit."""
        self._memories.finish()

    async def insert(self, kept: Kept) -> Inserted:
        """Keep a new memory, or return the one that says the same, locked.

        Several in one transaction come in the order of their digests: two writers that insert the
        same texts then wait for each other one way only.

        Raises: Conflict (the id is taken), Unavailable.
        """
        return await self._memories.insert(kept)

    async def revise(self, kept: Kept, *, expected_version: int) -> Row:
        """Give a live memory its next version."""
        return await self._memories.revise(kept, expected_version=expected_version)

    async def adjust(self, memory: MemoryId, *, confidence: float) -> Row:
        """Set the confidence of a live memory."""
        return await self._memories.adjust(memory, confidence=confidence)

    async def attach(
        self, memory: MemoryId, version: int, vectors: Sequence[bytes], embedder: str
    ) -> bool:
        """Add vectors to a version that is still the live one."""
        return await self._memories.attach(memory, version, vectors, embedder)

    async def get(self, memory: MemoryId, *, lock: bool = False) -> Row:
        """Return one live memory."""
        return await self._memories.get(memory, lock=lock)

    async def find(self, memories: Sequence[MemoryId], where: Filter) -> list[Row]:
        """Return those that are in scope and match."""
        return await self._search.find(memories, where)

    async def lexical(
        self,
        terms: Sequence[int],
        where: Filter,
        limit: int,
        *,
        space: SpaceId | None = None,
    ) -> list[Proposal]:
        """Return the best by BM25."""
        return await self._search.lexical(terms, where, limit, space)

    async def recent(self, where: Filter, limit: int) -> list[Proposal]:
        """Return the newest, and what waits for the index."""
        return await self._search.recent(where, limit)

    async def sensitive(self, where: Filter, embedder: str, limit: int) -> list[SealedVectors]:
        """Return the vectors of what no index has."""
        return await self._search.sensitive(where, embedder, limit)

    async def page(
        self,
        where: Filter,
        after: tuple[datetime, UUID] | None,
        limit: int,
        *,
        shared: bool = False,
    ) -> Page:
        """Return one page."""
        return await self._search.page(where, after, limit, shared=shared)

    async def versions(self, memory: MemoryId) -> list[Row]:
        """Return every kept version of a live memory."""
        return await self._memories.versions(memory)

    async def indexable(self, memory: MemoryId) -> Indexable:
        """Return what the index needs of a live memory."""
        return await self._memories.indexable(memory)

    async def pseudonyms(self, memory: MemoryId) -> list[SealedPseudonym]:
        """Return what the placeholders of a live memory stand for."""
        return await self._memories.pseudonyms(memory)

    async def pseudonyms_of(self, tokens: Sequence[bytes]) -> list[SealedPseudonym]:
        """Return what tokens stand for in live memories about the person."""
        return await self._memories.pseudonyms_of(tokens)

    async def forget(self, memories: Sequence[MemoryId]) -> list[MemoryId]:
        """Leave tombstones."""
        return await self._memories.forget(memories)

    async def stored(self, author: bytes | None, most: int) -> int:
        """Return how many live memories an author keeps."""
        return await self._memories.stored(author, most)

    async def used(self, memories: Sequence[MemoryId]) -> None:
        """Count one use of each."""
        self._memories.used(memories)

    async def keep_recall(self, recall: RecallId, sealed: bytes, *, days: int) -> None:
        """Keep the sealed record of a recall; of a person who is not known, nothing is kept."""
        if self._scope.known:
            self._transaction.later(
                query("keep_recall"),
                {
                    "tenant": self._scope.tenant,
                    "user": self._scope.user,
                    "recall": recall,
                    "sealed": sealed,
                    "days": days,
                },
            )

    async def recall_record(self, recall: RecallId) -> bytes:
        """Return the sealed record of a recall of this person."""
        found = await self._transaction.rows(
            query("recall_record"),
            {"tenant": self._scope.tenant, "user": self._scope.user, "recall": recall},
        )
        if not found:
            raise NotFound
        ((sealed,),) = found
        return bytes(sealed)

    async def record(self, event: AuditEvent) -> None:
        """Append the audit event; it fails with the commit, and everything with it."""
        self._journal.append(event)

    async def settle(self, claim: Claim, reply: Reply) -> None:
        """Keep the reply of an idempotency key."""
        await idempotency.settle(self._transaction, self._scope.tenant, claim, reply)
