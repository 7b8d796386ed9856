"""Budgets on a real Valkey: exact over replicas, and local when it is away."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from core.adapters.redis.budget import RedisBudget
from core.errors import Denied
from core.ids import TenantId, new_uuid
from core.ports.budgets import WINDOW_SECONDS, Charge

PATIENT = 30.0  # a busy test machine is not a server that is away
AWAY = "unix:///nowhere/valkey.sock?db=0"


def charge(limit: int, units: int = 1, **of: Any) -> Charge:
    usual = {"tenant": TenantId(new_uuid()), "of": "key", "subject": "k", "kind": "requests"}
    values: dict[str, Any] = usual | of
    return Charge(limit=limit, units=units, **values)


def like(one: Charge, *, units: int | None = None, limit: int | None = None, **of) -> Charge:
    values = {"tenant": one.tenant, "of": one.of, "subject": one.subject, "kind": one.kind} | of
    return charge(
        one.limit if limit is None else limit, one.units if units is None else units, **values
    )


def real(engines) -> RedisBudget:
    return RedisBudget(engines.redis_url, timeout_seconds=PATIENT)


async def admitted(budget: RedisBudget, one: Charge, times: int) -> int:
    answers = await asyncio.gather(*(budget.spend([one]) for _ in range(times)))
    return sum(not answer.wait_seconds for answer in answers)


@pytest.mark.requirement("C21")
async def test_replicas_together_let_exactly_the_limit_through(engines):
    replicas = [real(engines) for _ in range(3)]
    for _ in range(5):
        one = charge(100)
        found = await asyncio.gather(*(admitted(each, one, 200) for each in replicas))
        assert sum(found) == 100
        assert await admitted(replicas[0], charge(100), 1) == 1
    for replica in replicas:
        await replica.aclose()


_PROCESS = """
import asyncio, sys, uuid
from core.adapters.redis.budget import RedisBudget
from core.ports.budgets import Charge
async def run():
    budget = RedisBudget(sys.argv[1], timeout_seconds=30)
    for tenant in sys.argv[2:]:
        one = Charge(tenant=uuid.UUID(tenant), of="tenant", subject=b"", kind="requests",
                     limit=100, units=1)
        answers = await asyncio.gather(*(budget.spend([one]) for _ in range(200)))
        print(sum(not answer.wait_seconds for answer in answers))
    await budget.aclose()
