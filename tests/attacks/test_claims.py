"""Who asks, and for whom, is said by the credential. Whatever else claims it changes nothing.

Foreign ids are put into every field, header, parameter, `_meta` and cursor of every route and tool;
the fields are those of the wire models, so that a later field is attacked as well.
"""

import base64
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import httpx
import pytest
from pydantic import BaseModel

from gateway.front.http import OPERATIONS
from gateway.front.tools import SPECS
from tests.attacks.asks import NAMES, SAMPLES, Stage, ask_of, succeeded
from tests.house import House, key_body
from tests.live.gateways import Agent

CANARY = "zqvictimscanary"
TABLES = ("api_keys", "memories", "memory_uses", "memory_versions", "namespaces", "users")
BODIES = {op.name: op.body for op in OPERATIONS if op.body is not None} | {
    name: spec.model for name, spec in SPECS.items()
}
QUERIES = {op.name: op.query for op in OPERATIONS}
IDENTITY = (
    "tenant", "tenant_id", "org_id", "user", "users", "on_behalf_of", "actor", "principal",
    "key_id", "roles", "scope", "owner", "sub", "client_id", "_meta", "as",
)  # fmt: skip
HEADERS = (
    "X-Tenant-Id", "X-Tenant", "X-User-Id", "X-User", "X-Forwarded-User", "X-Remote-User",
    "X-On-Behalf-Of", "X-Roles", "X-Scope", "X-Namespace", "Mcp-Session-Id", "Cookie",
    "X-Original-User", "Remote-User", "X-Memwarden-Tenant", "Forwarded", "X-Forwarded-For",
    "X-HTTP-Method-Override",
)  # fmt: skip


@dataclass
class Victim:
    """Somebody of another tenant, and everything by which they could be named."""

    agent: Agent
    names: dict[str, str]


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    return Stage.of(house)


@pytest.fixture(scope="module")
def victim(house: House) -> Victim:
    admin = house.tenant()
    made = admin.call("POST", "/v1/admin/keys", json=key_body(namespaces=["vault"])).json()
    agent = Agent(house.http, made["key"], admin.tenant, "victim")
    memory = agent.stored(f"{CANARY} keeps it to themselves")
    neighbour = agent.stored(f"{CANARY} of another person", user_id="alice")
    names = {
        "tenant": admin.tenant,
        "key id": made["id"],
        "user": "victim",
        "namespace": "vault",
        "memory": memory,
        "memory of a namesake": neighbour,
    }
    return Victim(agent, names)


def state(house: House, victim: Victim) -> Any:
    house.indexed()
    with house.below(*TABLES) as connection:
        return [
            connection.execute(
                f"SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM {table} t "
                "WHERE tenant = %s",
                [victim.agent.tenant],
            ).fetchone()
            for table in TABLES
        ]


def shaped(annotation: Any, value: str) -> Any:
    """Return `value` as a field of this type could carry it."""
    kinds = [get_origin(each) or each for each in (annotation, *get_args(annotation))]
    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, BaseModel):
            return dict.fromkeys(each.model_fields, value)
    if dict in kinds:
        return {"note": value}
    if list in kinds:
        return [value]
    return value


