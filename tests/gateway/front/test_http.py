"""Each route: what reaches the guarded path, and what comes back, field for field."""

import pytest

from core.model import Change, Kind, Layer, Persistence, Target
from core.scope import Role, SourceKind
from gateway.front.http import OPERATIONS
from gateway.gate import EventQuery, Listing, Once
from tests.gateway.front import samples
from tests.gateway.front.samples import EVENT_ID, MEMORY_ID, NOW, NOW_TEXT, TENANT

MEMORY = {
    "id": str(MEMORY_ID),
    "user_id": "alice",
    "namespace": "support",
    "space": None,
    "layer": "semantic",
    "kind": "preference",
    "content": "likes tea",
    "tags": ["drink"],
    "entities": ["tea"],
    "metadata": {"n": 1},
    "importance": 0.5,
    "confidence": 0.75,
    "sensitivity": "personal",
    "state": "active",
    "trust": "high",
    "source": {"kind": "user_direct", "ref": "turn 4"},
    "task": "order",
    "outcome": "resolved",
    "version": 3,
    "created_at": NOW_TEXT,
    "updated_at": NOW_TEXT,
    "occurred_at": NOW_TEXT,
    "valid_from": NOW_TEXT,
    "valid_until": None,
    "expires_at": None,
    "last_used_at": None,
    "uses": 2,
}
RECEIPT = {
    "outcomes": [
        {
            "id": str(MEMORY_ID),
            "status": "stored",
            "version": 1,
            "supersedes": "00000000-0000-0000-0000-000000000009",
            "expires_at": NOW_TEXT,
            "sensitivity": "personal",
        }
    ],
    "redactions": [{"kind": "PHONE_NUMBER", "action": "mask", "field": "content", "count": 1}],
    "audit": {"event_id": str(EVENT_ID)},
}
KEY = {
    "id": "k2",
    "name": "agent",
    "roles": ["reader", "writer"],
    "namespaces": ["support"],
    "users": ["*"],
    "source_ceiling": "user_direct",
    "expires_at": None,
    "created_at": NOW_TEXT,
    "revoked_at": None,
    "owner": "alice",
    "addresses": ["192.0.2.0/24", "2001:db8::1"],
    "last_used_at": NOW_TEXT,
}

FULL_WRITE = {
    "content": "likes tea",
    "user_id": "alice",
    "namespace": "support",
    "space": None,
    "session_id": "s1",
    "layer": "episodic",
    "kind": "event",
    "importance": 1,
    "confidence": 0.25,
    "tags": ["drink"],
    "metadata": {"shop": {"town": "北京"}},
    "entities": ["tea"],
    "occurred_at": "2026-03-01T14:30:15.25+02:00",
    "expires_at": "session_end",
    "ttl_seconds": 60,
    "persistence": "permanent",
    "source": {"kind": "document", "ref": "p. 3"},
    "extract": "none",
    "task": "order",
    "outcome": "failed",
    "wait": "durable",
}


async def test_a_write_with_every_field_reaches_the_path_and_its_receipt_comes_back(client, paths):
    reply = await client.post("/v1/memories", json=FULL_WRITE)
    assert reply.status_code == 201
    assert reply.json() == RECEIPT
    target, draft, once = paths.last
    assert target == Target(user_id="alice", namespaces=("support",), spaces=())
    assert once is None
    assert draft.content == "likes tea"
    assert draft.details.tags == ("drink",)
    assert draft.details.metadata == {"shop": {"town": "北京"}}
    assert draft.details.entities == ("tea",)
    assert (draft.details.source_ref, draft.source_kind) == ("p. 3", SourceKind.DOCUMENT)
    assert (draft.details.session_id, draft.details.task) == ("s1", "order")
    assert (draft.layer, draft.kind) == (Layer.EPISODIC, Kind.EVENT)
    assert (draft.importance, draft.confidence) == (1.0, 0.25)
    assert draft.occurred_at == NOW
    assert (draft.expires_at, draft.until_session_end, draft.ttl_seconds) == (None, True, 60)
    assert draft.persistence is Persistence.PERMANENT
    assert (draft.extract, draft.outcome, draft.wait_merged) == (False, "failed", False)


async def test_content_alone_is_a_write(client, paths):
    reply = await client.post("/v1/memories", json={"content": "likes tea"})
    assert reply.status_code == 201
    target, draft, _ = paths.last
    assert target == Target(user_id=None, namespaces=None, spaces=())
    assert draft.source_kind is None
    assert (draft.extract, draft.wait_merged, draft.until_session_end) == (True, True, False)


