"""The published contract by hand, over a real socket: shapes, headers, one effect a key."""

import json

import pytest
from jsonschema import Draft202012Validator

from tests.gateway.front.test_openapi import closed


@pytest.fixture(scope="module")
def shapes(served):
    """Check a body against a named schema with every object closed."""
    components = closed(served.agent.call("GET", "/openapi.json").json()["components"])

    def check(name, body):
        schema = {"$ref": f"#/components/schemas/{name}", "components": components}
        Draft202012Validator(schema).validate(body)
        return body

    return check


@pytest.fixture
def agent(served):
    """Somebody whom no other test knows."""
    return served.house.someone("alice", roles=["reader", "writer", "curator", "auditor"])


def test_a_memory_from_its_write_to_its_end(agent, shapes):
    made = agent.try_write(
        "Alice drinks oolong tea",
        kind="preference",
        tags=["drink"],
        metadata={"cups": 2},
        entities=["oolong"],
        source={"kind": "user_direct", "ref": "turn 1"},
        occurred_at="2026-01-01T10:00:00Z",
    )
    assert made.status_code == 201
    shapes("ReceiptShown", made.json())
    memory = made.json()["outcomes"][0]["id"]

    got = agent.get(memory)
    shown = shapes("MemoryShown", got.json())
    assert got.headers["etag"] == f'"{shown["version"]}"'
    assert shown["user_id"] == "alice"
    assert shown["namespace"] == "main"
    assert (shown["tags"], shown["metadata"]) == (["drink"], {"cups": 2})
    assert shown["source"] == {"kind": "user_direct", "ref": "turn 1"}

    assert [item["id"] for item in agent.listed(tag="drink")] == [memory]
    assert agent.listed(tag="food") == []

    path = f"/v1/memories/{memory}"
    stale = agent.call(
        "PATCH",
        path,
        json=agent.about(content="Alice drinks pu-erh tea"),
        headers={"If-Match": '"9"'},
    )
    assert stale.status_code == 412
    changed = agent.call(
        "PATCH",
        path,
        json=agent.about(content="Alice drinks pu-erh tea", importance=0.9),
        headers={"If-Match": got.headers["etag"]},
    )
    assert changed.status_code == 200, changed.text
    after = shapes("ChangedShown", changed.json())
    assert (after["content"], after["importance"]) == ("Alice drinks pu-erh tea", 0.9)
    assert after["version"] == shown["version"] + 1
    versions = agent.call("GET", f"{path}/versions", params=agent.about())
    shapes("MemoriesShown", versions.json())
    assert [item["version"] for item in versions.json()["items"]] == [2, 1]

    gone = agent.forget(memory)
    assert (gone.status_code, gone.json()) == (200, {"deleted": 1})
    assert agent.get(memory).status_code == 404
    assert agent.forget(memory).status_code == 404
    assert agent.listed() == []


def test_a_recall_in_both_forms(agent, shapes):
    agent.write("Alice is allergic to peanuts", kind="constraint")
    body = agent.about(query="what is Alice allergic to", explain=True)
    reply = agent.call("POST", "/v1/recall", json=body)
    shown = shapes("RecallShown", reply.json())
    assert shown["memories"][0]["content"] == "Alice is allergic to peanuts"
    assert shown["memories"][0]["explain"]
    text = agent.call("POST", "/v1/recall", json=body | {"format": "text"}).json()["text"]
    assert "## Constraints" in text
    assert "  | Alice is allergic to peanuts" in text
    stranger = agent.call("POST", "/v1/recall", json={"query": "tea", "user_id": "nobody"})
    assert (stranger.status_code, stranger.json()["memories"]) == (200, [])


@pytest.mark.requirement("F3")
def test_one_key_and_body_is_one_effect_and_one_reply(agent):
    once = {"headers": {"Idempotency-Key": "k1"}}
    first = agent.try_write("Alice lives in Lyon", **once)
    again = agent.try_write("Alice lives in Lyon", **once)
    other = agent.try_write("Alice lives in Nice", **once)
    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    assert [item["content"] for item in agent.listed()] == ["Alice lives in Lyon"]


@pytest.mark.requirement("F3")
def test_a_repeated_key_creation_names_the_key_and_not_its_secret(served):
    admin = served.house.tenant()
    body = {"name": "a", "roles": ["reader"], "namespaces": ["*"], "users": ["*"]}
    once = {"json": body, "headers": {"Idempotency-Key": "k1"}}
    made = admin.call("POST", "/v1/admin/keys", **once)
    again = admin.call("POST", "/v1/admin/keys", **once)
    assert made.status_code == 201
    assert (again.status_code, again.json()["id"]) == (409, made.json()["id"])
    assert made.json()["key"] not in again.text
    assert len(admin.call("GET", "/v1/admin/keys").json()["items"]) == 2


