"""The one place where an allow decision becomes a Scope.

Rules this module keeps:
- The policy is asked first; nothing is looked up, and nothing made, for what it denies.
- What a credential allows is never widened by what a request names: a person or a namespace outside
  it is denied, and identifiers compare byte for byte.
- Reading makes nothing. A person never seen reads as empty; a namespace never seen adds nothing.
  Writing makes both, after the decision.
- A space is open to its members alone; to everybody else it is not there. Membership is read for
  each call, together with the epoch of the tenant's rights: another epoch than the credential was
  verified under ends the call.
- The operator sees no memory; nobody else makes tenants.
- Without a policy there is no enforcer, so nothing is decided by default.
"""

from dataclasses import dataclass

from core.errors import Denied, Invalid, NotFound, Outdated
from core.ids import SYSTEM_TENANT, KeyId, NamespaceId, SpaceId, TenantId, UserId, new_uuid
from core.model import Target
from core.ports import (
    Audience,
    Directory,
    IndexTask,
    Keyring,
    MemberKind,
    MemberRole,
    Members,
    Membership,
    Resolved,
    TenantKeys,
)
from core.scope import (
    WRITING,
    Action,
    Call,
    Decision,
    OperatorScope,
    Principal,
    Role,
    Scope,
    SourceKind,
    Spaces,
    TenantScope,
    Trail,
)
from gateway.access.names import (
    actor_name,
    member_key,
    namespace_key,
    person_name,
    seal_namespace,
    space_key,
    user_key,
)
from gateway.access.rules import Rules, Ruling
from gateway.guard.identifiers import check_identifier

DEFAULT_NAMESPACE = "default"
"""Where a credential that may use every namespace writes when it names none."""

_WORKER = "worker:index"
_OPERATORS_OBJECT = "admin:tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What was asked and is allowed; nothing of it has been looked up."""

    tenant: TenantId
    user_id: str
    names: tuple[str, ...] | None
    members: tuple[tuple[MemberKind, str], ...]
    every_namespace: bool
    spaces: tuple[str, ...] | None
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    user: UserId
    namespaces: frozenset[NamespaceId]
    known: bool
    readable: Spaces
    writable: Spaces
    into: SpaceId | None


