"""One effect for one key, however often, however many at once, and only for who may still ask."""

import secrets
from typing import Any

import httpx
import pytest

from gateway.front.http import OPERATIONS
from tests.attacks.asks import NAMES, Stage, ask_of
from tests.house import House, key_body
from tests.live.gateways import Agent

RACERS = 120


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    return Stage.of(house)


def key() -> dict[str, str]:
    return {"Idempotency-Key": secrets.token_hex(8)}


def race(house: House, agent: Agent, path: str, body: Any, headers: dict[str, str]) -> list[Any]:
    headers = {"X-API-Key": agent.key} | headers

    async def one() -> httpx.Response:
        return await house.client.post(path, json=body, headers=headers)

    replies: list[Any] = house.together([one] * RACERS)
    return replies


@pytest.mark.requirement("F3")
def test_a_hundred_racing_writes_are_one_write(house: House, stage: Stage) -> None:
    body = stage.agent.about(content=f"raced {secrets.token_hex(4)}", tags=["race"])
    one = key()
    replies = race(house, stage.agent, "/v1/memories", body, one)
    assert {reply.status_code for reply in replies} <= {201, 503}
    answered = [reply.json() for reply in replies if reply.status_code == 201]
    # The others waited too long for a connection, and say so; asked again, they get the same reply.
    for _ in replies[len(answered) :]:
        again = stage.agent.call("POST", "/v1/memories", json=body, headers=one)
        assert again.status_code == 201
        answered.append(again.json())
    assert all(answer == answered[0] for answer in answered)
    assert [memory["id"] for memory in stage.agent.listed(tag="race")] == [
        answered[0]["outcomes"][0]["id"]
    ]
    events = stage.agent.events(action="memory:item:write")
    written = [each for each in events if each["event_id"] == answered[0]["audit"]["event_id"]]
    assert [each["outcome"] for each in written] == ["ok"]
    assert answered[0]["outcomes"][0]["status"] == "stored"


@pytest.mark.requirement("F3")
def test_a_hundred_racing_batches_write_each_item_once(house: House, stage: Stage) -> None:
    items = [stage.agent.about(content=f"batch race {n}", tags=["batch race"]) for n in range(3)]
    replies = race(house, stage.agent, "/v1/memories/batch", {"items": items}, key())
    results = [reply.json()["results"] for reply in replies if reply.status_code == 200]
    kept = {
        result["outcomes"][0]["id"]
        for answer in results for result in answer if "outcomes" in result
    }  # fmt: skip
    assert len(kept) == 3
    statuses = {
        result["outcomes"][0]["status"]
        for answer in results for result in answer if "outcomes" in result
    }  # fmt: skip
    assert statuses == {"stored"}
    assert {memory["id"] for memory in stage.agent.listed(tag="batch race")} == kept


@pytest.mark.requirement("F3")
def test_a_hundred_racing_makers_of_a_key_make_one_and_show_it_once(
    house: House, stage: Stage
) -> None:
    name = f"raced {secrets.token_hex(4)}"
    replies = race(house, stage.admin, "/v1/admin/keys", key_body(name=name), key())
    made = [reply for reply in replies if reply.status_code == 201]
    assert len(made) == 1
    assert {reply.status_code for reply in replies} <= {201, 409, 503}
    keys = stage.admin.call("GET", "/v1/admin/keys").json()["items"]
    assert [each["id"] for each in keys if each["name"] == name] == [made[0].json()["id"]]
    secret = made[0].json()["key"].rpartition("_")[2]
    for reply in replies:
        assert reply is made[0] or secret not in reply.text


@pytest.mark.requirement("F3")
@pytest.mark.parametrize("name", ["create_key", "create_tenant"])
def test_a_repeat_of_what_made_a_credential_gets_the_id_and_no_secret(
    stage: Stage, name: str
) -> None:
    once = key()
    fields = {"name": f"once {secrets.token_hex(4)}"}
    first = ask_of(stage, name, headers=once, json=fields)
    assert first.status_code == 201
    again = ask_of(stage, name, headers=once, json=fields)
    assert again.status_code == 409
    assert again.json()["id"] == first.json()["id"]
    assert "mw_" not in again.text
    other = ask_of(stage, name, headers=once, json={"name": "another"})
    assert other.status_code == 409
    assert "id" not in other.json()


