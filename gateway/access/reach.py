"""What a call reaches: the person, the namespaces and the spaces that it may touch.

Rules this module keeps:
- What the directory adds to what was asked is dropped: it looks up, it does not decide.
- A space is open to its members alone; to everybody else it is not there, whatever the policy says
  of it. Then the policy is asked for each place; one that it denies is left out, and said no to
  when the caller named it.
- Reading makes nothing. A person never seen gets an id of nobody.
"""

from dataclasses import dataclass

from core.errors import Denied, NotFound, Outdated
from core.ids import NamespaceId, SpaceId, UserId, new_uuid
from core.ports import Audience, Directory, MemberRole, Members, Membership, Resolved
from core.scope import WRITING, Action, Principal, Spaces
from gateway.access.asked import Asked
from gateway.access.names import member_key, namespace_key, seal_namespace, space_key, user_key
from gateway.access.overlay import namespace_place, space_place
from gateway.access.rules import Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a call reaches, by inside ids.

    Args:
        known: something may be kept about the person.
        into: the space that a write goes to.
        rule: that allowed it.
    """

    user: UserId
    namespaces: frozenset[NamespaceId]
    known: bool
    readable: Spaces
    writable: Spaces
    into: SpaceId | None
    rule: str


async def find(directory: Directory, principal: Principal, asked: Asked) -> Resolved:
    """Look up what a call names.

    Raises:
        Denied: the tenant is gone.
        Outdated: rights were taken away since the credential was verified.
        Unavailable: the directory did not answer.
    """
    keys, names = asked.keys, asked.names
    members = Members()
    if names.spaces != ():
        members = Members(
            keys=tuple(member_key(keys, kind, name) for kind, name in names.members),
            every_namespace=names.every_namespace,
        )
    try:
        found = await directory.resolve(
            keys.tenant, user_key(keys, asked.user_id), asked.places, members
        )
    except NotFound as err:  # erased since the credential was read
        raise Denied(rule="no-tenant") from err
    if found.standing.epoch != principal.standing.epoch:
        raise Outdated
    return found


async def reached(directory: Directory, asked: Asked, found: Resolved, *, makes: bool) -> Reach:
    """Return what a call reaches of what was found.

    Args:
        makes: a write makes what is missing of its person and namespace.

    Raises:
        NotFound: a space is named that the caller is no member of, or that is not there.
        Denied: the policy says no to a place, or a reader of a space would write to it.
        Unavailable: the directory did not answer.
    """
    members = _named(asked, found)
    writers = [one for one in members if one.role is MemberRole.WRITER]
    wanted = asked.places
    there = {k: one for k, one in found.namespaces.items() if wanted is None or k in wanted}
    if asked.action is Action.MEMORY_WRITE:
        if len(writers) != len(members):
            raise Denied(rule="space-reader")
        ruling = _into(asked, writers)
        spaces, into = _by_audience(writers), writers[0].space if writers else None
        if makes and (found.user is None or not there):
            return await make_known(directory, asked, spaces, into, ruling)
        return Reach(
            user=UserId(new_uuid()) if found.user is None else found.user,
            namespaces=frozenset(there.values()),
            known=found.user is not None,
            readable=spaces,
            writable=spaces,
            into=into,
            rule=ruling.rule,
        )
    rulings = [asked.ruling]
    if asked.policy.has_places:
        rulings, there, members = _allowed(asked, there, members)
        writers = [one for one in writers if one in members]
    return Reach(
        user=UserId(new_uuid()) if found.user is None else found.user,
        namespaces=frozenset(there.values()),
        known=found.user is not None,
        readable=_by_audience(members),
        writable=_by_audience(writers) if asked.action in WRITING else Spaces(),
        into=None,
        rule=rulings[0].rule,
    )


async def make_known(
    directory: Directory, asked: Asked, spaces: Spaces, into: SpaceId | None, ruling: Ruling
) -> Reach:
    """Make the person and the namespace of a write known. Raises: Unavailable."""
    keys = asked.keys
    (name,) = asked.names.places or ()
    user, namespace = await directory.ensure(
        keys.tenant,
        user_key(keys, asked.user_id),
        namespace_key(keys, name),
        seal_namespace(keys, name),
    )
    return Reach(
        user=user,
        namespaces=frozenset({namespace}),
        known=True,
        readable=spaces,
        writable=spaces,
        into=into,
        rule=ruling.rule,
    )


def _named(asked: Asked, found: Resolved) -> list[Membership]:
    """Return the memberships that were asked for. Raises: NotFound (one that is not there)."""
    if asked.names.spaces is None:
        return list(found.spaces)
    wanted = {space_key(asked.keys, name) for name in asked.names.spaces}
    members = [one for one in found.spaces if one.key in wanted]
    if len(members) != len(wanted):
        raise NotFound
    return members


def _into(asked: Asked, spaces: list[Membership]) -> Ruling:
    """Judge a write by its namespace and its space together. Raises: Denied."""
    ruling = asked.judge(
        *(namespace_place(key) for key in asked.places or ()),
        *(space_place(one.key) for one in spaces),
    )
    if not ruling.allowed:
        raise Denied(rule=ruling.rule)
    return ruling


def _allowed(
    asked: Asked, there: dict[bytes, NamespaceId], members: list[Membership]
) -> tuple[list[Ruling], dict[bytes, NamespaceId], list[Membership]]:
    """Return what the policy allows of what was found, with the rules that do.

    Raises:
        Denied: it denies a space that the caller named.
    """
    places = {key: asked.judge(namespace_place(key)) for key in there}
    spaces = {one.key: asked.judge(space_place(one.key)) for one in members}
    refused = [ruling for ruling in spaces.values() if not ruling.allowed]
    if refused and asked.names.spaces is not None:
        raise Denied(rule=refused[0].rule)
    rulings = [one for one in (*places.values(), *spaces.values()) if one.allowed]
    return (
        rulings or [asked.ruling],
        {key: place for key, place in there.items() if places[key].allowed},
        [one for one in members if spaces[one.key].allowed],
    )


def _by_audience(members: list[Membership]) -> Spaces:
    of = {
        audience: frozenset(one.space for one in members if one.audience is audience)
        for audience in Audience
    }
    return Spaces(same_user=of[Audience.SAME_USER], members=of[Audience.MEMBERS])
