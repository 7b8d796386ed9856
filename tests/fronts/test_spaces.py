"""Shared spaces from the outside: what is shared, with whom, and what ends when it does."""

import asyncio
from typing import Any
from unittest import mock
from uuid import UUID

import httpx
import pytest

from core.ids import TenantId, new_uuid
from core.model import Owner
from tests.fronts.teams import Team, change, key_of, said, share, space, unshare
from tests.house import House

pytestmark = pytest.mark.requirement("A19")

PATIENT = {"timeout_ms": 5000}
SOURCES = ("user_direct", "agent_inferred", "tool_output", "document")


@pytest.fixture
def team(house: House) -> Team:
    return Team.of(house)


def test_agents_share_a_customers_basics_and_not_their_own_notes(house: House) -> None:
    admin = house.tenant()
    support, sales = (
        house.agent(admin, "alice", namespaces=[name]) for name in ("support", "sales")
    )
    space(admin, "basics", "same_user", namespace_support="writer", namespace_sales="writer")
    basic = support.stored("the customer lives in Lisbon", space="basics")
    support.stored("the customer complained of the customer invoice")
    note = sales.stored("the customer wants a discount")
    found = sales.recall("what about the customer", **PATIENT)
    assert said(found) == {
        ("the customer lives in Lisbon", "basics"),
        ("the customer wants a discount", None),
    }
    by_id = {one["id"]: one for one in found}
    assert by_id[basic]["source"]["author"] == f"key:{key_of(support)}"
    assert "author" not in by_id[note]["source"]
    assert said(sales.listed()) == said(found)
    # The person is still the person: nobody else's basics are in it.
    sales.user = "bob"
    assert sales.recall("what about the customer", **PATIENT) == []
    assert sales.get(basic).status_code == 404


def test_people_of_a_team_share_what_they_put_there(team: Team) -> None:
    plan = team.alice.stored("the launch is on friday", space="team")
    team.alice.stored("the launch makes alice nervous")
    mine = team.bob.stored("the launch bores bob")
    found = team.bob.recall("when is the launch", **PATIENT)
    assert said(found) == {("the launch is on friday", "team"), ("the launch bores bob", None)}
    shared = next(one for one in found if one["id"] == plan)
    assert shared["source"]["author"] == f"key:{key_of(team.alice)}"
    assert shared["user_id"] == "alice"
    shown = team.bob.get(plan).json()
    assert (shown["space"], shown["user_id"]) == ("team", "alice")
    assert [one["id"] for one in team.bob.listed()] == [mine, plan]
    assert [one["id"] for one in team.bob.listed(space="team")] == [plan]
    assert [one["id"] for one in team.bob.listed(namespace="main")] == [mine]
    told = team.bob.call(
        "POST", "/v1/recall", json=team.bob.about(query="launch", format="text") | PATIENT
    )
    assert f"shared in team by key:{key_of(team.alice)}; about alice" in told.json()["text"]


def test_a_recall_asks_the_spaces_that_it_names(house: House, team: Team) -> None:
    space(team.admin, "other", "members", user_bob="writer")
    team.alice.stored("tea is at four", space="team")
    team.bob.stored("tea is at five", space="other")
    team.bob.stored("tea is at six")
    everywhere = said(team.bob.recall("tea", **PATIENT))
    assert everywhere == {
        ("tea is at four", "team"),
        ("tea is at five", "other"),
        ("tea is at six", None),
    }
    assert said(team.bob.recall("tea", spaces=[], **PATIENT)) == {("tea is at six", None)}
    assert said(team.bob.recall("tea", spaces=["other"], **PATIENT)) == {
        ("tea is at five", "other"),
        ("tea is at six", None),
    }
    unknown = team.alice.about(query="tea")
    missing, foreign = (
        team.alice.call("POST", "/v1/recall", json=unknown | {"spaces": [name]})
        for name in ("nowhere", "other")
    )
    assert (missing.status_code, foreign.status_code) == (404, 404)
    stranger = house.agent(team.admin, "dave")
    assert stranger.recall("tea", **PATIENT) == []


def test_the_index_finds_what_is_shared_and_what_is_ones_own(house: House, team: Team) -> None:
    space(team.admin, "basics", "same_user", namespace_main="writer")
    kept = {
        team.alice.stored("rowing in the morning", space="team"),
        team.bob.stored("rowing in the evening", space="basics"),
        team.bob.stored("rowing at noon"),
    }
    house.indexed()
    found = team.bob.recall("rowing", explain=True, **PATIENT)
    assert {one["id"] for one in found if "rank_dense" in one["explain"]} == kept
    assert all(one["explain"]["dense"] > 0 for one in found)


