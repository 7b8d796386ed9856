"""However much others keep, no score and no order of one's own moves: not alone, not in a space.

What others keep uses the same words, so that a frequency, a size or a duplicate that was counted
over more than one owner would show.
"""

from typing import Any

import pytest

from tests.house import House
from tests.live.gateways import Agent

QUESTIONS = ("jasmine honey", "tea lemon number", "honey honey with jasmine")
BATCH = 100


@pytest.fixture
def admin(house: House) -> Agent:
    return house.tenant()


@pytest.fixture
def alice(house: House, admin: Agent) -> Agent:
    """Somebody with memories of her own, and in a space of either audience."""
    agent = house.agent(admin, "alice")
    for name, audience in (("basics", "same_user"), ("team", "members")):
        shared(admin, name, audience, "user:alice")
    for number in range(6):
        with_what = "honey" if number % 2 else "lemon"
        agent.write(f"jasmine tea number {number} with {with_what}")
        agent.write(f"a basic jasmine tea {number} with {with_what}", space="basics")
        agent.write(f"the team has tea {number} with {with_what}", space="team")
    house.indexed()
    return agent


def shared(admin: Agent, name: str, audience: str, *members: str) -> None:
    body = {"name": name, "audience": audience}
    assert admin.call("POST", "/v1/admin/spaces", json=body).status_code == 201
    for member in members:
        path = f"/v1/admin/spaces/{name}/members/{member.replace(':', '%3A')}"
        assert admin.call("PUT", path, json={"role": "writer"}).status_code == 200


def scores(agent: Agent) -> list[tuple[Any, ...]]:
    asked = {"limit": 18, "explain": True, "timeout_ms": 10_000}
    found = [memory for question in QUESTIONS for memory in agent.recall(question, **asked)]
    return [
        (
            memory["id"],
            memory["space"],
            memory["explain"]["lexical"],
            memory["explain"].get("dense", 0.0),
        )
        for memory in found
    ]


def crowd(agent: Agent, number: int, **fields: Any) -> None:
    """Keep so many texts of the same words."""
    for start in range(0, number, BATCH):
        items = [
            agent.about(content=f"jasmine honey lemon tea {start + place}", **fields)
            for place in range(min(BATCH, number - start))
        ]
        reply = agent.call("POST", "/v1/memories/batch", json={"items": items})
        assert all("outcomes" in result for result in reply.json()["results"]), reply.text


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "documents", [100, pytest.param(10_000, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_what_others_keep_moves_no_score_and_no_order(
    house: House, admin: Agent, alice: Agent, documents: int
) -> None:
    before = scores(alice)
    assert {space for _, space, *_ in before} == {None, "basics", "team"}
    stranger = house.someone("alice")
    crowd(stranger, documents)  # another tenant
    neighbour = house.agent(admin, "bob")
    crowd(neighbour, documents)  # another person
    shared(admin, "elsewhere", "members", "user:bob")
    crowd(neighbour, documents, space="elsewhere")  # another space
    crowd(house.agent(admin, "alice", namespaces=["closed"]), documents)  # another namespace
    house.indexed(60 + documents / 20)
    assert scores(alice) == before


@pytest.mark.requirement("C11")
def test_the_same_text_in_a_space_and_outside_is_two_memories(
    house: House, admin: Agent, alice: Agent
) -> None:
    """What is there already is asked of one owner and one space, and never of all."""
    shared(admin, "club", "members", "user:alice", "user:bob")
    bob = house.agent(admin, "bob")
    said = [
        agent.write("I drink tea", **more)["outcomes"][0]
        for agent, more in (
            (alice, {}), (alice, {"space": "basics"}), (alice, {"space": "team"}),
            (alice, {"space": "club"}), (bob, {"space": "club"}), (bob, {}),
        )
    ]  # fmt: skip
    assert {outcome["status"] for outcome in said} == {"stored"}
    assert len({outcome["id"] for outcome in said}) == 6
