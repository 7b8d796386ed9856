"""Administration of shared spaces, each path top to bottom.

Rules this module keeps:
- An administrator names spaces and members, and sees no memory of any.
- The name of a space and of a member is sealed under the tenant's key and found by its keyed hash.
- Who is a member is read with each call about a memory; a right that was taken away is gone with
  the commit that took it, and the answer says since when (`access_version`).
- A key that is made a member is a key of this tenant; whether a person or a namespace has been seen
  before is not told.
"""

import json
import logging
from dataclasses import dataclass, field
from datetime import datetime

from core.errors import Conflict, GatewayError, Invalid, NotFound, Tampered
from core.event import AuditEvent
from core.ids import EventId, KeyId, SpaceId, new_uuid, parse_uuid
from core.model import Json, Owner
from core.ports import (
    AdminView,
    Audience,
    Claim,
    MemberKind,
    MemberRole,
    MemberRow,
    Place,
    Repeated,
    Reply,
    SpaceRow,
    TenantKeys,
)
from core.scope import Action, Call, TenantScope
from gateway.access.names import (
    member_key,
    open_member,
    open_space,
    seal_member,
    seal_space,
    space_key,
)
from gateway.access.version_token import mint_version
from gateway.gate import Gate, Once
from gateway.guard.guard import Guard
from gateway.guard.identifiers import check_identifier
from gateway.idempotency import claim_of, matching
from gateway.recording import record
from gateway.refusing import refusing

log = logging.getLogger(__name__)

_GUARDED = {MemberKind.USER: "user_id", MemberKind.NAMESPACE: "namespace"}
"""Kind of member -> the guard's field: a user id may be personal data, a namespace's name not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceInfo:
    """One space as its tenant's administrator sees it."""

    id: SpaceId
    name: str
    audience: Audience
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberInfo:
    """One member of a space: `<kind>:<name>`, and what it may do there."""

    member: str = field(repr=False)
    role: MemberRole
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What a change of members, or the end of a space, comes to.

    Args:
        access_version: version token of the tenant's rights after it.
        deleted: how many memories went with a space.
    """

    access_version: str
    deleted: int = 0


async def create_space(
    gate: Gate, call: Call, name: str, audience: Audience, once: Once | None = None
) -> SpaceInfo:
    """Make a space; nobody is a member yet.

    Raises: Denied, Invalid, ContentRejected, Conflict (the name is taken), Unavailable.
    """
    action = Action.SPACE_CREATE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        _check_name(await gate.guards.of(call.principal), "name", name)
        keys = await gate.keyring.tenant(scope.tenant)
        claim = None if once is None else claim_of(once, scope.principal, keys)
        before = await _made_before(gate, scope, claim, keys)
        if before is not None:
            return before
        try:
            async with gate.directory.admin(scope) as view:
                row = SpaceRow(
                    id=SpaceId(new_uuid()),
                    key=space_key(keys, name),
                    name=seal_space(keys, name),
                    audience=audience,
                    created_at=view.now,
                )
                await view.insert_space(row)
                made = SpaceInfo(id=row.id, name=name, audience=audience, created_at=view.now)
                await record(view, scope, str(row.id))
                await _settle(view, claim, keys, made)
        except Repeated as err:
            raise Conflict("This Idempotency-Key is in use.") from err
        return made


async def spaces(gate: Gate, call: Call) -> list[SpaceInfo]:
    """Return the tenant's spaces, oldest first. Raises: Denied, Unavailable."""
    action = Action.SPACE_LIST
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            rows = await view.spaces()
            await record(view, scope, "spaces", count=len(rows))
        return [_info(row, keys) for row in rows]


async def delete_space(gate: Gate, call: Call, name: str) -> Shared:
    """End a space with everything in it: unreadable everywhere when this returns.

    Raises: Denied, NotFound, Invalid, Unavailable.
    """
    action = Action.SPACE_DELETE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        check_identifier("name", name)
        keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            space = await view.space(space_key(keys, name))
            deleted = await view.delete_space(space.id)
            epoch = await view.epoch()
            await record(view, scope, str(space.id), count=deleted)
        gate.write.wake_index()
        await _destroy_keys(gate, scope, space)
        return Shared(access_version=mint_version(keys, epoch), deleted=deleted)


async def put_member(gate: Gate, call: Call, name: str, member: str, role: MemberRole) -> Shared:
    """Make a member of a space, or give one another role.

    Args:
        member: `key:<id>`, `user:<user_id>` or `namespace:<name>`.

    Raises:
        NotFound: no such space, or no such key of this tenant.
        Denied, Invalid, ContentRejected, Unavailable.
    """
    action = Action.SPACE_SHARE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        check_identifier("name", name)
        kind, called = _member(member)
        if kind in _GUARDED:
            (await gate.guards.of(call.principal)).check({_GUARDED[kind]: called})
        keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            space = await view.space(space_key(keys, name))
            if kind is MemberKind.KEY:
                await _living_key(view, KeyId(called))
            row = MemberRow(
                space=space.id,
                kind=kind,
                key=member_key(keys, kind, called),
                name=seal_member(keys, called),
                role=role,
                created_at=view.now,
            )
            await view.put_member(row)
            epoch = await view.epoch()
            await record(view, scope, str(space.id))
        return Shared(access_version=mint_version(keys, epoch))


