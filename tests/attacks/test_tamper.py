"""Somebody with the database's files changes what is sealed, or moves it. They write past every
wall, as the owner of the tables; nothing that they touched is ever shown, and the log says so.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from core.adapters.postgres.queries import query
from core.errors import Tampered
from core.ids import RecallId, UserId
from tests.attacks.test_guarded_positions import opened_recall
from tests.house import House, key_body
from tests.live.gateways import Agent, wait_until

TEXTS = ("she drinks green tea", "she has a cat", "she lives in Lisbon")
HEADER = 58
"""Bytes before the ciphertext; every part of an envelope is hit below."""
BYTES = (0, 1, 3, 8, 13, 20, 30, 57, HEADER, HEADER + 20, -17, -1)


@dataclass
class Target:
    house: House
    agent: Agent
    ids: list[str]

    @property
    def id(self) -> str:
        return self.ids[0]

    def value(self, table: str, column: str, where: str, *values: Any) -> Any:
        with self.house.below(table) as connection:
            row = connection.execute(
                f"SELECT {column} FROM {table} WHERE {where}",
                values,
            ).fetchone()
        assert row is not None
        return row[0]

    def set(self, table: str, column: str, value: Any, where: str, *values: Any) -> None:
        with self.house.below(table) as connection:
            changed = connection.execute(
                f"UPDATE {table} SET {column} = %s WHERE {where}",
                [value, *values],
            )
            assert changed.rowcount == 1

    def withheld(self) -> list[str]:
        """Ids that the log says were withheld, or refused as tampered with."""
        return [
            event["object"]
            for event in self.agent.events()
            if event["outcome"] == "tampered" or event["action"].endswith(":withhold")
        ]


@pytest.fixture
def target(house: House) -> Target:
    agent = house.someone()
    ids = [agent.stored(text) for text in TEXTS]
    house.indexed()
    return Target(house, agent, ids)


def flipped(envelope: bytes, at: int) -> bytes:
    changed = bytearray(envelope)
    changed[at] ^= 1 << random.randrange(8)
    return bytes(changed)


def others_are_answered(target: Target) -> None:
    """The memory is shown by no route and no tool; the other two are."""
    agent, house = target.agent, target.house
    others = set(target.ids[1:])
    assert {memory["id"] for memory in agent.listed()} == others
    for question in ("tea cat Lisbon", "she"):
        said = len(target.withheld())
        recalled = agent.recall(question, limit=10, timeout_ms=5000)
        assert {memory["id"] for memory in recalled} == others
        assert len(target.withheld()) == said + 1
    found = house.tool(agent, "memory_search", query="tea cat Lisbon", user_id="alice")
    assert {memory["id"] for memory in found["structuredContent"]["memories"]} <= others
    assert TEXTS[0] not in str(found)


def it_is_missing(target: Target, *, history: tuple[int, ...] = ()) -> None:
    """No route and no tool shows it as it is now; of its past, `history` alone."""
    agent, house = target.agent, target.house
    path = f"/v1/memories/{target.id}"
    about = agent.about()
    for reply in (
        agent.get(target.id),
        agent.call("PATCH", path, json=about | {"importance": 0.9}),
    ):
        assert reply.status_code == 404
        assert reply.json()["code"] == "not_found"
    assert house.tool(agent, "memory_get", memory_id=target.id, user_id="alice")["isError"]
    change = {"memory_id": target.id, "user_id": "alice"}
    assert house.tool(agent, "memory_update", **change, content=TEXTS[1])["isError"]
    shown = agent.call("GET", f"{path}/versions", params=about)
    assert shown.status_code == (200 if history else 404)
    assert tuple(each["version"] for each in shown.json().get("items", [])) == history


@pytest.mark.requirement("M4", "E1")
@pytest.mark.parametrize("column", ["content", "details"])
def test_a_changed_byte_withholds_the_memory_and_no_other(target: Target, column: str) -> None:
    whole = target.value("memories", column, "id = %s", target.id)
    assert len(whole) > HEADER + 40
    for at in BYTES:
        before = len(target.withheld())
        target.set("memories", column, flipped(whole, at), "id = %s", target.id)
        assert target.agent.get(target.id).status_code == 404, at
        assert len(target.withheld()) == before + 1, at
    others_are_answered(target)
    it_is_missing(target)
    assert target.withheld().count(target.id) >= len(BYTES) + 4
    target.set("memories", column, whole, "id = %s", target.id)
    assert target.agent.get(target.id).json()["content"] == TEXTS[0]


@pytest.mark.requirement("M4", "E1")
@pytest.mark.parametrize("cut", [0, 1, HEADER, HEADER + 16, -1])
def test_a_cut_envelope_withholds_the_memory(target: Target, cut: int) -> None:
    whole = target.value("memories", "content", "id = %s", target.id)
    target.set("memories", "content", whole[:cut], "id = %s", target.id)
    others_are_answered(target)
    it_is_missing(target)


def to_my_other_memory(house: House, target: Target) -> bytes:
    return bytes(target.value("memories", "content", "id = %s", target.ids[1]))


def to_another_field(house: House, target: Target) -> bytes:
    return bytes(target.value("memories", "details", "id = %s", target.id))


def from_another_person(house: House, target: Target) -> bytes:
    other = Agent(house.http, target.agent.key, target.agent.tenant, "bob")
    return bytes(target.value("memories", "content", "id = %s", other.stored(TEXTS[0])))


def from_another_tenant(house: House, target: Target) -> bytes:
    stranger = house.someone()
    return bytes(target.value("memories", "content", "id = %s", stranger.stored(TEXTS[0])))


def from_another_namespace(house: House, target: Target) -> bytes:
    twin = target.agent.stored(TEXTS[0], namespace="side")
    moved = bytes(target.value("memories", "content", "id = %s", twin))
    target.agent.forget(twin)
    return moved


def from_an_older_version(house: House, target: Target) -> bytes:
    old = bytes(target.value("memories", "content", "id = %s", target.id))
    body = target.agent.about(content="she drinks black tea")
    assert target.agent.call("PATCH", f"/v1/memories/{target.id}", json=body).status_code == 200
    return old


@pytest.mark.requirement("M4", "E1")
@pytest.mark.parametrize(
    "moved",
    [
        to_my_other_memory,
        to_another_field,
        from_another_person,
        from_another_tenant,
        from_another_namespace,
        from_an_older_version,
    ],
)
def test_an_envelope_opens_where_it_was_sealed_and_nowhere_else(
    house: House, target: Target, moved: Callable[[House, Target], bytes]
) -> None:
    target.set("memories", "content", moved(house, target), "id = %s", target.id)
    others_are_answered(target)
    it_is_missing(target, history=(1,) if moved is from_an_older_version else ())
    assert target.id in target.withheld()


@pytest.mark.requirement("M4", "E1")
@pytest.mark.parametrize("column", ["version", "namespace", "user_id"])
def test_a_row_that_claims_another_place_is_withheld(
    house: House, target: Target, column: str
) -> None:
    other = Agent(house.http, target.agent.key, target.agent.tenant, "bob")
    elsewhere = other.stored("of bob", namespace="side")
    target.agent.write("makes it known", namespace="side")
    value = 7 if column == "version" else target.value("memories", column, "id = %s", elsewhere)
    target.set("memories", column, value, "id = %s", target.id)
    it_is_missing(target)
    assert target.id not in {memory["id"] for memory in target.agent.listed()}
    assert {memory["content"] for memory in other.listed()} == {"of bob"}
    assert target.id not in {memory["id"] for memory in other.recall("tea", timeout_ms=5000)}
    assert target.id in target.withheld()


@pytest.mark.requirement("M4")
@pytest.mark.parametrize("column", ["content", "details"])
def test_a_changed_old_version_is_withheld_and_the_others_are_shown(
    target: Target, column: str
) -> None:
    path = f"/v1/memories/{target.id}"
    for text in ("she drinks black tea", "she drinks white tea"):
        target.agent.call("PATCH", path, json=target.agent.about(content=text))
    whole = target.value("memory_versions", column, "memory = %s AND version = 2", target.id)
    changed = flipped(whole, -3)
    target.set("memory_versions", column, changed, "memory = %s AND version = 2", target.id)
    shown = target.agent.call("GET", f"{path}/versions", params=target.agent.about()).json()
    assert [each["version"] for each in shown["items"]] == [3, 1]
    assert target.withheld() == [target.id]


def requeued(house: House) -> None:
    house.sql(query("requeue_all"), role="memwarden_index")
    house.loop.call_soon_threadsafe(house.gateway.indexer.wake)
    house.indexed()


@pytest.mark.requirement("M4")
@pytest.mark.parametrize("at", [0, 20, HEADER + 5, -1])
def test_a_changed_vector_leaves_its_memory_out_of_the_index_and_ends_nothing(
    house: House, target: Target, at: int
) -> None:
    whole = target.value("memory_vectors", "vector", "memory = %s", target.id)
    target.set("memory_vectors", "vector", flipped(whole, at), "memory = %s", target.id)
    requeued(house)
    assert target.id in target.withheld()
    after = target.agent.stored("written after it")
    house.indexed()
    recalled = target.agent.recall("written after it", timeout_ms=5000)
    assert recalled[0]["id"] == after


@pytest.mark.requirement("M4")
def test_a_vector_of_another_memory_does_not_stand_for_this_one(
    house: House, target: Target
) -> None:
    other = target.value("memory_vectors", "vector", "memory = %s", target.ids[1])
    target.set("memory_vectors", "vector", other, "memory = %s", target.id)
    requeued(house)
    assert target.id in target.withheld()


@pytest.mark.requirement("M4")
def test_a_changed_record_of_a_recall_does_not_open(house: House, target: Target) -> None:
    reply = target.agent.call(
        "POST", "/v1/recall", json=target.agent.about(query="tea", timeout_ms=5000)
    )
    recall = RecallId(UUID(reply.json()["recall_id"]))
    user = UserId(target.value("recalls", "user_id", "id = %s", recall))
    whole = bytes(target.value("recalls", "sealed", "id = %s", recall))
    tenant = target.agent.tenant
    assert house.run(opened_recall(house, tenant, recall, user, whole))["query"] == "tea"
    for at in BYTES:
        with pytest.raises(Tampered):
            house.run(opened_recall(house, tenant, recall, user, flipped(whole, at)))
    with pytest.raises(Tampered):
        house.run(opened_recall(house, tenant, RecallId(UUID(target.id)), user, whole))


@pytest.mark.requirement("M4", "F3")
def test_a_changed_kept_reply_answers_nobody(target: Target) -> None:
    headers = {"Idempotency-Key": "once"}
    first = target.agent.try_write("said once", headers=headers)
    where = "tenant = %s"
    whole = target.value("idempotency", "reply", where, target.agent.tenant)
    for at in BYTES:
        changed = flipped(whole, at)
        target.set("idempotency", "reply", changed, where, target.agent.tenant)
        assert target.agent.try_write("said once", headers=headers).status_code == 404
    events = target.agent.events(action="memory:item:write")
    assert sum(event["outcome"] == "tampered" for event in events) == len(BYTES)
    target.set("idempotency", "reply", whole, where, target.agent.tenant)
    assert target.agent.try_write("said once", headers=headers).json() == first.json()
    assert [memory["content"] for memory in target.agent.listed()].count("said once") == 1


@pytest.mark.requirement("M4", "B12")
def test_changed_grants_prove_nothing_and_are_listed_without_a_name(house: House) -> None:
    admin = house.tenant()
    made = admin.call("POST", "/v1/admin/keys", json=key_body(users=["alice"])).json()
    agent = Agent(house.http, made["key"], admin.tenant, "alice")
    wide = admin.call("POST", "/v1/admin/keys", json=key_body()).json()
    target = Target(house, agent, [])
    whole = target.value("api_keys", "grants", "id = %s", made["id"])
    wider = target.value("api_keys", "grants", "id = %s", wide["id"])
    for changed in [*(flipped(whole, at) for at in BYTES), wider, b""]:
        target.set("api_keys", "grants", changed, "id = %s", made["id"])
        assert agent.call("GET", "/v1/memories").status_code == 401
    names = {key["id"]: key["name"] for key in admin.call("GET", "/v1/admin/keys").json()["items"]}
    assert (names[made["id"]], names[wide["id"]]) == ("", "agent")
    target.set("api_keys", "grants", whole, "id = %s", made["id"])
    assert agent.call("GET", "/v1/memories").status_code == 200


@pytest.mark.requirement("M4", "B12")
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("roles", ["admin", "reader"]),
        ("roles", ["operator"]),
        ("ceiling", "operator"),
        ("expires_at", "2999-01-01T00:00:00Z"),
        ("secret_mac", bytes(32)),
        ("pepper_version", 99),
    ],
)
def test_a_key_that_was_given_more_in_the_database_proves_nothing(
    house: House, column: str, value: Any
) -> None:
    admin = house.tenant()
    made = admin.call("POST", "/v1/admin/keys", json=key_body(roles=["reader"])).json()
    agent = Agent(house.http, made["key"], admin.tenant, "alice")
    Target(house, agent, []).set("api_keys", column, value, "id = %s", made["id"])
    assert agent.call("GET", "/v1/memories", params=agent.about()).status_code in (401, 503)
    assert agent.call("GET", "/v1/admin/keys").status_code in (401, 503)


@pytest.mark.requirement("M4")
def test_a_key_moved_to_another_tenant_proves_nothing(house: House) -> None:
    admin, other = house.tenant(), house.tenant()
    made = admin.call("POST", "/v1/admin/keys", json=key_body()).json()
    agent = Agent(house.http, made["key"], admin.tenant, "alice")
    Target(house, agent, []).set("api_keys", "tenant", other.tenant, "id = %s", made["id"])
    assert agent.call("GET", "/v1/memories", params=agent.about()).status_code == 401


@pytest.mark.requirement("M4")
def test_a_changed_name_of_a_namespace_costs_the_name_alone(target: Target) -> None:
    whole = target.value("namespaces", "name", "tenant = %s", target.agent.tenant)
    target.set("namespaces", "name", flipped(whole, -1), "tenant = %s", target.agent.tenant)
    assert target.agent.get(target.id).json()["namespace"] is None
    assert len(target.agent.listed()) == len(TEXTS)
    body = target.agent.about(query="tea", format="text")
    assert target.agent.call("POST", "/v1/recall", json=body).status_code == 200


@pytest.mark.requirement("M4")
def test_an_honest_repeat_replaces_what_was_tampered_with(target: Target) -> None:
    whole = target.value("memories", "details", "id = %s", target.id)
    target.set("memories", "details", flipped(whole, -1), "id = %s", target.id)
    outcome = target.agent.write(TEXTS[0])["outcomes"][0]
    assert outcome["id"] == target.id
    wait_until(lambda: target.agent.get(target.id).status_code == 200)
    assert target.agent.get(target.id).json()["content"] == TEXTS[0]
