"""Whether the time of a refusal tells which key ids exist. Long: a hundred thousand refusals."""

import random
import statistics
import time
from collections.abc import Callable

import pytest

from core.errors import Unauthenticated
from gateway.auth.authenticator import Authenticator
from gateway.auth.presented import Presented
from tests.house import House, key_body

PAIRS = 50_000
LEAK = 4.5
"""Welch's t beyond which a difference is none of chance. Source: TVLA, Goodwill et al. 2011."""
TRIES = 3
"""What leaks does so every time; what a shared machine does is over by the next."""


def welch(one: list[int], other: list[int]) -> float:
    """Return Welch's t of two samples without their slowest tenth, which is the machine's."""
    bound = statistics.quantiles(one + other, n=10)[-1]
    kept = [[value for value in each if value <= bound] for each in (one, other)]
    means = [statistics.fmean(each) for each in kept]
    errors = [statistics.variance(each) / len(each) for each in kept]
    return float((means[0] - means[1]) / sum(errors) ** 0.5)


@pytest.mark.long
@pytest.mark.requirement("B12")
def test_an_unknown_id_is_refused_as_fast_as_a_wrong_secret(
    house: House, record_property: Callable[[str, object], None]
) -> None:
    gate = house.gateway.gate
    door = Authenticator(gate.directory, gate.keys, gate.keyring)
    admin = house.tenant()
    ids = [admin.call("POST", "/v1/admin/keys", json=key_body()).json()["id"] for _ in range(20)]

    def unknown() -> str:
        return gate.keys.mint().credential

    def wrong() -> str:
        return f"mw_{random.choice(ids)}_{unknown().rpartition('_')[2]}"

    async def refusal(credential: str) -> int:
        presented = Presented(token=credential)
        began = time.perf_counter_ns()
        with pytest.raises(Unauthenticated):
            await door.authenticate(presented, "http")
        return time.perf_counter_ns() - began

    async def samples(kinds: tuple[Callable[[], str], Callable[[], str]]) -> float:
        taken: tuple[list[int], list[int]] = ([], [])
        for _ in range(PAIRS):
            for which in random.sample((0, 1), 2):  # interleaved, in no order
                taken[which].append(await refusal(kinds[which]()))
        return welch(*taken)

    found = []
    for _ in range(TRIES):
        found.append(abs(house.run(samples((unknown, wrong)), 3600)))
        if found[-1] < LEAK:
            break
    control = abs(house.run(samples((unknown, unknown)), 3600))
    record_property("welch", {"t": found, "control": control})
    assert min(found) < LEAK, (found, control)