def attempts(value: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (route or tool, what differs) with `value` in one field after the other."""
    for name, model in BODIES.items():
        for field, info in model.model_fields.items():
            if field != "items":
                yield name, {"json": {field: shaped(info.annotation, value)}}
        for claim in IDENTITY:
            yield name, {"json": {claim: value}}
    for name, query in QUERIES.items():
        for field, info in query.model_fields.items():
            yield name, {"params": {info.alias or field: value}}
        for claim in IDENTITY:
            yield name, {"params": {claim: value}}
    for name in SPECS:
        for claim in IDENTITY:
            yield name, {"meta": {claim: value, f"memwarden/{claim}": value}}


def test_every_route_and_tool_is_attacked() -> None:
    attacked = {name for name, _ in attempts("x")}
    assert attacked == set(NAMES)


@pytest.mark.requirement("B2")
def test_a_foreign_id_in_any_field_has_no_effect_on_its_owner_and_is_recorded(
    house: House, stage: Stage, victim: Victim
) -> None:
    destructive = {"erase_tenant", "revoke_key", "rotate_key", "forget_memory", "memory_forget"}
    before = state(house, victim)
    recorded: dict[str, str] = {}
    # Every field meets one kind of name; which one, chance decides anew in each run.
    values = [random.choice(list(victim.names.values())) for _ in attempts("")]
    tried = [
        (name, changed)
        for number, value in enumerate(values)
        for name, changed in itertools.islice(attempts(value), number, number + 1)
    ]
    for name, changed in tried:
        if name in destructive:  # aims at what is not there, or the sample would be gone
            changed["thing"] = victim.names["memory"]
        reply = ask_of(stage, name, **changed)
        assert reply.status_code < 500, (name, changed, reply.text)
        assert CANARY not in reply.text, (name, changed)
        if name in SPECS or SAMPLES[name].by(stage).key != house.operator.key:
            recorded[reply.headers["x-request-id"]] = name
    assert len(tried) > 400
    assert state(house, victim) == before
    times = Counter(event["request_id"] for event in stage.agent.events())
    unrecorded = {name for request, name in recorded.items() if not times[request]}
    assert unrecorded == set()
    # A reveal has its purpose beside it.
    most = {name: 2 if name == "reveal_memory" else 1 for name in recorded.values()}
    assert {name for request, name in recorded.items() if times[request] > most[name]} == set()


@pytest.mark.requirement("B2")
@pytest.mark.parametrize("name", NAMES)
def test_headers_that_claim_somebody_else_are_not_read(
    house: House, victim: Victim, name: str
) -> None:
    stage = Stage.of(house)
    before = state(house, victim)
    value = f"{victim.names['user']} {victim.agent.tenant}"
    headers = dict.fromkeys(HEADERS, value) | {"Cookie": f"user_id={value}; tenant={value}"}
    headers["Idempotency-Key"] = victim.agent.tenant
    if name in SPECS:  # a session that is named is nobody's: see tests/fronts
        headers.pop("Mcp-Session-Id", None)
    reply = ask_of(stage, name, headers=headers)
    assert succeeded(reply), reply.text
    assert CANARY not in reply.text
    assert state(house, victim) == before


@pytest.mark.requirement("B2")
@pytest.mark.parametrize("name", ["user_id", "tenant_id", "tenant", "namespace"])
def test_metadata_cannot_hold_what_reads_like_an_owner(stage: Stage, name: str) -> None:
    written = stage.agent.try_write("tea", metadata={name: "victim"})
    changed = stage.agent.call(
        "PATCH", f"/v1/memories/{stage.memory}", json=stage.agent.about(metadata={name: "victim"})
    )
    for reply in (written, changed):
        assert reply.status_code == 422
        assert reply.json()["errors"][0]["field"] == f"metadata.{name}"


@pytest.mark.requirement("B2")
def test_a_name_outside_the_credential_is_refused_and_recorded(house: House, stage: Stage) -> None:
    pinned = house.agent(stage.admin, "alice", users=["alice"], namespaces=["main"])
    other = {"user_id": "bob"}
    replies = [
        pinned.try_write("x", **other),
        pinned.try_write("x", namespace="side"),
        pinned.get(stage.memory, **other),
        pinned.call("GET", f"/v1/memories/{stage.memory}/versions", params=other),
        pinned.call("GET", "/v1/memories", params=other),
        pinned.call("GET", "/v1/memories", params={"namespace": "side"}),
        pinned.call("POST", "/v1/recall", json={"query": "x"} | other),
        pinned.call("POST", "/v1/recall", json={"query": "x", "namespaces": ["main", "side"]}),
        pinned.call("PATCH", f"/v1/memories/{stage.memory}", json={"content": "x"} | other),
        pinned.call("DELETE", f"/v1/memories/{stage.memory}", params=other),
    ]
    assert {reply.status_code for reply in replies} == {403}
    events = {event["request_id"]: event for event in stage.agent.events()}
    for reply in replies:
        event = events[reply.headers["x-request-id"]]
        assert (event["decision"], event["outcome"]) == ("deny", "forbidden")
        assert event["rule"] in {"person-outside-credential", "namespace-outside-credential"}
    for name, arguments in {
        "memory_write": {"content": "x"}, "memory_search": {"query": "x"},
        "memory_get": {"memory_id": stage.memory}, "memory_forget": {"memory_id": stage.memory},
        "memory_update": {"memory_id": stage.memory, "content": "x"},
    }.items():  # fmt: skip
        assert house.tool(pinned, name, **arguments, **other)["isError"]


@pytest.mark.requirement("B2")
def test_a_space_that_one_is_no_member_of_is_not_there(house: House, stage: Stage) -> None:
    assert stage.agent.try_write("x", space="team").status_code == 404
    body = stage.agent.about(query="x", spaces=["team"])
    assert stage.agent.call("POST", "/v1/recall", json=body).status_code == 404
    assert house.tool(stage.agent, "memory_search", query="x", user_id="alice", spaces=["team"])[
        "isError"
    ]


@pytest.mark.requirement("B2")
@pytest.mark.parametrize("path", ["/v1/memories", "/v1/admin/keys", "/v1/audit/events", "/mcp"])
def test_two_credentials_that_differ_prove_nothing(
    house: House, stage: Stage, victim: Victim, path: str
) -> None:
    agent, key = stage.agent, victim.agent.key
    for headers in (
        {"X-API-Key": agent.key, "Authorization": f"Bearer {key}"},
        {"X-API-Key": agent.key, "Authorization": "Basic eDp5"},
    ):
        reply = house.http.get(path, headers=headers)
        assert reply.status_code == 401


def altered(cursor: str, pick: random.Random) -> Iterator[str]:
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    for _ in range(40):
        other = bytearray(raw)
        other[pick.randrange(len(other))] ^= 1 << pick.randrange(8)
        yield base64.urlsafe_b64encode(bytes(other)).decode().rstrip("=")
    for length in (1, 15, 16, 17, len(raw) // 2, len(raw) - 1):
        yield base64.urlsafe_b64encode(bytes(raw[:length])).decode().rstrip("=")
    yield from (cursor[::-1], "é", "a b", "=", cursor + "A", "null", "-" * 2048)


def pages(agent: Agent, path: str, **params: Any) -> httpx.Response:
    about = agent.about() if path == "/v1/memories" else {}
    return agent.call("GET", path, params=about | {"limit": 1} | params)


@pytest.mark.requirement("B2")
@pytest.mark.parametrize("path", ["/v1/memories", "/v1/audit/events"])
def test_a_cursor_serves_who_got_it_for_what_they_asked(
    house: House, stage: Stage, victim: Victim, path: str
) -> None:
    stage.agent.write("of the other namespace", namespace="side")
    for number in range(3):
        stage.agent.write(f"page {number}")
        victim.agent.write(f"page {number}")
    cursor = pages(stage.agent, path).json()["next_cursor"]
    assert pages(stage.agent, path, cursor=cursor).status_code == 200
    elsewhere = "/v1/audit/events" if path == "/v1/memories" else "/v1/memories"
    twin = house.agent(stage.admin, "alice")
    wrong = [
        pages(twin, path, cursor=cursor),  # another credential of the same person
        pages(victim.agent, path, cursor=cursor),
        pages(stage.agent, path, cursor=pages(victim.agent, path).json()["next_cursor"]),
        pages(stage.agent, elsewhere, cursor=cursor),
        pages(stage.agent, path, cursor=cursor, user_id="bob"),
        stage.house.operator.call("GET", "/v1/admin/tenants", params={"cursor": cursor}),
    ]
    if path == "/v1/memories":
        wrong += [
            pages(stage.agent, path, cursor=cursor, kind="event"),
            pages(stage.agent, path, cursor=cursor, namespace="main"),
            pages(stage.agent, path, cursor=cursor, tag="x"),
        ]
    else:
        wrong.append(pages(stage.agent, path, cursor=cursor, action="memory:item:read"))
    wrong += [pages(stage.agent, path, cursor=other) for other in altered(cursor, random.Random(3))]
    assert [reply.text for reply in wrong if reply.status_code != 422] == []
    assert not any(CANARY in reply.text for reply in wrong)
