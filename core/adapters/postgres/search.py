"""Finding memories: by id, by words, by age, by page.

Rules this module keeps:
- Every condition of the filter is in the query, before anything is cut.
- The weights of words are those of this scope's own person: nobody else's texts move a score.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from core.adapters.postgres.pool import Parameters, Transaction
from core.adapters.postgres.queries import query
from core.adapters.postgres.rows import memory_row
from core.ids import MemoryId
from core.model import Filter, Page, Row
from core.ports import Proposal

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
        found = await self._rows("find_memories", where, ids=list(memories))
        return [memory_row(values) for values in found]

    async def lexical(self, terms: Sequence[int], where: Filter, limit: int) -> list[Proposal]:
        """As `MemoryView.lexical`: the order is BM25's. Raises: Unavailable."""
        asked = sorted(set(terms))
        if not asked:
            return []
        found = await self._rows("lexical", where, terms=asked, limit=limit)
        return [Proposal(id=MemoryId(memory), score=min(1.0, score)) for memory, score in found]

    async def recent(self, where: Filter, limit: int) -> list[Proposal]:
        """As `MemoryView.recent`: at most `limit`, and besides at most 256 that wait for the index.

        The score is the time of creation, in epoch seconds. Raises: Unavailable.
        """
        found = await self._rows("recent_memories", where, limit=limit)
        return [Proposal(id=MemoryId(memory), score=score) for memory, score in found]

    async def page(self, where: Filter, after: tuple[datetime, UUID] | None, limit: int) -> Page:
        """As `MemoryView.page`. Raises: Unavailable."""
        time, memory = NEWEST if after is None else after
        found = await self._rows(
            "page_of_memories", where, after_time=time, after_id=memory, limit=limit + 1
        )
        rows = tuple(memory_row(values) for values in found[:limit])
        return Page(rows=rows, more=len(found) > limit)

    async def _rows(self, name: str, where: Filter, **values: object) -> list[Any]:
        parameters = {**self._scope, **_conditions(where), **values}
        return await self._transaction.rows(query(name), parameters)


def _conditions(where: Filter) -> dict[str, Any]:
    return {
        "states": [state.value for state in where.states],
        "layers": [layer.value for layer in where.layers],
        "kinds": [kind.value for kind in where.kinds],
        "created_after": where.created_after,
        "created_before": where.created_before,
        "min_confidence": where.min_confidence,
        "session": where.session,
        "tags": list(where.tags),
        "tags_all": where.tags_all,
    }
