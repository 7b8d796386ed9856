"""Who gets which scope, and who gets none."""

import inspect

import pytest

from core.errors import Denied, Invalid, Unavailable
from core.ids import SYSTEM_TENANT, KeyId, MemoryId, NamespaceId, TenantId, UserId, new_uuid
from core.model import Target
from core.ports import IndexTask
from core.scope import Action, Call, Principal, Role, Spaces
from gateway.access.enforcer import Enforcer
from gateway.access.loader import MODEL, _Faults, _parse_policy, load
from gateway.access.names import namespace_key, open_namespace
from gateway.access.rules import Rules
from gateway.resources import data_path
from tests.gateway.access.directory import FakeDirectory, make_keyring
from tests.gateway.access.reference import BAD, GOOD

TENANT = TenantId(new_uuid())
OTHER = TenantId(new_uuid())
AGENT = frozenset({Role.READER, Role.WRITER, Role.CURATOR})
MEMORY_ACTIONS = [action for action in Action if action.object.startswith("memory:")]
RULES = load(data_path("policies", "access"))


def call(roles=AGENT, *, tenant=TENANT, places=None, users=None) -> Call:
    principal = Principal(
        tenant=tenant,
        key_id=KeyId("abcdefgh234567zz"),
        roles=frozenset(roles),
        namespaces=places,
        users=users,
    )
    return Call(principal=principal, request_id="r-1", trace_id="0" * 32)


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT, OTHER)


@pytest.fixture
def directory():
    return FakeDirectory()


@pytest.fixture
def access(directory, keyring):
    return Enforcer(RULES, directory, keyring)


def make_rules(policy: str) -> Rules:
    """Return the rules of `policy` without its cases, which the loader's own tests are about."""
    return Rules(MODEL, _parse_policy(policy, _Faults()), version="test")


async def write(access, user_id="alice", namespaces=None, **who):
    target = Target(user_id=user_id, namespaces=namespaces)
    return await access.scope(call(**who), target, Action.MEMORY_WRITE)


async def recall(access, user_id="alice", namespaces=None, **who):
    target = Target(user_id=user_id, namespaces=namespaces)
    return await access.scope(call(**who), target, Action.MEMORY_RECALL)


async def test_a_write_makes_the_person_and_the_namespace_and_names_one_of_each(access, directory):
    scope = await write(access)
    assert scope.known
    assert scope.tenant == TENANT
    assert set(directory.users.values()) == {scope.user}
    assert frozenset(directory.namespaces.values()) == scope.namespaces
    assert (scope.readable, scope.writable) == (Spaces(), Spaces())


async def test_a_recall_sees_what_was_written(access):
    written = await write(access, namespaces=("support",))
    scope = await recall(access)
    assert (scope.user, scope.namespaces) == (written.user, written.namespaces)
    assert scope.known


@pytest.mark.parametrize("action", [a for a in MEMORY_ACTIONS if a is not Action.MEMORY_WRITE])
async def test_nothing_but_a_write_makes_anything(access, directory, action):
    who = call({*AGENT, Role.PRIVACY})
    scope = await access.scope(who, Target(user_id="nobody", namespaces=("new",)), action)
    assert not scope.known
    assert scope.namespaces == frozenset()
    assert not directory.users
    assert not directory.namespaces


async def test_a_person_never_seen_gets_another_id_each_time(access):
    first, second = await recall(access), await recall(access)
    assert first.user != second.user
    assert not first.known


async def test_the_decision_names_its_rule_and_the_policy(access):
    scope = await recall(access)
    assert scope.decision.rule == "p:role:reader,memory:item,recall"
    assert scope.decision.policy_version == RULES.version
    assert scope.action is Action.MEMORY_RECALL


async def test_the_trail_holds_keyed_hashes_and_the_callers_ids(access, keyring):
    scope = await recall(access)
    keys = await keyring.tenant(TENANT)
    assert scope.trail.actor == keys.blind("actor", "abcdefgh234567zz").hex()
    assert scope.trail.on_behalf_of == keys.blind("person", "alice").hex()
    assert (scope.trail.request_id, scope.trail.trace_id) == ("r-1", "0" * 32)
    assert "alice" not in repr(scope)
    assert await access.audit_names(TENANT, "alice") == {scope.trail.on_behalf_of}
    assert await access.audit_names(OTHER, "alice") != {scope.trail.on_behalf_of}


async def test_the_same_name_in_two_tenants_is_two_people(access):
    mine = await write(access)
    theirs = await write(access, tenant=OTHER)
    assert mine.user != theirs.user
    assert not mine.namespaces & theirs.namespaces
    assert (await recall(access, tenant=OTHER)).user == theirs.user


async def test_namespaces_of_another_tenant_are_never_seen(access):
    await write(access, tenant=OTHER, namespaces=("theirs",))
    scope = await recall(access, namespaces=("theirs",))
    assert scope.namespaces == frozenset()
    assert (await recall(access)).namespaces == frozenset()


