"""The one place where an allow decision becomes a Scope.

Rules this module keeps:
- The tenant's policy is asked first, then for each place; nothing is made for what it denies. A
  place that it denies is left out, and said no to when the caller named it.
- A token is judged by its scopes as well, and what cannot be undone needs its person at hand.
- Reading makes nothing. A person never seen reads as empty; a namespace never seen adds nothing.
  Writing makes both, after the decision.
- A space is open to its members alone; to everybody else it is not there. Membership is read for
  each call, together with the epoch of the tenant's rights: another epoch than the credential was
  verified under ends the call.
- A call that brings a version token is judged at that epoch or a later one, or not at all.
- The operator sees no memory; nobody else makes tenants.
- Without a policy there is no enforcer, so nothing is decided by default.
"""

from dataclasses import dataclass

from core.errors import Denied, Invalid, NotFound, ScopeMissing, StepUpNeeded, Unavailable
from core.ids import SYSTEM_TENANT, KeyId, TenantId
from core.model import Target
from core.ports import Directory, IndexTask, Keyring, TenantKeys
from core.scope import (
    Action,
    Call,
    Decision,
    OperatorScope,
    Principal,
    Scope,
    SourceKind,
    Spaces,
    TenantScope,
    Trail,
)
from gateway.access.asked import (
    Asked,
    named_person,
    names_of,
    person_of,
    tenant_of,
    within_namespaces,
)
from gateway.access.in_force import Policies
from gateway.access.names import actor_name, person_name
from gateway.access.policy import Asker, Policy
from gateway.access.reach import find, make_known, reached
from gateway.access.rules import Rules, Ruling
from gateway.access.scopes import STEP_UP, scopes_of
from gateway.access.version_token import open_version
from gateway.guard.identifiers import check_identifier

_WORKER = "worker:index"
_OPERATORS_OBJECT = "admin:tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What is said of a credential and an action before it is known where."""

    allowed: bool
    rule: str
    policy_version: str


