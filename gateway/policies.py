"""A tenant's own access policy: put, read, and explained; each path top to bottom.

Rules this module keeps:
- A policy that fails its lint or its own cases is refused, and the one before stays in force.
- It is swapped whole, in the transaction of its audit event, and takes rights away as far as
  anybody knows: what was judged under the one before does not commit.
- Nobody puts a policy under which they could not put the next one.
- An explanation opens no memory and makes nothing; that somebody asked is in the audit log.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.errors import Invalid, TooLarge
from core.ids import KeyId
from core.model import Json
from core.ports import MemberKind, MemberRole, Members, Membership, TenantKeys
from core.scope import WRITING, Action, Call, Principal, Role, TenantScope
from gateway.access.in_force import KIND
from gateway.access.names import member_key, space_key, user_key
from gateway.access.overlay import EMPTY, MAX_BYTES, keyed, version_of
from gateway.access.policy import Asker, Policy
from gateway.access.rules import TENANT
from gateway.access.version_token import mint_version
from gateway.auth.grants import Grants, open_grants
from gateway.gate import Gate
from gateway.guard.guard import Guard
from gateway.guard.identifiers import check_identifier
from gateway.recording import record
from gateway.refusing import refusing


@dataclass(frozen=True, slots=True, kw_only=True)
class PutPolicy:
    """A policy in force.

    Args:
        document: as it was put.
        version: of the document over the deployment's policy; decisions name it.
        access_version: version token of the change; None when it was only read.
    """

    document: Mapping[str, Json] = field(repr=False)
    version: str
    access_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What an administrator asks about a decision; names as a caller would spell them.

    Args:
        roles: of whoever asks; None when `key_id` names an API key, whose own count.
        user_id: the person acted for.
        namespace, space: where; None for the tenant as a whole.
    """

    action: str
    roles: frozenset[Role] | None = None
    key_id: str | None = None
    user_id: str | None = field(default=None, repr=False)
    namespace: str | None = None
    space: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One rule that was asked, by the names of the question."""

    subject: str = field(repr=False)
    place: str
    rule: str
    effect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A decision and what it rests on."""

    allowed: bool
    rule: str
    policy_version: str
    checked: tuple[Checked, ...]


async def put_access_policy(gate: Gate, call: Call, document: Mapping[str, Json]) -> PutPolicy:
    """Put the tenant's access policy in force, whole; an empty document leaves the base policy.

    Args:
        document: `rules`, `people`, `cases`; at most 1 MiB as JSON.

    Raises:
        Invalid: it is refused; each fault names its place.
        TooLarge, ContentRejected, Denied, Outdated, Unavailable: nothing was put.
    """
    action = Action.POLICY_WRITE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        if len(json.dumps(document, ensure_ascii=False).encode()) > MAX_BYTES:
            raise TooLarge("A policy has at most 1 MiB.", field="rules")
        keys = await gate.keyring.tenant(scope.tenant)
        # Thousands of keyed hashes, names to scan and cases to try: not on the event loop.
        guard = await gate.guards.of(call.principal)
        policy = await asyncio.to_thread(_checked, gate, guard, document, keys)
        _keep_in(policy, call.principal, keys)
        version = policy.version if policy.is_own else ""
        async with gate.directory.admin(scope) as view:
            await view.put_policy(gate.access.policies.sealed(document, version, keys))
            await record(view, scope, f"{KIND}:{policy.version}", count=_size(document))
            epoch = await view.epoch()
        token = mint_version(keys, epoch)
        return PutPolicy(document=document, version=policy.version, access_version=token)


async def access_policy(gate: Gate, call: Call) -> PutPolicy:
    """Return the tenant's access policy as it was put, an empty one if none was.

    Raises: Denied, Outdated, Unavailable.
    """
    action = Action.POLICY_READ
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        keys = await gate.keyring.tenant(scope.tenant)
        policies = gate.access.policies
        async with gate.directory.admin(scope) as view:
            row = await view.policy(KIND)
            document = EMPTY if row is None else policies.opened(row, keys)[0]
            await record(view, scope, KIND, count=_size(document))
        base = policies.base.version
        own = row is not None and row.version
        return PutPolicy(document=document, version=version_of(base, document) if own else base)


async def explain(gate: Gate, call: Call, question: Question) -> Explained:
    """Say what would be decided, and by which rules.

    Raises: Denied, Invalid, NotFound (no such key), Outdated, Unavailable.
    """
    action = Action.POLICY_EXPLAIN
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        asked = _action(question)
        _check(question)
        keys = await gate.keyring.tenant(scope.tenant)
        policy = await gate.access.policies.of(call.principal)
        async with gate.directory.admin(scope) as view:
            grants = None
            roles = question.roles or frozenset()
            if question.key_id is not None:
                row = await view.key(KeyId(question.key_id))
                roles, grants = row.roles, open_grants(keys, row)
            await record(view, scope, "decision")
        explained = _explained(policy, keys, question, asked, roles, grants)
        if grants is None or not explained.allowed or not asked.object.startswith("memory:"):
            return explained
        refused = _outside(question, grants) or await _not_let_in(
            gate, scope, keys, question, asked, grants
        )
        if refused is None:
            return explained
        return Explained(
            allowed=False,
            rule=refused,
            policy_version=explained.policy_version,
            checked=explained.checked,
        )


