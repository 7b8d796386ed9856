"""`Outbox` on PostgreSQL, as the role `memwarden_index`.

Rules this module keeps:
- That role sees ids, versions and counts; no sealed or blind column of any memory.
- A task is leased, not taken: who dies with it gives it back when the lease is over.
"""

from collections.abc import Sequence

from core.adapters.postgres.pool import Pool, only
from core.adapters.postgres.queries import query
from core.ids import MemoryId, NamespaceId, SpaceId, TenantId, UserId
from core.ports import IndexTask

_NOTHING_SET = {"app.action": "index"}


class PostgresOutbox:
    """Implements `core.ports.Outbox`.

    Args:
        pool: of the role `memwarden_index`, open.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def lease(self, limit: int, seconds: int) -> list[IndexTask]:
        """Take at most `limit` tasks for `seconds`, oldest first. Raises: Unavailable."""
        async with self._pool.transaction(_NOTHING_SET) as transaction:
            found = await transaction.rows(
                query("lease_tasks"), {"limit": limit, "seconds": seconds}
            )
        tasks = [
            IndexTask(
                task=task,
                tenant=TenantId(tenant),
                user=UserId(user),
                namespace=NamespaceId(namespace),
                space=None if space is None else SpaceId(space),
                space_is_owner=space_is_owner,
                memory=MemoryId(memory),
                version=version,
                delete=removal,
                chunks=chunks,
            )
            for (
                task,
                tenant,
                user,
                namespace,
                space,
                space_is_owner,
                memory,
                version,
                removal,
                chunks,
            ) in found
        ]
        return sorted(tasks, key=lambda task: task.task)

    async def done(self, tasks: Sequence[IndexTask]) -> None:
        """Remove finished tasks. Raises: Unavailable."""
        if not tasks:
            return
        async with self._pool.transaction(_NOTHING_SET) as transaction:
            await transaction.rows(query("done_tasks"), {"tasks": [task.task for task in tasks]})

    async def pending(self) -> int:
        """Return how many tasks wait. Raises: Unavailable."""
        async with self._pool.transaction(_NOTHING_SET) as transaction:
            (count,) = only(await transaction.rows(query("pending_tasks"), {}))
        return int(count)

    async def requeue_all(self) -> int:
        """Queue every live memory again; returns how many. Raises: Unavailable."""
        settings = {**_NOTHING_SET, "statement_timeout": "0"}
        async with self._pool.transaction(settings) as transaction:
            (count,) = only(await transaction.rows(query("requeue_all"), {}))
        return int(count)