async def test_a_namespace_keeps_its_name_sealed(access, directory, keyring):
    scope = await write(access, namespaces=("support",))
    (place,) = scope.namespaces
    keys = await keyring.tenant(TENANT)
    assert b"support" not in directory.sealed[place]
    assert open_namespace(keys, directory.sealed[place]) == "support"


async def test_a_pinned_key_supplies_its_person(access):
    scope = await write(access, user_id=None, users=frozenset({"alice"}))
    assert scope.user == (await recall(access)).user


@pytest.mark.parametrize("users", [None, frozenset({"alice", "bob"}), frozenset()])
async def test_without_a_pinned_person_user_id_is_required(access, users):
    with pytest.raises(Invalid) as caught:
        await recall(access, user_id=None, users=users)
    assert caught.value.detail == "user_id is required"
    assert caught.value.faults[0].field == "user_id"


@pytest.mark.requirement("B2")
@pytest.mark.parametrize("name", [name for name in GOOD if name != "alice"])
async def test_no_other_person_passes_for_the_allowed_one(access, directory, name):
    for ask in (recall, write):
        with pytest.raises(Denied):
            await ask(access, user_id=name, users=frozenset({"alice"}))
    assert directory.calls == 0


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("name", [name for name in GOOD if name != "ns/alice"])
async def test_no_other_namespace_passes_for_the_allowed_one(access, directory, name):
    for ask in (recall, write):
        with pytest.raises(Denied):
            await ask(access, namespaces=(name,), places=("ns/alice",))
    with pytest.raises(Denied):
        await recall(access, namespaces=("ns/alice", name), places=("ns/alice",))
    assert directory.calls == 0


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("name", BAD, ids=ascii)
async def test_what_is_no_identifier_is_invalid_and_looks_nothing_up(access, directory, name):
    for ask in (recall, write):
        with pytest.raises(Invalid) as caught:
            await ask(access, user_id=name)
        assert caught.value.faults[0].field == "user_id"
        with pytest.raises(Invalid) as caught:
            await ask(access, namespaces=(name,))
        assert caught.value.faults[0].field.startswith("namespace")
        if len(name.strip()) > 1:
            assert name not in str(caught.value)
    with pytest.raises(Invalid):
        await access.audit_names(TENANT, name)
    assert directory.calls == 0


@pytest.mark.requirement("C2")
async def test_a_star_in_a_key_is_nobodys_wildcard(access):
    with pytest.raises(Denied):
        await recall(access, users=frozenset({"*"}))
    with pytest.raises(Denied):
        await recall(access, namespaces=("support",), places=("*",))


async def test_a_write_without_a_namespace_goes_to_the_keys_first(access, directory, keyring):
    await write(access, places=("sales", "support"))
    keys = await keyring.tenant(TENANT)
    assert list(directory.namespaces) == [(TENANT, namespace_key(keys, "sales"))]


async def test_a_write_of_an_unlimited_key_goes_to_default(access, directory, keyring):
    await write(access)
    keys = await keyring.tenant(TENANT)
    assert list(directory.namespaces) == [(TENANT, namespace_key(keys, "default"))]


async def test_a_key_without_namespaces_writes_nowhere_and_reads_nothing(access):
    await write(access)
    with pytest.raises(Denied):
        await write(access, places=())
    assert (await recall(access, places=())).namespaces == frozenset()


@pytest.mark.parametrize("names", [(), ("a", "b"), ("a", "a")])
async def test_a_write_names_one_namespace(access, names):
    with pytest.raises(Invalid):
        await write(access, namespaces=names)


async def test_a_limited_key_reads_its_own_namespaces_alone(access):
    mine = await write(access, namespaces=("mine",))
    await write(access, namespaces=("other",))
    assert (await recall(access, places=("mine", "unmade"))).namespaces == mine.namespaces


async def test_an_unlimited_key_reads_every_namespace_of_its_tenant(access):
    one = await write(access, namespaces=("one",))
    two = await write(access, namespaces=("two",))
    assert (await recall(access)).namespaces == one.namespaces | two.namespaces
    assert (await recall(access, namespaces=("one",))).namespaces == one.namespaces
    assert (await recall(access, namespaces=())).namespaces == frozenset()


async def test_what_the_directory_adds_to_the_question_is_dropped(access, directory):
    mine = await write(access, namespaces=("mine",))
    await write(access, namespaces=("other",))
    resolve = directory.resolve

    async def generous(tenant, user, _names, members):
        return await resolve(tenant, user, None, members)

    directory.resolve = generous
    assert (await recall(access, places=("mine",))).namespaces == mine.namespaces


async def test_the_policy_is_asked_before_anything_is_looked_up(access, directory):
    bad = Target(user_id="*", namespaces=("",), spaces=("x",))
    for action in Action:
        with pytest.raises(Denied):
            await access.scope(call(roles=()), bad, action)
    assert directory.calls == 0


