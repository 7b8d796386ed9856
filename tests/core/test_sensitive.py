"""What is sensitive: labels only rise, it ends within a day, no index has it, it is recalled."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import pytest

from tests.house import House, open_house
from tests.live.gateways import Agent

PAY = "My salary is 84,000 euros a year."
PLAIN = "I like green tea in the morning."
NOTE = {"note": PAY}
DAY = timedelta(hours=24)
SLACK = timedelta(minutes=5)

Change = Callable[[Agent, str], Any]


def patch(agent: Agent, memory: str, **change: Any) -> dict[str, Any]:
    reply = agent.call("PATCH", f"/v1/memories/{memory}", json=agent.about(**change))
    assert reply.status_code == 200, reply.text
    after: dict[str, Any] = reply.json()
    return after


def points(house: House, agent: Agent, memory: str) -> int:
    """How many points the owner of `memory` has, once the index follows."""
    house.indexed()
    with house.below("memories") as connection:
        found = connection.execute("SELECT tenant, user_id FROM memories WHERE id = %s", [memory])
        ((tenant, user),) = found.fetchall()
    assert str(tenant) == agent.tenant
    gate = house.gateway.gate
    keys = house.run(gate.keyring.tenant(tenant))
    place = keys.word("tenant", str(tenant)), keys.word("owner", str(user))
    return house.run(gate.recall.index.count(*place))


def ends_in(memory: dict[str, Any]) -> timedelta:
    assert memory["expires_at"] is not None
    return datetime.fromisoformat(memory["expires_at"]) - datetime.now(UTC)  # noqa: TID251


RISES: dict[str, Change] = {
    "a repeat with more in its metadata": lambda one, _: one.write(PLAIN, metadata=NOTE),
    "a repeat in a batch": lambda one, _: one.call(
        "POST",
        "/v1/memories/batch",
        json={"items": [one.about(content=PLAIN, metadata=NOTE)]},
    ),
    "a repeat that waits for nothing": lambda one, _: one.write(
        PLAIN, metadata=NOTE, wait="durable"
    ),
    "an update of the content": lambda one, memory: patch(one, memory, content=PAY),
    "an update of the metadata": lambda one, memory: patch(one, memory, metadata=NOTE),
}

LOWER: dict[str, Change] = {
    "a repeat of the plain text": lambda one, _: one.write(PLAIN),
    "an update to plain text": lambda one, memory: patch(one, memory, content=PLAIN + " Really."),
    "an update of the metadata": lambda one, memory: patch(one, memory, metadata={"note": "tea"}),
    "a longer life": lambda one, memory: patch(one, memory, expires_at="2099-01-01T00:00:00Z"),
    "no end": lambda one, memory: patch(one, memory, expires_at=None),
}


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("rise", RISES)
def test_a_label_rises_and_what_becomes_sensitive_leaves_the_index(house: House, rise: str) -> None:
    agent = house.someone()
    memory = agent.stored(PLAIN)
    assert points(house, agent, memory) == 1
    RISES[rise](agent, memory)
    after = agent.get(memory).json()
    assert after["sensitivity"] == "sensitive"
    assert ends_in(after) <= DAY
    assert points(house, agent, memory) == 0


@pytest.mark.requirement("D7")
@pytest.mark.parametrize("lower", LOWER)
def test_no_label_falls_and_nothing_lengthens_the_life_of_what_is_sensitive(
    house: House, lower: str
) -> None:
    agent = house.someone()
    memory = agent.stored(PLAIN, metadata=NOTE)
    before = agent.get(memory).json()
    LOWER[lower](agent, memory)
    after = agent.get(memory).json()
    assert after["sensitivity"] == "sensitive"
    assert after["expires_at"] == before["expires_at"]
    assert points(house, agent, memory) == 0


def test_what_a_person_says_of_themselves_is_kept_and_may_rise_but_not_fall(house: House) -> None:
    agent = house.someone()
    memory = agent.stored("I am allergic to peanuts.")
    assert points(house, agent, memory) == 1
    assert agent.get(memory).json()["expires_at"] is None
    after = patch(agent, memory, content="I like peanuts in a film.")
    assert (after["sensitivity"], after["expires_at"]) == ("special", None)
    assert [one["id"] for one in agent.recall("peanuts")] == [memory]


def test_an_old_memory_that_becomes_sensitive_has_a_day_and_no_more(house: House) -> None:
    agent = house.someone()
    memory = agent.stored(PLAIN)
    with house.below("memories") as connection:
        connection.execute(
            "UPDATE memories SET created_at = now() - interval '90 days' WHERE id = %s", [memory]
        )
    risen = patch(agent, memory, metadata=NOTE)
    assert DAY - SLACK < ends_in(risen) <= DAY
    later = patch(agent, memory, expires_at="2099-01-01T00:00:00Z")
    assert later["expires_at"] == risen["expires_at"]
    again = agent.write(PLAIN)["outcomes"][0]
    assert (again["id"], again["expires_at"]) == (memory, risen["expires_at"])


def nearest(house: House, agent: Agent, text: str, query: str) -> list[dict[str, Any]]:
    """Recall as if the question lay where `text` lies, whatever its words are."""
    vector = house.embedder._vector(text)
    with mock.patch.object(house.embedder, "query", mock.AsyncMock(return_value=vector)):
        return agent.recall(query, limit=10, explain=True)


def fill(agent: Agent, count: int = 40) -> None:
    """Push older memories out of the newest."""
    items = [agent.about(content=f"filler number {number} of many") for number in range(count)]
    reply = agent.call("POST", "/v1/memories/batch", json={"items": items})
    assert all("outcomes" in one for one in reply.json()["results"])


@pytest.mark.requirement("E11")
def test_what_is_sensitive_is_found_by_meaning_though_no_index_has_it(house: House) -> None:
    agent = house.someone()
    memory = agent.stored(PAY)
    assert points(house, agent, memory) == 0
    fill(agent)
    first, *_ = nearest(house, agent, PAY, "zebra")
    assert first["id"] == memory
    assert first["explain"]["dense"] == 1.0
    assert first["explain"]["lexical"] == 0.0


@pytest.mark.requirement("E11")
def test_its_words_find_it_too(house: House) -> None:
    agent = house.someone()
    memory = agent.stored(PAY)
    fill(agent)
    first, *_ = agent.recall("salary euros", explain=True)
    assert first["id"] == memory
    assert first["explain"]["lexical"] > 0


@pytest.mark.requirement("E11")
@pytest.mark.parametrize(
    "fields", [{}, {"wait": "durable"}, {"content": PAY + " It was raised." * 200}]
)
def test_it_is_embedded_after_the_answer_where_a_write_does_not_wait(
    house: House, fields: dict[str, Any]
) -> None:
    agent = house.someone()
    text = fields.get("content", PAY)
    memory = agent.write(**{"content": text} | fields)["outcomes"][0]["id"]
    assert points(house, agent, memory) == 0
    fill(agent)
    house.indexed()
    piece = house.embedder.chunks(text)[-1]
    first, *_ = nearest(house, agent, piece, "zebra")
    assert (first["id"], first["explain"]["dense"]) == (memory, 1.0)


@pytest.mark.requirement("E11")
def test_nobody_elses_is_shown_and_nothing_of_another_namespace(house: House) -> None:
    admin = house.tenant()
    alice, bob = house.agent(admin, "alice"), house.agent(admin, "bob")
    of_bob = bob.stored(PAY)
    beside = alice.stored(PAY, namespace="side")
    stranger = house.someone()
    for agent in (alice, stranger):
        found = nearest(house, agent, PAY, "salary euros")
        assert of_bob not in {one["id"] for one in found}
        within = agent.recall("salary euros", namespaces=["main"])
        assert beside not in {one["id"] for one in within}
    assert [one["id"] for one in nearest(house, alice, PAY, "zebra")] == [beside]


@pytest.mark.requirement("E11")
def test_what_has_expired_is_never_shown(house: House) -> None:
    agent = house.someone()
    memory = agent.stored(PAY)
    with house.below("memories") as connection:
        connection.execute(
            "UPDATE memories SET ends_by = NULL, expires_at = now() - interval '1 second'"
            " WHERE id = %s",
            [memory],
        )
    assert nearest(house, agent, PAY, "salary euros") == []
    assert agent.get(memory).status_code == 404


@pytest.mark.requirement("E11")
def test_an_embedder_elsewhere_never_gets_it_and_words_find_it_alone(house: House) -> None:
    agent = house.someone()
    said = "My pension is 1,900 pounds a month, quoth nobody else."
    with mock.patch.object(house.embedder, "in_process", new=False):
        memory = agent.stored(said)
        later = agent.stored(PLAIN)
        patch(agent, later, content=said + " Twice.")
        agent.write(said + " Thrice.", wait="durable")
        house.indexed()
        found = agent.recall("pension", explain=True, limit=10)
    assert memory in {one["id"] for one in found}
    assert all(one["explain"]["dense"] == 0.0 for one in found)
    assert not any("quoth nobody else" in text for text in house.embedder.seen)


def test_a_vector_that_does_not_open_is_on_record_and_the_others_are_found(house: House) -> None:
    agent = house.someone()
    broken, whole = agent.stored(PAY), agent.stored("My wage is 9,000 euros a month.")
    with house.below("memory_vectors") as connection:
        connection.execute(
            "UPDATE memory_vectors SET vector = set_byte(vector, length(vector) - 1,"
            " get_byte(vector, length(vector) - 1) # 1) WHERE memory = %s",
            [broken],
        )
    found = {one["id"]: one for one in nearest(house, agent, PAY, "euros")}
    assert found[whole]["explain"]["dense"] > 0
    assert found[broken]["explain"]["dense"] == 0
    withheld = [one for one in agent.events() if one["action"].endswith(":withhold")]
    assert [(one["object"], one["outcome"]) for one in withheld] == [(broken, "tampered")]


@pytest.mark.requirement("E11")
def test_a_recall_opens_the_newest_and_no_more_than_it_may() -> None:
    with open_house(sensitive_candidates=1) as house:
        agent = house.someone()
        older, newer = agent.stored(PAY), agent.stored("My wage is 9,000 euros a month.")
        fill(agent)
        found = nearest(house, agent, PAY, "zebra")
        assert {one["id"] for one in found} & {older, newer} == {newer}


THINGS = (
    *("kettle", "violin", "canoe", "ladder", "lantern", "compass", "carpet", "mirror", "basket"),
    *("guitar", "hammock", "telescope", "blanket", "teapot", "bicycle", "piano", "tent", "vase"),
)
PLACES = ("attic", "cellar", "harbour", "orchard", "library", "workshop")


@pytest.mark.requirement("E11")
def test_as_much_is_found_of_what_is_sensitive_as_of_the_rest(house: House) -> None:
    admin = house.tenant()
    facts = [f"the old {thing} stands in the {place}" for thing in THINGS for place in PLACES]
    asked = [(f"{thing} {place}", f"the old {thing} stands in the {place}")
             for thing, place in zip(THINGS, PLACES * 3, strict=True)]  # fmt: skip
    shares = {}
    for user, metadata in (("alice", {}), ("bob", NOTE)):
        agent = house.agent(admin, user)
        items = [agent.about(content=fact, metadata=metadata) for fact in facts]
        reply = agent.call("POST", "/v1/memories/batch", json={"items": items})
        ids = [one["outcomes"][0]["id"] for one in reply.json()["results"]]
        assert points(house, agent, ids[0]) == (0 if metadata else len(facts))
        hits = 0
        for question, fact in asked:
            found = {one["content"] for one in agent.recall(question, limit=10, max_tokens=4000)}
            hits += fact in found
        shares[user] = hits / len(asked)
    assert shares["bob"] >= shares["alice"] - 0.1
    assert shares["bob"] > 0.8
