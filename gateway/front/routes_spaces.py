"""Shared spaces and their members over HTTP."""

from core.ports import Audience, MemberRole
from core.scope import Action
from gateway import spaces
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire_memory import DeletedShown
from gateway.front.wire_spaces import (
    MemberBody,
    MemberPutShown,
    MembersShown,
    SpaceBody,
    SpaceShown,
    SpacesShown,
    members_reply,
    space_reply,
    spaces_reply,
)

_PATH = "/v1/admin/spaces"
_SPACE = _PATH + "/{name}"
_MEMBER = _SPACE + "/members/{member}"
_NAMED = frozenset({"name", "member"})


async def create_space(ask: Ask[SpaceBody, Nothing]) -> Answer:
    """Make a space."""
    audience = Audience(ask.body.audience)
    made = await spaces.create_space(ask.gate, ask.call, ask.body.name, audience, ask.once)
    return Answer(body=space_reply(made))


async def list_spaces(ask: Ask[None, Nothing]) -> Answer:
    """List the tenant's spaces, oldest first."""
    return Answer(body=spaces_reply(await spaces.spaces(ask.gate, ask.call)))


async def delete_space(ask: Ask[None, Nothing]) -> Answer:
    """End a space with everything in it."""
    done = await spaces.delete_space(ask.gate, ask.call, ask.names["name"])
    return Answer(body={"deleted": done.deleted}, access_version=done.access_version)


async def put_member(ask: Ask[MemberBody, Nothing]) -> Answer:
    """Make a member of a space, or give one another role."""
    member, role = ask.names["member"], MemberRole(ask.body.role)
    done = await spaces.put_member(ask.gate, ask.call, ask.names["name"], member, role)
    shown = {"member": member, "role": role.value}
    return Answer(body=shown, access_version=done.access_version)


async def remove_member(ask: Ask[None, Nothing]) -> Answer:
    """End a membership."""
    done = await spaces.remove_member(ask.gate, ask.call, ask.names["name"], ask.names["member"])
    return Answer(body=None, access_version=done.access_version)


async def list_members(ask: Ask[None, Nothing]) -> Answer:
    """List the members of a space, oldest first."""
    found = await spaces.members(ask.gate, ask.call, ask.names["name"])
    return Answer(body=members_reply(found))


OPERATIONS = (
    Operation(
        method="POST",
        path=_PATH,
        action=Action.SPACE_CREATE,
        handler=create_space,
        name="create_space",
        summary="Make a shared space",
        body=SpaceBody,
        reply=SpaceShown,
        status=201,
        refuses=frozenset({409}),
        once=True,
    ),
    Operation(
        method="GET",
        path=_PATH,
        action=Action.SPACE_LIST,
        handler=list_spaces,
        name="list_spaces",
        summary="List the tenant's spaces, oldest first",
        reply=SpacesShown,
    ),
    Operation(
        method="DELETE",
        path=_SPACE,
        action=Action.SPACE_DELETE,
        handler=delete_space,
        name="delete_space",
        summary="End a space with everything in it",
        reply=DeletedShown,
        named=_NAMED,
    ),
    Operation(
        method="GET",
        path=_SPACE + "/members",
        action=Action.SPACE_LIST,
        handler=list_members,
        name="list_members",
        summary="List the members of a space, oldest first",
        reply=MembersShown,
        named=_NAMED,
    ),
    Operation(
        method="PUT",
        path=_MEMBER,
        action=Action.SPACE_SHARE,
        handler=put_member,
        name="put_member",
        summary="Make a member of a space, or give one another role",
        body=MemberBody,
        reply=MemberPutShown,
        named=_NAMED,
    ),
    Operation(
        method="DELETE",
        path=_MEMBER,
        action=Action.SPACE_UNSHARE,
        handler=remove_member,
        name="remove_member",
        summary="End a membership; what it allowed ends with it",
        status=204,
        named=_NAMED,
    ),
)
