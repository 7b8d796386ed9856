"""Mistakes that memory services were publicly reported to make, each tried on this one.

What the contract has for later (deleting by a filter, spaces, entities of their own) waits for it.
"""

import re
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from core.ids import TenantId, UserId
from core.model import Owner
from tests.house import House
from tests.live.gateways import Agent, wait_until


@pytest.fixture
def alice(house: House) -> Agent:
    return house.someone("alice")


def beside(house: House, agent: Agent, user: str) -> Agent:
    """The same credential for another person."""
    return Agent(house.http, agent.key, agent.tenant, user)


# --- whose memory it is ---------------------------------------------------------------------------


@pytest.mark.requirement("B2", "M1")
@pytest.mark.parametrize("key", ["user_id", "tenant_id", "tenant", "namespace"])
def test_metadata_never_moves_a_memory_to_another_owner(
    house: House, alice: Agent, key: str
) -> None:
    memory = alice.stored("likes a seat by the aisle")
    body = alice.about(content="likes the aisle at night", metadata={key: "bob", "source": "chat"})
    refused = alice.call("PATCH", f"/v1/memories/{memory}", json=body)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == f"metadata.{key}"
    kept = alice.about(content="likes the aisle at night", metadata={"source": "chat"})
    assert alice.call("PATCH", f"/v1/memories/{memory}", json=kept).status_code == 200
    for other in (beside(house, alice, "bob"), house.someone("alice")):
        assert other.get(memory).status_code == 404
        assert other.forget(memory).status_code == 404
        assert other.recall("aisle seat") == []
    assert alice.get(memory).json()["metadata"] == {"source": "chat"}
    assert alice.recall("aisle")[0]["id"] == memory
    assert alice.forget(memory).status_code == 200


@pytest.mark.requirement("M1")
def test_the_owner_counts_however_it_is_given(house: House) -> None:
    admin = house.tenant()
    by_name = house.agent(admin, "u1")
    pinned = house.agent(admin, None, users=["u1"])
    other = house.agent(admin, "u2")
    by_name.write("my home is in Porto")
    other.write("my home is in Kyoto")
    other.write("the best noodles are by the station")
    for agent in (by_name, pinned):
        for question in ("where is my home", "best noodles station"):
            assert {memory["content"] for memory in agent.recall(question)} <= {
                "my home is in Porto"
            }
    # A filter is no place to name an owner in.
    body = {"query": "noodles", "filters": {"user_id": "u1"}}
    assert by_name.call("POST", "/v1/recall", json=by_name.about() | body).status_code == 422


@pytest.mark.requirement("M1")
def test_a_session_that_two_people_share_by_name_is_two_sessions(
    house: House, alice: Agent
) -> None:
    bob = beside(house, alice, "bob")
    alice.write("the hint for the locker is the old door number", session_id="s-1")
    bob.write("nothing of note", session_id="s-1")
    found = bob.recall("hint locker door number", session_id="s-1")
    assert [memory["content"] for memory in found] == ["nothing of note"]
    (mine,) = alice.recall("hint locker", session_id="s-1")
    assert "locker" in mine["content"]


@pytest.mark.requirement("M1")
def test_a_recall_by_tags_uses_nothing_without_them(alice: Agent) -> None:
    alice.write("the server has 8 GB of memory")
    tagged = alice.stored("the server has 128 GB of memory", tags=["hardware"])
    body = alice.about(query="how much memory has the server", tags=["hardware"], format="text")
    reply = alice.call("POST", "/v1/recall", json=body).json()
    assert [memory["id"] for memory in reply["memories"]] == [tagged]
    assert "8 GB" not in reply["text"].replace("128 GB", "")
    both = {memory["id"] for memory in alice.recall("server memory", tags=["hardware", "x"])}
    assert both == {tagged}
    assert alice.recall("server memory", tags=["hardware", "x"], tags_match="all") == []