def test_tags_find_what_is_shared_and_what_is_ones_own(team: Team) -> None:
    team.alice.stored("tea at four", space="team", tags=["time", "tea"])
    team.bob.stored("tea at five", tags=["time", "tea"])
    team.bob.stored("tea at six", space="team", tags=["tea"])
    both = {"tea at four", "tea at five"}
    found = team.bob.recall("tea", tags=["time", "tea"], tags_match="all", **PATIENT)
    assert {one["content"] for one in found} == both
    found = team.bob.recall("tea", tags=["time"], **PATIENT)
    assert {one["content"] for one in found} == both
    assert {one["content"] for one in team.bob.listed(tag="time")} == both


@pytest.mark.parametrize("source", SOURCES)
def test_only_a_writer_of_a_space_writes_to_it_whatever_the_source(
    house: House, source: str
) -> None:
    admin = house.tenant()
    writer, reader, stranger = (
        house.agent(admin, "alice", source_ceiling=source) for _ in range(3)
    )
    members = {f"key_{key_of(writer)}": "writer", f"key_{key_of(reader)}": "reader"}
    space(admin, "shared", "members", **members)
    claimed = {"source": {"kind": "user_direct"}, "space": "shared"}
    memory = writer.stored("the door code changed", **claimed)
    assert writer.get(memory).json()["source"] == {
        "kind": source,
        "ref": None,
        "author": f"key:{key_of(writer)}",
    }
    assert reader.try_write("the door code changed", **claimed).status_code == 403
    assert stranger.try_write("the door code changed", **claimed).status_code == 404


def test_a_reader_of_a_space_changes_nothing_in_it(team: Team) -> None:
    memory = team.alice.stored("the launch is on friday", space="team")
    assert team.carol.get(memory).status_code == 200
    assert change(team.carol, memory, content="the launch is off").status_code == 403
    assert change(team.carol, memory, tags=["mine"]).status_code == 403
    assert team.carol.forget(memory).status_code == 403
    assert team.carol.try_write("the launch is off", space="team").status_code == 403
    shown = team.bob.get(memory).json()
    assert (shown["content"], shown["version"]) == ("the launch is on friday", 1)


def test_to_a_stranger_what_is_in_a_space_is_not_there(house: House, team: Team) -> None:
    memory = team.alice.stored("the launch is on friday", space="team")
    stranger = house.agent(team.admin, "alice", users=["alice"])  # in the space by her name
    assert stranger.get(memory).status_code == 200
    stranger = house.agent(team.admin, "dave")
    absent = str(new_uuid())
    for ask in (
        stranger.get,
        stranger.forget,
        lambda id_: change(stranger, id_, content="x"),
        lambda id_: stranger.call("GET", f"/v1/memories/{id_}/versions", params=stranger.about()),
    ):
        there, gone = ask(memory), ask(absent)
        assert there.status_code == gone.status_code == 404
        assert there.json()["detail"] == gone.json()["detail"]


def test_a_member_who_may_not_read_a_space_is_not_told_what_is_in_it(team: Team) -> None:
    """A policy that denies to read there, and does not deny to change."""
    memory = team.alice.stored("the launch is on friday", space="team")
    rule = {"subject": "user:carol", "in": "space:team", "object": "memory:item", "verb": "read",
            "effect": "deny"}  # fmt: skip
    case = {"case": "one", "subject": {"roles": ["reader"], "user_id": "carol"}, "in": "space:team",
            "expect": {"memory:item:read": "deny", "memory:item:list": "allow"}}  # fmt: skip
    put = team.admin.call(
        "PUT", "/v1/admin/policies/access", json={"rules": [rule], "people": [], "cases": [case]}
    )
    assert put.status_code == 200, put.text
    for ask in (
        team.carol.get,
        team.carol.forget,
        lambda id_: change(team.carol, id_, content="the launch is off"),
    ):
        there, gone = ask(memory), ask(str(new_uuid()))
        assert there.status_code == gone.status_code == 404, there.text
        assert there.json()["detail"] == gone.json()["detail"]
    assert team.bob.get(memory).json()["version"] == 1


