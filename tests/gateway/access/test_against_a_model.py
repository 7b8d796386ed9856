"""Access decides as an independent model does, on five thousand requests of every kind."""

import asyncio
import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import GatewayError
from core.ids import KeyId, NamespaceId, UserId, new_uuid
from core.model import Target
from core.ports import MemberRole
from core.scope import Action, Call, Principal, Role, Standing
from gateway.access.enforcer import Enforcer
from gateway.access.loader import MODEL
from gateway.access.names import namespace_key, user_key
from gateway.access.overlay import Overlay, compiled
from gateway.access.policy import Person
from gateway.access.rules import RuleLine
from tests.gateway.access.directory import FakeDirectory, make_keyring
from tests.gateway.access.reference import BAD, GOOD, Asked, Granted, decide
from tests.gateway.access.test_enforcer import MEMORY_ACTIONS, RULES, TENANT

SPACES = ["team", "Team", "hr"]
KEY = "abcdefgh234567zz"
NAMES = GOOD[:7]
HERE = ["default", *GOOD[:5]]
ROLES = [role.value for role in Role]
ENDS = {"granted", "forbidden", "invalid", "not_found"}
RULED = [one.value for one in MEMORY_ACTIONS]


def asked(seed: bytes) -> Asked:
    """Return the request of `seed`; many of its names are ones that the credential allows.

    One draw of bytes a request: drawing each field by itself takes Hypothesis twenty times as long
    as answering.
    """
    draw = random.Random(seed)
    may_use, may_act_for = (
        draw.choice([None, None, draw.sample(NAMES, draw.randint(0, 4))]) for _ in range(2)
    )

    def name(allowed):
        return draw.choice([*(allowed or NAMES) * 6, draw.choice(GOOD), draw.choice(BAD)])

    return Asked(
        has_tenant=draw.random() < 0.97,
        roles=frozenset(
            draw.sample(ROLES, draw.randint(0, 5))
            if draw.random() < 0.2
            else ["reader", "writer", draw.choice(["curator", "curator", "admin"])]
        ),
        key=KEY,
        owner=draw.choice([None, None, draw.choice(NAMES)]),
        may_use=None if may_use is None else tuple(may_use),
        may_act_for=None if may_act_for is None else frozenset(may_act_for),
        user_id=draw.choice([None, name(may_act_for), name(may_act_for)]),
        namespaces=draw.choice(
            [None, None, tuple(name(may_use) for _ in range(draw.choice([0, 1, 1, 1, 2])))]
        ),
        spaces=draw.choice([None, (), spaces(draw)]),
        action=draw.choice(
            [*RULED * 4, *["memory:item:write"] * 8, *(one.value for one in Action)]
        ),
        rules=tuple(rules(draw)),
        people={one: person(draw) for one in draw.sample(NAMES, draw.choice([0, 0, 1, 3]))},
        member_of={
            one: draw.choice(["reader", "writer"])
            for one in draw.sample(SPACES, draw.randint(1, 3))
        },
        known_people=frozenset(draw.sample(NAMES, 4)),
        known_places=frozenset(draw.sample(HERE, 4)),
    )


def spaces(draw: random.Random) -> tuple[str, ...]:
    odd = draw.choice([*SPACES, "no", ""]) if draw.random() < 0.2 else draw.choice(SPACES)
    return (odd,) if draw.random() < 0.8 else (odd, draw.choice(SPACES))


def rules(draw: random.Random):
    """Yield rules as a document would hold them, each about another thing."""
    seen = set()
    for _ in range(draw.choice([0, 0, 1, 2, 4, 8])):
        subject = draw.choice(
            [
                f"role:{draw.choice(ROLES[:6])}",
                "role:reader",
                f"key:{KEY}",
                f"user:{draw.choice(NAMES)}",
            ]
        )
        place = draw.choice(
            ["tenant", f"namespace:{draw.choice(HERE)}", f"space:{draw.choice(SPACES)}"]
        )
        about = (subject, place, draw.choice(RULED))
        if about not in seen:
            seen.add(about)
            yield (*about, draw.choice(["allow", "deny"]))


def person(draw: random.Random):
    roles = frozenset(draw.sample(ROLES[:6], draw.randint(0, 5)))
    return roles, draw.choice([None, tuple(draw.sample(HERE, draw.randint(0, 4)))])


def without_own_policy(asked_: Asked) -> Asked:
    return Asked(**vars(asked_) | {"rules": (), "people": {}})


def overlay(asked_: Asked) -> Overlay:
    return Overlay(
        lines=tuple(
            RuleLine(subject, place, Action(action).object, Action(action).verb, effect, number)
            for number, (subject, place, action, effect) in enumerate(asked_.rules)
        ),
        people={
            name: Person(roles=frozenset(map(Role, roles)), namespaces=namespaces)
            for name, (roles, namespaces) in asked_.people.items()
        },
        cases=(),
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
            outcomes["own policy mattered"] += expected != decide(without_own_policy(request_))
            if isinstance(expected, Granted):
                outcomes["into a space"] += expected.into is not None
                outcomes["spaces seen"] += bool(expected.readable)
            made = isinstance(expected, Granted) and expected.makes
            assert found == expected
            assert people == request_.known_people | ({expected.user} if made else set())
            assert places == request_.known_places | (expected.places if made else set())

    ten_requests()
    assert sum(outcomes[kind] for kind in ENDS) >= 5_000
    assert min(outcomes.values()) > 20, outcomes
    assert outcomes.keys() >= ENDS, outcomes


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
    shared = {
        directory.share(keys, space, key__abcdefgh234567zz=MemberRole(role)): space
        for space, role in asked_.member_of.items()
    }
    directory.share(keys, "no", key__abcdefgh234567zy=MemberRole.WRITER)
    who = Call(
        principal=Principal(
            tenant=TENANT if asked_.has_tenant else None,
            key_id=KeyId(asked_.key),
            roles=frozenset(Role(role) for role in asked_.roles),
            namespaces=asked_.may_use,
            users=asked_.may_act_for,
            person=asked_.owner,
            standing=Standing(policy="own"),
        ),
        request_id="r",
    )
    target = Target(user_id=asked_.user_id, namespaces=asked_.namespaces, spaces=asked_.spaces)
    names = dict(places) | people
    access = Enforcer(RULES, directory, keyring_)
    policy = compiled(overlay(asked_), RULES, MODEL, keys, "own")
    access.policies._kept.keep(TENANT, "own", policy)
    try:
        scope = await access.scope(who, target, Action(asked_.action))
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
            readable=frozenset(shared[space] for space in scope.readable.members),
            writable=frozenset(shared[space] for space in scope.writable.members),
            into=None if scope.into is None else shared[scope.into],
        )
        assert scope.user in users or not scope.known
    return (
        decide(asked_),
        found,
        {names[key] for _, key in directory.users},
        {names[key] for _, key in directory.namespaces},
    )