@pytest.mark.requirement("M1")
def test_who_names_the_user_and_who_leaves_it_to_the_key_meet(house: House) -> None:
    agent = house.agent(house.tenant(), None, users=["u1"])
    named = {"content": "the second draft is ready", "user_id": "u1", "session_id": "s9"}
    assert agent.call("POST", "/v1/memories", json=named).status_code == 201
    assert agent.recall("draft", session_id="s9")[0]["content"] == "the second draft is ready"


# --- deletion -------------------------------------------------------------------------------------


def test_what_was_deleted_before_it_was_indexed_does_not_come_back(
    house: House, alice: Agent
) -> None:
    """The index task of a long text comes after its deletion, and writes nothing."""
    ids = [alice.stored(f"draft {n}. " + "so it goes on. " * 400, wait="durable") for n in range(4)]
    for memory in ids:
        assert alice.forget(memory).status_code == 200
    house.indexed()
    assert alice.listed() == []
    assert alice.recall("draft so it goes on", timeout_ms=5000) == []
    tables = ("memory_vectors", "memory_tokens", "memory_versions", "memory_uses")
    with house.below(*tables) as connection:
        for table in tables:
            left = connection.execute(
                f"SELECT count(*) FROM {table} WHERE tenant = %s", [alice.tenant]
            ).fetchone()
            assert left == (0,), table
    assert house.run(points(house, alice)) == 0


async def people(house: House, agent: Agent) -> list[UUID]:
    """The inside ids of an agent's people."""
    with house.below("users") as connection:
        rows = connection.execute(
            "SELECT id FROM users WHERE tenant = %s", [agent.tenant]
        ).fetchall()
    return [user for (user,) in rows]


async def points(house: House, agent: Agent) -> int:
    """How many points the index has of an agent's people."""
    return await points_of(house, agent, await people(house, agent))


async def points_of(house: House, agent: Agent, users: list[UUID]) -> int:
    gate = house.gateway.gate
    tenant = await gate.keyring.tenant(TenantId(UUID(agent.tenant)))
    total = 0
    for user in users:
        owner = Owner(tenant=tenant.tenant, id=UserId(user))
        total += await gate.recall.index.count(
            tenant.word("tenant", str(tenant.tenant)), tenant.word("owner", str(owner.id))
        )
    return total


def test_deleting_one_deletes_that_one(house: House, alice: Agent) -> None:
    bob = beside(house, alice, "bob")
    mine = [alice.stored(f"mine {n}", session_id=f"s{n % 2}") for n in range(10)]
    theirs = {bob.stored(f"mine {n}", session_id="s1") for n in range(10)}
    assert alice.forget(mine[0]).json() == {"deleted": 1}
    assert alice.forget(mine[0]).status_code == 404
    assert {memory["id"] for memory in alice.listed()} == set(mine[1:])
    assert {memory["id"] for memory in bob.listed()} == theirs


def test_what_was_deleted_is_gone_from_every_way_to_look(house: House, alice: Agent) -> None:
    memory = alice.stored("works at the mill", tags=["job"])
    alice.call("PATCH", f"/v1/memories/{memory}", json=alice.about(content="works at the harbour"))
    at = datetime.now(UTC).isoformat()  # noqa: TID251 - a caller's clock, not the gateway's
    alice.forget(memory)
    assert alice.get(memory).status_code == 404
    params = alice.about()
    assert alice.call("GET", f"/v1/memories/{memory}/versions", params=params).status_code == 404
    ways: list[dict[str, Any]] = [{}, {"as_of": at}, {"tags": ["job"]}]
    for more in ways:
        assert alice.recall("works mill harbour", **more) == []
    assert alice.listed(tag="job") == []


def test_an_erased_tenant_leaves_nothing_that_opens_and_touches_no_other(house: House) -> None:
    admin, other = house.tenant(), house.someone("alice")
    agent = house.agent(admin, "alice")
    memory = agent.stored("she drinks green tea", tags=["t"])
    kept = other.stored("she drinks green tea", tags=["t"])
    house.indexed()
    for named in ("00000000-0000-0000-0000-000000000000", "nobody"):
        assert house.operator.call("DELETE", f"/v1/admin/tenants/{named}").status_code == 404
    path = f"/v1/admin/tenants/{admin.tenant}"
    for credential in (admin, agent, other):
        assert credential.call("DELETE", path).status_code == 403
    counted = house.run(points(house, agent))
    assert counted == 1
    keys = house.run(people(house, agent))
    assert house.operator.call("DELETE", path).json() == {"deleted": 1}
    for credential in (admin, agent):
        assert credential.call("GET", "/v1/memories").status_code == 401
    assert house.operator.call("DELETE", path).status_code == 404
    house.indexed()
    assert house.run(points_of(house, agent, keys)) == 0
    assert other.get(memory).status_code == 404
    assert other.recall("green tea")[0]["id"] == kept


