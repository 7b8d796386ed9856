"""Shared spaces as they look on the wire.

Rules this module keeps:
- A space and a member are shown by the names they were given; a member is `<kind>:<name>`.
"""

from typing import Literal

from core.model import Json
from gateway.front.wire import Shown, Wire, shown_time
from gateway.front.wire_admin import Label
from gateway.spaces import MemberInfo, SpaceInfo

AudienceWord = Literal["same_user", "members"]
RoleWord = Literal["reader", "writer"]


class SpaceBody(Wire):
    """A space to make. In `same_user` agents share what they know of one person at a time; in
    `members` people share, everything.
    """

    name: Label
    audience: AudienceWord = "same_user"


class MemberBody(Wire):
    """What a member may do."""

    role: RoleWord


class SpaceShown(Shown):
    """A space."""

    id: str
    name: str
    audience: AudienceWord
    created_at: str


class SpacesShown(Shown):
    """The tenant's spaces."""

    items: list[SpaceShown]
    next_cursor: str | None


class MemberPutShown(Shown):
    """A member as it stands now."""

    member: str
    role: RoleWord


class MemberShown(MemberPutShown):
    """A member of a space."""

    created_at: str


class MembersShown(Shown):
    """The members of a space."""

    items: list[MemberShown]
    next_cursor: str | None


def space_reply(space: SpaceInfo) -> dict[str, Json]:
    """Return a space."""
    return {
        "id": str(space.id),
        "name": space.name,
        "audience": space.audience.value,
        "created_at": shown_time(space.created_at),
    }


def spaces_reply(spaces: list[SpaceInfo]) -> dict[str, Json]:
    """Return the tenant's spaces."""
    return {"items": [space_reply(space) for space in spaces], "next_cursor": None}


def members_reply(members: list[MemberInfo]) -> dict[str, Json]:
    """Return the members of a space."""
    items = [
        {
            "member": each.member,
            "role": each.role.value,
            "created_at": shown_time(each.created_at),
        }
        for each in members
    ]
    return {"items": items, "next_cursor": None}