def test_a_batch_gives_receipts_and_problems_in_order(agent, shapes):
    items = [
        agent.about(content="Alice owns a kayak"),
        agent.about(content="-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n"),
        agent.about(content="Alice rows on Sundays", colour=1),
        {"content": "Bob owns a bike", "user_id": ""},
    ]
    reply = agent.call("POST", "/v1/memories/batch", json={"items": items})
    assert reply.status_code == 200
    shapes("BatchShown", reply.json())
    codes = [item.get("code", "stored") for item in reply.json()["results"]]
    assert codes == ["stored", "content_rejected", "invalid", "invalid"]
    assert [item["content"] for item in agent.listed()] == ["Alice owns a kayak"]


def test_keys_are_made_used_rotated_and_ended(served, shapes):
    admin = served.house.tenant()
    body = {"name": "a", "roles": ["auditor"], "namespaces": ["*"], "users": ["*"]}
    made = admin.call("POST", "/v1/admin/keys", json=body)
    shapes("NewKeyShown", made.json())
    listed = admin.call("GET", "/v1/admin/keys")
    shapes("KeysShown", listed.json())
    path = f"/v1/admin/keys/{made.json()['id']}"
    rotated = admin.call("POST", f"{path}/rotate", json={})
    shapes("NewKeyShown", rotated.json())
    old, new = made.json()["key"], rotated.json()["key"]

    def asked(key):
        return served.agent.http.get("/v1/audit/events", headers={"Authorization": f"Bearer {key}"})

    assert (asked(old).status_code, asked(new).status_code) == (401, 200)
    shapes("EventsShown", asked(new).json())
    assert admin.call("DELETE", path).status_code == 204
    assert asked(new).status_code == 401
    assert admin.call("DELETE", "/v1/admin/keys/nobody").status_code == 404


def test_tenants_are_made_listed_and_erased_by_the_operator_alone(served, shapes):
    operator = served.operator
    made = operator.call("POST", "/v1/admin/tenants", json={"name": "Erewhon"})
    shapes("NewTenantShown", made.json())
    assert operator.call("POST", "/v1/admin/tenants", json={"name": "Erewhon"}).status_code == 409
    listed = operator.call("GET", "/v1/admin/tenants", params={"limit": 200})
    shapes("TenantsShown", listed.json())
    path = f"/v1/admin/tenants/{made.json()['id']}"
    assert served.agent.call("DELETE", path).status_code == 403
    assert operator.call("DELETE", path).json() == {"deleted": 0}
    assert operator.call("DELETE", path).status_code == 404


@pytest.mark.requirement("C9")
def test_foreign_missing_and_forgotten_have_one_status_body_and_headers(served, agent):
    stranger = served.house.someone("alice")
    foreign = stranger.stored("A stranger's memory")
    forgotten = agent.stored("Soon forgotten")
    agent.forget(forgotten)
    missing = "0198b1c4-5a6b-7c8d-9e0f-112233445566"
    for method, path in (
        ("GET", "/v1/memories/{}"),
        ("GET", "/v1/memories/{}/versions"),
        ("DELETE", "/v1/memories/{}"),
        ("PATCH", "/v1/memories/{}"),
    ):
        seen = set()
        for memory in (foreign, forgotten, missing, missing.upper(), "x"):
            options = {"json": agent.about(tags=["a"])} if method == "PATCH" else {}
            options |= {} if method == "PATCH" else {"params": agent.about()}
            reply = agent.call(method, path.format(memory), **options)
            headers = {
                name: value
                for name, value in reply.headers.items()
                if name not in {"x-request-id", "date"}
            }
            body = {name: v for name, v in reply.json().items() if name != "request_id"}
            seen.add(json.dumps([reply.status_code, headers, body]))
        assert len(seen) == 1, method
        assert json.loads(seen.pop())[0] == 404


def test_the_probes_tell_of_the_real_parts(served):
    http = served.agent.http
    assert http.get("/healthz").json() == {"status": "ok"}
    ready = http.get("/readyz").json()
    assert ready["status"] == "ready"
    assert set(ready["dependencies"].values()) == {"up"}
    assert "memwarden_http_requests_total" in http.get("/metrics").text
