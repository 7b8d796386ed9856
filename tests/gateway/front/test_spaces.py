"""Shared spaces: what reaches the guarded path, and what comes back, field for field."""

from typing import Any

import pytest

from core.model import Target
from core.ports import Audience, MemberRole
from tests.gateway.front import samples
from tests.gateway.front.samples import MEMORY_ID, NOW_TEXT
from tests.gateway.front.test_http import MEMORY


async def test_a_shared_memory_says_where_it_is_who_wrote_it_and_about_whom(client, paths):
    shared = samples.memory(space=samples.SPACE, author="key:k2", person="bob")
    paths.answers["memories.get"] = shared
    reply = await client.get(f"/v1/memories/{MEMORY_ID}", params={"user_id": "alice"})
    source: Any = MEMORY["source"]
    assert reply.json() == MEMORY | {
        "user_id": "bob",
        "space": "basics",
        "source": source | {"author": "key:k2"},
    }
    item = samples.recalled(space=samples.SPACE, author="key:k2", person="bob")
    paths.answers["recall.recall"] = samples.recall(item)
    (found,) = (await client.post("/v1/recall", json={"query": "tea"})).json()["memories"]
    assert (found["space"], found["user_id"]) == ("basics", "bob")
    assert found["source"]["author"] == "key:k2"


async def test_a_list_of_one_space_names_it_and_no_namespace(client, paths):
    await client.get("/v1/memories", params={"user_id": "alice", "space": "basics"})
    assert paths.calls[0][1][0] == Target(user_id="alice", namespaces=None, spaces=("basics",))


SPACE = {
    "id": str(samples.SPACE),
    "name": "basics",
    "audience": "same_user",
    "created_at": NOW_TEXT,
}


async def test_a_space_is_made_listed_and_ended(client, paths):
    body = {"name": "basics"}
    made = await client.post("/v1/admin/spaces", json=body, headers={"Idempotency-Key": "one"})
    assert (made.status_code, made.json()) == (201, SPACE)
    name, audience, once = paths.last
    assert (name, audience, once.key) == ("basics", Audience.SAME_USER, "one")
    listed = await client.get("/v1/admin/spaces")
    assert listed.json() == {"items": [SPACE], "next_cursor": None}
    ended = await client.delete("/v1/admin/spaces/basics")
    assert (ended.json(), ended.headers["x-access-version"]) == ({"deleted": 3}, "rights-6")
    assert paths.last == ("basics",)


@pytest.mark.parametrize(
    ("spelled", "member"),
    [
        ("user:alice", "user:alice"),
        ("user%3Aalice%40example.test", "user:alice@example.test"),
        ("user:%E5%B0%8F%E9%99%88", "user:小陈"),
        ("user:a%2520b", "user:a%20b"),
        ("namespace:a%20b", "namespace:a b"),
        ("key:k2", "key:k2"),
    ],
)
async def test_a_member_is_decoded_once(client, paths, spelled, member):
    path = f"/v1/admin/spaces/the%20team/members/{spelled}"
    put = await client.put(path, json={"role": "writer"})
    assert (put.status_code, put.json()) == (200, {"member": member, "role": "writer"})
    assert put.headers["x-access-version"] == "rights-7"
    assert paths.last == ("the team", member, MemberRole.WRITER)
    gone = await client.delete(path)
    assert (gone.status_code, gone.content) == (204, b"")
    assert gone.headers["x-access-version"] == "rights-8"
    assert paths.last == ("the team", member)


@pytest.mark.parametrize("spelled", ["user:%ff", "user:%C0%AF", "user:%00", "user:%ED%A0%80"])
async def test_a_member_that_is_no_text_is_refused(client, paths, spelled):
    reply = await client.put(f"/v1/admin/spaces/team/members/{spelled}", json={"role": "reader"})
    assert reply.status_code == 422
    assert reply.json()["errors"][0]["field"] == "member"
    assert paths.calls == []


async def test_members_are_a_list(client):
    reply = await client.get("/v1/admin/spaces/team/members")
    assert reply.json() == {
        "items": [{"member": "namespace:support", "role": "writer", "created_at": NOW_TEXT}],
        "next_cursor": None,
    }