def _checked(gate: Gate, guard: Guard, document: Mapping[str, Json], keys: TenantKeys) -> Policy:
    policy = gate.access.policies.compiled(document, keys)
    names = _names(document)
    guard.check({kind: sorted(texts) for kind, texts in names.items()})
    return policy


def _names(document: Mapping[str, Json]) -> Mapping[str, set[str]]:
    """Return every name that a document holds, by what it names; the document has been read."""
    found: dict[str, set[str]] = {
        "name": set(),
        "user_id": set(),
        "namespace": set(),
        "space": set(),
    }
    rules, people, cases = (document.get(part, []) for part in ("rules", "people", "cases"))
    spelled = [rule["subject"] for rule in rules]
    spelled += [one.get("in", TENANT) for one in (*rules, *cases)]
    for kind, _, name in (one.partition(":") for one in spelled):
        if kind in {"namespace", "space"}:
            found[kind].add(name)
        elif kind == "user":
            found["user_id"].add(name)
    for person in people:
        found["user_id"].add(person["user_id"])
        found["namespace"] |= set(person["namespaces"]) - {"*"}
    for case in cases:
        found["name"].add(case["case"])
        if case["subject"].get("user_id") is not None:
            found["user_id"].add(case["subject"]["user_id"])
    return found


def _keep_in(policy: Policy, principal: Principal, keys: TenantKeys) -> None:
    """Refuse a policy under which whoever puts it could not put another."""
    asker = Asker.of(keys, principal.roles, key=principal.key_id, owner=principal.person)
    if not policy.judge(asker, Action.POLICY_WRITE).allowed:
        raise Invalid("It would shut out whoever puts it.", field="rules")


def _size(document: Mapping[str, Json]) -> int:
    return len(document.get("rules", [])) + len(document.get("people", []))


def _action(question: Question) -> Action:
    try:
        return Action(question.action)
    except ValueError:
        pass
    raise Invalid("There is no such action.", field="action")


def _check(question: Question) -> None:
    """Refuse a question that is not one."""
    if (question.roles is None) == (question.key_id is None):
        raise Invalid("Name either roles or a key.", field="roles")
    if question.roles is not None and Role.OPERATOR in question.roles:
        raise Invalid("There is no such role in a tenant.", field="roles")
    if (
        question.namespace is not None
        and question.space is not None
        and (question.action != Action.MEMORY_WRITE)
    ):
        raise Invalid("Only a write is in both; ask for each.", field="space")
    for name in ("user_id", "namespace", "space"):
        value = getattr(question, name)
        if value is not None:
            check_identifier(name, value)


def _explained(
    policy: Policy,
    keys: TenantKeys,
    question: Question,
    action: Action,
    roles: frozenset[Role],
    grants: Grants | None,
) -> Explained:
    owner = None if grants is None else grants.owner
    asker = Asker.of(keys, roles, key=question.key_id, owner=owner, person=question.user_id)
    named = [f"user:{one}" for one in (owner, question.user_id) if one is not None]
    places = [
        f"{kind}:{name}"
        for kind, name in (("namespace", question.namespace), ("space", question.space))
        if name is not None
    ]
    spelled = {keyed(keys, one): one for one in (*named, *places)}
    touched = [keyed(keys, place) for place in places]
    ruling = policy.judge(asker, action, *touched)
    return Explained(
        allowed=ruling.allowed,
        rule=ruling.rule,
        policy_version=policy.version,
        checked=tuple(
            Checked(
                subject=spelled.get(one.subject, one.subject),
                place=spelled.get(one.place, one.place),
                rule=one.ruling.rule,
                effect="allow" if one.ruling.allowed else "deny",
            )
            for one in policy.checks(asker, action, *touched)
        ),
    )


def _outside(question: Question, grants: Grants) -> str | None:
    """Return what ends a call that a key's own record does not cover; None for nothing."""
    user_id, namespace = question.user_id, question.namespace
    if user_id is not None and grants.users is not None and user_id not in grants.users:
        return "person-outside-credential"
    if (
        namespace is not None
        and grants.namespaces is not None
        and namespace not in grants.namespaces
    ):
        return "namespace-outside-credential"
    return None


async def _not_let_in(
    gate: Gate,
    scope: TenantScope,
    keys: TenantKeys,
    question: Question,
    action: Action,
    grants: Grants,
) -> str | None:
    """Return what ends a key's call about a space that does not let it in; None for nothing."""
    if question.space is None:
        return None
    used = grants.namespaces if question.namespace is None else (question.namespace,)
    who = [(MemberKind.KEY, question.key_id or "")]
    who += [(MemberKind.NAMESPACE, name) for name in used or ()]
    if question.user_id is not None:
        who.append((MemberKind.USER, question.user_id))
    found = await gate.directory.resolve(
        scope.tenant,
        user_key(keys, question.user_id or ""),
        (),
        Members(
            keys=tuple(member_key(keys, kind, name) for kind, name in who),
            every_namespace=used is None,
        ),
    )
    return _membership(found.spaces, space_key(keys, question.space), action)


def _membership(spaces: tuple[Membership, ...], key: bytes, action: Action) -> str | None:
    roles = [one.role for one in spaces if one.key == key]
    if not roles:
        return "not-a-member"
    return "space-reader" if action in WRITING and MemberRole.WRITER not in roles else None
