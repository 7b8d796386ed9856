"""What a call asks for, as far as its credential and its own words say.

Rules this module keeps:
- What a credential allows is never widened by what a request names: a person or a namespace outside
  it is denied, and identifiers compare byte for byte.
- Whoever acts for a listed person, or with a credential of one, uses no namespace that the person
  may not.
- Nothing here is looked up.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from core.errors import Denied, Invalid
from core.ids import TenantId
from core.model import Target
from core.ports import MemberKind, TenantKeys
from core.scope import Action, Principal, Role
from gateway.access.names import namespace_key
from gateway.access.overlay import namespace_place
from gateway.access.policy import Asker, Person, Policy
from gateway.access.rules import Ruling
from gateway.guard.identifiers import check_identifier

DEFAULT_NAMESPACE = "default"
"""Where a credential that may use every namespace writes when it names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a call names, or leaves to its credential.

    Args:
        places: namespaces to look up, the one to write to, or None for every one of the tenant.
        chosen: the caller named them itself, and so is told when one is denied.
        spaces: to look up; None for all that one is a member of. A write names one or none.
        members: as what the caller may be a member of spaces.
        every_namespace: also as whatever namespace there is.
    """

    places: tuple[str, ...] | None
    chosen: bool
    spaces: tuple[str, ...] | None
    members: tuple[tuple[MemberKind, str], ...]
    every_namespace: bool

    def only(self, places: tuple[str, ...]) -> Self:
        """Return the same over fewer namespaces."""
        return type(self)(
            places=places,
            chosen=self.chosen,
            spaces=self.spaces,
            members=tuple(
                (kind, name)
                for kind, name in self.members
                if kind is not MemberKind.NAMESPACE or name in places
            ),
            every_namespace=self.every_namespace,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked and is allowed; nothing of it has been looked up."""

    keys: TenantKeys
    user_id: str
    action: Action
    names: Names
    policy: Policy
    asker: Asker
    ruling: Ruling

    @property
    def places(self) -> list[bytes] | None:
        """Keyed look-ups of the namespaces; None for all."""
        if self.names.places is None:
            return None
        return [namespace_key(self.keys, name) for name in self.names.places]

    def judge(self, *places: str) -> Ruling:
        """Return what the policy says of it in these places."""
        return self.policy.judge(self.asker, self.action, *places)


def tenant_of(principal: Principal) -> TenantId:
    """Return the tenant a caller belongs to. Raises: Denied (the operator belongs to none)."""
    if principal.tenant is None or Role.OPERATOR in principal.roles:
        raise Denied(rule="no-tenant")
    return principal.tenant


def named_person(principal: Principal, target: Target) -> str | None:
    """Return the person that a call is about, if it names one that could be somebody's id."""
    name = principal.pinned_user if target.user_id is None else target.user_id
    try:
        return None if name is None else check_identifier("user_id", name)
    except Invalid:
        return None


def person_of(principal: Principal, target: Target) -> str:
    """Return the person that a call is about.

    Raises:
        Invalid: it names none, or what is no identifier.
        Denied: the credential may not act for that person.
    """
    user_id = principal.pinned_user if target.user_id is None else target.user_id
    if user_id is None:
        raise Invalid("user_id is required", field="user_id")
    check_identifier("user_id", user_id)
    if principal.users is not None and user_id not in principal.users:
        raise Denied(rule="person-outside-credential")
    return user_id


def names_of(
    principal: Principal, target: Target, action: Action, user_id: str, people: Iterable[Person]
) -> Names:
    """Return what a call names, within its credential and its people.

    Args:
        people: the listed persons whom the call is for, or whose credential it is.

    Raises:
        Invalid: a malformed name, or several of what a write has one of.
        Denied: a namespace is outside the credential, or outside what the person may use.
    """
    allowed = _clamped(principal.namespaces, people)
    return Names(
        places=_namespaces(principal, allowed, target, action),
        chosen=target.namespaces is not None,
        spaces=_spaces(target, action),
        members=_members(principal, allowed, target, user_id),
        every_namespace=target.namespaces is None and allowed is None,
    )


def _clamped(allowed: tuple[str, ...] | None, people: Iterable[Person]) -> tuple[str, ...] | None:
    for person in people:
        if person.namespaces is not None:
            allowed = (
                person.namespaces
                if allowed is None
                else tuple(name for name in allowed if name in person.namespaces)
            )
    return allowed


def _namespaces(
    principal: Principal, allowed: tuple[str, ...] | None, target: Target, action: Action
) -> tuple[str, ...] | None:
    writing = action is Action.MEMORY_WRITE
    if target.namespaces is None:
        if not writing:
            return allowed
        if allowed is None:
            return (DEFAULT_NAMESPACE,)
        if not allowed:
            raise Denied(rule="namespace-outside-credential")
        return (allowed[0],)
    field = "namespace" if writing else "namespaces"
    for name in target.namespaces:
        check_identifier(field, name)
    wanted = set(target.namespaces)
    if principal.namespaces is not None and not wanted <= set(principal.namespaces):
        raise Denied(rule="namespace-outside-credential")
    if allowed is not None and not wanted <= set(allowed):
        raise Denied(rule="person-outside-namespace")
    if writing and len(target.namespaces) != 1:
        raise Invalid("A write goes to one namespace.", field=field)
    return target.namespaces


def _spaces(target: Target, action: Action) -> tuple[str, ...] | None:
    if target.spaces is None:
        return () if action is Action.MEMORY_WRITE else None
    field = "space" if action is Action.MEMORY_WRITE else "spaces"
    for name in target.spaces:
        check_identifier(field, name)
    if action is Action.MEMORY_WRITE and len(target.spaces) > 1:
        raise Invalid("A write goes to one space.", field=field)
    return target.spaces


def _members(
    principal: Principal, allowed: tuple[str, ...] | None, target: Target, user_id: str
) -> tuple[tuple[MemberKind, str], ...]:
    """Return as what a caller may be a member: its key, the person, the namespaces in use."""
    used = allowed if target.namespaces is None else target.namespaces
    key = () if principal.by_token else ((MemberKind.KEY, principal.key_id),)
    return (
        *key,
        (MemberKind.USER, user_id),
        *((MemberKind.NAMESPACE, name) for name in used or ()),
    )


def within_namespaces(asked: Asked) -> Asked:
    """Return `asked` over the namespaces that the policy allows.

    Raises:
        Denied: it denies one that the caller named, or the one that is written to.
    """
    names = asked.names
    writing = asked.action is Action.MEMORY_WRITE
    if names.places is None or (writing and names.spaces):  # judged with what the look-up finds
        return asked
    rulings = {
        name: asked.judge(namespace_place(namespace_key(asked.keys, name))) for name in names.places
    }
    for ruling in rulings.values():
        if not ruling.allowed and (names.chosen or writing):
            raise Denied(rule=ruling.rule)
    kept = tuple(name for name in names.places if rulings[name].allowed)
    return Asked(
        keys=asked.keys,
        user_id=asked.user_id,
        action=asked.action,
        names=names.only(kept),
        policy=asked.policy,
        asker=asked.asker,
        ruling=rulings[kept[0]] if kept else asked.ruling,
    )
