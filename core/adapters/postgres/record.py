"""`RecordStore` on PostgreSQL, as the role `memwarden_app`.

Rules this module keeps:
- A view is opened for a Scope and for nothing else.
- A view does not commit once rights were taken away in its tenant since its Scope was decided: who
  read something that was written after a revoke does not get to answer with it (requirement C4).
- An event that has no effect in the record is appended by itself, under its own tenant.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from core.adapters.postgres import idempotency
from core.adapters.postgres.journal import journaled
from core.adapters.postgres.pool import Pool
from core.adapters.postgres.queries import query
from core.adapters.postgres.view import PostgresView
from core.adapters.postgres.walls import scope_settings, tenant_of, tenant_settings
from core.event import AuditEvent
from core.ports import AuditWriter, Claim, Reply
from core.scope import AnyScope, Scope


class PostgresRecord:
    """Implements `core.ports.RecordStore`.

    Args:
        pool: of the role `memwarden_app`, open.
        writer: numbers and MACs the audit events of this process.
    """

    def __init__(self, pool: Pool, writer: AuditWriter) -> None:
        self._pool = pool
        self._writer = writer

    @asynccontextmanager
    async def view(self, scope: Scope) -> AsyncIterator[PostgresView]:
        """Open one transaction that sees exactly what `scope` allows. Raises: Unavailable."""
        async with journaled(self._pool, scope_settings(scope), self._writer) as opened:
            transaction, journal = opened
            view = PostgresView(transaction, scope, journal)
            yield view
            view.finish()
            if scope.epoch is not None:  # asked last: nothing was read after it
                transaction.later(query("holds"), {"epoch": scope.epoch})

    async def append(self, event: AuditEvent) -> None:
        """Append one audit event by itself. Raises: Unavailable, and then nobody is answered."""
        async with journaled(self._pool, tenant_settings(event.tenant), self._writer) as opened:
            opened[1].append(event)

    async def replayed(self, scope: AnyScope, claim: Claim) -> Reply | None:
        """Return the kept reply of `claim.key` that still counts, or None. Raises: Unavailable."""
        tenant = tenant_of(scope)
        async with self._pool.transaction(tenant_settings(tenant)) as transaction:
            return await idempotency.replayed(transaction, tenant, claim)

    async def now(self) -> datetime:
        """Return the database's time. Raises: Unavailable."""
        async with self._pool.transaction({"app.action": "look"}) as transaction:
            return transaction.now
