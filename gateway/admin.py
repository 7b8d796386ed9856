"""Administration and the audit log's reading side, each path top to bottom.

Rules this module keeps:
- The operator makes and erases tenants and sees nothing inside one; a tenant's administrator makes
  keys for that tenant and sees no memory; an auditor reads events and no content.
- A credential is shown once, in the reply that made it. A repeat of that request gets the id.
- Names, people and namespaces of a key are sealed under the tenant's key; roles are clear.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from core.errors import Conflict, Denied, Invalid, Tampered
from core.ids import SYSTEM_TENANT, KeyId, TenantId, new_uuid, parse_uuid
from core.ports import (
    AdminView,
    Claim,
    KeyRow,
    LoggedEvent,
    Place,
    Repeated,
    Reply,
    TenantKeys,
    TenantRow,
)
from core.scope import Action, Call, OperatorScope, Role, SourceKind, TenantScope
from gateway.access.version_token import mint_version
from gateway.auth.addresses import read_network
from gateway.auth.grants import Grants, open_grants, seal_grants
from gateway.auth.keys import Minted
from gateway.cursor import open_cursor, seal_cursor
from gateway.gate import (
    EventQuery,
    Gate,
    KeyInfo,
    KeySpec,
    Listed,
    NewKey,
    NewTenant,
    Once,
    TenantInfo,
)
from gateway.guard.guard import Guard
from gateway.guard.identifiers import check_identifier
from gateway.idempotency import claim_of, matching
from gateway.recording import record
from gateway.refusing import refusing

ADMIN_ROLES = frozenset({Role.ADMIN, Role.PRIVACY, Role.CURATOR})
"""Roles of the key that is made with a tenant."""
MAX_OVERLAP = timedelta(days=7)
"""How long an old secret may go on working after a rotation."""


@dataclass(frozen=True, slots=True)
class _Sealed:
    """A key ready to be inserted, and what its maker is shown."""

    row: KeyRow
    shown: NewKey


async def create_tenant(gate: Gate, call: Call, name: str, once: Once | None = None) -> NewTenant:
    """Make a tenant with its keys and its administrator's credential.

    Raises: Denied, Invalid, Conflict (the name is taken, or a repeat), Unavailable.
    """
    action = Action.TENANT_CREATE
    async with refusing(gate, call, action):
        scope = await gate.access.operator_scope(call, action)
        check_identifier("name", name)
        (await gate.guards.of(call.principal)).check({"name": name})
        system = await gate.keyring.tenant(SYSTEM_TENANT)
        claim = await _unused(gate, scope, once, system)
        tenant = TenantId(new_uuid())
        keys = await gate.keyring.create_tenant(tenant)
        spec = KeySpec(name="admin", roles=ADMIN_ROLES, namespaces=None, users=None)
        try:
            async with gate.directory.admin(scope) as view:
                sealed_name = keys.seal(_name_place(tenant), name.encode())
                row = TenantRow(id=tenant, name=sealed_name, created_at=view.now)
                await view.insert_tenant(row, system.blind("tenant", name))
                made = _sealed_key(spec, tenant, keys, gate.keys.mint(), now=view.now)
                await view.insert_key(made.row)
                await record(view, scope, str(tenant))
                await _settle(view, claim, system, str(tenant))
        except Repeated as err:
            raise Conflict("This Idempotency-Key is in use.") from err
        info = TenantInfo(id=tenant, name=name, created_at=row.created_at)
        return NewTenant(info=info, admin=made.shown)


async def tenants(
    gate: Gate, call: Call, limit: int, cursor: str | None = None
) -> Listed[TenantInfo]:
    """Return a page of tenants, oldest first. Raises: Denied, Invalid, Unavailable."""
    action = Action.TENANT_LIST
    async with refusing(gate, call, action):
        scope = await gate.access.operator_scope(call, action)
        system = await gate.keyring.tenant(SYSTEM_TENANT)
        after = None
        if cursor is not None:
            after = open_cursor(system, call.principal, "tenants", cursor)[1]
        async with gate.directory.admin(scope) as view:
            rows = await view.tenants(after, limit + 1)
            await record(view, scope, "tenants", count=len(rows[:limit]))
        items = [await _tenant_info(gate, row) for row in rows[:limit]]
        following = None
        if len(rows) > limit:
            last = (rows[limit - 1].created_at, UUID(int=rows[limit - 1].id.int))
            following = seal_cursor(system, call.principal, "tenants", last)
        return Listed(items=items, next_cursor=following)


async def _tenant_info(gate: Gate, row: TenantRow) -> TenantInfo:
    keys = await gate.keyring.tenant(row.id)
    try:
        name = keys.open(_name_place(row.id), row.name).decode()
    except Tampered:
        name = ""  # the list must still show the others; `fsck` reports it
    return TenantInfo(id=row.id, name=name, created_at=row.created_at)


async def erase_tenant(gate: Gate, call: Call, tenant_id: str) -> int:
    """Remove everything of a tenant but its audit trail; returns how many memories went.

    Raises: Denied, NotFound, Unavailable.
    """
    action = Action.TENANT_ERASE
    async with refusing(gate, call, action):
        scope = await gate.access.operator_scope(call, action)
        tenant = TenantId(parse_uuid(tenant_id))
        async with gate.directory.admin(scope) as view:
            erased = await view.erase_tenant(tenant)
            await record(view, scope, str(tenant), count=erased)
        gate.write.wake_index()
        return erased


async def create_key(gate: Gate, call: Call, spec: KeySpec, once: Once | None = None) -> NewKey:
    """Make an API key for the caller's tenant.

    Raises: Denied, Invalid, ContentRejected, Conflict (a repeat: with the id), Unavailable.
    """
    action = Action.KEY_CREATE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        _check_spec(await gate.guards.of(call.principal), spec)
        keys = await gate.keyring.tenant(scope.tenant)
        claim = await _unused(gate, scope, once, keys)
        try:
            async with gate.directory.admin(scope) as view:
                if spec.expires_at is not None and spec.expires_at <= view.now:
                    raise Invalid("This time has passed already.", field="expires_at")
                made = _sealed_key(spec, scope.tenant, keys, gate.keys.mint(), now=view.now)
                await view.insert_key(made.row)
                await record(view, scope, made.row.id)
                await _settle(view, claim, keys, made.row.id)
        except Repeated as err:
            raise Conflict("This Idempotency-Key is in use.") from err
        return made.shown


def _check_spec(guard: Guard, spec: KeySpec) -> None:
    """Refuse a key that names nothing, names it badly, or wants what no tenant may have."""
    if Role.OPERATOR in spec.roles:
        raise Denied(rule="operator-role")
    if not spec.roles:
        raise Invalid("At least one role is needed.", field="roles")
    if spec.ceiling in (SourceKind.OPERATOR, SourceKind.DERIVED, SourceKind.IMPORTED):
        raise Invalid("This source kind cannot be claimed.", field="source_ceiling")
    check_identifier("name", spec.name)
    for number, namespace in enumerate(spec.namespaces or ()):
        check_identifier(f"namespaces[{number}]", namespace)
    for user in spec.users or ():
        check_identifier("users", user)
    if spec.owner is not None:
        check_identifier("owner", spec.owner)
    for number, address in enumerate(spec.addresses or ()):
        _check_network(f"addresses[{number}]", address)
    lists = {"namespaces": spec.namespaces, "users": spec.users, "addresses": spec.addresses}
    for field, allowed in lists.items():
        if allowed is not None and not allowed:
            raise Invalid("An empty list allows nothing; name some or leave it open.", field=field)
    guard.check(
        {
            "name": spec.name,
            "namespace": list(spec.namespaces or ()),
            "user_id": sorted((spec.users or frozenset()) | {spec.owner or ""} - {""}),
        }
    )


def _check_network(field: str, written: str) -> None:
    try:
        network = read_network(written)
    except ValueError:
        raise Invalid("An IPv4 or IPv6 address or network is needed.", field=field) from None
    if written not in (str(network), str(network).removesuffix(f"/{network.max_prefixlen}")):
        raise Invalid("Write the network in its shortest form.", field=field)


async def keys(gate: Gate, call: Call) -> list[KeyInfo]:
    """Return the keys of the caller's tenant, newest first, never a secret.

    Raises: Denied, Unavailable.
    """
    action = Action.KEY_LIST
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        tenant_keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            rows = await view.keys()
            await record(view, scope, "keys", count=len(rows))
        return [_info(row, tenant_keys) for row in rows]


async def rotate_key(
    gate: Gate, call: Call, key_id: str, overlap_seconds: int, once: Once | None = None
) -> NewKey:
    """Give a key a new secret; the old one works for `overlap_seconds` more (0 to 7 days).

    Raises: Denied, Invalid, NotFound (also: revoked), Conflict (a repeat), Unavailable.
    """
    action = Action.KEY_ROTATE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        if not 0 <= overlap_seconds <= MAX_OVERLAP.total_seconds():
            raise Invalid("Between 0 and 604800 seconds.", field="overlap_seconds")
        tenant_keys = await gate.keyring.tenant(scope.tenant)
        claim = await _unused(gate, scope, once, tenant_keys)
        try:
            async with gate.directory.admin(scope) as view:
                minted = gate.keys.remint(await view.key(KeyId(key_id)))
                row = await view.rotate_key(
                    minted.key_id, minted.secret_mac, overlap_seconds=overlap_seconds
                )
                epoch = await view.epoch()
                await record(view, scope, row.id)
                await _settle(view, claim, tenant_keys, row.id)
        except Repeated as err:
            raise Conflict("This Idempotency-Key is in use.") from err
        return NewKey(
            info=_info(row, tenant_keys),
            credential=minted.credential,
            access_version=mint_version(tenant_keys, epoch),
        )


async def revoke_key(gate: Gate, call: Call, key_id: str) -> str:
    """End a key at once; returns the version token of the tenant's rights without it.

    Raises: Denied, NotFound, Unavailable.
    """
    action = Action.KEY_REVOKE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        tenant_keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            await view.revoke_key(KeyId(key_id))
            epoch = await view.epoch()
            await record(view, scope, key_id)
        return mint_version(tenant_keys, epoch)


async def events(gate: Gate, call: Call, query: EventQuery) -> Listed[LoggedEvent]:
    """Return a page of the tenant's audit events, newest first.

    Raises: Denied, Invalid (also a cursor of another list), Unavailable.
    """
    action = Action.AUDIT_READ
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        tenant_keys = await gate.keyring.tenant(scope.tenant)
        people = frozenset[str]()
        if query.user_id is not None:
            check_identifier("user_id", query.user_id)
            people = await gate.access.audit_names(scope.tenant, query.user_id)
        question = json.dumps(
            ["events", _iso(query.since), _iso(query.until), sorted(people), query.action]
        )
        after = None
        if query.cursor is not None:
            after = open_cursor(tenant_keys, call.principal, question, query.cursor)
        async with gate.directory.admin(scope) as view:
            found = await view.events(
                since=query.since,
                until=query.until,
                on_behalf_of=people,
                action=query.action,
                after=after,
                limit=query.limit + 1,
            )
            shown = found[: query.limit]
            await record(view, scope, "events", count=len(shown))
        following = None
        if len(found) > query.limit:
            last = shown[-1].signed.event
            key = (last.at, UUID(int=last.event_id.int))
            following = seal_cursor(tenant_keys, call.principal, question, key)
        return Listed(items=shown, next_cursor=following)


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _name_place(tenant: TenantId) -> Place:
    return Place(record=tenant, version=1, field="tenant.name")


def _sealed_key(
    spec: KeySpec, tenant: TenantId, keys: TenantKeys, minted: Minted, *, now: datetime
) -> _Sealed:
    grants = seal_grants(
        keys,
        Grants(
            name=spec.name,
            namespaces=spec.namespaces,
            users=spec.users,
            owner=spec.owner,
            addresses=spec.addresses,
        ),
        key_id=minted.key_id,
        roles=spec.roles,
        ceiling=spec.ceiling,
        expires_at=spec.expires_at,
    )
    row = KeyRow(
        id=minted.key_id,
        tenant=tenant,
        roles=spec.roles,
        ceiling=spec.ceiling,
        grants=grants,
        secret_mac=minted.secret_mac,
        previous_mac=None,
        pepper_version=minted.pepper_version,
        created_at=now,
        expires_at=spec.expires_at,
        revoked_at=None,
        usable=True,
    )
    info = KeyInfo(id=minted.key_id, spec=spec, created_at=now, revoked_at=None)
    return _Sealed(row, NewKey(info=info, credential=minted.credential))


def _info(row: KeyRow, keys: TenantKeys) -> KeyInfo:
    try:
        grants = open_grants(keys, row)
    except Tampered:  # such a key authenticates nobody; the list shows that it is there
        grants = Grants(name="", namespaces=(), users=frozenset())
    spec = KeySpec(
        name=grants.name,
        roles=row.roles,
        namespaces=grants.namespaces,
        users=grants.users,
        ceiling=row.ceiling,
        expires_at=row.expires_at,
        owner=grants.owner,
        addresses=grants.addresses,
    )
    return KeyInfo(
        id=row.id,
        spec=spec,
        created_at=row.created_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )


async def _unused(
    gate: Gate, scope: TenantScope | OperatorScope, once: Once | None, keys: TenantKeys
) -> Claim | None:
    """Return the claim of `once`, which must be new: what a repeat made is named, not shown.

    Raises: Conflict.
    """
    if once is None:
        return None
    claim = claim_of(once, scope.principal, keys)
    reply = await gate.store.replayed(scope, claim)
    if reply is None:
        return claim
    matching(reply, claim)
    made = keys.open(Place(record=reply.id, version=1, field="reply"), reply.sealed).decode()
    raise Conflict("This was made already; its secret was shown once.", resource_id=made)


async def _settle(view: AdminView, claim: Claim | None, keys: TenantKeys, made: str) -> None:
    if claim is None:
        return
    reply = new_uuid()
    sealed = keys.seal(Place(record=reply, version=1, field="reply"), made.encode())
    await view.settle(claim, Reply(body=claim.body, sealed=sealed, id=reply))
