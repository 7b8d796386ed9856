"""Quotas on the wire, and what a reply says of the budget that is left."""

from typing import Any

import pytest

from gateway.quotas import Quotas
from tests.gateway.front.samples import IN_FORCE

KEY = "b" * 16
FULL: dict[str, Any] = {
    "tenant": {
        "requests_per_minute": 6000,
        "writes_per_minute": 600,
        "stored_memories": 100_000,
        "concurrency": 16,
    },
    "keys": {
        "default": {"requests_per_minute": 600, "writes_per_minute": 60, "stored_memories": 5000},
        KEY: {"requests_per_minute": None},
        "token-" + "0" * 32: {"writes_per_minute": 0},
    },
    "users": {"default": {"requests_per_minute": 120, "writes_per_minute": 30}},
}


async def test_what_is_put_reaches_the_path_and_the_difference_of_null_and_left_out(client, paths):
    reply = await client.put("/v1/admin/quotas", json=FULL)
    assert reply.status_code == 200, reply.text
    assert reply.headers["x-access-version"] == "rights-2"
    (quotas,) = paths.last
    assert quotas == Quotas(tenant=FULL["tenant"], keys=FULL["keys"], users=FULL["users"])
    assert quotas.of_key(KEY, "requests_per_minute", 5) is None
    assert quotas.of_key(KEY, "writes_per_minute", 5) == 60
    assert quotas.of_key("c" * 16, "requests_per_minute", 5) == 600
    empty = Quotas(keys={KEY: {"stored_memories": 1}})
    assert empty.of_key(KEY, "requests_per_minute", 5) == 5
    await client.put("/v1/admin/quotas", json={})
    assert paths.last == (Quotas(),)


async def test_what_is_in_force_is_shown_as_it_was_put(client):
    shown = (await client.get("/v1/admin/quotas")).json()
    assert shown == {
        "tenant": {"concurrency": 8, "stored_memories": None},
        "keys": dict(IN_FORCE.quotas.keys),
        "users": {"default": {"requests_per_minute": 60}},
        "version": IN_FORCE.version,
    }


BAD = [
    {"tenant": {"requests_per_minute": -1}},
    {"tenant": {"requests_per_minute": 1.5}},
    {"tenant": {"requests_per_minute": "5"}},
    {"tenant": {"requests_per_minute": True}},
    {"tenant": {"requests_per_minute": 10**9 + 1}},
    {"tenant": {"concurrency": 0}},
    {"tenant": {"requests_per_hour": 5}},
    {"tenant": None},
    {"tenant": [5]},
    {"keys": {"default": {"concurrency": 5}}},
    {"keys": {"*": {"requests_per_minute": 5}}},
    {"keys": {"Default": {"requests_per_minute": 5}}},
    {"keys": {"default\n": {"requests_per_minute": 5}}},
    {"keys": {KEY.upper(): {}}},
    {"keys": {KEY + "a": {}}},
    {"keys": {KEY: 5}},
    {"users": {"alice@example.org": {"requests_per_minute": 5}}},
    {"users": {"default": {"stored_memories": 5}}},
    {"people": {}},
]


@pytest.mark.parametrize("body", BAD, ids=range(len(BAD)))
async def test_what_could_not_hold_is_refused_without_its_value(client, paths, body):
    reply = await client.put("/v1/admin/quotas", json=body)
    assert reply.status_code == 422
    assert paths.calls == []
    assert "alice@" not in reply.text


@pytest.mark.requirement("C21")
async def test_a_reply_says_what_its_tightest_budget_has_left_and_so_does_a_refusal(build):
    async with build(key_requests=3).client() as client:
        first = await client.get("/v1/admin/keys")
        assert first.status_code == 200
        assert first.headers["ratelimit-policy"] == '"key-requests";q=3;w=60'
        assert first.headers["ratelimit"] == '"key-requests";r=2;t=61'
        await client.get("/v1/admin/keys")
        last = await client.get("/v1/admin/keys")
        assert last.headers["ratelimit"].startswith('"key-requests";r=0;t=')
        refused = await client.get("/v1/audit/events")
        assert refused.status_code == 429
        assert refused.json()["code"] == "throttled"
        assert refused.headers["ratelimit"].startswith('"key-requests";r=0;t=')
        assert 1 <= int(refused.headers["retry-after"]) <= 61
        assert (await client.get("/v1/admin/quotas")).status_code == 429  # the deployment's own


async def test_without_a_budget_nothing_is_said_of_one(client):
    reply = await client.get("/v1/admin/keys")
    assert "ratelimit" not in reply.headers
    assert "ratelimit-policy" not in reply.headers