@pytest.mark.requirement("F3")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/memories", {"content": "x"}),
        ("/v1/memories/batch", {"items": [{"content": "x"}]}),
        ("/v1/admin/tenants", {"name": "acme"}),
        (
            "/v1/admin/keys",
            {"name": "a", "roles": ["reader"], "namespaces": ["*"], "users": ["*"]},
        ),
    ],
)
async def test_an_idempotency_key_reaches_the_path_with_method_path_and_body(
    client, paths, path, body
):
    await client.post(path, json=body, headers={"Idempotency-Key": "k 1"})
    once = paths.last[-1]
    assert isinstance(once, Once)
    assert once.key == "k 1"
    assert once.request.startswith(f"POST {path}\n{{".encode())
    await client.post(path, content=b" " + once.request.partition(b"\n")[2])
    assert paths.last[-1] is None


def test_every_post_that_makes_something_takes_an_idempotency_key():
    makes = {op.name for op in OPERATIONS if op.method == "POST"} - {
        "recall", "explain_access", "preview_guard", "reveal_memory",
    }  # fmt: skip
    assert {op.name for op in OPERATIONS if op.once} == makes


async def test_a_batch_answers_each_item_in_order_with_a_receipt_or_a_problem(client, paths):
    items = [{"content": "a"}, {"content": "b", "colour": 1}, {"content": "x" * 32_769}, 7]
    reply = await client.post("/v1/memories/batch", json={"items": items})
    assert reply.status_code == 200
    first, second, third, fourth = reply.json()["results"]
    assert first == RECEIPT
    assert (second["code"], second["status"]) == ("invalid", 422)
    assert second["errors"][0]["field"] == "colour"
    assert second["request_id"] == reply.headers["x-request-id"]
    assert (third["code"], third["status"]) == ("too_large", 413)
    assert (fourth["code"], fourth["status"]) == ("invalid", 422)


async def test_a_list_passes_every_condition_and_gives_items_and_a_cursor(client, paths):
    reply = await client.get(
        "/v1/memories",
        params={
            "user_id": "alice",
            "namespace": "support",
            "layer": "semantic",
            "kind": "fact",
            "tag": "a+b 中",
            "state": "superseded",
            "limit": "200",
            "cursor": "abc",
        },
    )
    assert reply.status_code == 200
    assert reply.json() == {"items": [MEMORY], "next_cursor": "next"}
    target, listing = next(call for name, call in paths.calls if name == "memories.page")
    assert target == Target(user_id="alice", namespaces=("support",), spaces=())
    assert listing == Listing(
        layer="semantic",
        kind="fact",
        tag="a+b 中",
        state="superseded",
        limit=200,
        cursor="abc",
    )


async def test_a_memory_comes_with_its_version_as_its_etag(client, paths):
    reply = await client.get(f"/v1/memories/{MEMORY_ID}", params={"user_id": "alice"})
    assert reply.json() == MEMORY
    assert reply.headers["etag"] == '"3"'
    assert paths.calls[0] == (
        "memories.get",
        (Target(user_id="alice", namespaces=None, spaces=None), str(MEMORY_ID)),
    )


async def test_versions_are_a_list(client):
    reply = await client.get(f"/v1/memories/{MEMORY_ID}/versions", params={"user_id": "alice"})
    shown = reply.json()
    assert [item["version"] for item in shown["items"]] == [3, 2]
    assert shown["next_cursor"] is None


async def test_a_pinned_key_shows_the_person_it_is_pinned_to(house, paths):
    house.keys.principal = type(samples.PRINCIPAL)(
        tenant=TENANT,
        key_id=samples.PRINCIPAL.key_id,
        roles=samples.PRINCIPAL.roles,
        namespaces=None,
        users=frozenset({"bob"}),
    )
    async with house.client() as client:
        reply = await client.get(f"/v1/memories/{MEMORY_ID}")
    assert reply.json()["user_id"] == "bob"


