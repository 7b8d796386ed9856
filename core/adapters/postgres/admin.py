"""`AdminView` on PostgreSQL: one transaction of administration; it opens no memory.

Rules this module keeps:
- A tenant's administration sees that tenant's keys and events; the operator's sees tenants.
- The operator acts inside a tenant twice, and says so to row-level security each time: for the
  first key of a tenant made in this very transaction, and to erase one.
- Erasing takes every row of the tenant but its audit trail, its tombstone and the tasks that remove
  its points. It first locks the tenant and its people, so that nothing is added behind it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg import sql

from core.adapters.postgres import idempotency
from core.adapters.postgres.journal import Journal
from core.adapters.postgres.pool import LIMITS, Transaction, only
from core.adapters.postgres.queries import query
from core.adapters.postgres.rows import (
    key_row,
    logged_event,
    member_row,
    policy_row,
    space_row,
)
from core.adapters.postgres.search import NEWEST
from core.adapters.postgres.walls import admin_settings, tenant_of
from core.errors import Denied, NotFound
from core.event import AuditEvent
from core.ids import SYSTEM_TENANT, KeyId, SpaceId, TenantId
from core.ports import (
    Claim,
    KeyRow,
    LoggedEvent,
    MemberRole,
    MemberRow,
    PolicyRow,
    Reply,
    SpaceRow,
    TenantRow,
)
from core.scope import OperatorScope, TenantScope

ERASED: Final = (
    "pseudonyms",
    "memory_links",
    "memory_tokens",
    "memory_vectors",
    "memory_versions",
    "memory_uses",
    "memory_counts",
    "memory_authors",
    "memories",
    "recalls",
    "jobs",
    "idempotency",
    "space_members",
    "spaces",
    "namespaces",
    "users",
    "api_keys",
    "policies",
    "access_standings",
)
"""Tables that lose a tenant's rows when it is erased, in this order."""
OF_A_SPACE: Final = ERASED[: ERASED.index("memory_authors")]
"""Tables that lose a space's rows when it is deleted, after its memories and in this order."""
_NOTED: Final = {
    "access": "note_policy",
    "quotas": "note_quotas",
    "pii": "note_pii",
    "secrets": "note_secrets",
}
"""Policies whose version is read with every credential, and the query that notes it."""