async def test_an_operator_sees_no_memory_and_no_tenant(access, directory):
    for roles in ({Role.OPERATOR}, set(Role)):
        for tenant in (None, TENANT):
            who = call(roles=roles, tenant=tenant)
            for action in MEMORY_ACTIONS:
                with pytest.raises(Denied):
                    await access.scope(who, Target(user_id="alice"), action)
            with pytest.raises(Denied):
                await access.tenant_scope(who, Action.KEY_LIST)
    assert directory.calls == 0


async def test_each_kind_of_scope_comes_from_its_own_actions(access):
    everything = set(Role) - {Role.OPERATOR}
    for action in Action:
        memory = action.object.startswith("memory:")
        operators = action.object == "admin:tenant"
        if not memory:
            with pytest.raises(Denied):
                await access.scope(call(everything), Target(user_id="alice"), action)
        if memory or operators:
            with pytest.raises(Denied):
                await access.tenant_scope(call(everything), action)
        else:
            assert (await access.tenant_scope(call(everything), action)).tenant == TENANT
        if operators:
            scope = await access.operator_scope(call({Role.OPERATOR}, tenant=None), action)
            assert scope.action is action
        for who in (call({Role.OPERATOR}), call(everything), call(everything, tenant=None)):
            with pytest.raises(Denied):
                await access.operator_scope(who, action)


async def test_the_trail_of_an_operator_is_hashed_under_the_systems_keys(access, keyring):
    scope = await access.operator_scope(call({Role.OPERATOR}, tenant=None), Action.TENANT_LIST)
    keys = await keyring.tenant(SYSTEM_TENANT)
    assert scope.trail.actor == keys.blind("actor", "abcdefgh234567zz").hex()
    assert scope.trail.on_behalf_of is None


async def test_a_tenant_that_is_gone_denies(access):
    gone = TenantId(new_uuid())
    with pytest.raises(Denied):
        await recall(access, tenant=gone)
    with pytest.raises(Denied):
        await access.tenant_scope(call({Role.ADMIN}, tenant=gone), Action.KEY_LIST)


async def test_a_directory_that_does_not_answer_is_unavailable(access, directory):
    directory.down = True
    for ask in (recall, write):
        with pytest.raises(Unavailable):
            await ask(access)


async def test_a_swapped_policy_decides_from_the_next_call_on(access):
    text = (data_path("policies", "access") / "policy.csv").read_text()
    assert await recall(access)
    access.swap(make_rules(text.replace("memory:item, recall, allow", "memory:item, recall, deny")))
    with pytest.raises(Denied) as caught:
        await recall(access)
    assert caught.value.rule == "p:role:reader,memory:item,recall"
    assert access.policy_version != RULES.version


async def test_the_worker_gets_one_ordinary_scope_an_item(access, keyring):
    task = IndexTask(
        task=7,
        tenant=TENANT,
        user=UserId(new_uuid()),
        namespace=NamespaceId(new_uuid()),
        space=None,
        space_is_owner=False,
        memory=MemoryId(new_uuid()),
        version=1,
        delete=False,
        chunks=1,
    )
    scope = await access.scope_for_task(task)
    assert (scope.tenant, scope.user, scope.namespaces) == (
        TENANT,
        task.user,
        frozenset({task.namespace}),
    )
    assert scope.decision.rule == "worker:index"
    assert scope.action is Action.MEMORY_UPDATE
    assert scope.principal.roles == frozenset()
    keys = await keyring.tenant(TENANT)
    assert scope.trail.actor == keys.blind("actor", "worker:index").hex()
    stolen = Call(principal=scope.principal, request_id="r")
    with pytest.raises(Denied):  # its principal, taken for a caller, may do nothing
        await access.scope(stolen, Target(user_id="alice"), Action.MEMORY_UPDATE)


@pytest.mark.requirement("C3")
def test_enforcement_cannot_be_switched_off(access):
    public = {name for name in dir(access) if not name.startswith("_")}
    assert public == {
        "audit_names",
        "operator_scope",
        "permit",
        "policies",
        "policy_version",
        "ruling",
        "scope",
        "scope_for_task",
        "swap",
        "tenant_scope",
    }
    assert inspect.signature(Enforcer).parameters["rules"].default is inspect.Parameter.empty


async def test_permission_alone_makes_nobody_known(access, directory):
    await access.permit(call(), Target(user_id="nobody-yet"), Action.MEMORY_WRITE)
    scope = await access.scope(
        call(), Target(user_id="nobody-yet"), Action.MEMORY_WRITE, make=False
    )
    assert not scope.known
    assert not directory.users
    assert not directory.namespaces
    with pytest.raises(Denied):
        await access.permit(call({Role.READER}), Target(user_id="alice"), Action.MEMORY_WRITE)
