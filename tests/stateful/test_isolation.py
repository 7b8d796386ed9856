"""Twenty people of five tenants do random things to their own memories and try everybody else's.

They come with keys and with tokens, share and unshare spaces of both audiences, and lose keys and
rights on the way. Nothing of one is in any reply, error, metric, span or log line that another may
see (tests/stateful/world.py says who may see what, people.py and sharing.py what they do).
"""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from tests.attacks.test_hanging import is_edge, is_valkey, standing_still
from tests.house import House, open_house
from tests.identity.issuer import TestIssuer, running_issuer
from tests.stateful.sharing import everybody, never_done
from tests.stateful.world import PEOPLE, TENANTS, Kept, World

ROUND = 1_000
"""So many operations a tenant, before what everybody may see is looked through."""
FEW = 120
SEED = 2026
MANY = 20


@pytest.fixture(scope="module")
def issuer() -> Iterator[TestIssuer]:
    with running_issuer("ES256") as running:
        yield running


@pytest.fixture(scope="module")
def own(issuer: TestIssuer) -> Iterator[House]:
    """A house that trusts the issuer, and whose limits are counted where every replica counts."""
    trusted = [issuer.settings(namespaces=["main", "side"])]
    with open_house(issuers=trusted, key_requests_per_minute=1_000_000) as house:
        yield house


def lived(house: House, issuer: TestIssuer, steps: int, *missing: str, rounds: int = 1) -> World:
    """Let everybody act; returns what came of it."""
    # What lands is judged by the same operations each time; the long runs look for others.
    seed = SEED if rounds == 1 else secrets.randbits(32)
    print(f"seed {seed}")  # noqa: T201 - what a failure is replayed from
    world = World(house, issuer, seed, missing)
    for _ in range(rounds):
        house.spans.clear()
        house.log.clear()
        house.run(everybody(world, steps), seconds=120 + steps)
        # What everybody may see holds nothing of anybody.
        for sink in (house.http.get("/metrics").text, house.traces(), "\n".join(house.log)):
            assert world.mentioned(sink) == set()
            assert [word for word in PEOPLE if f'"{word}"' in sink] == []
    assert sum(world.done.values()) == TENANTS * steps * rounds
    assert world.found >= 0.9 * world.asked_for
    return world


@pytest.mark.requirement("M1", "C10")
@pytest.mark.parametrize("rounds", [1, pytest.param(MANY, marks=pytest.mark.long)])
def test_nobody_is_ever_shown_anything_of_somebody_else(
    own: House, issuer: TestIssuer, rounds: int
) -> None:
    world = lived(own, issuer, ROUND, rounds=rounds)
    assert sum(world.done.values()) == 5_000 * rounds
    assert never_done(world.done) == set()
    assert len(world.owners) > 1_000
    assert world.asked_for > 10
    assert world.degraded == 0


@contextlib.contextmanager
def index_stands_still(house: House) -> Iterator[None]:
    with standing_still(house, is_edge):
        yield
    house.indexed(60)


@contextlib.contextmanager
def limiter_and_cache_stand_still(house: House) -> Iterator[None]:
    with standing_still(house, is_valkey):
        yield


@contextlib.contextmanager
def no_embedder(house: House) -> Iterator[None]:
    house.embedder.down = True
    try:
        yield
    finally:
        house.embedder.down = False


AWAY: dict[str, tuple[Callable[[House], AbstractContextManager[None]], tuple[str, ...]]] = {
    "index": (index_stands_still, ("index",)),
    "limiter and cache": (limiter_and_cache_stand_still, ()),
    "embedder": (no_embedder, ("embedder",)),
}


@pytest.mark.requirement("M1", "C10")
@pytest.mark.parametrize(
    ("steps", "rounds"),
    [(FEW, 1), pytest.param(ROUND, MANY, marks=pytest.mark.long)],
    ids=["few", "many"],
)
@pytest.mark.parametrize("part", AWAY)
def test_nor_while_a_part_is_away(
    own: House, issuer: TestIssuer, part: str, steps: int, rounds: int
) -> None:
    away, missing = AWAY[part]
    own.indexed()
    with away(own):
        world = lived(own, issuer, steps, *missing, rounds=rounds)
    assert world.degraded > 10 if missing else world.degraded == 0


def test_the_check_sees_what_is_not_for_who_looks(own: House, issuer: TestIssuer) -> None:
    """What a member may see, who is none may not; nor anybody once it is gone."""
    world = World(own, issuer, 7)
    here, there = world.tenants[0], world.tenants[1]
    ana, bo = here.people[0], here.people[1]
    memory = Kept("01900000-0000-7000-8000-000000000001", "", "main", ana, "team")
    word = world.word(memory)
    here.kept[memory.id] = memory
    world.owners[memory.id] = world.owners[word]
    with pytest.raises(AssertionError, match="out of reach"):
        world.check(word, here, bo)
    here.members["team", "user", "bo"] = "reader"
    world.check(f"{word} {memory.id} {here.id}", here, bo)
    here.denied = {("bo", "space:team", "read")}
    with pytest.raises(AssertionError, match="out of reach"):
        world.check(memory.id, here, bo)
    world.check(memory.id, here, None)
    with pytest.raises(AssertionError, match="content"):
        world.check(word, here, None)
    for text in (word, memory.id, here.id, here.admin_key, ana.key):
        with pytest.raises(AssertionError, match="another tenant"):
            world.check(f"about {text}.", there, there.people[0])
    with pytest.raises(AssertionError, match="another person"):
        world.check(ana.key, here, bo)
    del here.kept[memory.id]
    here.denied = set()
    with pytest.raises(AssertionError, match="gone"):
        world.check(word, here, bo)
    assert world.mentioned(f"x {word} {bo.key}, {there.id}") == {word, bo.key, there.id}
