"""Twelve people of four tenants do random things to their own memories and try everybody else's.

They act beside each other; nothing of one is in any reply, error, metric, span or log line that
another may see (tests/stateful/people.py says what they do, and what is looked for).
"""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import pytest

from core.adapters.qdrant.edge import EdgeIndex
from core.errors import Unavailable
from tests.house import House
from tests.stateful.people import OPERATIONS, PEOPLE, WEIGHTS, World, everybody


@pytest.mark.requirement("M1")
def test_nobody_is_ever_shown_anything_of_somebody_else(house: House) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")  # noqa: T201 - what a failure is replayed from
    world = World(house, seed)
    said_before = len(house.log)
    house.run(everybody(world), seconds=600)
    assert sum(world.done.values()) == OPERATIONS >= 5_000
    assert {name for name, times in world.done.items() if times} == set(WEIGHTS)
    # What everybody may see holds nothing of anybody.
    metrics = house.http.get("/metrics").text
    for sink in (metrics, house.traces(), "\n".join(house.log[said_before:])):
        found = [thing for thing in world.owners if thing in sink]
        assert found == []
        assert [word for word in PEOPLE if f'"{word}"' in sink] == []
    assert len(world.owners) > 1_000


@contextlib.contextmanager
def without_an_index(_house: House) -> Iterator[None]:
    async def away(_self: EdgeIndex, _frame: Any, _seconds: float) -> None:
        raise Unavailable

    with mock.patch.object(EdgeIndex, "_ask", away):
        yield


@contextlib.contextmanager
def without_an_embedder(house: House) -> Iterator[None]:
    house.embedder.down = True
    try:
        yield
    finally:
        house.embedder.down = False


@pytest.mark.requirement("M1")
@pytest.mark.parametrize(
    ("gone", "missing"), [(without_an_index, "index"), (without_an_embedder, "embedder")]
)
def test_nor_while_a_part_is_missing(
    house: House, gone: Callable[[House], AbstractContextManager[None]], missing: str
) -> None:
    world = World(house, secrets.randbits(32), (missing,))
    house.indexed()
    with gone(house):
        house.run(everybody(world, steps=40), seconds=300)
    house.indexed()
    assert world.degraded > 10


def test_the_check_sees_what_is_not_ones_own(house: House) -> None:
    world = World(house, 7)
    mine, next_to_me, foreign = world.people[0], world.people[1], world.people[3]
    world.check(f"about {mine.words[0]} in {mine.tenant.id}", mine.tenant, mine)
    world.check(next_to_me.words[0], mine.tenant, None)
    for text in (next_to_me.words[0], foreign.words[0], foreign.tenant.id, foreign.key):
        with pytest.raises(AssertionError, match="another"):
            world.check(f"about {text}.", mine.tenant, mine)