def test_a_member_who_may_read_nothing_at_all_is_not_told_either(team: Team) -> None:
    """Denied in the whole tenant, and not denied to change: no scope to read under is minted."""
    memory = team.alice.stored("the launch is on friday", space="team")
    rule = {"subject": "user:carol", "in": "tenant", "object": "memory:item", "verb": "read",
            "effect": "deny"}  # fmt: skip
    case = {"case": "one", "subject": {"roles": ["reader"], "user_id": "carol"},
            "expect": {"memory:item:read": "deny", "memory:item:list": "allow"}}  # fmt: skip
    put = team.admin.call(
        "PUT", "/v1/admin/policies/access", json={"rules": [rule], "people": [], "cases": [case]}
    )
    assert put.status_code == 200, put.text
    for ask in (team.carol.forget, lambda id_: change(team.carol, id_, content="it is off")):
        there, gone = ask(memory), ask(str(new_uuid()))
        assert there.status_code == gone.status_code == 404, there.text
        assert there.json()["detail"] == gone.json()["detail"]
    assert team.bob.get(memory).json()["version"] == 1


def test_a_member_who_revises_signs_and_the_memory_stays_where_it_is(team: Team) -> None:
    memory = team.alice.stored("the launch is on friday", space="team")
    changed = change(team.bob, memory, content="the launch is on monday")
    assert changed.status_code == 200, changed.text
    assert changed.json()["source"]["author"] == f"key:{key_of(team.bob)}"
    assert (changed.json()["space"], changed.json()["user_id"]) == ("team", "alice")
    path = f"/v1/memories/{memory}/versions"
    newer, older = team.carol.call("GET", path, params=team.carol.about()).json()["items"]
    assert [newer["source"]["author"], older["source"]["author"]] == [
        f"key:{key_of(team.bob)}",
        f"key:{key_of(team.alice)}",
    ]
    assert said(team.carol.recall("launch", **PATIENT)) == {("the launch is on monday", "team")}
    assert team.bob.forget(memory).status_code == 200
    assert team.alice.get(memory).status_code == 404


def test_an_author_cannot_be_claimed(team: Team) -> None:
    for field in ("author", "person"):
        assert team.bob.try_write("x y", space="team", **{field: "key:a"}).status_code == 422
    source = {"kind": "user_direct", "author": "key:a"}
    assert team.bob.try_write("x y", space="team", source=source).status_code == 422
    memory = team.bob.stored("x y", space="team", metadata={"author": "system"})
    assert team.bob.get(memory).json()["source"]["author"] == f"key:{key_of(team.bob)}"


def test_who_adds_to_anothers_words_signs_what_comes_of_it(house: House) -> None:
    admin = house.tenant()
    first, second = (house.agent(admin, "alice") for _ in range(2))
    space(admin, "basics", "same_user", namespace_main="writer")
    memory = first.stored("pays by card", space="basics", metadata={"bank": "north"})
    (again,) = second.write("pays by card", space="basics")["outcomes"]
    assert (again["id"], again["version"]) == (memory, 1)
    assert first.get(memory).json()["source"]["author"] == f"key:{key_of(first)}"
    (more,) = second.write("pays by card", space="basics", metadata={"bank": "s"})["outcomes"]
    assert (more["id"], more["version"]) == (memory, 2)
    assert first.get(memory).json()["source"]["author"] == f"key:{key_of(second)}"


def test_the_same_text_here_and_there_is_two_memories(team: Team) -> None:
    own = team.alice.stored("the launch is on friday")
    shared = team.alice.stored("the launch is on friday", space="team")
    of_bob = team.bob.stored("the launch is on friday", space="team")
    assert len({own, shared, of_bob}) == 3
    team.alice.forget(own)
    assert team.alice.get(shared).status_code == 200


@pytest.mark.requirement("C4")
def test_leaving_a_space_ends_access_at_once(team: Team) -> None:
    memory = team.alice.stored("the launch is on friday", space="team")
    of_bob = team.bob.stored("the launch is on monday", space="team")
    left = unshare(team.admin, "team", "user:bob")
    assert left.status_code == 204
    since = {"X-Access-Version": left.headers["X-Access-Version"]}
    for id_ in (memory, of_bob):
        asked = team.bob.call("GET", f"/v1/memories/{id_}", params=team.bob.about(), headers=since)
        assert asked.status_code == 404
    assert team.bob.recall("launch", **PATIENT) == []
    assert team.bob.listed() == []
    assert team.bob.try_write("late", space="team").status_code == 404
    assert team.bob.forget(of_bob).status_code == 404
    assert team.alice.get(of_bob).json()["user_id"] == "bob"


