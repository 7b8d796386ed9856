"""`SealStore` on PostgreSQL, as the role `memwarden_seal`.

Rules this module keeps:
- That role reads the log, gives a waiting row its place once, and adds checkpoints and events of
  the system's own tenant. It changes nothing else and removes nothing.
- A run goes in whole: it takes the one sealing lock, compares heads, and rolls back at the first
  row that is not as it was.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import Any

from core.adapters.postgres.pool import Pool, Transaction
from core.adapters.postgres.queries import query
from core.adapters.postgres.rows import checkpoint, event_parameters, logged_event, signed_event
from core.errors import Conflict
from core.ids import TenantId, WriterId
from core.ports import LoggedEvent, SignedEvent
from core.ports.seal import Checkpoint, SealBatch

_PAGE = 1000
_NOTHING_SET = {"app.action": "seal", "statement_timeout": "30000"}


class _Overtaken(Exception):
    """The record is not as this run expected it."""


class PostgresSealStore:
    """Implements `core.ports.seal.SealStore`.

    Args:
        pool: of the role `memwarden_seal`, open.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def now(self) -> datetime:
        """Return the database's time. Raises: Unavailable."""
        async with self._pool.transaction(_NOTHING_SET) as transaction:
            return transaction.now

    async def unsealed(self, limit: int) -> list[SignedEvent]:
        """Return waiting rows, at most `limit` of each writer. Raises: Unavailable."""
        found = await self._rows("unsealed_events", limit=limit)
        return [signed_event(values) for values in found]

    async def cursors(self, writers: Collection[WriterId]) -> dict[WriterId, int]:
        """Return how far writers have come. Raises: Unavailable."""
        found = await self._rows("writer_cursors", writers=list(writers))
        return {WriterId(writer): cursor for writer, cursor in found}

    async def heads(
        self, tenants: Collection[TenantId] | None = None
    ) -> dict[TenantId, Checkpoint]:
        """Return the last checkpoint of each tenant that has one. Raises: Unavailable."""
        async with self._pool.transaction(_NOTHING_SET) as transaction:
            return await _heads(transaction, tenants)

    async def commit(self, batch: SealBatch) -> bool:
        """Apply `batch` in one transaction, or nothing of it and return False.

        Raises: Unavailable.
        """
        try:
            async with self._pool.transaction(_NOTHING_SET) as transaction:
                await _apply(transaction, batch)
        except (_Overtaken, Conflict):
            return False
        return True

    async def add_voids(self, events: Sequence[SignedEvent]) -> None:
        """Insert events that fill lost numbers, where they are still free. Raises: Unavailable."""
        async with self._pool.transaction(_NOTHING_SET) as transaction:
            for signed in events:
                await transaction.rows(query("add_void"), event_parameters(signed))

    async def tenants(self) -> list[TenantId]:
        """Return every tenant that has an audit event or a checkpoint. Raises: Unavailable."""
        return [TenantId(tenant) for (tenant,) in await self._rows("audit_tenants")]

    async def stream(
        self, tenant: TenantId, *, after: int = 0, limit: int | None = None
    ) -> AsyncIterator[LoggedEvent]:
        """Yield the tenant's sealed events in order, page by page. Raises: Unavailable."""
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            found = await self._rows("sealed_events", tenant=tenant, after=after, limit=size)
            for values in found:
                logged = logged_event(values)
                after = max(after, logged.sequence or 0)
                yield logged
            if len(found) < size:
                return
            left = None if left is None else left - size

    async def checkpoints(self, tenant: TenantId) -> AsyncIterator[Checkpoint]:
        """Yield the tenant's checkpoints, smallest size first. Raises: Unavailable."""
        after = 0
        while True:
            found = await self._rows("checkpoints_page", tenant=tenant, after=after, limit=_PAGE)
            for values in found:
                kept = checkpoint(values)
                after = kept.size
                yield kept
            if len(found) < _PAGE:
                return

    async def _rows(self, name: str, /, **values: object) -> list[Any]:
        async with self._pool.transaction(_NOTHING_SET) as transaction:
            return await transaction.rows(query(name), values)


async def _heads(
    transaction: Transaction, tenants: Collection[TenantId] | None
) -> dict[TenantId, Checkpoint]:
    if tenants is None:
        tenants = [tenant for (tenant,) in await transaction.rows(query("audit_tenants"), {})]
    found = await transaction.rows(query("heads"), {"tenants": list(tenants)})
    heads = [checkpoint(values) for values in found]
    return {head.tenant: head for head in heads}


async def _apply(transaction: Transaction, batch: SealBatch) -> None:
    await transaction.rows(query("one_sealer"), {})
    heads = await _heads(transaction, batch.expected.keys())
    sizes = {tenant: head.size for tenant, head in heads.items()}
    if any(sizes.get(tenant, 0) != size for tenant, size in batch.expected.items()):
        raise _Overtaken
    for signed in batch.added:
        await transaction.rows(query("append_event"), event_parameters(signed))
    if batch.placed:
        placed = await transaction.rows(
            query("place_events"),
            {
                "tenants": [row.tenant for row in batch.placed],
                "events": [row.event_id for row in batch.placed],
                "sequences": [row.sequence for row in batch.placed],
                "prevs": [row.prev for row in batch.placed],
                "hashes": [row.hash for row in batch.placed],
            },
        )
        if len(placed) != len(batch.placed):
            raise _Overtaken
    if batch.aside:
        aside = await transaction.rows(query("set_aside"), {"events": list(batch.aside)})
        if len(aside) != len(batch.aside):
            raise _Overtaken
    for head in batch.checkpoints:
        await transaction.rows(
            query("add_checkpoint"),
            {
                "tenant": head.tenant,
                "size": head.size,
                "head": head.head,
                "at": head.at,
                "key_id": head.key_id,
                "signature": head.signature,
            },
        )
    if batch.cursors:
        await transaction.rows(
            query("advance_writers"),
            {"writers": list(batch.cursors), "numbers": list(batch.cursors.values())},
        )
