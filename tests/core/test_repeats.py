"""What becomes of a memory that is said again."""

import pytest

from tests.house import House

SAID = "the spare key is under the third stone"


def test_what_is_to_be_kept_outlives_what_was_to_go(house: House) -> None:
    agent = house.someone()
    memory = agent.stored(SAID, ttl_seconds=60)
    (outcome,) = agent.write(SAID)["outcomes"]
    assert (outcome["id"], outcome["status"]) == (memory, "merged")
    assert outcome["expires_at"] is None
    assert agent.get(memory).json()["expires_at"] is None


@pytest.mark.parametrize(("first", "then"), [(60, 600), (600, 60)])
def test_of_two_ends_the_later_one_counts(house: House, first: int, then: int) -> None:
    agent = house.someone()
    (one,) = agent.write(SAID, ttl_seconds=first)["outcomes"]
    (other,) = agent.write(SAID, ttl_seconds=then)["outcomes"]
    assert other["id"] == one["id"]
    assert (other["expires_at"] > one["expires_at"]) is (then > first)


def test_no_repeat_lengthens_working_memory(house: House) -> None:
    agent = house.someone()
    (one,) = agent.write(SAID, layer="working")["outcomes"]
    (other,) = agent.write(SAID, layer="working")["outcomes"]
    assert other["expires_at"] == one["expires_at"]
    assert (other["version"], other["status"]) == (1, "merged")


def test_a_repeat_raises_the_importance_and_never_lowers_it(house: House) -> None:
    agent = house.someone()
    memory = agent.stored(SAID, importance=0.4)
    agent.write(SAID, importance=0.9)
    agent.write(SAID, importance=0.2)
    shown = agent.get(memory).json()
    assert (shown["importance"], shown["version"]) == (0.9, 2)
    assert shown["confidence"] == pytest.approx(0.9)


def test_a_plain_repeat_makes_no_new_version(house: House) -> None:
    agent = house.someone()
    memory = agent.stored(SAID, tags=["keys"], expires_at="session_end", session_id="s1")
    agent.write(SAID, tags=["keys"], expires_at="session_end", session_id="s1")
    assert agent.get(memory).json()["version"] == 1
    (outcome,) = agent.write(SAID, tags=["keys"], session_id="s1")["outcomes"]
    assert outcome["version"] == 2
    assert agent.get(memory).json()["expires_at"] is None


def test_a_less_trusted_source_overlays_nothing_of_a_trusted_memory(house: House) -> None:
    admin = house.tenant()
    person, page = (
        house.agent(admin, "alice"),
        house.agent(admin, "alice", source_ceiling="document"),
    )
    memory = person.stored(SAID, metadata={"door": "blue"})
    (outcome,) = page.write(SAID, metadata={"door": "red", "seen": "yes"})["outcomes"]
    assert outcome["id"] == memory
    shown = person.get(memory).json()
    assert shown["metadata"] == {"door": "blue", "seen": "yes"}
    assert shown["trust"] == "high"
    person.write(SAID, metadata={"door": "green"})
    assert person.get(memory).json()["metadata"]["door"] == "green"
