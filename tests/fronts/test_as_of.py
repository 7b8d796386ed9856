"""A recall as of a time answers with what was known then, as it was said then."""

from unittest import mock

from core.adapters.postgres.view import PostgresView
from core.errors import NotFound
from tests.house import House


def contents(agent, **fields) -> list[str]:
    return [memory["content"] for memory in agent.recall("tea", timeout_ms=5000, **fields)]


def test_what_was_learned_or_changed_later_is_not_in_the_answer(house: House) -> None:
    agent = house.someone()
    memory = agent.stored("drinks green tea")
    before = agent.get(memory).json()["updated_at"]
    reply = agent.call(
        "PATCH", f"/v1/memories/{memory}", json=agent.about(content="drinks black tea")
    )
    assert reply.status_code == 200, reply.text
    agent.write("keeps tea in a tin")
    house.indexed()
    assert sorted(contents(agent)) == ["drinks black tea", "keeps tea in a tin"]
    assert contents(agent, as_of=before) == ["drinks green tea"]
    assert contents(agent, as_of="2020-01-01T00:00:00Z") == []


def test_a_rotation_that_is_repeated_shows_no_secret_again(house: House) -> None:
    admin = house.tenant()
    key = admin.call("GET", "/v1/admin/keys").json()["items"][0]["id"]
    again = {"Idempotency-Key": "rotate-once"}
    body = {"overlap_seconds": 60}
    first = admin.call("POST", f"/v1/admin/keys/{key}/rotate", json=body, headers=again)
    assert first.status_code == 200, first.text
    second = admin.call("POST", f"/v1/admin/keys/{key}/rotate", json=body, headers=again)
    assert second.status_code == 409
    assert second.json()["id"] == key
    assert first.json()["key"] not in second.text


def test_a_repeat_does_not_move_a_version_in_time(house: House) -> None:
    agent = house.someone()
    memory = agent.stored("drinks black coffee")
    agent.call("PATCH", f"/v1/memories/{memory}", json=agent.about(content="drinks green tea"))
    changed = agent.get(memory).json()["updated_at"]
    agent.write("drinks green tea")
    assert agent.get(memory).json()["updated_at"] > changed
    assert contents(agent, as_of=changed) == ["drinks green tea"]


def test_what_is_forgotten_while_it_is_looked_up_is_left_out(house: House) -> None:
    agent = house.someone()
    memory = agent.stored("drinks black coffee")
    then = agent.get(memory).json()["updated_at"]
    agent.call("PATCH", f"/v1/memories/{memory}", json=agent.about(content="drinks green tea"))
    gone = mock.AsyncMock(side_effect=NotFound)
    with mock.patch.object(PostgresView, "versions", gone):
        assert contents(agent, as_of=then) == []
    assert gone.await_count == 1