@pytest.mark.requirement("C4")
def test_a_write_that_began_before_its_writer_left_is_not_kept(house: House, team: Team) -> None:
    embedder = house.embedder
    began, left = asyncio.Event(), asyncio.Event()
    passages = type(embedder).passages

    async def slow(texts: list[str]) -> Any:
        began.set()
        await left.wait()
        return await passages(embedder, texts)

    async def both() -> httpx.Response:
        with mock.patch.object(embedder, "passages", slow):
            writing = asyncio.create_task(
                house.client.post(
                    "/v1/memories",
                    json={"content": "said too late", "space": "team"},
                    headers={"X-API-Key": team.bob.key},
                )
            )
            await began.wait()
            gone = await house.client.delete(
                "/v1/admin/spaces/team/members/user:bob", headers={"X-API-Key": team.admin.key}
            )
            assert gone.status_code == 204
            left.set()
            return await writing

    reply = house.run(both())
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "1")
    assert team.alice.listed(space="team") == []


@pytest.mark.parametrize("label", ["special", "sensitive"])
def test_what_is_special_or_sensitive_stays_out_of_a_team(
    house: House, team: Team, label: str
) -> None:
    space(team.admin, "basics", "same_user", namespace_main="writer")
    assert share(team.admin, "team", "namespace:main", "writer").status_code == 200
    plain = team.alice.stored("alice has a mail address", space="team")
    text = "the address is rosa@harbour.example"
    kept_as = {"case": "kept", "text": text, "kept": text, "sensitivity": label}
    policy = {
        "kinds": {"EMAIL_ADDRESS": {"action": "allow", "sensitivity": label}},
        "cases": [kept_as],
    }
    put = team.admin.call("PUT", "/v1/admin/policies/pii", json=policy)
    assert put.status_code == 200, put.text
    eve = house.agent(team.admin, "eve")
    refused = eve.try_write(text, space="team")
    assert people(house, team) == 1  # what was refused made nobody known
    changed = change(team.bob, plain, content=text)
    kept = eve.write(text, space="basics")
    for reply in (refused, changed):
        assert reply.status_code == 422
        assert reply.json()["reasons"] == [{"kind": "SPACE.SENSITIVE", "field": "content"}]
    assert kept["outcomes"][0]["sensitivity"] == label
    assert said(team.carol.listed()) == {("alice has a mail address", "team")}


def people(house: House, team: Team) -> int:
    """How many people of the tenant are known."""
    with house.below("users") as connection:
        found = connection.execute(
            "SELECT count(*) FROM users WHERE tenant = %s", [team.admin.tenant]
        ).fetchone()
    assert found is not None
    count: int = found[0]
    return count


@pytest.mark.requirement("E1")
def test_erasing_one_persons_key_leaves_the_others_memories(house: House, team: Team) -> None:
    of_alice = team.alice.stored("alice books the room", space="team")
    of_bob = team.bob.stored("bob books the train", space="team")
    with house.below("memories") as connection:
        row = connection.execute(
            "SELECT tenant, space, user_id FROM memories WHERE id = %s", [of_alice]
        ).fetchone()
    assert row is not None
    tenant, shared, alice = row
    keyring = house.gateway.gate.keyring
    owner = Owner(tenant=tenant, id=shared, is_space=True, person=alice)
    assert house.run(keyring.destroy_owner(owner)) == 1
    assert said(team.carol.recall("who books what", **PATIENT)) == {("bob books the train", "team")}
    assert [one["id"] for one in team.carol.listed()] == [of_bob]
    assert team.carol.get(of_alice).status_code == 404
    assert team.carol.get(of_bob).status_code == 200
    withheld = [one for one in team.alice.events() if one["action"] == "memory:item:withhold"]
    assert {one["object"] for one in withheld} == {of_alice}