async def remove_member(gate: Gate, call: Call, name: str, member: str) -> Shared:
    """End a membership; what it allowed ends with it.

    Raises: Denied, NotFound (no such space or member), Invalid, Unavailable.
    """
    action = Action.SPACE_UNSHARE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        check_identifier("name", name)
        kind, called = _member(member)
        keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            space = await view.space(space_key(keys, name))
            await view.remove_member(space.id, member_key(keys, kind, called))
            epoch = await view.epoch()
            await record(view, scope, str(space.id))
        return Shared(access_version=mint_version(keys, epoch))


async def members(gate: Gate, call: Call, name: str) -> list[MemberInfo]:
    """Return the members of a space, oldest first.

    Raises: Denied, NotFound, Invalid, Unavailable.
    """
    action = Action.SPACE_LIST
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        check_identifier("name", name)
        keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            space = await view.space(space_key(keys, name))
            rows = await view.members(space.id)
            await record(view, scope, str(space.id), count=len(rows))
        return [_member_info(row, keys) for row in rows]


def _check_name(guard: Guard, field_: str, name: str) -> None:
    """Refuse a name that cannot serve, or that says who somebody is."""
    check_identifier(field_, name)
    if "/" in name:  # it is a part of paths, and one segment to us would be two to a proxy
        raise Invalid("The name of a space cannot hold a slash.", field=field_)
    guard.check({"space": name})


def _member(member: str) -> tuple[MemberKind, str]:
    """Return the kind and the name of a member as it was spelled. Raises: Invalid."""
    kind, separator, called = member.partition(":")
    if not separator or kind not in {each.value for each in MemberKind}:
        raise Invalid("A member is key:<id>, user:<user_id> or namespace:<name>.", field="member")
    return MemberKind(kind), check_identifier("member", called)


async def _living_key(view: AdminView, key: KeyId) -> None:
    """Raise NotFound unless it is a key of this tenant that is not revoked."""
    if (await view.key(key)).revoked_at is not None:
        raise NotFound


async def _destroy_keys(gate: Gate, scope: TenantScope, space: SpaceRow) -> None:
    """Destroy what sealed the memories that are gone, for the sake of logs and dumps."""
    if space.audience is not Audience.MEMBERS:
        return  # they were sealed under the keys of the people they were about
    try:
        owner = Owner(tenant=scope.tenant, id=space.id, is_space=True)
        await gate.keyring.destroy_owner(owner)
    except GatewayError:  # the space is gone all the same, and that is what the caller is told
        log.warning("the keys of a deleted space are not destroyed: the key store did not answer")


def _info(row: SpaceRow, keys: TenantKeys) -> SpaceInfo:
    try:
        name = open_space(keys, row.name)
    except Tampered:
        name = ""  # the list must still show the others; `fsck` reports it
    return SpaceInfo(id=row.id, name=name, audience=row.audience, created_at=row.created_at)


def _member_info(row: MemberRow, keys: TenantKeys) -> MemberInfo:
    try:
        called = open_member(keys, row.name)
    except Tampered:
        called = ""  # as above
    return MemberInfo(member=f"{row.kind.value}:{called}", role=row.role, created_at=row.created_at)


async def _made_before(
    gate: Gate, scope: TenantScope, claim: Claim | None, keys: TenantKeys
) -> SpaceInfo | None:
    """Return what the request made when it came first, or None. Raises: Conflict."""
    reply = None if claim is None else await gate.store.replayed(scope, claim)
    if claim is None or reply is None:
        return None
    matching(reply, claim)
    said: dict[str, Json] = json.loads(keys.open(_reply_place(reply), reply.sealed))
    at = await gate.store.now()
    event = AuditEvent.of(
        scope,
        event_id=EventId(new_uuid()),
        at=at,
        object=said["id"],
        outcome="repeated",
        count=0,
    )
    await gate.store.append(event)
    return SpaceInfo(
        id=SpaceId(parse_uuid(said["id"])),
        name=said["name"],
        audience=Audience(said["audience"]),
        created_at=datetime.fromisoformat(said["created_at"]),
    )


async def _settle(view: AdminView, claim: Claim | None, keys: TenantKeys, made: SpaceInfo) -> None:
    if claim is None:
        return
    said = {
        "id": str(made.id),
        "name": made.name,
        "audience": made.audience.value,
        "created_at": made.created_at.isoformat(),
    }
    reply = Reply(body=claim.body, sealed=b"", id=new_uuid())
    sealed = keys.seal(_reply_place(reply), json.dumps(said).encode())
    await view.settle(claim, Reply(body=claim.body, sealed=sealed, id=reply.id))


def _reply_place(reply: Reply) -> Place:
    return Place(record=reply.id, version=1, field="reply")