async def test_a_change_passes_only_what_was_given(client, paths):
    path = f"/v1/memories/{MEMORY_ID}"
    reply = await client.patch(
        path,
        json={"user_id": "alice", "content": "likes milk", "expires_at": None},
        headers={"If-Match": '"3"'},
    )
    assert reply.status_code == 200
    assert reply.headers["etag"] == '"4"'
    assert reply.json() == MEMORY | {
        "version": 4,
        "redactions": RECEIPT["redactions"],
        "audit": RECEIPT["audit"],
    }
    target, memory_id, change = paths.calls[0][1]
    assert (target.user_id, memory_id) == ("alice", str(MEMORY_ID))
    assert change == Change(content="likes milk", clear_expiry=True, expected_version=3)
    await client.patch(path, json={"tags": [], "metadata": {}, "importance": 0, "confidence": 1})
    change = paths.calls[2][1][2]
    assert change == Change(tags=(), metadata={}, importance=0.0, confidence=1.0)


@pytest.mark.parametrize("tag", ["*", None])
async def test_no_tag_or_a_star_matches_any_version(client, paths, tag):
    headers = {} if tag is None else {"If-Match": tag}
    reply = await client.patch(f"/v1/memories/{MEMORY_ID}", json={"tags": []}, headers=headers)
    assert reply.status_code == 200
    assert paths.calls[0][1][2].expected_version is None


@pytest.mark.parametrize("tag", ['W/"3"', "3", '"x"', '"0"', '"3", "4"', '"-1"', ""])
async def test_a_tag_that_no_version_has_fails_the_precondition(client, paths, house, tag):
    reply = await client.patch(
        f"/v1/memories/{MEMORY_ID}", json={"tags": []}, headers={"If-Match": tag}
    )
    assert (reply.status_code, reply.json()["code"]) == (412, "precondition_failed")
    assert paths.calls == []
    assert house.refusals.recorded == [("memory:item:update", "precondition_failed", None)]


async def test_forgetting_says_how_many_went(client):
    reply = await client.delete(f"/v1/memories/{MEMORY_ID}", params={"user_id": "alice"})
    assert (reply.status_code, reply.json()) == (200, {"deleted": 1})


async def test_a_recall_with_every_field_reaches_the_path_and_its_answer_comes_back(client, paths):
    reply = await client.post(
        "/v1/recall",
        json={
            "query": "drinks?",
            "user_id": "alice",
            "namespaces": ["support"],
            "spaces": [],
            "limit": None,
            "max_tokens": 500,
            "layers": ["semantic"],
            "kinds": ["fact", "preference"],
            "tags": ["drink"],
            "tags_match": "all",
            "created_after": "2026-01-01T00:00:00",
            "created_before": "2026-02-01T00:00:00Z",
            "as_of": None,
            "min_confidence": 0,
            "min_score": 0.5,
            "task": None,
            "format": "json",
            "explain": True,
            "timeout_ms": 250,
            "top_k": 7,
            "run_id": "r1",
        },
    )
    shown = reply.json()
    assert reply.status_code == 200
    assert shown.keys() == {"recall_id", "memories", "degraded", "took_ms"}
    assert shown["degraded"] == ["index"]
    assert isinstance(shown["took_ms"], int)
    assert shown["memories"] == [
        {
            "id": str(MEMORY_ID),
            "layer": "semantic",
            "kind": "preference",
            "content": "likes tea",
            "detail": "full",
            "score": 0.8,
            "confidence": 0.75,
            "importance": 0.5,
            "created_at": NOW_TEXT,
            "source": {"kind": "user_direct", "ref": "turn 4"},
            "trust": "high",
            "space": None,
            "supports": 1,
            "conflicts": [],
            "explain": {"dense": 0.8},
        }
    ]
    target, query = paths.last
    assert target == Target(user_id="alice", namespaces=("support",), spaces=())
    assert (query.text, query.limit, query.session_id) == ("drinks?", 7, "r1")
    assert (query.layers, query.kinds) == ({Layer.SEMANTIC}, {Kind.FACT, Kind.PREFERENCE})
    assert (query.tags, query.tags_all) == (("drink",), True)
    assert query.created_after.isoformat() == "2026-01-01T00:00:00+00:00"
    assert (query.min_score, query.max_tokens, query.timeout_ms) == (0.5, 500, 250)


async def test_empty_lists_are_no_condition_and_spaces_left_out_are_those_of_the_caller(
    client, paths
):
    await client.post("/v1/recall", json={"query": "?", "layers": [], "kinds": [], "tags": []})
    target, query = paths.last
    assert target == Target(user_id=None, namespaces=None, spaces=None)
    assert (query.layers, query.kinds, query.tags) == (frozenset(), frozenset(), ())