# --- filters --------------------------------------------------------------------------------------


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("created_after", "some day last week"),
        ("created_before", "2026-13-45T00:00:00Z"),
        ("created_after", 5),
        ("tags", None),
        ("tags", "a"),
        ("tags", [None]),
        ("kinds", ["opinion"]),
        ("layers", "semantic"),
        ("colour", {"match": None}),
        ("filtres", {"tags": ["a"]}),
        ("namespaces", []),
        ("min_score", "high"),
        ("limit", 0),
        ("limit", 51),
    ],
)
def test_a_malformed_condition_is_refused_by_its_name(alice: Agent, field: str, value: Any) -> None:
    alice.write("x")
    reply = alice.call("POST", "/v1/recall", json=alice.about(query="x", **{field: value}))
    assert reply.status_code == 422
    named = [re.split(r"[.\[]", error["field"])[0] for error in reply.json()["errors"]]
    assert named == [field]


def test_an_empty_list_of_tags_asks_nothing_and_of_spaces_no_space(alice: Agent) -> None:
    """As the contract says it; whoever may see something is decided elsewhere."""
    memory = alice.stored("x marks the spot")
    ways: list[dict[str, Any]] = [{"tags": []}, {"kinds": [], "layers": []}, {"spaces": []}]
    for more in ways:
        assert [found["id"] for found in alice.recall("x spot", **more)] == [memory]


def test_a_condition_on_time_is_part_of_the_search(house: House, alice: Agent) -> None:
    """Hundreds of newer and nearer texts do not push the old one out of what is looked at."""
    old = [alice.stored(f"the router in the attic, note {n}") for n in range(2)]
    house.indexed()
    with house.below("memories") as connection:
        connection.execute(
            "UPDATE memories SET created_at = created_at - interval '8 days' WHERE tenant = %s",
            [alice.tenant],
        )
    house.run(_requeue(house))
    house.indexed()
    for start in range(0, 300, 100):
        items = [alice.about(content=f"router router {start + n}") for n in range(100)]
        reply = alice.call("POST", "/v1/memories/batch", json={"items": items})
        assert reply.status_code == 200
    house.indexed()
    now = datetime.now(UTC)  # noqa: TID251 - a caller's clock
    between = {
        "created_after": (now - timedelta(days=9)).isoformat(),
        "created_before": (now - timedelta(days=7)).isoformat(),
    }
    found = alice.recall("router", limit=5, timeout_ms=5000, **between)
    assert {memory["id"] for memory in found} == set(old)


async def _requeue(house: House) -> None:
    await house.gateway.indexer._outbox.requeue_all()
    house.gateway.indexer.wake()


# --- the same again, and all at once --------------------------------------------------------------


def test_two_writers_of_one_text_keep_one_memory(house: House, alice: Agent) -> None:
    headers = {"X-API-Key": alice.key}
    for number in range(10):
        body = alice.about(content=f"I like green tea, said {number} times")

        async def one(body: dict[str, Any] = body) -> Any:
            return await house.client.post("/v1/memories", json=body, headers=headers)

        replies = [reply.json() for reply in house.together([one] * 4)]
        outcomes = [reply["outcomes"][0] for reply in replies]
        assert len({outcome["id"] for outcome in outcomes}) == 1
        assert Counter(outcome["status"] for outcome in outcomes) == {"stored": 1, "merged": 3}
    assert len(alice.listed()) == 10