asyncio.run(run())
"""


@pytest.mark.long
@pytest.mark.requirement("C21")
def test_three_processes_let_exactly_the_limit_through_ten_times(engines):
    tenants = [str(new_uuid()) for _ in range(10)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _PROCESS, engines.redis_url, *tenants],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ},  # noqa: TID251 - a child's environment
        )
        for _ in range(3)
    ]
    said = [each.communicate() for each in running]
    assert [each.returncode for each in running] == [0, 0, 0]
    counts = [[int(line) for line in out.split()] for out, _ in said]
    assert [sum(run) for run in zip(*counts, strict=True)] == [100] * 10


async def test_units_are_spent_as_they_come_and_none_too_many(engines):
    budget = real(engines)
    eight = charge(10, 8, kind="writes")
    assert (await budget.spend([eight])).left[0].units == 2
    refused = await budget.spend([like(eight, units=3)])
    assert 1 <= refused.wait_seconds <= WINDOW_SECONDS + 1
    assert refused.left[0].units == 2
    assert (await budget.spend([like(eight, units=2)])).wait_seconds == 0
    assert (await budget.spend([like(eight, of="tenant")])).wait_seconds == 0
    await budget.aclose()


@pytest.mark.parametrize("url", ["real", AWAY])
async def test_a_call_over_one_budget_is_charged_for_none(engines, url):
    budget = real(engines) if url == "real" else RedisBudget(url)
    requests = charge(3)
    writes = like(requests, kind="writes", limit=1)
    assert not (await budget.spend([requests, writes])).wait_seconds
    for _ in range(5):
        refused = await budget.spend([requests, writes])
        assert refused.wait_seconds
        assert [left.units for left in refused.left] == [2, 0]
    assert await admitted(budget, requests, 5) == 2
    await budget.aclose()


@pytest.mark.parametrize("url", ["real", AWAY])
async def test_budgets_of_tenant_key_and_person_are_apart(engines, url):
    budget = real(engines) if url == "real" else RedisBudget(url)
    one = charge(1, subject="same")
    others = [
        like(one, tenant=TenantId(new_uuid())),
        like(one, of="tenant", subject=b""),
        like(one, of="user"),
        like(one, subject=b"same"),
        like(one, kind="writes"),
    ]
    assert [await admitted(budget, each, 2) for each in [one, *others]] == [1] * 6
    await budget.aclose()


@pytest.mark.parametrize("url", ["real", AWAY])
async def test_another_limit_gives_nothing_back_that_was_spent(engines, url):
    budget = real(engines) if url == "real" else RedisBudget(url)
    one = charge(5)
    assert await admitted(budget, one, 9) == 5
    assert await admitted(budget, like(one, limit=7), 9) == 2
    assert await admitted(budget, like(one, limit=3), 9) == 0
    assert await admitted(budget, charge(0), 3) == 0
    await budget.aclose()


@pytest.mark.requirement("C21")
@pytest.mark.parametrize("url", ["real", AWAY])
async def test_a_charge_that_is_nobodys_is_refused_and_not_unlimited(engines, url):
    budget = real(engines) if url == "real" else RedisBudget(url)
    for wrong in (
        {"tenant": None},
        {"tenant": ""},
        {"subject": ""},
        {"subject": b"", "of": "user"},
        {"units": -5},
        {"limit": -1},
    ):
        values = {"limit": 5, "units": 1} | wrong
        with pytest.raises(Denied):
            await budget.spend([charge(**values)])
    assert (await budget.spend([])).wait_seconds == 0
    await budget.aclose()


async def test_when_the_server_is_away_a_replica_lets_its_share_through():
    seconds = [1000.0]
    budget = RedisBudget(AWAY, replicas=4, monotonic=lambda: seconds[0])
    one = charge(100)
    assert await admitted(budget, one, 60) == 25
    assert await admitted(budget, charge(100), 60) == 25
    assert await admitted(budget, charge(2), 60) == 1  # a limit is no outage
    assert await admitted(budget, charge(0), 60) == 0
    seconds[0] += WINDOW_SECONDS
    assert await admitted(budget, one, 60) == 0
    seconds[0] += 1
    assert await admitted(budget, one, 60) == 25
    writes = charge(4)
    first = await budget.spend([writes])
    assert (first.left[0].units, first.left[0].limit) == (0, 1)
    assert (await budget.spend([writes])).wait_seconds == WINDOW_SECONDS + 1
    await budget.aclose()


async def test_the_wait_is_until_every_budget_has_room():
    seconds = [1000.0]
    budget = RedisBudget(AWAY, monotonic=lambda: seconds[0])
    early, late = charge(1), charge(1)
    await budget.spend([early])
    seconds[0] += 20
    await budget.spend([late])
    refused = await budget.spend([early, late])
    assert refused.wait_seconds == WINDOW_SECONDS + 1
    assert [left.seconds for left in refused.left] == [WINDOW_SECONDS - 19, WINDOW_SECONDS + 1]
    await budget.aclose()


async def test_too_many_to_count_locally_are_refused_until_some_are_over():
    seconds = [1000.0]
    budget = RedisBudget(AWAY, monotonic=lambda: seconds[0])
    budget._local._spent = {b"%d" % n: {1000: 1} for n in range(10_000)}
    assert (await budget.spend([charge(100)])).wait_seconds
    seconds[0] += WINDOW_SECONDS + 1
    assert not (await budget.spend([charge(100)])).wait_seconds
    assert len(budget._local._spent) == 1
    await budget.aclose()
