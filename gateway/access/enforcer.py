"""The one place where an allow decision becomes a Scope.

Rules this module keeps:
- The policy is asked first; nothing is looked up, and nothing made, for what it denies.
- What a credential allows is never widened by what a request names: a person or a namespace outside
  it is denied, and identifiers compare byte for byte.
- Reading makes nothing. A person never seen reads as empty; a namespace never seen adds nothing.
  Writing makes both, after the decision.
- The operator sees no memory; nobody else makes tenants.
- Without a policy there is no enforcer, so nothing is decided by default.
"""

from dataclasses import dataclass

from core.errors import Denied, Invalid, NotFound
from core.ids import SYSTEM_TENANT, KeyId, NamespaceId, TenantId, UserId, new_uuid
from core.model import Target
from core.ports import Directory, IndexTask, Keyring, TenantKeys
from core.scope import (
    Action,
    Call,
    Decision,
    OperatorScope,
    Principal,
    Role,
    Scope,
    SourceKind,
    TenantScope,
    Trail,
)
from gateway.access.names import (
    actor_name,
    namespace_key,
    person_name,
    seal_namespace,
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
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    user: UserId
    namespaces: frozenset[NamespaceId]
    known: bool


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
                names at most one namespace.
            action: one of `memory:…`.
            make: False keeps a write from making the person and the namespace known.

        Raises:
            Denied: the policy says no, or the person or a namespace is outside the credential.
            Invalid: no `user_id`, or a malformed identifier.
            NotFound: a space is named; there is none here.
            Unavailable: the directory or the keys did not answer.
        """
        asked = self._asked(call.principal, target, action)
        keys = await self._keys(asked.tenant)
        if make and action is Action.MEMORY_WRITE:
            reach = await self._make(keys, asked.user_id, asked.names)
        else:
            reach = await self._find(keys, asked.user_id, asked.names)
        return Scope(
            tenant=asked.tenant,
            user=reach.user,
            namespaces=reach.namespaces,
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
        """Return the scope of one item of the index queue: one person, one namespace.

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
        return Scope(
            tenant=task.tenant,
            user=task.user,
            namespaces=frozenset({task.namespace}),
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
        asked = _Asked(
            tenant=_tenant(principal),
            user_id=_person(principal, target),
            names=_namespaces(principal, target, action),
            decision=decision,
        )
        if target.spaces:
            raise NotFound
        return asked

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

    async def _find(self, keys: TenantKeys, user_id: str, names: tuple[str, ...] | None) -> _Reach:
        wanted = None if names is None else [namespace_key(keys, name) for name in names]
        found = await self._directory.resolve(keys.tenant, user_key(keys, user_id), wanted)
        # What the directory adds to what was asked is dropped: it looks up, it does not decide.
        namespaces = frozenset(
            space for key, space in found.namespaces.items() if wanted is None or key in wanted
        )
        if found.user is None:
            return _Reach(user=UserId(new_uuid()), namespaces=namespaces, known=False)
        return _Reach(user=found.user, namespaces=namespaces, known=True)

    async def _make(self, keys: TenantKeys, user_id: str, names: tuple[str, ...] | None) -> _Reach:
        (name,) = names or (DEFAULT_NAMESPACE,)
        user, namespace = await self._directory.ensure(
            keys.tenant,
            user_key(keys, user_id),
            namespace_key(keys, name),
            seal_namespace(keys, name),
        )
        return _Reach(user=user, namespaces=frozenset({namespace}), known=True)


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


def _trail(call: Call, keys: TenantKeys, person: str | None) -> Trail:
    return Trail(
        actor=actor_name(keys, call.principal.key_id),
        on_behalf_of=person,
        request_id=call.request_id,
        trace_id=call.trace_id,
    )