class Enforcer:
    """Turns (who asks, for what, to do what) into a Scope, or Denied.

    Args:
        rules: the policy in force.
        directory: inside ids of people and namespaces.
        keyring: look-ups are keyed hashes.
    """

    def __init__(self, rules: Rules, directory: Directory, keyring: Keyring) -> None:
        self._rules = rules
        self._directory = directory
        self._keyring = keyring

    @property
    def policy_version(self) -> str:
        """Short hash of the policy in force."""
        return self._rules.version

    def swap(self, rules: Rules) -> None:
        """Put another checked policy in force, whole, from the next decision on."""
        self._rules = rules

    def ruling(self, principal: Principal, action: Action) -> Ruling:
        """Return what the policy says of the credential's roles alone: for the audit log, and for
        lists of what a credential may call. It opens nothing.
        """
        return self._rules.judge(principal.roles, action)

    def permit(self, call: Call, target: Target, action: Action) -> None:
        """Judge a call about one person's memories without looking anything up, or making it.

        A write asks this first, so that content which the guard then refuses leaves no trace of a
        person or a namespace.

        Raises: as `scope`, but for Unavailable.
        """
        self._asked(call.principal, target, action)

    async def scope(
        self, call: Call, target: Target, action: Action, *, make: bool = True
    ) -> Scope:
        """Return the scope of a call about one person's memories.

        Args:
            call: who asks.
            target: the person, and the namespaces and spaces, as the caller spelled them. A write
                names at most one of each; a space that it names is where it goes to.
            action: one of `memory:…`.
            make: False keeps a write from making the person and the namespace known.

        Raises:
            Denied: the policy says no, the person or a namespace is outside the credential, or a
                reader of a space would write to it.
            Invalid: no `user_id`, or a malformed identifier.
            NotFound: a space is named that the caller is no member of, or that is not there.
            Outdated: rights were taken away since the credential was verified.
            Unavailable: the directory or the keys did not answer.
        """
        asked = self._asked(call.principal, target, action)
        keys = await self._keys(asked.tenant)
        writing = action is Action.MEMORY_WRITE
        if writing and make and not asked.spaces:  # in no space: there is nothing to look up
            reach = await self._make(keys, asked, Spaces(), None)
        else:
            found = await self._find(call.principal, keys, asked)
            reach = await self._reach(keys, asked, action, found, make=make)
        return Scope(
            tenant=asked.tenant,
            user=reach.user,
            namespaces=reach.namespaces,
            readable=reach.readable,
            writable=reach.writable,
            into=reach.into,
            action=action,
            decision=asked.decision,
            principal=call.principal,
            trail=_trail(call, keys, person_name(keys, asked.user_id)),
            epoch=call.principal.standing.epoch,
            known=reach.known,
        )

    async def tenant_scope(self, call: Call, action: Action) -> TenantScope:
        """Return the scope of a tenant's administration or audit; it opens no memory.

        Raises:
            Denied: the policy says no, the caller has no tenant, or the action is not of this kind.
            Unavailable: the keys did not answer.
        """
        decision = self._decide(call.principal, action)
        if action.object.startswith("memory:") or action.object == _OPERATORS_OBJECT:
            raise Denied(rule="not-about-a-tenant")
        tenant = _tenant(call.principal)
        keys = await self._keys(tenant)
        return TenantScope(
            tenant=tenant,
            action=action,
            decision=decision,
            principal=call.principal,
            trail=_trail(call, keys, None),
            epoch=call.principal.standing.epoch,
        )

    async def operator_scope(self, call: Call, action: Action) -> OperatorScope:
        """Return the scope in which tenants are made, listed and erased.

        Raises:
            Denied: the policy says no, the caller belongs to a tenant, or it is another action.
            Unavailable: the keys did not answer.
        """
        decision = self._decide(call.principal, action)
        if action.object != _OPERATORS_OBJECT or call.principal.tenant is not None:
            raise Denied(rule="operator-only")
        keys = await self._keys(SYSTEM_TENANT)
        return OperatorScope(
            action=action,
            decision=decision,
            principal=call.principal,
            trail=_trail(call, keys, None),
        )

    async def scope_for_task(self, task: IndexTask) -> Scope:
        """Return the scope of one item of the index queue: one person, one namespace or space.

        The worker acts for nobody: its rule is fixed, and the queue's row names what it may touch.

        Raises:
            Denied: the tenant is gone.
            Unavailable: the keys did not answer.
        """
        keys = await self._keys(task.tenant)
        principal = Principal(
            tenant=task.tenant,
            key_id=KeyId(_WORKER),
            roles=frozenset(),
            namespaces=(),
            users=frozenset(),
            ceiling=SourceKind.DERIVED,
            channel="worker",
        )
        space = Spaces()
        if task.space is not None:
            one = frozenset({task.space})
            space = Spaces(members=one) if task.space_is_owner else Spaces(same_user=one)
        return Scope(
            tenant=task.tenant,
            user=task.user,
            namespaces=frozenset({task.namespace}),
            readable=space,
            writable=space,
            action=Action.MEMORY_UPDATE,
            decision=Decision(rule=_WORKER, policy_version=self._rules.version),
            principal=principal,
            trail=Trail(
                actor=actor_name(keys, _WORKER),
                on_behalf_of=None,
                request_id=f"task-{task.task}",
                trace_id="",
            ),
            epoch=None,
        )

    async def audit_names(self, tenant: TenantId, user_id: str) -> frozenset[str]:
        """Return every name under which the audit log may know a person, to look events up.

        Raises:
            Invalid: the id is malformed.
            Denied: the tenant is gone.
            Unavailable: the keys did not answer.
        """
        check_identifier("user_id", user_id)
        return frozenset({person_name(await self._keys(tenant), user_id)})

    def _asked(self, principal: Principal, target: Target, action: Action) -> _Asked:
        decision = self._decide(principal, action)
        if not action.object.startswith("memory:"):
            raise Denied(rule="not-about-memories")
        tenant = _tenant(principal)
        user_id = _person(principal, target)
        names = _namespaces(principal, target, action)
        return _Asked(
            tenant=tenant,
            user_id=user_id,
            names=names,
            members=_members(principal, target, user_id),
            every_namespace=target.namespaces is None and principal.namespaces is None,
            spaces=_spaces(target, action),
            decision=decision,
        )

    def _decide(self, principal: Principal, action: Action) -> Decision:
        rules = self._rules
        ruling = rules.judge(principal.roles, action)
        if not ruling.allowed:
            raise Denied(rule=ruling.rule)
        return Decision(rule=ruling.rule, policy_version=rules.version)

    async def _keys(self, tenant: TenantId) -> TenantKeys:
        try:
            return await self._keyring.tenant(tenant)
        except NotFound as err:  # erased since the credential was read
            raise Denied(rule="no-tenant") from err

    async def _find(self, principal: Principal, keys: TenantKeys, asked: _Asked) -> Resolved:
        wanted = (
            None if asked.names is None else [namespace_key(keys, name) for name in asked.names]
        )
        members = Members()
        if asked.spaces != ():
            members = Members(
                keys=tuple(member_key(keys, kind, name) for kind, name in asked.members),
                every_namespace=asked.every_namespace,
            )
        try:
            found = await self._directory.resolve(
                keys.tenant, user_key(keys, asked.user_id), wanted, members
            )
        except NotFound as err:  # erased since the credential was read
            raise Denied(rule="no-tenant") from err
        if found.standing.epoch != principal.standing.epoch:
            raise Outdated
        return found

    async def _reach(
        self, keys: TenantKeys, asked: _Asked, action: Action, found: Resolved, *, make: bool
    ) -> _Reach:
        members = _named(keys, asked, found)
        writers = [one for one in members if one.role is MemberRole.WRITER]
        # What the directory adds to what was asked is dropped: it looks up, it does not decide.
        wanted = (
            None if asked.names is None else {namespace_key(keys, name) for name in asked.names}
        )
        namespaces = frozenset(
            place for key, place in found.namespaces.items() if wanted is None or key in wanted
        )
        writable = Spaces()
        into = None
        if action is Action.MEMORY_WRITE:
            if len(writers) != len(members):
                raise Denied(rule="space-reader")
            into = writers[0].space if writers else None
            writable = _by_audience(writers)
            if make and (found.user is None or not namespaces):
                return await self._make(keys, asked, writable, into)
        elif action in WRITING:
            writable = _by_audience(writers)
        return _Reach(
            user=UserId(new_uuid()) if found.user is None else found.user,
            namespaces=namespaces,
            known=found.user is not None,
            readable=_by_audience(members),
            writable=writable,
            into=into,
        )

    async def _make(
        self, keys: TenantKeys, asked: _Asked, spaces: Spaces, into: SpaceId | None
    ) -> _Reach:
        (name,) = asked.names or (DEFAULT_NAMESPACE,)
        user, namespace = await self._directory.ensure(
            keys.tenant,
            user_key(keys, asked.user_id),
            namespace_key(keys, name),
            seal_namespace(keys, name),
        )
        return _Reach(
            user=user,
            namespaces=frozenset({namespace}),
            known=True,
            readable=spaces,
            writable=spaces,
            into=into,
        )


