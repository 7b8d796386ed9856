"""Budgets and caps of a tenant's own, over HTTP and MCP on real engines."""

import asyncio
from typing import Any

import httpx
import pytest

from gateway.budgets import MENDING
from gateway.front.http import OPERATIONS
from tests.house import House
from tests.live.gateways import Agent


def put(admin: Agent, **quotas: Any) -> httpx.Response:
    reply = admin.call("PUT", "/v1/admin/quotas", json=quotas)
    assert reply.status_code == 200, reply.text
    return reply


def shown(admin: Agent) -> dict[str, Any]:
    found: dict[str, Any] = admin.call("GET", "/v1/admin/quotas").json()
    return found


@pytest.fixture
def admin(house: House) -> Agent:
    return house.tenant()


def test_quotas_are_whole_and_versioned_and_their_change_gives_a_version_token(admin: Agent):
    assert shown(admin) == {"tenant": {}, "keys": {}, "users": {}, "version": ""}
    wanted = {"tenant": {"concurrency": 8}, "keys": {"default": {"requests_per_minute": None}}}
    reply = put(admin, **wanted)
    assert len(reply.headers["x-access-version"]) > 20
    assert shown(admin) == wanted | {"users": {}, "version": reply.json()["version"]}
    other = put(admin).json()
    assert other["keys"] == {}
    assert other["version"] not in {"", reply.json()["version"]}
    assert put(admin, **wanted).json()["version"] == reply.json()["version"]


def test_they_are_audited_and_theirs_alone_to_put(house: House, admin: Agent):
    put(admin, tenant={"concurrency": 8})
    auditor = house.agent(admin, roles=["auditor"])
    actions = [event["action"] for event in auditor.events()]
    assert "admin:quota:write" in actions
    for role in ("reader", "writer", "curator", "privacy", "auditor"):
        one = house.agent(admin, roles=[role])
        assert one.call("PUT", "/v1/admin/quotas", json={}).status_code == 403
        assert one.call("GET", "/v1/admin/quotas").status_code == 403
    assert house.operator.call("PUT", "/v1/admin/quotas", json={}).status_code == 403


def test_new_quotas_hold_from_the_next_request_on_and_a_neighbour_feels_nothing(
    house: House, admin: Agent
):
    agent, neighbour = house.agent(admin, "alice"), house.someone()
    assert "ratelimit" not in agent.call("GET", "/v1/memories", params=agent.about()).headers
    put(admin, keys={"default": {"requests_per_minute": 5}})
    headers = agent.call("GET", "/v1/memories", params=agent.about()).headers
    assert headers["ratelimit-policy"] == '"key-requests";q=5;w=60'
    assert headers["ratelimit"].startswith('"key-requests";r=4;t=')
    agent.recall("tea")
    assert agent.try_write("likes tea").status_code == 201
    refused = agent.try_write("likes coffee")
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert 1 <= int(refused.headers["retry-after"]) <= 61
    assert refused.headers["ratelimit"].startswith('"key-requests";r=0;t=')
    result = house.tool(agent, "memory_search", query="tea")
    assert result["isError"] is True
    for _ in range(6):
        neighbour.recall("tea")
    put(admin)
    assert agent.try_write("likes coffee").status_code == 201


def test_each_person_has_a_budget_of_their_own(house: House, admin: Agent):
    put(admin, users={"default": {"writes_per_minute": 1}})
    agent = house.agent(admin)
    assert agent.try_write("likes tea", user_id="alice").status_code == 201
    assert agent.try_write("likes coffee", user_id="alice").status_code == 429
    assert agent.try_write("likes coffee", user_id="bob").status_code == 201
    # Whoever may not act for carol spends nothing of hers.
    other = house.agent(admin, users=["dave"])
    assert other.try_write("likes tea", user_id="carol").status_code == 403
    assert agent.try_write("likes tea", user_id="carol").status_code == 201