async def test_a_recall_as_text_has_the_text_beside_the_structure(client):
    reply = await client.post("/v1/recall", json={"query": "?", "format": "text"})
    shown = reply.json()
    assert "likes tea" in shown["text"]
    assert shown["memories"][0]["content"] == "likes tea"
    assert "explain" not in shown["memories"][0]


async def test_tenants_are_made_listed_and_erased(client, paths):
    made = await client.post("/v1/admin/tenants", json={"name": "acme"})
    assert (made.status_code, made.json()) == (
        201,
        {"id": str(TENANT), "name": "acme", "admin_key": "mw_k2_shown-once"},
    )
    listed = await client.get("/v1/admin/tenants", params={"limit": "5"})
    assert listed.json() == {
        "items": [{"id": str(TENANT), "name": "acme", "created_at": NOW_TEXT}],
        "next_cursor": None,
    }
    assert paths.last == (5, None)
    erased = await client.delete(f"/v1/admin/tenants/{TENANT}")
    assert (erased.status_code, erased.json()) == (200, {"deleted": 12})
    assert paths.last == (str(TENANT),)


async def test_keys_are_made_listed_rotated_and_revoked(client, paths):
    body = {
        "name": "agent",
        "roles": ["reader", "writer"],
        "namespaces": ["support"],
        "users": ["*"],
        "source_ceiling": "tool_output",
        "expires_at": "2027-01-01T00:00:00Z",
        "owner": "alice",
        "addresses": ["192.0.2.0/24"],
    }
    made = await client.post("/v1/admin/keys", json=body)
    assert (made.status_code, made.json()) == (201, KEY | {"key": "mw_k2_shown-once"})
    spec = paths.last[0]
    assert spec.roles == {Role.READER, Role.WRITER}
    assert (spec.namespaces, spec.users) == (("support",), None)
    assert spec.ceiling is SourceKind.TOOL_OUTPUT
    assert spec.expires_at.year == 2027
    assert (spec.owner, spec.addresses) == ("alice", ("192.0.2.0/24",))
    listed = await client.get("/v1/admin/keys")
    assert listed.json() == {"items": [KEY], "next_cursor": None}
    rotated = await client.post("/v1/admin/keys/k2/rotate", json={"overlap_seconds": 60})
    assert (rotated.status_code, rotated.json()["key"]) == (200, "mw_k2_shown-once")
    assert rotated.headers["x-access-version"] == "rights-3"
    assert "x-access-version" not in made.headers
    assert paths.last == ("k2", 60, None)
    revoked = await client.delete("/v1/admin/keys/k2")
    assert (revoked.status_code, revoked.content) == (204, b"")
    assert revoked.headers["x-access-version"] == "rights-4"


async def test_audit_events_are_listed_in_their_wire_form(client, paths):
    reply = await client.get(
        "/v1/audit/events",
        params={
            "from": "2026-01-01T00:00:00Z",
            "to": "2026-02-01T00:00:00Z",
            "user_id": "alice",
            "action": "memory:item:read",
            "limit": "10",
        },
    )
    (event,) = reply.json()["items"]
    assert (event["event_id"], event["sequence"]) == (str(EVENT_ID), 5)
    assert paths.last[0] == EventQuery(
        since=NOW.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0),
        until=NOW.replace(month=2, day=1, hour=0, minute=0, second=0, microsecond=0),
        user_id="alice",
        action="memory:item:read",
        limit=10,
    )


async def test_head_is_get_and_options_names_the_methods(client, paths):
    assert (await client.head(f"/v1/memories/{MEMORY_ID}")).status_code == 200
    assert paths.calls[0][0] == "memories.get"
    reply = await client.options("/v1/memories")
    assert (reply.status_code, reply.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("GET", "/v1/memories/", 404, "not_found"),
        ("GET", "//v1/memories", 404, "not_found"),
        ("GET", f"/v1%2Fmemories/{MEMORY_ID}", 404, "not_found"),
        ("GET", f"/v1/memories%2f{MEMORY_ID}", 404, "not_found"),
        ("GET", "/docs", 404, "not_found"),
        ("GET", "/redoc", 404, "not_found"),
        ("PUT", "/v1/memories", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
        ("TRACE", "/v1/recall", 405, "method_not_allowed"),
    ],
)
async def test_what_no_route_takes_is_a_problem(client, paths, method, path, status, code):
    reply = await client.request(method, path, headers={"X-HTTP-Method-Override": "GET"})
    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert reply.headers["content-type"] == "application/problem+json"
    assert paths.calls == []
    if status == 405:
        assert reply.headers["allow"]
