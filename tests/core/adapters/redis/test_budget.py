"""Budgets on a real Valkey: exact over replicas, and local when it is away."""

import asyncio

import pytest

from core.adapters.redis.budget import WINDOW_SECONDS, RedisBudget
from core.errors import Denied, Throttled
from core.ids import TenantId, new_key_id, new_uuid
from core.scope import Action, Call, Principal, Role

PATIENT = 30.0  # a busy test machine is not a server that is away
AWAY = "unix:///nowhere/valkey.sock?db=0"


def caller(*roles: Role, tenant: TenantId | None = None, nobody: bool = False) -> Call:
    principal = Principal(
        tenant=None if nobody or Role.OPERATOR in roles else tenant or TenantId(new_uuid()),
        key_id=new_key_id(),
        roles=frozenset(roles or {Role.WRITER}),
        namespaces=None,
        users=None,
    )
    return Call(principal=principal, request_id="r")


def real(engines, *, requests: int, writes: int = 0) -> RedisBudget:
    return RedisBudget(
        engines.redis_url,
        requests_per_minute=requests,
        writes_per_minute=writes,
        timeout_seconds=PATIENT,
    )


async def admitted(budget: RedisBudget, call: Call, times: int, action=Action.MEMORY_READ) -> int:
    async def once() -> bool:
        try:
            await budget.charge(call, action)
        except Throttled:
            return False
        return True

    return sum(await asyncio.gather(*(once() for _ in range(times))))


async def test_replicas_together_let_exactly_the_limit_through(engines):
    replicas = [real(engines, requests=100) for _ in range(3)]
    for _ in range(5):
        call = caller()
        found = await asyncio.gather(*(admitted(one, call, 200) for one in replicas))
        assert sum(found) == 100
        assert await admitted(replicas[0], caller(), 1) == 1
    for replica in replicas:
        await replica.aclose()


async def test_writes_have_a_budget_of_their_own_and_units(engines):
    budget = real(engines, requests=50, writes=10)
    call = caller()
    await budget.charge(call, Action.MEMORY_WRITE, units=8)
    with pytest.raises(Throttled) as refused:
        await budget.charge(call, Action.MEMORY_WRITE, units=3)
    assert 1 <= refused.value.retry_after_seconds <= WINDOW_SECONDS + 1
    await budget.charge(call, Action.MEMORY_WRITE, units=2)
    await budget.charge(call, Action.MEMORY_READ)
    await budget.aclose()


async def test_a_call_over_one_budget_is_charged_for_none(engines):
    budget = real(engines, requests=3, writes=1)
    call = caller()
    await budget.charge(call, Action.MEMORY_WRITE)
    for _ in range(5):
        with pytest.raises(Throttled):
            await budget.charge(call, Action.MEMORY_WRITE)
    assert await admitted(budget, call, 5) == 2
    await budget.aclose()


@pytest.mark.parametrize("url", ["real", AWAY])
async def test_without_tenant_or_credential_a_call_is_refused_and_not_unlimited(engines, url):
    budget = real(engines, requests=5) if url == "real" else RedisBudget(url, requests_per_minute=5)
    with pytest.raises(Denied):
        await budget.charge(caller(nobody=True), Action.MEMORY_READ)
    no_key = Call(
        principal=Principal(
            tenant=TenantId(new_uuid()),
            key_id=new_key_id()[:0],  # type: ignore[arg-type]  # a plain, empty string
            roles=frozenset({Role.READER}),
            namespaces=None,
            users=None,
        ),
        request_id="r",
    )
    with pytest.raises(Denied):
        await budget.charge(no_key, Action.MEMORY_READ)
    with pytest.raises(Denied):
        await budget.charge(caller(), Action.MEMORY_WRITE, units=-5)
    await budget.charge(caller(Role.OPERATOR), Action.TENANT_LIST)
    await budget.aclose()


async def test_with_no_limit_nobody_is_asked():
    budget = RedisBudget(AWAY)
    for _ in range(100):
        await budget.charge(caller(), Action.MEMORY_WRITE, units=1000)
    assert budget._server._alone_until == 0.0
    await budget.aclose()


async def test_when_the_server_is_away_a_replica_lets_its_share_through():
    seconds = [1000.0]
    budget = RedisBudget(
        AWAY,
        requests_per_minute=100,
        writes_per_minute=2,
        replicas=4,
        monotonic=lambda: seconds[0],
    )
    call = caller()
    assert await admitted(budget, call, 60) == 25
    assert await admitted(budget, caller(), 60) == 25
    seconds[0] += WINDOW_SECONDS
    assert await admitted(budget, call, 60) == 0
    seconds[0] += 1
    assert await admitted(budget, call, 60) == 25
    writer = caller()
    await budget.charge(writer, Action.MEMORY_WRITE)
    with pytest.raises(Throttled) as refused:
        await budget.charge(writer, Action.MEMORY_WRITE)
    assert refused.value.retry_after_seconds == WINDOW_SECONDS + 1
    await budget.aclose()


async def test_too_many_to_count_locally_are_refused_until_some_are_over():
    seconds = [1000.0]
    budget = RedisBudget(AWAY, requests_per_minute=100, monotonic=lambda: seconds[0])
    budget._local._spent = {b"%d" % n: {1000: 1} for n in range(10_000)}
    with pytest.raises(Throttled):
        await budget.charge(caller(), Action.MEMORY_READ)
    seconds[0] += WINDOW_SECONDS + 1
    await budget.charge(caller(), Action.MEMORY_READ)
    assert len(budget._local._spent) == 1
    await budget.aclose()