def test_items_of_a_batch_are_throttled_each(house: House, admin: Agent):
    put(admin, tenant={"writes_per_minute": 2})
    agent = house.agent(admin, "alice")
    items = [agent.about(content=f"likes tea number {n}") for n in range(4)]
    results = agent.call("POST", "/v1/memories/batch", json={"items": items}).json()["results"]
    assert [each.get("code", "kept") for each in results] == ["kept"] * 2 + ["throttled"] * 2


@pytest.mark.requirement("C21")
def test_every_route_pays_and_none_of_the_quotas_own_can_be_locked(house: House, admin: Agent):
    """Generated from the list of operations: a key without a budget gets nowhere."""
    everything = house.agent(
        admin, roles=["reader", "writer", "curator", "admin", "privacy", "auditor"]
    )
    put(admin, keys={"default": {"requests_per_minute": 0}})
    for operation in OPERATIONS:
        if operation.action in MENDING or operation.action.object == "admin:tenant":
            continue
        path = operation.path.format(id="a" * 16, name="n", member="user:alice", kind="access")
        body = {} if operation.body is None else {"json": _body(operation.name)}
        reply = everything.call(operation.method, path, **body)
        if "results" in reply.text:
            assert [each["code"] for each in reply.json()["results"]] == ["throttled"]
        else:
            assert (operation.name, reply.status_code) == (operation.name, 429)
    assert shown(everything)["keys"] == {"default": {"requests_per_minute": 0}}
    put(admin)
    assert everything.call("GET", "/v1/admin/keys").status_code == 200


def _body(name: str) -> dict[str, Any]:
    item = {"user_id": "alice", "content": "likes tea"}
    return {"items": [item]} if name == "write_memories" else {}


def test_a_key_keeps_no_more_than_it_may_and_forgetting_makes_room(house: House, admin: Agent):
    put(admin, keys={"default": {"stored_memories": 2}})
    agent, other = house.agent(admin, "alice"), house.agent(admin, "alice")
    first = agent.stored("likes green tea")
    agent.stored("plays the violin")
    over = agent.try_write("lives in Chaoyang")
    assert (over.status_code, over.json()["code"]) == (429, "throttled")
    assert over.headers["retry-after"] == "3600"
    assert "Forget some first" in over.json()["detail"]
    assert len(agent.listed()) == 2
    assert agent.write("likes green tea")["outcomes"][0]["status"] == "merged"
    assert other.try_write("lives in Chaoyang").status_code == 201
    assert agent.forget(first).status_code == 200
    assert agent.try_write("has a cat").status_code == 201
    assert agent.try_write("has a dog").status_code == 429


def test_a_tenant_keeps_no_more_than_it_may_however_many_write_at_once(house: House, admin: Agent):
    put(admin, tenant={"stored_memories": 10})
    agents = [house.agent(admin, f"user-{n}") for n in range(4)]

    async def write(number: int) -> int:
        agent = agents[number % 4]
        reply = await house.client.post(
            "/v1/memories",
            json=agent.about(content=f"fact number {number} about a cat"),
            headers={"X-API-Key": agent.key},
        )
        return reply.status_code

    async def all_at_once() -> list[int]:
        return list(await asyncio.gather(*(write(number) for number in range(40))))

    codes = house.run(all_at_once())
    assert codes.count(201) == 10
    assert codes.count(429) == 30
    assert sum(len(agent.listed()) for agent in agents) == 10


@pytest.mark.requirement("F7")
def test_a_tenant_that_fills_its_slots_leaves_the_others_theirs(house: House, admin: Agent):
    put(admin, tenant={"concurrency": 2})
    noisy, quiet = house.agent(admin, "alice"), house.someone()

    async def ask(agent: Agent) -> int:
        reply = await house.client.post(
            "/v1/recall", json=agent.about(query="tea"), headers={"X-API-Key": agent.key}
        )
        return reply.status_code

    async def flood() -> list[list[int]]:
        return [
            list(each)
            for each in await asyncio.gather(
                asyncio.gather(*(ask(noisy) for _ in range(40))),
                asyncio.gather(*(ask(quiet) for _ in range(20))),
            )
        ]

    loud, calm = house.run(flood())
    assert calm == [200] * 20
    assert set(loud) == {200, 429}
    assert admin.call("GET", "/v1/admin/quotas").status_code == 200