@pytest.mark.requirement("F3")
def test_the_same_key_for_another_request_conflicts_and_changes_nothing(stage: Stage) -> None:
    agent, once = stage.agent, key()
    first = agent.try_write("said first", headers=once)
    assert first.status_code == 201
    before = agent.listed(limit=200)
    others = [
        agent.try_write("said second", headers=once),
        agent.try_write("said first", importance=0.9, headers=once),
        agent.try_write("said first", headers=once, tags=[]),  # another body, byte for byte
    ]
    assert {reply.status_code for reply in others} == {409}
    assert {reply.json()["code"] for reply in others} == {"conflict"}
    assert agent.listed(limit=200) == before
    assert agent.try_write("said first", headers=once).json() == first.json()


@pytest.mark.requirement("F3")
def test_a_batch_under_a_used_key_writes_none_of_its_items(stage: Stage) -> None:
    agent, once = stage.agent, key()
    items = [agent.about(content=f"item {n}", tags=["used key"]) for n in range(3)]
    first = agent.call("POST", "/v1/memories/batch", json={"items": items}, headers=once)
    again = agent.call("POST", "/v1/memories/batch", json={"items": items}, headers=once)
    assert first.json() == again.json()
    changed = [*items[:2], agent.about(content="smuggled", tags=["used key"])]
    refused = agent.call("POST", "/v1/memories/batch", json={"items": changed}, headers=once)
    assert refused.status_code == 409
    assert len(agent.listed(tag="used key")) == 3


@pytest.mark.requirement("F3", "C8")
def test_a_key_belongs_to_its_principal(house: House, stage: Stage) -> None:
    """Another credential, another person, another tenant: each has its own."""
    once = key()
    twin = house.agent(stage.admin, "alice")
    stranger = house.someone("alice")
    ids = [
        agent.try_write("mine alone", headers=once, user_id=user).json()["outcomes"][0]["id"]
        for agent, user in ((stage.agent, "alice"), (stranger, "alice"))
    ]
    merged = twin.try_write("mine alone", headers=once).json()["outcomes"][0]
    assert (merged["id"], merged["status"]) == (ids[0], "merged")
    assert len(set(ids)) == 2


@pytest.mark.requirement("F3")
def test_an_error_is_not_kept(stage: Stage) -> None:
    once = key()
    wrong = stage.agent.try_write("expired", expires_at="2001-01-01T00:00:00Z", headers=once)
    assert wrong.status_code == 422
    assert stage.agent.try_write("alive", headers=once).status_code == 201


@pytest.mark.requirement("F3")
def test_a_reply_is_not_shown_again_to_who_may_no_longer_ask(house: House, stage: Stage) -> None:
    made = stage.admin.call("POST", "/v1/admin/keys", json=key_body()).json()
    agent = Agent(house.http, made["key"], stage.admin.tenant, "alice")
    once = key()
    first = agent.try_write("while I may", headers=once)
    assert first.status_code == 201
    receipt = first.json()["outcomes"][0]["id"]
    # The right to write is gone: the row is sealed against edits, so the tenant's policy takes it.
    put = stage.admin.call("PUT", "/v1/admin/policies/access", json=_no_writes_by(made["id"]))
    assert put.status_code == 200, put.text
    denied = agent.try_write("while I may", headers=once)
    assert denied.status_code == 403
    assert receipt not in denied.text
    assert stage.admin.call("DELETE", f"/v1/admin/keys/{made['id']}").status_code == 204
    ended = agent.try_write("while I may", headers=once)
    assert ended.status_code == 401
    assert receipt not in ended.text


def _no_writes_by(key_id: str) -> dict[str, Any]:
    rule = {"subject": f"key:{key_id}", "object": "memory:item", "verb": "write", "effect": "deny"}
    case = {
        "case": "one", "subject": {"roles": ["writer"], "key": key_id},
        "expect": {"memory:item:write": "deny"},
    }  # fmt: skip
    return {"rules": [rule], "cases": [case]}


TAKE_IT = {operation.name for operation in OPERATIONS if operation.once}


@pytest.mark.requirement("F3")
@pytest.mark.parametrize("name", [each for each in NAMES if each not in TAKE_IT])
def test_the_header_means_nothing_where_it_is_not_taken(house: House, name: str) -> None:
    once = key()
    for _ in range(2):
        reply = ask_of(Stage.of(house), name, headers=once)
        assert reply.status_code in (200, 204), reply.text
