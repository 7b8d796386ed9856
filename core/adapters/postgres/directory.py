"""`Directory` on PostgreSQL: keys, people and namespaces by their keyed look-ups.

Rules this module keeps:
- A key is found by a function that returns its one row and can do nothing else; every other look-up
  names its tenant.
- What is missing is made by whoever comes first; the others wait for it and find it.
- In an erased tenant nothing is found and nothing is made.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from core.adapters.postgres.admin import PostgresAdminView
from core.adapters.postgres.journal import journaled
from core.adapters.postgres.pool import Pool, only
from core.adapters.postgres.queries import query
from core.adapters.postgres.rows import key_row, membership, policy_row
from core.adapters.postgres.rows import standing as standing_of
from core.adapters.postgres.walls import admin_settings, tenant_settings
from core.errors import NotFound, Unavailable
from core.ids import KeyId, NamespaceId, SpaceId, TenantId, UserId, new_uuid
from core.ports import AuditWriter, KeyRow, Members, PolicyRow, Resolved
from core.scope import OperatorScope, Standing, TenantScope

_LOOKING = frozenset({"list", "read", "explain"})
"""Verbs of administration that change nothing."""


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
            found = key_row(only(await transaction.rows(query("find_key"), {"key": key})))
        return found if found.id == key else None

    async def resolve(
        self,
        tenant: TenantId,
        user: bytes,
        namespaces: Sequence[bytes] | None,
        members: Members = Members(),
    ) -> Resolved:
        """Return the ids behind keyed look-ups.

        The standing is read first: what it says is never newer than the memberships, so that a
        right taken away between the two is noticed at the end of what it allows.

        Raises: NotFound (no such tenant, or erased), Unavailable.
        """
        named = {
            "tenant": tenant,
            "user": user,
            "all_namespaces": namespaces is None,
            "namespaces": list(namespaces or ()),
            "members": list(members.keys),
            "every_namespace": members.every_namespace,
        }
        async with self._pool.transaction(tenant_settings(tenant)) as transaction:
            standing, found, spaces = await transaction.burst(
                [(query(name), named) for name in ("standing", "resolve", "memberships")]
            )
        if not standing:
            raise NotFound
        return Resolved(
            user=next((UserId(one) for blind, one in found if blind is None), None),
            namespaces={
                bytes(blind): NamespaceId(one) for blind, one in found if blind is not None
            },
            spaces=tuple(membership(values) for values in spaces),
            standing=standing_of(only(standing)),
        )

    async def standing(self, tenant: TenantId) -> Standing:
        """Return how a tenant's rights stand. Raises: NotFound (erased too), Unavailable."""
        async with self._pool.transaction(tenant_settings(tenant)) as transaction:
            found = await transaction.rows(query("standing"), {"tenant": tenant})
        if not found:
            raise NotFound
        return standing_of(only(found))

    async def policy(self, tenant: TenantId, kind: str) -> PolicyRow | None:
        """Return a tenant's own policy of a kind, or None. Raises: Unavailable."""
        async with self._pool.transaction(tenant_settings(tenant)) as transaction:
            found = await transaction.rows(
                query("policy_of_tenant"), {"tenant": tenant, "kind": kind}
            )
        return policy_row(only(found)) if found else None

    async def key_used(self, keys: Mapping[KeyId, datetime]) -> None:
        """Write down when keys were last used. Raises: Unavailable."""
        async with self._pool.transaction({"app.action": "authenticate"}) as transaction:
            await transaction.rows(
                query("keys_used"), {"keys": list(keys), "times": list(keys.values())}
            )

    async def rehash_key(self, key: KeyId, old_mac: bytes, new_mac: bytes, pepper: int) -> bool:
        """Keep the secret of a key under another pepper. Raises: Unavailable."""
        async with self._pool.transaction({"app.action": "authenticate"}) as transaction:
            found = await transaction.rows(
                query("rehash_key"),
                {"key": key, "old_mac": old_mac, "new_mac": new_mac, "pepper": pepper},
            )
        return bool(only(found)[0])

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

    async def space_names(self, tenant: TenantId) -> Mapping[SpaceId, bytes]:
        """Return the sealed name of each space of the tenant. Raises: Unavailable."""
        async with self._pool.transaction(tenant_settings(tenant)) as transaction:
            found = await transaction.rows(query("space_names"), {"tenant": tenant})
        return {SpaceId(one): bytes(name) for one, name in found}

    @asynccontextmanager
    async def admin(self, scope: TenantScope | OperatorScope) -> AsyncIterator[PostgresAdminView]:
        """Open one transaction of administration.

        A tenant's administrators change things one after the other, and what one of them lost the
        right to before that is not done.

        Raises: Outdated, Unavailable.
        """
        async with journaled(self._pool, admin_settings(scope), self._writer) as opened:
            transaction, journal = opened
            if isinstance(scope, TenantScope):
                named = {"tenant": scope.tenant, "epoch": scope.epoch}
                steps = ("holds",) if scope.action.verb in _LOOKING else ("one_by_one", "holds")
                await transaction.burst([(query(name), named) for name in steps])
            yield PostgresAdminView(transaction, scope, journal)
