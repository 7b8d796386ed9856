"""One memory at a time: kept, revised, read, forgotten.

Rules this module keeps:
- The same text is kept once. Who comes second gets the row that is there, locked; what has expired
  does not count and makes room.
- What is removed is locked by one statement and removed by the next: a statement does not see what
  others committed while it waited for its locks.
- What finds a memory (terms, vectors, counts, index task) changes in the transaction of its text.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from core.adapters.postgres.pool import Parameters, Transaction, only
from core.adapters.postgres.queries import query
from core.adapters.postgres.rows import memory_row, pseudonym_row
from core.errors import Conflict, NotFound, PreconditionFailed, Unavailable
from core.ids import MemoryId
from core.model import Kept, Row, State
from core.ports import Indexable, Inserted, SealedPseudonym

_ATTEMPTS = 16
"""How often a text may vanish and come back under an insert before it is given up."""

NEAR = 1000
"""From so close to a limit on, writers take turns; more are not under way at once."""


class Tally:
    """How many texts and words a transaction adds to or takes from each owner, and how many
    memories from each author.
    """

    def __init__(self) -> None:
        self._changes: dict[tuple[UUID, UUID, UUID | None], list[int]] = defaultdict(lambda: [0, 0])
        self._authors: dict[bytes, int] = defaultdict(int)

    def add(
        self, user: UUID, namespace: UUID, space: UUID | None, *, texts: int, words: int
    ) -> None:
        """Count `texts` and `words`, which may be negative."""
        change = self._changes[user, namespace, space]
        change[0] += texts
        change[1] += words

    def credit(self, author: bytes | None, memories: int) -> None:
        """Count `memories`, which may be negative, of one author; None is not counted."""
        if author is not None:
            self._authors[author] += memories

    def write(self, transaction: Transaction, tenant: UUID) -> None:
        """Leave the sums for the end of the transaction, where their locks are held shortest."""
        self._write_words(transaction, tenant)
        authors = {author: number for author, number in self._authors.items() if number}
        if authors:
            transaction.later(
                query("count_authors"),
                {
                    "tenant": tenant,
                    "authors": list(authors),
                    "memories": list(authors.values()),
                },
            )

    def _write_words(self, transaction: Transaction, tenant: UUID) -> None:
        changes = [(*place, *sums) for place, sums in self._changes.items() if any(sums)]
        if not changes:
            return
        users, namespaces, spaces, memories, words = map(list, zip(*changes, strict=True))
        transaction.later(
            query("count_words"),
            {
                "tenant": tenant,
                "users": users,
                "namespaces": namespaces,
                "spaces": spaces,
                "memories": memories,
                "words": words,
            },
        )


class Memories:
    """Single memories within one transaction.

    Args:
        scope: the parameters that every query names.
        owning: spaces that own what is in them (`members`).
    """

    def __init__(
        self, transaction: Transaction, scope: Parameters, owning: frozenset[UUID]
    ) -> None:
        self._transaction = transaction
        self._scope = scope
        self._owning = owning
        self._tally = Tally()

    def finish(self) -> None:
        """Leave what has to be done last. To be called once, before the commit."""
        self._tally.write(self._transaction, self._scope["tenant"])

    async def insert(self, kept: Kept) -> Inserted:
        """As `MemoryView.insert`. Raises: Conflict (the id is taken), Unavailable."""
        values = self._values(kept)
        for _ in range(_ATTEMPTS):
            if await self._transaction.rows(query("insert_memory"), values):
                self._count(kept, self._scope["user"])
                self._tally.credit(kept.author, 1)
                return Inserted(existing=None, created_at=self._transaction.now)
            found = await self._transaction.rows(query("said_already"), values)
            for expired, *row in found:
                if not expired:
                    return Inserted(existing=memory_row(row), created_at=self._transaction.now)
                await self.forget([MemoryId(row[0])])
        raise Unavailable

    async def revise(self, kept: Kept, *, expected_version: int) -> Row:
        """As `MemoryView.revise`. Raises: NotFound, PreconditionFailed, Conflict, Unavailable."""
        values = self._values(kept)
        found = await self._transaction.rows(query("lock_memory"), values)
        if not found:
            raise NotFound
        ((version, chunks, words, namespace, space, user),) = found
        values["user"] = user  # whom it is about; in a space not always the scope's person
        if version != expected_version or kept.version != version + 1:
            raise PreconditionFailed
        if kept.state is State.ACTIVE:
            await self._make_room(values)
        had_words = words > 0
        self._tally.add(user, namespace, space, texts=-had_words, words=-words)
        self._count(kept, user)
        one = {**values, "ids": [kept.id], "chunks_before": chunks}
        *_, revised = await self._transaction.burst(
            [(query(name), one) for name in ("keep_version", "drop_finders", "revise_memory")]
        )
        return memory_row(only(revised))

    async def _make_room(self, values: Parameters) -> None:
        for expired, *row in await self._transaction.rows(query("said_already"), values):
            if not expired:
                raise Conflict
            await self.forget([MemoryId(row[0])])

    async def adjust(self, memory: MemoryId, *, confidence: float) -> Row:
        """As `MemoryView.adjust`. Raises: NotFound, Unavailable."""
        return await self._one("adjust_memory", id=memory, confidence=confidence)

    async def attach(
        self, memory: MemoryId, version: int, vectors: Sequence[bytes], embedder: str
    ) -> bool:
        """As `MemoryView.attach`. Raises: Unavailable."""
        found = await self._rows(
            "attach_vectors",
            id=memory,
            version=version,
            vectors=list(vectors),
            embedder=embedder,
        )
        return bool(found)

    async def get(self, memory: MemoryId, *, lock: bool) -> Row:
        """As `MemoryView.get`. Raises: NotFound, Unavailable."""
        return await self._one("get_memory_locked" if lock else "get_memory", id=memory)

    async def versions(self, memory: MemoryId) -> list[Row]:
        """As `MemoryView.versions`. Raises: NotFound, Unavailable."""
        found = await self._rows("versions_of_memory", id=memory)
        if not found:
            raise NotFound
        return [memory_row(values) for values in found]

    async def indexable(self, memory: MemoryId) -> Indexable:
        """As `MemoryView.indexable`. Raises: NotFound, Unavailable."""
        found = await self._rows("indexable_memory", id=memory)
        if not found:
            raise NotFound
        ((session, tags, terms, counts, embedder, vectors, *row),) = found
        return Indexable(
            row=memory_row(row),
            session=session,
            tags=tuple(tags),
            terms=dict(zip(terms, counts, strict=True)),
            vectors=tuple(vectors),
            embedder=embedder,
        )

    async def pseudonyms(self, memory: MemoryId) -> list[SealedPseudonym]:
        """As `MemoryView.pseudonyms`. Raises: Unavailable."""
        found = await self._rows("pseudonyms_of_memory", id=memory)
        return [pseudonym_row(values) for values in found]

    async def pseudonyms_of(self, tokens: Sequence[bytes]) -> list[SealedPseudonym]:
        """As `MemoryView.pseudonyms_of`. Raises: Unavailable."""
        found = await self._rows("pseudonyms_by_token", tokens=list(tokens))
        return [pseudonym_row(values) for values in found]

    async def forget(self, memories: Sequence[MemoryId]) -> list[MemoryId]:
        """As `MemoryView.forget`; what has expired goes too, and is not returned."""
        locked = await self._rows("lock_memories", ids=list(memories))
        if not locked:
            return []
        for _, _, user, namespace, space, words, has_terms, author in locked:
            self._tally.add(user, namespace, space, texts=-has_terms, words=-words)
            self._tally.credit(author, -1)
        values = {**self._scope, "ids": [found[0] for found in locked], "at_least": 1}
        await self._transaction.burst(
            [(query(name), values) for name in ("drop_finders", "forget_memories")]
        )
        return [MemoryId(found[0]) for found in locked if found[1]]

    async def stored(self, author: bytes | None, most: int) -> int:
        """As `MemoryView.stored`. Raises: Unavailable."""
        (count,) = only(await self._rows("stored_memories", author=author))
        if count + NEAR < most:
            return int(count)
        # Who stands in line here has counted nothing yet, so that nobody waits for them in turn.
        await self._rows("stored_in_line", author=author)
        (count,) = only(await self._rows("stored_memories", author=author))
        return int(count)

    def used(self, memories: Sequence[MemoryId]) -> None:
        """As `MemoryView.used`; done before the commit."""
        if memories:
            self._transaction.later(query("count_uses"), {**self._scope, "ids": list(memories)})

    async def _rows(self, name: str, /, **values: object) -> list[Any]:
        return await self._transaction.rows(query(name), {**self._scope, **values})

    async def _one(self, name: str, /, **values: object) -> Row:
        found = await self._rows(name, **values)
        if not found:
            raise NotFound
        return memory_row(only(found))

    def _count(self, kept: Kept, user: UUID) -> None:
        if kept.terms:
            self._tally.add(user, kept.namespace, kept.space, texts=1, words=kept.token_count)

    def _values(self, kept: Kept) -> dict[str, Any]:
        return {
            **self._scope,
            "id": kept.id,
            "version": kept.version,
            "namespace": kept.namespace,
            "space": kept.space,
            "space_is_owner": kept.space is not None and kept.space in self._owning,
            "layer": kept.layer.value,
            "kind": kept.kind.value,
            "state": kept.state.value,
            "importance": kept.importance,
            "confidence": kept.confidence,
            "persistence": kept.persistence.value,
            "sensitivity": kept.sensitivity.value,
            "trust": kept.trust.value,
            "source_kind": kept.source_kind.value,
            "outcome": kept.outcome,
            "occurred_at": kept.occurred_at,
            "expires_at": kept.expires_at,
            "until_session_end": kept.until_session_end,
            "ends_by": kept.ends_by,
            "session": kept.session,
            "tags": list(kept.tags),
            "digest": kept.digest,
            "content": kept.content,
            "details": kept.details,
            "terms": list(kept.terms),
            "counts": list(kept.terms.values()),
            "token_count": kept.token_count,
            "vectors": list(kept.vectors),
            "embedder": kept.embedder,
            "author": kept.author,
            "pseudonyms": list(kept.pseudonyms),
            "behind": list(kept.pseudonyms.values()),
        }