class PostgresAdminView:
    """Implements `core.ports.AdminView`; what a method does is said there."""

    def __init__(
        self, transaction: Transaction, scope: TenantScope | OperatorScope, journal: Journal
    ) -> None:
        self.now = transaction.now
        self._transaction = transaction
        self._scope = scope
        self._tenant = tenant_of(scope)
        self._journal = journal
        self._made: set[TenantId] = set()

    async def insert_tenant(self, row: TenantRow, name_key: bytes) -> None:
        """Keep a new tenant. Raises: Denied, Conflict, Unavailable."""
        self._operator_only()
        await self._rows(
            "insert_tenant",
            id=row.id,
            name=row.name,
            name_key=name_key,
            created_at=row.created_at,
        )
        self._made.add(row.id)

    async def tenants(self, after: UUID | None, limit: int) -> list[TenantRow]:
        """Return tenants, oldest first. Raises: Denied, Unavailable."""
        self._operator_only()
        found = await self._rows("tenants_page", after=after or SYSTEM_TENANT, limit=limit)
        return [
            TenantRow(id=TenantId(tenant), name=name, created_at=created_at)
            for tenant, name, created_at in found
        ]

    async def erase_tenant(self, tenant: TenantId) -> int:
        """Remove everything of a tenant but its trail. Raises: Denied, NotFound, Unavailable."""
        self._operator_only()
        if tenant == SYSTEM_TENANT:
            raise NotFound
        async with self._inside(tenant, action="erase", unhurried=True):
            if not await self._rows("lock_tenant", tenant=tenant):
                raise NotFound
            await self._rows("lock_people", tenant=tenant)
            (count,) = only(await self._rows("count_memories", tenant=tenant))
            await self._rows("queue_removals", tenant=tenant)
            for table in ERASED:
                await self._transaction.rows(
                    sql.SQL("DELETE FROM {} WHERE tenant = {}").format(
                        sql.Identifier(table), sql.Placeholder("tenant")
                    ),
                    {"tenant": tenant},
                )
        return int(count)

    async def insert_key(self, row: KeyRow) -> None:
        """Keep a new API key. Raises: Denied, Conflict, NotFound (tenant gone), Unavailable."""
        tenant = SYSTEM_TENANT if row.tenant is None else row.tenant
        values = {
            "id": row.id,
            "tenant": tenant,
            "roles": sorted(role.value for role in row.roles),
            "ceiling": row.ceiling.value,
            "grants": row.grants,
            "secret_mac": row.secret_mac,
            "pepper_version": row.pepper_version,
            "created_at": row.created_at,
            "expires_at": row.expires_at,
            "revoked_at": row.revoked_at,
        }
        if tenant == self._tenant:
            await self._rows("insert_key", **values)
            # Asked after it: an erasure that the row waited for has ended by now.
            if not await self._rows("living_tenant", tenant=tenant):
                raise NotFound
            return
        if tenant not in self._made:
            raise Denied
        async with self._inside(tenant, action="operate"):
            await self._rows("insert_key", **values)

    async def keys(self) -> list[KeyRow]:
        """Return the tenant's keys, newest first. Raises: Unavailable."""
        found = await self._rows("keys_of_tenant", tenant=self._tenant)
        return [key_row(values) for values in found]

    async def key(self, key: KeyId) -> KeyRow:
        """Return one of the tenant's keys. Raises: NotFound, Unavailable."""
        return await self._key("key_of_tenant", key=key)

    async def rotate_key(self, key: KeyId, secret_mac: bytes, *, overlap_seconds: int) -> KeyRow:
        """Give a key a new secret. Raises: NotFound, Unavailable."""
        row = await self._key(
            "rotate_key", key=key, secret_mac=secret_mac, overlap_seconds=overlap_seconds
        )
        if not overlap_seconds:
            await self._raise_epoch()
        return row

    async def revoke_key(self, key: KeyId) -> None:
        """End a key at once. Raises: NotFound, Unavailable."""
        if not await self._rows("revoke_key", tenant=self._tenant, key=key):
            raise NotFound
        await self._raise_epoch()

    async def insert_space(self, row: SpaceRow) -> None:
        """Keep a new space. Raises: Conflict, NotFound (tenant gone), Unavailable."""
        await self._rows(
            "insert_space",
            tenant=self._tenant,
            id=row.id,
            key=row.key,
            name=row.name,
            audience=row.audience.value,
            created_at=row.created_at,
        )
        if not await self._rows("living_tenant", tenant=self._tenant):
            raise NotFound

    async def spaces(self) -> list[SpaceRow]:
        """Return the tenant's spaces, oldest first. Raises: Unavailable."""
        found = await self._rows("spaces_of_tenant", tenant=self._tenant)
        return [space_row(values) for values in found]

    async def space(self, key: bytes) -> SpaceRow:
        """Return one space. Raises: NotFound, Unavailable."""
        found = await self._rows("space_of_tenant", tenant=self._tenant, key=key)
        if not found:
            raise NotFound
        return space_row(only(found))

    async def delete_space(self, space: SpaceId) -> int:
        """End a space with everything in it. Raises: NotFound, Unavailable."""
        which = {"tenant": self._tenant, "space": space}
        async with self._inside(self._tenant, action="erase", unhurried=True):
            # Waits for the writes that are under way in it: each holds its row.
            if not await self._rows("lock_space", **which):
                raise NotFound
            (count,) = only(await self._rows("count_memories_of_space", **which))
            await self._rows("queue_removals_of_space", **which)
            await self._rows("delete_memories_of_space", **which)
            for table in OF_A_SPACE:
                await self._transaction.rows(
                    sql.SQL("DELETE FROM {} WHERE tenant = {} AND space = {}").format(
                        sql.Identifier(table), sql.Placeholder("tenant"), sql.Placeholder("space")
                    ),
                    which,
                )
            await self._rows("delete_space", **which)
        await self._raise_epoch()
        return int(count)

    async def put_member(self, row: MemberRow) -> None:
        """Make a member, or give one another role. Raises: NotFound (no space), Unavailable."""
        which = {"tenant": self._tenant, "space": row.space, "key": row.key}
        before = await self._rows("member_role", **which)
        await self._rows(
            "put_member", **which, role=row.role.value, kind=row.kind.value, name=row.name
        )
        if before and before[0][0] == MemberRole.WRITER and row.role is not MemberRole.WRITER:
            await self._raise_epoch()

    async def remove_member(self, space: SpaceId, key: bytes) -> None:
        """End a membership. Raises: NotFound, Unavailable."""
        if not await self._rows("remove_member", tenant=self._tenant, space=space, key=key):
            raise NotFound
        await self._raise_epoch()

    async def members(self, space: SpaceId) -> list[MemberRow]:
        """Return the members of a space, oldest first. Raises: Unavailable."""
        found = await self._rows("members_of_space", tenant=self._tenant, space=space)
        return [member_row(values) for values in found]

    async def put_policy(self, row: PolicyRow) -> None:
        """Put a policy in force, whole. Raises: NotFound (tenant gone), Unavailable."""
        await self._rows(
            "put_policy", tenant=self._tenant, kind=row.kind, version=row.version, sealed=row.sealed
        )
        await self._raise_epoch()
        noted = _NOTED.get(row.kind)
        if noted is not None:
            await self._rows(noted, tenant=self._tenant, version=row.version)

    async def policy(self, kind: str) -> PolicyRow | None:
        """Return the tenant's own policy of a kind, or None. Raises: Unavailable."""
        found = await self._rows("policy_of_tenant", tenant=self._tenant, kind=kind)
        return policy_row(only(found)) if found else None

    async def epoch(self) -> int:
        """Return the epoch as this transaction leaves it. Raises: NotFound, Unavailable."""
        found = await self._rows("standing", tenant=self._tenant)
        if not found:
            raise NotFound
        return int(only(found)[0])

    async def _raise_epoch(self) -> None:
        await self._rows("raise_epoch", tenant=self._tenant)

    async def events(
        self,
        *,
        since: datetime | None,
        until: datetime | None,
        on_behalf_of: frozenset[str],
        action: str | None,
        after: tuple[datetime, UUID] | None,
        limit: int,
    ) -> list[LoggedEvent]:
        """Return the tenant's audit events, newest first. Raises: Unavailable."""
        time, event = NEWEST if after is None else after
        found = await self._rows(
            "events_page",
            tenant=self._tenant,
            since=since,
            until=until,
            people=sorted(on_behalf_of),
            action=action,
            after_time=time,
            after_id=event,
            limit=limit,
        )
        return [logged_event(values) for values in found]

    async def record(self, event: AuditEvent) -> None:
        """Append the audit event; it fails with the commit, and everything with it."""
        self._journal.append(event)

    async def settle(self, claim: Claim, reply: Reply) -> None:
        """Keep the reply of an idempotency key. Raises: Repeated, Unavailable."""
        await idempotency.settle(self._transaction, self._tenant, claim, reply)

    def _operator_only(self) -> None:
        if not isinstance(self._scope, OperatorScope):
            raise Denied

    @asynccontextmanager
    async def _inside(
        self, tenant: TenantId, *, action: str, unhurried: bool = False
    ) -> AsyncIterator[None]:
        """Act inside one tenant for the block, and only for the block."""
        limits = {"statement_timeout": "0"} if unhurried else {}
        await self._transaction.set({"app.tenant": str(tenant), "app.action": action, **limits})
        try:
            yield
        finally:
            if not self._transaction.failed:  # a failed one can do nothing any more
                await self._transaction.set({**LIMITS, **admin_settings(self._scope)})

    async def _key(self, name: str, /, **values: object) -> KeyRow:
        found = await self._rows(name, tenant=self._tenant, **values)
        if not found:
            raise NotFound
        return key_row(only(found))

    async def _rows(self, name: str, /, **values: object) -> list[Any]:
        return await self._transaction.rows(query(name), values)
