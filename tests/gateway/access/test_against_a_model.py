"""Access decides as an independent model does, on five thousand requests of every kind."""

import asyncio
import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import GatewayError
from core.ids import NamespaceId, UserId, new_uuid
from core.model import Target
from core.scope import Action, Role
from gateway.access.enforcer import Enforcer
from gateway.access.names import namespace_key, user_key
from tests.gateway.access.directory import FakeDirectory, make_keyring
from tests.gateway.access.reference import BAD, GOOD, Asked, Granted, decide
from tests.gateway.access.test_enforcer import MEMORY_ACTIONS, RULES, TENANT, call


def asked(seed: bytes) -> Asked:
    """Return the request of `seed`; many of its names are ones that the credential allows.

    One draw of bytes a request: drawing each field by itself takes Hypothesis twenty times as long
    as answering.
    """
    draw = random.Random(seed)
    may_use, may_act_for = (
        draw.choice([None, draw.sample(GOOD, draw.randint(0, 4))]) for _ in range(2)
    )

    def name(allowed):
        return draw.choice([*(allowed or GOOD), draw.choice(GOOD), draw.choice(BAD)])

    return Asked(
        has_tenant=draw.random() < 0.9,
        roles=frozenset(draw.sample([role.value for role in Role], draw.randint(0, 5))),
        may_use=None if may_use is None else tuple(may_use),
        may_act_for=None if may_act_for is None else frozenset(may_act_for),
        user_id=draw.choice([None, name(may_act_for), name(may_act_for)]),
        namespaces=draw.choice(
            [None, tuple(name(may_use) for _ in range(draw.choice([0, 1, 1, 2])))]
        ),
        spaces=draw.choice([None, (), (), (), ("team",)]),
        action=draw.choice([one.value for one in [*MEMORY_ACTIONS * 3, *Action]]),
        known_people=frozenset(draw.sample(GOOD, 6)),
        known_places=frozenset(draw.sample(GOOD, 6)),
    )


@pytest.fixture(scope="module")
def steadily():
    """Answer requests on one event loop with one keyring, whatever the number of examples."""
    with asyncio.Runner() as runner:
        keyring_ = runner.run(make_keyring(TENANT))
        yield lambda request_: runner.run(answer(keyring_, request_))


@pytest.mark.requirement("C2")
def test_access_agrees_with_an_independent_model_on_five_thousand_requests(steadily):
    outcomes: Counter[str] = Counter()

    @settings(max_examples=500, suppress_health_check=list(HealthCheck))
    @given(st.binary(min_size=12, max_size=12))
    def ten_requests(seed):
        for number in range(10):
            request_ = asked(seed + bytes([number]))
            expected, found, people, places = steadily(request_)
            outcomes[expected if isinstance(expected, str) else "granted"] += 1
            made = isinstance(expected, Granted) and expected.makes
            assert found == expected
            assert people == request_.known_people | ({expected.user} if made else set())
            assert places == request_.known_places | (expected.places if made else set())

    ten_requests()
    assert outcomes.total() >= 5_000
    assert min(outcomes[kind] for kind in ("granted", "forbidden", "invalid", "not_found")) > 20


async def answer(keyring_, asked_: Asked):
    """Return what the model says, what the enforcer does, and who and what is there afterwards."""
    keys = await keyring_.tenant(TENANT)
    directory = FakeDirectory()
    people = {user_key(keys, name): name for name in GOOD}
    places = {namespace_key(keys, name): name for name in GOOD}
    for key, name in people.items():
        if name in asked_.known_people:
            directory.users[TENANT, key] = UserId(new_uuid())
    for key, name in places.items():
        if name in asked_.known_places:
            directory.namespaces[TENANT, key] = NamespaceId(new_uuid())
    who = call(
        {Role(role) for role in asked_.roles},
        tenant=TENANT if asked_.has_tenant else None,
        places=asked_.may_use,
        users=asked_.may_act_for,
    )
    target = Target(user_id=asked_.user_id, namespaces=asked_.namespaces, spaces=asked_.spaces)
    names = dict(places) | people
    try:
        scope = await Enforcer(RULES, directory, keyring_).scope(who, target, Action(asked_.action))
    except GatewayError as err:
        found: Granted | str = err.code
    else:
        users = {user: people[key] for (_, key), user in directory.users.items()}
        spots = {place: places[key] for (_, key), place in directory.namespaces.items()}
        wanted = asked_.user_id or next(iter(asked_.may_act_for or ()), "")
        found = Granted(
            user=users.get(scope.user, wanted),
            known=scope.known,
            places=frozenset(spots[place] for place in scope.namespaces),
            makes=scope.action is Action.MEMORY_WRITE,
        )
        assert scope.user in users or not scope.known
    return (
        decide(asked_),
        found,
        {names[key] for _, key in directory.users},
        {names[key] for _, key in directory.namespaces},
    )
