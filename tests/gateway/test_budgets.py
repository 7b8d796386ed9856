"""Whose budgets a call pays from, and what tenants may say of their own."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adapters.redis.budget import RedisBudget
from core.errors import Denied, Outdated, Tampered, Throttled, Unavailable
from core.ids import TenantId, new_key_id, new_uuid
from core.ports import PolicyRow
from core.ports.budgets import Charge, Left, Spent
from core.scope import Action, Call, Principal, Role, Standing
from gateway.budgets import COSTS, MENDING, Budgets
from gateway.quotas import KIND, QuotaBook, Quotas, _place, _version
from tests.gateway.access.directory import FakeDirectory, make_keyring

pytestmark = pytest.mark.requirement("C21")

TENANT, OTHER = TenantId(new_uuid()), TenantId(new_uuid())
AWAY = "unix:///nowhere/valkey.sock?db=0"


class Till:
    """Counts nothing; remembers what was asked of it."""

    def __init__(self) -> None:
        self.charges: list[Charge] = []

    async def spend(self, charges):
        self.charges = list(charges)
        left = [Left(limit=one.limit, units=one.limit - one.units, seconds=60) for one in charges]
        return Spent(wait_seconds=0, left=left)

    @property
    def paid(self) -> set[tuple[str, str, int, int]]:
        return {(one.of, one.kind, one.limit, one.units) for one in self.charges}


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT, OTHER)


@pytest.fixture
def directory():
    return FakeDirectory()


@pytest.fixture
def till():
    return Till()


@pytest.fixture
def budgets(till, directory, keyring):
    return Budgets(till, QuotaBook(directory, keyring), keyring)


@pytest.fixture
def put(directory, keyring):
    """Put quotas in force for a tenant; returns their version."""

    async def puts(quotas: Quotas, tenant: TenantId = TENANT) -> str:
        data = quotas.to_bytes()
        version = _version(data)
        sealed = (await keyring.tenant(tenant)).seal(_place(version), data)
        directory.policies[tenant, KIND] = PolicyRow(kind=KIND, version=version, sealed=sealed)
        return version

    return puts


def caller(version: str = "", **changes: Any) -> Call:
    values: dict[str, Any] = {
        "tenant": TENANT,
        "key_id": new_key_id(),
        "roles": frozenset({Role.WRITER}),
        "namespaces": None,
        "users": None,
        "standing": Standing(quotas=version),
    } | changes
    return Call(principal=Principal(**values), request_id=str(new_uuid()))


FULL = Quotas(
    tenant={"requests_per_minute": 1000, "writes_per_minute": 100, "concurrency": 7},
    keys={"default": {"requests_per_minute": 300, "writes_per_minute": 30}},
    users={"default": {"requests_per_minute": 50, "writes_per_minute": 5}},
)


def test_every_action_has_a_cost_of_one_or_two():
    assert COSTS.keys() == set(Action)
    assert set(COSTS.values()) == {1, 2}
    dear = {each for each in Action if COSTS[each] == 2}
    assert dear == {Action.MEMORY_RECALL, Action.MEMORY_WRITE, Action.MEMORY_UPDATE}


async def test_a_write_pays_from_all_budgets_at_once(budgets, till, put):
    call = caller(await put(FULL))
    await budgets.charge(call, Action.MEMORY_WRITE, user_id="alice")
    assert till.paid == {
        ("tenant", "requests", 1000, 2),
        ("tenant", "writes", 100, 1),
        ("key", "requests", 300, 2),
        ("key", "writes", 30, 1),
        ("user", "requests", 50, 2),
        ("user", "writes", 5, 1),
    }
    assert {one.tenant for one in till.charges} == {TENANT}
    assert not any("alice" in str(one.subject) for one in till.charges)


async def test_a_read_pays_no_write_and_an_administrator_for_nobody(budgets, till, put):
    call = caller(await put(FULL))
    await budgets.charge(call, Action.MEMORY_RECALL, user_id="alice")
    assert {(of, kind, units) for of, kind, _, units in till.paid} == {
        ("tenant", "requests", 2),
        ("key", "requests", 2),
        ("user", "requests", 2),
    }
    await budgets.charge(call, Action.KEY_LIST)
    assert {(of, units) for of, _, _, units in till.paid} == {("tenant", 1), ("key", 1)}


async def test_items_of_a_batch_pay_each(budgets, till, put):
    await budgets.charge(caller(await put(FULL)), Action.MEMORY_WRITE, units=3, user_id="a")
    assert {units for _, kind, _, units in till.paid if kind == "requests"} == {6}
    assert {units for _, kind, _, units in till.paid if kind == "writes"} == {3}


async def test_people_and_tenants_have_budgets_of_their_own(budgets, till, put):
    version = await put(FULL)
    assert await put(FULL, OTHER) == version

    async def subject(user_id: str | None, **changes) -> Charge | None:
        await budgets.charge(caller(version, **changes), Action.MEMORY_READ, user_id=user_id)
        return next((one for one in till.charges if one.of == "user"), None)

    alice = await subject("alice")
    assert alice == await subject(None, users=frozenset({"alice"}))
    assert alice != await subject("bob")
    assert alice != await subject("alice", tenant=OTHER)
    # Whoever may not act for a person spends nothing of theirs, and nobody is spent for nobody.
    assert await subject("alice", users=frozenset({"bob"})) is None
    assert await subject(None) is None
    assert await subject("*") is None
    assert await subject("a" * 1000) is None


@pytest.mark.parametrize("version", ["", "put"])
async def test_without_tenant_or_credential_a_call_is_refused_and_not_unlimited(
    budgets, put, version
):
    version = version and await put(FULL)
    for who in ({"tenant": None}, {"key_id": ""}):
        with pytest.raises(Denied):
            await budgets.charge(caller(version, **who), Action.MEMORY_READ)
    with pytest.raises(Denied):
        await budgets.charge(caller(version), Action.MEMORY_WRITE, units=-1)


async def test_the_operator_pays_as_a_tenant_of_its_own(till, directory, keyring):
    budgets = Budgets(till, QuotaBook(directory, keyring), keyring, key_requests=9, key_writes=3)
    call = caller(tenant=None, roles=frozenset({Role.OPERATOR}))
    await budgets.charge(call, Action.TENANT_LIST)
    assert till.paid == {("key", "requests", 9, 1)}
    assert till.charges[0].tenant.int == 0


async def test_what_the_deployment_says_holds_until_the_tenant_says_otherwise(
    till, directory, keyring, put
):
    budgets = Budgets(till, QuotaBook(directory, keyring), keyring, key_requests=9, key_writes=3)
    named = new_key_id()
    version = await put(
        Quotas(keys={named: {"requests_per_minute": None}, "default": {"writes_per_minute": 8}})
    )
    await budgets.charge(caller(version), Action.MEMORY_WRITE)
    assert till.paid == {("key", "requests", 9, 2), ("key", "writes", 8, 1)}
    await budgets.charge(caller(version, key_id=named), Action.MEMORY_WRITE)
    assert till.paid == {("key", "writes", 8, 1)}


async def test_where_nothing_is_limited_nobody_is_asked(budgets, till):
    call = caller()
    await budgets.charge(call, Action.MEMORY_WRITE, units=1000, user_id="alice")
    assert till.charges == []
    assert budgets.tightest(call.request_id) is None
    assert await budgets.concurrency(call.principal, Action.MEMORY_WRITE) is None


async def test_quotas_are_read_once_a_version_and_opened_for_their_tenant_alone(
    budgets, directory, put
):
    version = await put(FULL)
    for _ in range(3):
        await budgets.charge(caller(version), Action.MEMORY_READ)
        assert await budgets.concurrency(caller(version).principal, None) == 7
    assert directory.policies_read == 1
    await budgets.charge(caller(await put(Quotas())), Action.MEMORY_READ)
    assert directory.policies_read == 2
    directory.policies[OTHER, KIND] = directory.policies[TENANT, KIND]  # moved in the database
    moved = directory.policies[OTHER, KIND].version
    with pytest.raises(Unavailable):
        await budgets.charge(caller(moved, tenant=OTHER), Action.MEMORY_READ)


async def test_quotas_that_do_not_load_refuse_rather_than_lift(budgets, till, directory, put):
    version = await put(FULL)
    row = directory.policies[TENANT, KIND]
    faults = {
        "gone": None,
        "older": PolicyRow(kind=KIND, version="0" * 16, sealed=row.sealed),
        "renamed": PolicyRow(kind=KIND, version=version[::-1], sealed=row.sealed),
        "edited": PolicyRow(
            kind=KIND, version=version, sealed=row.sealed[:-1] + bytes([row.sealed[-1] ^ 1])
        ),
    }
    for name, fault in faults.items():
        directory.policies.pop((TENANT, KIND), None)
        if fault is not None:
            directory.policies[TENANT, KIND] = fault
        asked = fault.version if name == "renamed" and fault else version
        with pytest.raises(Unavailable) as refused:
            await budgets.charge(caller(asked), Action.MEMORY_READ)
        assert isinstance(refused.value, Outdated) is (name in {"gone", "older"})
    directory.down = True
    with pytest.raises(Unavailable):
        await budgets.charge(caller(version), Action.MEMORY_READ)
    with pytest.raises(Unavailable):
        await budgets.concurrency(caller(version).principal, Action.MEMORY_READ)
    assert till.charges == []


async def test_nobody_locks_themselves_out_with_their_own_quotas(budgets, till, directory, put):
    nothing = Quotas(
        tenant={"requests_per_minute": 0}, keys={"default": {"requests_per_minute": 0}}
    )
    call = caller(await put(nothing), roles=frozenset({Role.ADMIN}))
    for action in MENDING:
        await budgets.charge(call, action)
        assert till.charges == []
    directory.policies.clear()  # also when they do not load any more
    for action in MENDING:
        await budgets.charge(call, action)
        assert await budgets.concurrency(call.principal, action) is None
    with pytest.raises(Unavailable):
        await budgets.charge(call, Action.KEY_LIST)


async def test_the_tightest_budget_is_told_once_and_a_refusal_tells_it_too(directory, keyring, put):
    counter = RedisBudget(AWAY)
    budgets = Budgets(counter, QuotaBook(directory, keyring), keyring)
    call = caller(await put(Quotas(tenant={"requests_per_minute": 5}, keys={"default": {
        "requests_per_minute": 3}})))  # fmt: skip
    await budgets.charge(call, Action.MEMORY_RECALL)
    told = budgets.tightest(call.request_id)
    assert told is not None
    assert (told.name, told.left.limit, told.left.units) == ("key-requests", 3, 1)
    assert budgets.tightest(call.request_id) is None
    with pytest.raises(Throttled) as refused:
        await budgets.charge(call, Action.MEMORY_RECALL)
    assert refused.value.retry_after_seconds >= 1
    told = budgets.tightest(call.request_id)
    assert told is not None
    assert told.left.units == 1
    await counter.aclose()


limits = st.none() | st.integers(0, 10**9)
rates = st.dictionaries(st.sampled_from(["requests_per_minute", "writes_per_minute"]), limits)


@given(
    tenant=rates, keys=st.dictionaries(st.text(), rates), users=st.dictionaries(st.text(), rates)
)
def test_quotas_read_as_they_were_written(tenant, keys, users):
    quotas = Quotas(tenant=tenant, keys=keys, users=users)
    assert Quotas.from_bytes(quotas.to_bytes()) == quotas


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"keys":{},"tenant":{}}',
        b'{"keys":{},"tenant":{},"users":{},"more":{}}',
        b'{ "keys":{},"tenant":{},"users":{}}',
        b'{"keys":[],"tenant":{},"users":{}}',
        b'{"keys":{"a":5},"tenant":{},"users":{}}',
        b'{"keys":{},"tenant":5,"users":{}}',
    ],
)
def test_quotas_that_read_otherwise_are_tampered_with(data):
    with pytest.raises(Tampered):
        Quotas.from_bytes(data)
