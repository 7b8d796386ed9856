"""Finding memories: by id, by words, by age, by page; and what no index may find.

Rules this module keeps:
- Every condition of the filter is in the query, before anything is cut.
- The weights of words are those of one owner, the scope's person or one space: nobody else's texts
  move a score.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import TupleRow

from core.adapters.postgres.pool import Parameters, Transaction
from core.adapters.postgres.queries import limited, limited_in_space, query
from core.adapters.postgres.rows import memory_row
from core.ids import MemoryId, NamespaceId, SpaceId
from core.model import Filter, Page, Row
from core.ports import Proposal, SealedVectors

NEWEST = (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))
"""A key before every other: where a first page starts."""


class Search:
    """Queries over the memories of one scope, within one transaction.

    Args:
        scope: the parameters that every query names.
    """

    def __init__(self, transaction: Transaction, scope: Parameters) -> None:
        self._transaction = transaction
        self._scope = scope

    async def find(self, memories: Sequence[MemoryId], where: Filter) -> list[Row]:
        """As `MemoryView.find`. Raises: Unavailable."""
        if not memories:
            return []
        found = await self._rows(query("find_memories"), where, ids=list(memories))
        return [memory_row(values) for values in found]

    async def lexical(
        self, terms: Sequence[int], where: Filter, limit: int, space: SpaceId | None
    ) -> list[Proposal]:
        """As `MemoryView.lexical`: the order is BM25's. Raises: Unavailable."""
        asked = sorted(set(terms))
        if not asked:
            return []
        if space is None:
            found = await self._rows(limited("lexical", limit), where, terms=asked)
        else:
            statement = limited_in_space("lexical", limit)
            found = await self._rows(statement, where, terms=asked, space=space)
        return [Proposal(id=MemoryId(memory), score=min(1.0, score)) for memory, score in found]

    async def recent(self, where: Filter, limit: int) -> list[Proposal]:
        """As `MemoryView.recent`: at most `limit` of the own and as many of the shared, and besides
        at most 256 of either that wait for the index.

        The score is the time of creation, in epoch seconds. Raises: Unavailable.
        """
        own, shared = await self._in_order(("newest_memories", "newest_shared"), where, limit)
        waiting = await self._rows(query("waiting_memories"), where)
        if self._scope["read_members"]:
            waiting += await self._rows(query("waiting_shared"), where)
        newest = sorted({*own, *sorted(shared)[::-1][:limit], *waiting}, reverse=True)
        return [Proposal(id=MemoryId(memory), score=time.timestamp()) for time, memory in newest]

    async def sensitive(self, where: Filter, embedder: str, limit: int) -> list[SealedVectors]:
        """As `MemoryView.sensitive`. Raises: Unavailable."""
        statement = limited("sensitive_vectors", limit)
        found = await self._rows(statement, where, embedder=embedder)
        return [
            SealedVectors(
                memory=MemoryId(memory),
                version=version,
                namespace=NamespaceId(namespace),
                vectors=tuple(bytes(vector) for vector in vectors),
            )
            for memory, version, namespace, vectors in found
        ]

    async def page(
        self, where: Filter, after: tuple[datetime, UUID] | None, limit: int, *, shared: bool
    ) -> Page:
        """As `MemoryView.page`. Raises: Unavailable."""
        time, memory = NEWEST if after is None else after
        names = ("page_of_memories", "page_of_shared")
        found = await self._in_order(
            names, where, limit + 1, after_time=time, after_id=memory, shared=shared
        )
        read = [memory_row(values) for part in found for values in part]
        rows = sorted(read, key=lambda row: (row.created_at, row.id))[::-1]
        return Page(rows=tuple(rows[:limit]), more=len(rows) > limit)

    async def _in_order(
        self, names: tuple[str, str], where: Filter, limit: int, **values: object
    ) -> tuple[list[TupleRow], list[TupleRow]]:
        """Return the first rows of the own memories and, space by space, of the shared ones."""
        parameters = {**self._scope, **_conditions(where), **values}
        asked = names if self._scope["read_members"] else names[:1]
        _, *found, _ = await self._transaction.burst(
            [
                (query("in_order"), {}),
                *((limited(name, limit), parameters) for name in asked),
                (query("in_any_order"), {}),
            ]
        )
        own, *shared = found
        return own, [row for rows in shared for row in rows]

    async def _rows(
        self, statement: LiteralString, where: Filter, **values: object
    ) -> list[TupleRow]:
        parameters = {**self._scope, **_conditions(where), **values}
        return await self._transaction.rows(statement, parameters)


def _conditions(where: Filter) -> dict[str, Any]:
    sessions = (where.session, *(other.session for other in where.elsewhere))
    return {
        "states": [state.value for state in where.states],
        "layers": [layer.value for layer in where.layers],
        "kinds": [kind.value for kind in where.kinds],
        "created_after": where.created_after,
        "created_before": where.created_before,
        "min_confidence": where.min_confidence,
        "sessions": [one for one in sessions if one is not None],
        "tags": [*where.tags, *(tag for other in where.elsewhere for tag in other.tags)],
        "tags_needed": len(set(where.tags)) if where.tags_all else 1,
    }