def test_deleting_a_space_takes_everything_in_it_along(house: House, team: Team) -> None:
    memory = team.alice.stored("the launch is on friday", space="team")
    team.bob.stored("the launch is on monday", space="team")
    own = team.alice.stored("the launch is private")
    place = points_of(house, team)
    house.indexed()
    index = house.gateway.gate.recall.index
    assert house.run(index.count(*place)) == 2
    ended = team.admin.call("DELETE", "/v1/admin/spaces/team")
    assert (ended.status_code, ended.json()) == (200, {"deleted": 2})
    assert team.alice.get(memory).status_code == 404
    assert said(team.alice.recall("launch", **PATIENT)) == {("the launch is private", None)}
    assert team.alice.get(own).status_code == 200
    house.indexed()
    assert house.run(index.count(*place)) == 0
    assert team.admin.call("DELETE", "/v1/admin/spaces/team").status_code == 404
    assert authors(house, team) == {1, 0}


def points_of(house: House, team: Team) -> tuple[str, str]:
    keys = house.run(house.gateway.gate.keyring.tenant(TenantId(UUID(team.admin.tenant))))
    return keys.word("tenant", team.admin.tenant), keys.word("owner", team.space)


def authors(house: House, team: Team) -> set[int]:
    """How many live memories each author of the tenant has."""
    with house.below("memory_authors") as connection:
        found = connection.execute(
            "SELECT memories FROM memory_authors WHERE tenant = %s", [team.admin.tenant]
        ).fetchall()
    return {row[0] for row in found}


def test_a_space_that_ends_under_its_writers_keeps_nothing(house: House, team: Team) -> None:
    kept = [team.alice.stored(f"kept before {number}", space="team") for number in range(4)]
    headers = {"X-API-Key": team.alice.key}

    def writes(number: int) -> Any:
        body = {"content": f"written meanwhile {number}", "space": "team"}
        return lambda: house.client.post("/v1/memories", json=body, headers=headers)

    def forgets(memory: str) -> Any:
        return lambda: house.client.delete(f"/v1/memories/{memory}", headers=headers)

    def ends() -> Any:
        by = {"X-API-Key": team.admin.key}
        return house.client.delete("/v1/admin/spaces/team", headers=by)

    works = [*map(writes, range(8)), ends, *map(forgets, kept), *map(writes, range(8, 16))]
    replies = house.together(works)
    assert {reply.status_code for reply in replies} <= {200, 201, 404, 503}
    if team.admin.call("GET", "/v1/admin/spaces/team/members").status_code == 200:
        assert team.admin.call("DELETE", "/v1/admin/spaces/team").status_code == 200
    house.indexed()
    with house.below("memories", "memory_counts") as connection:
        for table in ("memories", "memory_counts"):
            found = connection.execute(
                f"SELECT count(*) FROM {table} WHERE tenant = %s", [team.admin.tenant]
            ).fetchone()
            assert found == (0,), table
    assert authors(house, team) <= {0}
    assert house.run(house.gateway.gate.recall.index.count(*points_of(house, team))) == 0


def test_live_memories_are_counted_by_their_author(house: House, team: Team) -> None:
    first = team.alice.stored("one of them", space="team")
    team.alice.stored("two of them")
    team.alice.write("two of them")
    assert authors(house, team) == {2}
    change(team.bob, first, content="one of them, revised")
    assert authors(house, team) == {2}
    team.bob.forget(first)
    assert authors(house, team) == {1}


def test_more_spaces_than_are_searched_at_once_are_named(house: House) -> None:
    admin = house.tenant()
    agent = house.agent(admin, "alice")
    for number in range(17):
        space(admin, f"s{number}", "members", user_alice="writer")
        agent.stored(f"tea number {number}", space=f"s{number}")
    asked = agent.about(query="tea", limit=50, **PATIENT)
    reply = agent.call("POST", "/v1/recall", json=asked).json()
    assert "spaces" in reply["degraded"]
    fewer = asked | {"spaces": [f"s{number}" for number in range(16)]}
    reply = agent.call("POST", "/v1/recall", json=fewer).json()
    assert reply["degraded"] == []
    assert {one["space"] for one in reply["memories"]} == set(fewer["spaces"])


def test_a_list_goes_on_over_what_is_ones_own_and_what_is_shared(team: Team) -> None:
    kept = []
    for number in range(6):
        where = {"space": "team"} if number % 2 else {}
        agent = team.bob if number % 3 else team.alice
        memory = agent.stored(f"note {number}", **where)
        if agent is team.bob or where:
            kept.append(memory)
    assert [one["id"] for one in team.bob.listed(limit=2)] == kept[::-1]
