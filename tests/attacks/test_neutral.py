"""What is foreign, missing, gone or never was there answers alike, in every place that names it.

The places are found in the OpenAPI document and in the schemas of tools (tests/attacks/places.py),
each tried with every kind of credential. Answers are compared whole: status, headers, body.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import pytest

from tests.attacks.asks import MISSING, Stage, ask_of, sample_of
from tests.attacks.places import Place, places, unknown
from tests.house import House, key_body
from tests.live.gateways import Agent, wait_until

pytestmark = pytest.mark.requirement("C9")

_RANDOM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+Z")
_TOOK = re.compile(r'"took_ms":\d+')
_TOKEN = re.compile(r"\b[0-9a-f]{16}\b")
_ECHO = re.compile(r"(never|other|person-[en])-\d+")
_numbers = count(1000)

Reasons = Mapping[str, Callable[[int], Any]]
"""Why something is not there for me -> what to call it; the number makes a name fresh."""


def always(name: str) -> Callable[[int], str]:
    return lambda _number: name


def seen(reply: httpx.Response) -> tuple[int, dict[str, str], str]:
    """What a caller can tell of a reply, but ids and times that are new in each."""
    text = _TOKEN.sub("TOKEN", _TIME.sub("TIME", _RANDOM.sub("ID", reply.text)))
    text = _TOOK.sub('"took_ms":0', text)
    text = _ECHO.sub("NAME", text)
    passing = {"x-request-id", "x-access-version"}  # the latter is sealed anew for each reply
    if '"took_ms":0' in text:  # as many digits as it took
        passing.add("content-length")
    headers = {name: value for name, value in reply.headers.items() if name not in passing}
    return reply.status_code, headers, text


@dataclass
class Ground:
    """A tenant with everything that there may be, and another with what is not for the first."""

    stage: Stage
    other: Stage
    credentials: dict[str, Agent]
    known: dict[str, list[Reasons]] = field(default_factory=dict)

    def alike(self, kind: str) -> list[Reasons]:
        """Return groups of reasons; of each group every one must be answered like the first."""
        if kind not in self.known:
            self.known[kind] = _KINDS[kind](self)
        return self.known[kind]

    @classmethod
    def of(cls, house: House) -> "Ground":
        stage, other = Stage.of(house), Stage.of(house)
        roles = {"reader": ["reader"], "writer": ["writer"], "curator": ["curator", "reader"],
                 "auditor": ["auditor"], "admin": ["admin"]}  # fmt: skip
        credentials = {"everything": stage.agent}
        for name, held in roles.items():
            credentials[name] = house.agent(stage.admin, "alice", roles=held)
        credentials["one person's"] = house.agent(stage.admin, "alice", users=["alice"])
        credentials["every namespace"] = house.agent(stage.admin, "alice", namespaces=["*"])
        credentials["operator"] = house.operator
        other.agent = house.agent(other.admin, "alice", namespaces=["*"])
        return cls(stage, other, credentials)

    def asking(self, place: Place) -> dict[str, Agent]:
        """Return the credentials to ask with: every kind where the path names the thing."""
        few: dict[str, tuple[str, ...]] = {
            "namespace": ("everything", "every namespace", "admin"),
            "cursor": ("everything", "operator"),
        }
        names = few.get(place.kind, ("everything", "admin", "one person's"))
        if place.where == "path":
            names = tuple(name for name in self.credentials if name != "every namespace")
        return {name: self.credentials[name] for name in names}

    def memories(self) -> Reasons:
        house = self.stage.house
        neighbour = house.agent(self.stage.admin, "bob", users=["bob"])
        elsewhere = house.agent(self.stage.admin, "alice", namespaces=["closed"])
        expired = self.stage.agent.stored("gone in a second", ttl_seconds=1)
        gone = self.stage.agent.stored("said by mistake")
        assert self.stage.agent.forget(gone).status_code == 200
        wait_until(lambda: self.stage.agent.get(expired).status_code == 404, what="the expiry")
        ids = {
            "never there": MISSING,
            "another person's": neighbour.stored("bob drinks coffee"),
            "of another namespace": elsewhere.stored("behind a door"),
            "another tenant's": self.other.memory,
            "forgotten": gone,
            "expired": expired,
            "no id": "no-such-memory",
            "another thing's": self.stage.key_id,
        }
        return {why: always(memory) for why, memory in ids.items()}

    def keys(self) -> Reasons:
        ids = {"never there": "a" * 16, "another tenant's": self.other.key_id,
               "another's memory": self.other.memory, "no id": "nothing"}  # fmt: skip
        return {why: always(key) for why, key in ids.items()}

    def tenants(self) -> Reasons:
        house = self.stage.house
        erased = house.tenant().tenant
        assert house.operator.call("DELETE", f"/v1/admin/tenants/{erased}").status_code == 200
        ids = {"never there": MISSING, "erased": erased, "the system's": str(_NIL), "no id": "x"}
        return {why: always(tenant) for why, tenant in ids.items()}

    def people(self) -> Reasons:
        def elsewhere(number: int) -> str:
            name = f"person-e-{number}"
            self.other.agent.write("known over there", user_id=name)
            return name

        return {"never there": lambda n: f"person-n-{n}", "only another tenant's": elsewhere}

    def namespaces(self) -> Reasons:
        def elsewhere(number: int) -> str:
            name = f"other-{number}"
            self.other.agent.write("in a namespace that only they have", namespace=name)
            return name

        return {"never there": lambda n: f"never-{n}", "only another tenant's": elsewhere}

    def marks(self, named: str) -> Reasons:
        value = (lambda text: [text]) if named == "tags" else (lambda text: text)
        bob = Agent(self.stage.agent.http, self.stage.agent.key, self.stage.agent.tenant, "bob")
        bob.write("marked", **{named: value("of-bob-00")})
        self.other.agent.write("marked", **{named: value("of-other-0")})
        return {
            "never there": lambda n: f"never-{n}",
            "another person's": always("of-bob-00"),
            "another tenant's": always("of-other-0"),
        }

    def cursors(self) -> Reasons:
        def page(agent: Agent, path: str = "/v1/memories") -> str:
            agent.write(f"one more {next(_numbers)}")
            agent.write(f"one more {next(_numbers)}")
            params = agent.about(limit=1) if path == "/v1/memories" else {"limit": 1}
            cursor: str = agent.call("GET", path, params=params).json()["next_cursor"]
            assert cursor
            return cursor

        bob = Agent(self.stage.agent.http, self.stage.agent.key, self.stage.agent.tenant, "bob")
        cursors = {"another tenant's": page(self.other.agent), "another person's": page(bob),
                   "none": "AAAA", "cut": page(bob)[:-4]}  # fmt: skip
        return {why: always(cursor) for why, cursor in cursors.items()}

    def spaces(self) -> Reasons:
        """Of spaces as memories are asked for: what I am no member of is not there."""
        self._space(self.other, "theirs")
        self._space(self.stage, "closed", member=False)
        self._space(self.stage, "gone", member=True)
        assert self.stage.admin.call("DELETE", "/v1/admin/spaces/gone").status_code == 200
        return {
            "never there": lambda n: f"never-{n}",
            "another tenant's": always("theirs"),
            "not mine": always("closed"),
            "deleted": always("gone"),
        }

    def rooms(self) -> Reasons:
        """Of spaces as they are administered: what is not in the tenant is not there."""
        self.alike("space")
        return {
            "never there": lambda n: f"never-{n}",
            "another tenant's": always("theirs"),
            "deleted": always("gone"),
        }

    def key_members(self) -> Reasons:
        return {
            "never there": always("key:" + "a" * 16),
            "another tenant's": always(f"key:{self.other.key_id}"),
        }

    def people_members(self) -> Reasons:
        def as_member(name: Callable[[int], str]) -> Callable[[int], str]:
            return lambda number: f"user:{name(number)}"

        return {why: as_member(name) for why, name in self.people().items()}

    @staticmethod
    def _space(stage: Stage, name: str, *, member: bool = True) -> None:
        body = {"name": name, "audience": "same_user"}
        assert stage.admin.call("POST", "/v1/admin/spaces", json=body).status_code == 201
        if member:
            path = f"/v1/admin/spaces/{name}/members/user%3Aalice"
            reply = stage.admin.call("PUT", path, json={"role": "writer"})
            assert reply.status_code == 200, reply.text


_KINDS: Mapping[str, Callable[[Ground], list[Reasons]]] = {
    "memory": lambda ground: [ground.memories()],
    "key": lambda ground: [ground.keys()],
    "tenant": lambda ground: [ground.tenants()],
    "person": lambda ground: [ground.people()],
    "namespace": lambda ground: [ground.namespaces()],
    "session": lambda ground: [ground.marks("session_id")],
    "tag": lambda ground: [ground.marks("tags")],
    "cursor": lambda ground: [ground.cursors()],
    "space": lambda ground: [ground.spaces()],
    "room": lambda ground: [ground.rooms()],
    "member": lambda ground: [ground.key_members(), ground.people_members()],
    "policy": lambda _ground: [
        {"never there": lambda n: f"kind-{n}", "a later release's": always("retention")}
    ],
}
_NIL = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def ground(house: House) -> Ground:
    return Ground.of(house)


def ask(ground: Ground, agent: Agent, place: Place, value: Any) -> httpx.Response:
    """Send the good request of a route or a tool, but for one place."""
    wanted = [value] if place.many else value
    changed: dict[str, Any] = {"by": agent}
    if place.where == "path":
        changed["names"] = {place.field: value}
    elif place.where == "query":
        changed["params"] = {place.field: wanted}
    elif place.where == "body":
        changed["json"] = {place.field: wanted}
    else:
        (item,) = sample_of(ground.stage, place.name)["items"]
        changed["json"] = {"items": [item | {place.field: wanted}]}
    return ask_of(ground.stage, place.name, **changed)


def test_every_field_and_path_is_known_to_name_something_or_nothing() -> None:
    assert unknown() == []


@pytest.mark.parametrize("place", [*places()], ids=str)
def test_what_is_not_there_for_me_is_answered_alike(ground: Ground, place: Place) -> None:
    unlike = []
    statuses = set()
    for reasons in ground.alike(place.kind):
        for who, agent in ground.asking(place).items():
            number = next(_numbers)
            answers = {
                why: seen(ask(ground, agent, place, value(number)))
                for why, value in reasons.items()
            }
            first = next(iter(answers.values()))
            statuses.add(first[0])
            unlike += [
                (who, why, answer, first) for why, answer in answers.items() if answer != first
            ]
    assert unlike == []
    assert statuses - {401, 403}, "no credential got as far as the look-up"


def test_a_sample_of_each_place_succeeds_when_the_thing_is_there(ground: Ground) -> None:
    """So that what is refused above is refused for what it names."""
    agent = ground.credentials["everything"]
    listed = agent.call("GET", "/v1/memories", params=agent.about(namespace="main"))
    assert listed.json()["items"]
    assert agent.get(ground.stage.memory).status_code == 200
    spare = ground.stage.admin.call("POST", "/v1/admin/keys", json=key_body(name="spare")).json()
    path = f"/v1/admin/keys/{spare['id']}/rotate"
    assert ground.stage.admin.call("POST", path, json={}).status_code == 200