class Enforcer:
    """Turns (who asks, for what, to do what) into a Scope, or Denied.

    Args:
        rules: the deployment's policy.
        directory: inside ids of people, namespaces and spaces, and the tenants' own policies.
        keyring: look-ups are keyed hashes.
    """

    def __init__(self, rules: Rules, directory: Directory, keyring: Keyring) -> None:
        self._directory = directory
        self._keyring = keyring
        self._policies = Policies(rules, directory, keyring)

    @property
    def policies(self) -> Policies:
        """Every tenant's policy in force."""
        return self._policies

    @property
    def policy_version(self) -> str:
        """Short hash of the deployment's policy."""
        return self._policies.base.version

    def swap(self, rules: Rules) -> None:
        """Put another checked policy of the deployment in force, from the next decision on."""
        self._policies = Policies(rules, self._directory, self._keyring)

    async def ruling(self, principal: Principal, action: Action) -> Judged:
        """Return whether a credential may do `action` anywhere: for the audit log, and for lists of
        what it may call. It opens nothing.

        Raises:
            Unavailable: the tenant's policy does not load.
        """
        policy = await self._policies.of(principal)
        asker = await self._asker(principal, policy)
        ruling = policy.anywhere(asker, action)
        version = policy.version
        if ruling.allowed and _lacks_scope(principal, action):
            return Judged(allowed=False, rule="scope-missing", policy_version=version)
        return Judged(allowed=ruling.allowed, rule=ruling.rule, policy_version=version)

    async def permit(self, call: Call, target: Target, action: Action) -> frozenset[str] | None:
        """Judge a call about one person's memories without looking anything up, or making it.

        A write asks this first, so that content which the guard then refuses leaves no trace of a
        person or a namespace. Whether a space lets it in is known only when it is looked up.

        Returns:
            Names of the namespaces that it is for, the one written to; None for all.

        Raises: as `scope`.
        """
        asked = await self._asked(call, target, action)
        return None if asked.names.places is None else frozenset(asked.names.places)

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
            ScopeMissing, StepUpNeeded: the policy says yes, and the token does not carry it.
            Invalid: no `user_id`, a malformed identifier, or a version token of nobody's here.
            NotFound: a space is named that the caller is no member of, or that is not there.
            Outdated: rights were taken away since the credential was verified.
            Unavailable: the directory or the keys did not answer, the tenant's policy does not
                load, or this replica is behind the version token.
        """
        asked = await self._asked(call, target, action)
        writing = action is Action.MEMORY_WRITE
        if writing and make and not asked.names.spaces:  # in no space: there is nothing to look up
            reach = await make_known(self._directory, asked, Spaces(), None, asked.ruling)
        else:
            found = await find(self._directory, call.principal, asked)
            reach = await reached(self._directory, asked, found, makes=make)
        return Scope(
            tenant=asked.keys.tenant,
            user=reach.user,
            namespaces=reach.namespaces,
            readable=reach.readable,
            writable=reach.writable,
            into=reach.into,
            action=action,
            decision=Decision(rule=reach.rule, policy_version=asked.policy.version),
            principal=call.principal,
            trail=_trail(call, asked.keys, person_name(asked.keys, asked.user_id)),
            epoch=call.principal.standing.epoch,
            known=reach.known,
        )

    async def tenant_scope(self, call: Call, action: Action) -> TenantScope:
        """Return the scope of a tenant's administration or audit; it opens no memory.

        Raises:
            Denied: the policy says no, the caller has no tenant, or the action is not of this kind.
            ScopeMissing, StepUpNeeded, Invalid, Unavailable: as `scope`.
        """
        principal = call.principal
        await self._check_version(call)
        policy = await self._policies.of(principal)
        ruling = self._decide(call, policy, await self._asker(principal, policy), action)
        if action.object.startswith("memory:") or action.object == _OPERATORS_OBJECT:
            raise Denied(rule="not-about-a-tenant")
        tenant = tenant_of(principal)
        keys = await self._keys(tenant)
        return TenantScope(
            tenant=tenant,
            action=action,
            decision=Decision(rule=ruling.rule, policy_version=policy.version),
            principal=principal,
            trail=_trail(call, keys, None),
            epoch=principal.standing.epoch,
        )

    async def operator_scope(self, call: Call, action: Action) -> OperatorScope:
        """Return the scope in which tenants are made, listed and erased.

        Raises:
            Denied: the policy says no, the caller belongs to a tenant or holds a token, or it is
                another action.
            Invalid: a version token came along, which no operator is given.
            Unavailable: the keys did not answer.
        """
        principal = call.principal
        await self._check_version(call)
        policy = await self._policies.of(principal)
        ruling = self._decide(call, policy, await self._asker(principal, policy), action)
        if action.object != _OPERATORS_OBJECT or principal.tenant is not None:
            raise Denied(rule="operator-only")
        keys = await self._keys(SYSTEM_TENANT)
        return OperatorScope(
            action=action,
            decision=Decision(rule=ruling.rule, policy_version=policy.version),
            principal=principal,
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
            decision=Decision(rule=_WORKER, policy_version=self.policy_version),
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

    async def _check_version(self, call: Call) -> None:
        """Refuse a call that must be judged later than its credential was read."""
        if call.not_before is None:
            return
        tenant = call.principal.tenant
        if tenant is None:
            raise Invalid("No version token is the operator's.", field="X-Access-Version")
        if open_version(await self._keys(tenant), call.not_before) > call.principal.standing.epoch:
            raise Unavailable

    async def _asked(self, call: Call, target: Target, action: Action) -> Asked:
        principal = call.principal
        await self._check_version(call)
        policy = await self._policies.of(principal)
        asker = await self._asker(principal, policy, named_person(principal, target))
        ruling = self._decide(call, policy, asker, action)
        if not action.object.startswith("memory:"):
            raise Denied(rule="not-about-memories")
        tenant = tenant_of(principal)
        user_id = person_of(principal, target)
        names = names_of(principal, target, action, user_id, policy.listed(asker))
        asked = Asked(
            keys=await self._keys(tenant),
            user_id=user_id,
            action=action,
            names=names,
            policy=policy,
            asker=asker,
            ruling=ruling,
        )
        return within_namespaces(asked) if policy.has_places else asked

    async def _asker(
        self, principal: Principal, policy: Policy, person: str | None = None
    ) -> Asker:
        if not policy.is_own or principal.tenant is None:  # the base policy knows nobody by name
            return Asker(roles=principal.roles, key=principal.key_id)
        return Asker.of(
            await self._keys(principal.tenant),
            principal.roles,
            key=principal.key_id,
            owner=principal.person,
            person=person,
        )

    def _decide(self, call: Call, policy: Policy, asker: Asker, action: Action) -> Ruling:
        principal = call.principal
        ruling = policy.anywhere(asker, action)
        if not ruling.allowed:
            raise Denied(rule=ruling.rule)
        if _lacks_scope(principal, action):
            needed = scopes_of(action)
            raise ScopeMissing(needed) if needed else Denied(rule="not-for-tokens")
        if action in STEP_UP and not (principal.fresh or call.confirmed):
            raise StepUpNeeded
        return ruling

    async def _keys(self, tenant: TenantId) -> TenantKeys:
        try:
            return await self._keyring.tenant(tenant)
        except NotFound as err:  # erased since the credential was read
            raise Denied(rule="no-tenant") from err


def _lacks_scope(principal: Principal, action: Action) -> bool:
    """Tell whether a token does not carry what `action` needs; without a scope, it is for none."""
    if principal.scopes is None:
        return False
    needed = scopes_of(action)
    return not needed or not needed <= principal.scopes


def _trail(call: Call, keys: TenantKeys, person: str | None) -> Trail:
    return Trail(
        actor=actor_name(keys, call.principal.key_id),
        on_behalf_of=person,
        request_id=call.request_id,
        trace_id=call.trace_id,
    )