def test_the_opposite_is_another_memory(alice: Agent) -> None:
    old = alice.stored("loves spicy food")
    new = alice.stored("hates spicy food now")
    assert old != new
    found = {memory["id"] for memory in alice.recall("spicy food")}
    assert new in found
    assert alice.get(old).status_code == 200


@pytest.mark.parametrize("again", range(4))
def test_eight_writers_at_once_lose_nothing(house: House, alice: Agent, again: int) -> None:
    markers = [f"mark{'wxyz'[again]}{letter}" for letter in "abcdefgh"]
    replies: list[int] = []

    def write(marker: str) -> None:
        replies.append(alice.try_write(f"the document says {marker}").status_code)

    threads = [threading.Thread(target=write, args=[marker]) for marker in markers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert replies == [201] * 8
    for marker in markers:  # at once, indexed or not
        assert marker in alice.recall(marker, timeout_ms=5000)[0]["content"]


def test_two_changes_of_one_version_are_not_both_made(house: House, alice: Agent) -> None:
    memory = alice.stored("a setting")
    headers = {"X-API-Key": alice.key, "If-Match": '"1"'}

    def change(importance: float) -> Any:
        async def one() -> Any:
            return await house.client.patch(
                f"/v1/memories/{memory}",
                json=alice.about(importance=importance),
                headers=headers,
            )

        return one

    replies = house.together([change(0.1), change(0.9), change(0.7)])
    assert sorted(reply.status_code for reply in replies) == [200, 412, 412]
    (made,) = (reply.json() for reply in replies if reply.status_code == 200)
    shown = alice.get(memory).json()
    assert (shown["version"], shown["importance"]) == (2, made["importance"])


# --- pages ----------------------------------------------------------------------------------------


def filled(agent: Agent, number: int) -> list[str]:
    """Write so many texts; returns their ids, oldest first."""
    ids: list[str] = []
    for start in range(0, number, 200):
        count = min(200, number - start)
        items = [agent.about(content=f"entry {start + n}") for n in range(count)]
        reply = agent.call("POST", "/v1/memories/batch", json={"items": items}).json()
        ids += [result["outcomes"][0]["id"] for result in reply["results"]]
    return ids


def test_many_are_listed_each_once_to_a_clear_end(alice: Agent) -> None:
    ids = filled(alice, 443)
    seen: list[str] = []
    cursor = None
    pages = 0
    while True:
        params = alice.about(limit=40) | ({} if cursor is None else {"cursor": cursor})
        reply = alice.call("GET", "/v1/memories", params=params).json()
        seen += [memory["id"] for memory in reply["items"]]
        pages += 1
        cursor = reply["next_cursor"]
        if cursor is None:
            break
    assert seen == ids[::-1]
    assert pages == 12
    over = alice.call("GET", "/v1/memories", params=alice.about(limit=201))
    assert over.status_code == 422
    assert over.json()["errors"][0]["field"] == "limit"


def test_a_list_goes_on_where_it_was_while_others_come_and_go(alice: Agent) -> None:
    ids = filled(alice, 120)
    newest_first = ids[::-1]
    page = alice.call("GET", "/v1/memories", params=alice.about(limit=40)).json()
    assert [memory["id"] for memory in page["items"]] == newest_first[:40]
    for number in range(5):
        alice.write(f"late entry {number}")
    deleted = [newest_first[3], newest_first[60], newest_first[100]]
    for memory in deleted:
        alice.forget(memory)
    seen: list[str] = []
    cursor = page["next_cursor"]
    while cursor is not None:
        params = alice.about(limit=40, cursor=cursor)
        page = alice.call("GET", "/v1/memories", params=params).json()
        seen += [memory["id"] for memory in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [memory for memory in newest_first[40:] if memory not in deleted]


def test_what_expires_is_gone_when_its_time_has_come(alice: Agent) -> None:
    started = time.monotonic()
    memory = alice.stored("until the kettle boils", ttl_seconds=1)
    wait_until(lambda: alice.get(memory).status_code == 404, what="the expiry")
    assert time.monotonic() - started > 0.9
    assert alice.recall("kettle boils") == []
    assert alice.listed() == []
    assert alice.stored("until the kettle boils") != memory