def _tenant(principal: Principal) -> TenantId:
    if principal.tenant is None or Role.OPERATOR in principal.roles:
        raise Denied(rule="no-tenant")
    return principal.tenant


def _person(principal: Principal, target: Target) -> str:
    user_id = principal.pinned_user if target.user_id is None else target.user_id
    if user_id is None:
        raise Invalid("user_id is required", field="user_id")
    check_identifier("user_id", user_id)
    if principal.users is not None and user_id not in principal.users:
        raise Denied(rule="person-outside-credential")
    return user_id


def _namespaces(principal: Principal, target: Target, action: Action) -> tuple[str, ...] | None:
    """Return the names to look up, the one to write to, or None for every one of the tenant."""
    writing = action is Action.MEMORY_WRITE
    field = "namespace" if writing else "namespaces"
    allowed = principal.namespaces
    if target.namespaces is None:
        if not writing:
            return allowed
        if allowed is None:
            return (DEFAULT_NAMESPACE,)
        if not allowed:
            raise Denied(rule="namespace-outside-credential")
        return (allowed[0],)
    for name in target.namespaces:
        check_identifier(field, name)
    if allowed is not None and not set(target.namespaces) <= set(allowed):
        raise Denied(rule="namespace-outside-credential")
    if writing and len(target.namespaces) != 1:
        raise Invalid("A write goes to one namespace.", field=field)
    return target.namespaces


def _spaces(target: Target, action: Action) -> tuple[str, ...] | None:
    """Return the spaces to look up, None for all of membership; a write goes to one or to none."""
    if target.spaces is None:
        return () if action is Action.MEMORY_WRITE else None
    field = "space" if action is Action.MEMORY_WRITE else "spaces"
    for name in target.spaces:
        check_identifier(field, name)
    if action is Action.MEMORY_WRITE and len(target.spaces) > 1:
        raise Invalid("A write goes to one space.", field=field)
    return target.spaces


def _members(
    principal: Principal, target: Target, user_id: str
) -> tuple[tuple[MemberKind, str], ...]:
    """Return as what a caller may be a member: its key, the person, the namespaces in use."""
    used = principal.namespaces if target.namespaces is None else target.namespaces
    key = (
        ((MemberKind.KEY, principal.key_id),) if principal.scopes is None else ()
    )  # no token is one
    return (
        *key,
        (MemberKind.USER, user_id),
        *((MemberKind.NAMESPACE, name) for name in used or ()),
    )


def _namespace_keys(keys: TenantKeys, asked: _Asked) -> list[bytes] | None:
    return None if asked.names is None else [namespace_key(keys, name) for name in asked.names]


def _named(keys: TenantKeys, asked: _Asked, found: Resolved) -> list[Membership]:
    """Return the memberships that were asked for. Raises: NotFound (one that is not there)."""
    if asked.spaces is None:
        return list(found.spaces)
    wanted = {space_key(keys, name) for name in asked.spaces}
    members = [one for one in found.spaces if one.key in wanted]
    if len(members) != len(wanted):
        raise NotFound
    return members


def _by_audience(members: list[Membership]) -> Spaces:
    of = {
        audience: frozenset(one.space for one in members if one.audience is audience)
        for audience in Audience
    }
    return Spaces(same_user=of[Audience.SAME_USER], members=of[Audience.MEMBERS])


def _trail(call: Call, keys: TenantKeys, person: str | None) -> Trail:
    return Trail(
        actor=actor_name(keys, call.principal.key_id),
        on_behalf_of=person,
        request_id=call.request_id,
        trace_id=call.trace_id,
    )
