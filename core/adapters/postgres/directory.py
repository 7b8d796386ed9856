"""`Directory` on PostgreSQL: keys, people and namespaces by their keyed look-ups.

Rules this module keeps:
- A key is found by a function that returns its one row and can do nothing else; every other look-up
  names its tenant.
- What is missing is made by whoever comes first; the others wait for it and find it.
- In an erased tenant nothing is found and nothing is made.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from core.adapters.postgres.admin import PostgresAdminView
from core.adapters.postgres.journal import journaled
from core.adapters.postgres.pool import Pool
from core.adapters.postgres.queries import query
from core.adapters.postgres.rows import key_row
from core.adapters.postgres.walls import admin_settings, tenant_settings
from core.errors import NotFound, Unavailable
from core.ids import KeyId, NamespaceId, TenantId, UserId, new_uuid
from core.ports import AuditWriter, KeyRow, Resolved
from core.scope import OperatorScope, TenantScope


class PostgresDirectory:
    """Implements `core.ports.Directory`.

    Args:
        pool: of the role `memwarden_app`, open.
        writer: numbers and MACs the audit events of this process.
    """

    def __init__(self, pool: Pool, writer: AuditWriter) -> None:
        self._pool = pool
        self._writer = writer

    async def find_key(self, key: KeyId) -> KeyRow | None:
        """Return one key of whatever tenant. Raises: Unavailable."""
        async with self._pool.transaction({"app.action": "authenticate"}) as transaction:
            found = await transaction.rows(query("find_key"), {"key": key})
        return key_row(found[0]) if found else None

    async def resolve(
        self, tenant: TenantId, user: bytes, namespaces: Sequence[bytes] | None
    ) -> Resolved:
        """Return the ids behind keyed look-ups. Raises: Unavailable."""
        async with self._pool.transaction(tenant_settings(tenant)) as transaction:
            found = await transaction.rows(
                query("resolve"),
                {
                    "tenant": tenant,
                    "user": user,
                    "all_namespaces": namespaces is None,
                    "namespaces": list(namespaces or ()),
                },
            )
        return Resolved(
            user=next((UserId(one) for blind, one in found if blind is None), None),
            namespaces={
                bytes(blind): NamespaceId(one) for blind, one in found if blind is not None
            },
        )

    async def ensure(
        self, tenant: TenantId, user: bytes, namespace: bytes, sealed_name: bytes
    ) -> tuple[UserId, NamespaceId]:
        """Return the ids, making what is missing. Raises: NotFound (tenant gone), Unavailable."""
        found = await self.resolve(tenant, user, [namespace])
        if found.user is None or namespace not in found.namespaces:
            await self._make(tenant, user, namespace, sealed_name)
            found = await self.resolve(tenant, user, [namespace])
        if found.user is None or namespace not in found.namespaces:
            raise Unavailable
        return found.user, found.namespaces[namespace]

    async def _make(
        self, tenant: TenantId, user: bytes, namespace: bytes, sealed_name: bytes
    ) -> None:
        values: dict[str, Any] = {
            "tenant": tenant,
            "user": user,
            "user_id": new_uuid(),
            "namespace": namespace,
            "namespace_id": new_uuid(),
            "sealed_name": sealed_name,
        }
        async with self._pool.transaction(tenant_settings(tenant, "ensure")) as transaction:
            if not await transaction.rows(query("living_tenant"), values):
                raise NotFound
            await transaction.rows(query("ensure_user"), values)
            await transaction.rows(query("ensure_namespace"), values)
            # Asked again: an erasure that we waited for behind the rows above has ended by now.
            if not await transaction.rows(query("living_tenant"), values):
                raise NotFound

    async def namespace_names(self, tenant: TenantId) -> Mapping[NamespaceId, bytes]:
        """Return the sealed name of each namespace of the tenant. Raises: Unavailable."""
        async with self._pool.transaction(tenant_settings(tenant)) as transaction:
            found = await transaction.rows(query("namespace_names"), {"tenant": tenant})
        return {NamespaceId(one): bytes(name) for one, name in found}

    @asynccontextmanager
    async def admin(self, scope: TenantScope | OperatorScope) -> AsyncIterator[PostgresAdminView]:
        """Open one transaction of administration. Raises: Unavailable."""
        async with journaled(self._pool, admin_settings(scope), self._writer) as opened:
            transaction, journal = opened
            yield PostgresAdminView(transaction, scope, journal)
