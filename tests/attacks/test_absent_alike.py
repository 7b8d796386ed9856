"""Foreign, missing, forgotten, expired, malformed: one answer, whoever asks in whatever way.

The answers are compared whole: status, headers, body; only the id of the request may differ.
"""

import re
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gateway.front.http import OPERATIONS
from gateway.front.tools import SPECS
from tests.attacks.asks import MISSING, NAMES, SAMPLES, TOOL_SAMPLES, Stage, ask_of
from tests.house import House, key_body
from tests.live.gateways import Agent, wait_until

REQUEST_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MALFORMED = ("x", "01900000", MISSING.upper().replace("0", "A"), f"{{{MISSING}}}"[:36], "..", "me")

# What names two things is tried, as all of these are, by tests/attacks/test_neutral.py.
NAMING = [op.name for op in OPERATIONS if op.path.count("{") == 1]
TOOLS = [name for name in SPECS if "memory_id" in SPECS[name].model.model_fields]
OF_MEMORIES = [
    *(op.name for op in OPERATIONS if op.path.startswith("/v1/memories/{")), *TOOLS
]  # fmt: skip


def seen(reply: httpx.Response) -> tuple[int, dict[str, str], str]:
    """What a caller can tell of a reply, but the id of the request."""
    headers = {name: value for name, value in reply.headers.items() if name != "x-request-id"}
    return reply.status_code, headers, REQUEST_ID.sub("ID", reply.text)


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    return Stage.of(house)


@pytest.fixture(scope="module")
def absent(house: House, stage: Stage) -> dict[str, str]:
    """Ids of memories that are not there for the stage's agent, by the reason."""
    neighbour = house.agent(stage.admin, "bob", users=["bob"])
    elsewhere = house.agent(stage.admin, "alice", namespaces=["closed"])
    stranger = house.someone("alice")
    expired = stage.agent.stored("gone in a second", ttl_seconds=1)
    forgotten = stage.agent.stored("said by mistake")
    assert stage.agent.forget(forgotten).status_code == 200
    wait_until(lambda: stage.agent.get(expired).status_code == 404, what="the expiry")
    return {
        "missing": MISSING,
        "another person's": neighbour.stored("bob drinks coffee"),
        "of a namespace that the key has not": elsewhere.stored("behind a door"),
        "another tenant's": stranger.stored("she drinks green tea"),
        "forgotten": forgotten,
        "expired": expired,
    } | {f"malformed {text}": text for text in MALFORMED if text != ".."}


@pytest.mark.requirement("C9")
@pytest.mark.parametrize("name", OF_MEMORIES)
def test_a_memory_that_is_not_there_for_me_looks_missing(
    stage: Stage, absent: dict[str, str], name: str
) -> None:
    answers = {why: seen(ask_of(stage, name, thing=memory)) for why, memory in absent.items()}
    wanted = answers["missing"]
    if name in SPECS:
        assert '"isError":true' in wanted[2]
    else:
        assert wanted[0] == 404
    assert {why: answer for why, answer in answers.items() if answer != wanted} == {}


@pytest.mark.requirement("C9")
@pytest.mark.parametrize("name", sorted(set(NAMING) - set(OF_MEMORIES)))
def test_a_key_or_a_tenant_that_is_not_there_looks_missing(
    house: House, stage: Stage, name: str
) -> None:
    other = house.tenant()
    foreign_key = other.call("POST", "/v1/admin/keys", json=key_body()).json()["id"]
    things = ["a" * 16, "nothing", MISSING, "A-b.c~d", "x" * 64]
    things += [foreign_key] if "key" in name else ["00000000-0000-0000-0000-000000000000"]
    answers = {thing: seen(ask_of(stage, name, thing=thing)) for thing in things}
    wanted = answers[MISSING]
    assert wanted[0] == 404
    assert {thing: answer for thing, answer in answers.items() if answer != wanted} == {}


def test_every_route_and_tool_that_names_a_thing_is_walked() -> None:
    assert set(NAMING) | set(TOOLS) <= set(NAMES)
    assert set(SAMPLES) == {op.name for op in OPERATIONS}
    assert set(TOOL_SAMPLES) == set(SPECS)


def lists(agent: Agent) -> Iterator[httpx.Response]:
    yield agent.call("GET", "/v1/memories", params=agent.about())
    yield agent.call("GET", "/v1/memories", params=agent.about(tag="x", kind="event"))


def steady(reply: httpx.Response) -> Any:
    body = reply.json()
    return reply.status_code, {
        name: value for name, value in body.items() if name not in {"recall_id", "took_ms"}
    }


@pytest.mark.requirement("C9")
def test_a_person_never_seen_reads_like_one_with_nothing_left(house: House, stage: Stage) -> None:
    """The name of a person that only another tenant knows is as unknown as any."""
    stranger = house.someone("known elsewhere")
    stranger.write("something")
    emptied = Agent(house.http, stage.agent.key, stage.agent.tenant, "emptied")
    emptied.forget(emptied.stored("for a moment"))
    answers = []
    for name in ("never seen", "known elsewhere", "emptied"):
        agent = Agent(house.http, stage.agent.key, stage.agent.tenant, name)
        replies = [*lists(agent)]
        body = agent.about(query="something", timeout_ms=5000)
        replies.append(agent.call("POST", "/v1/recall", json=body))
        answers.append([steady(reply) for reply in replies])
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][2][1] == {"memories": [], "degraded": []}


@pytest.mark.requirement("C9")
def test_reading_about_a_person_never_seen_makes_nobody_known(house: House, stage: Stage) -> None:
    with house.below("users") as connection:
        before = connection.execute("SELECT count(*) FROM users").fetchall()
    someone = Agent(house.http, stage.agent.key, stage.agent.tenant, "a passer-by")
    someone.recall("tea")
    someone.listed()
    assert someone.get(MISSING).status_code == 404
    assert someone.forget(MISSING).status_code == 404
    with house.below("users") as connection:
        assert connection.execute("SELECT count(*) FROM users").fetchall() == before


@pytest.mark.requirement("C9")
def test_absence_costs_the_same_for_every_reason(stage: Stage, absent: dict[str, str]) -> None:
    """Coarse on purpose: a machine that is shared times nothing finely. It finds a look-up that
    only one of the reasons pays for.
    """
    reasons = ["missing", "another person's", "another tenant's", "forgotten"]
    took: dict[str, list[float]] = {why: [] for why in reasons}
    for _ in range(25):
        for why in reasons:
            started = time.perf_counter()
            stage.agent.get(absent[why])
            took[why].append(time.perf_counter() - started)
    fastest = {why: min(times) for why, times in took.items()}
    assert max(fastest.values()) < 2.5 * min(fastest.values())
