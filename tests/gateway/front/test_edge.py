"""Probes, metrics, deadlines, the MCP door, and what happens when a client leaves."""

import asyncio
import json

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from core.scope import Call
from gateway.front.edge import Edge
from gateway.front.http import CALL
from gateway.front.limits import Limits
from gateway.front.metrics import Metrics
from gateway.front.routes_health import Dependency
from gateway.front.security import Doors
from tests.gateway.front.conftest import BASE_URL, KEY
from tests.gateway.front.samples import MEMORY_ID
from tests.gateway.front.test_refusals import check_problem


async def up():
    return None


async def down():
    raise OSError("postgresql://secret@host")


async def hang():
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("checks", "status", "verdict"),
    [
        ([("postgres", up, True), ("qdrant", up, False)], 200, "ready"),
        ([("postgres", up, True), ("qdrant", down, False)], 200, "degraded"),
        ([("postgres", up, True), ("qdrant", hang, False)], 200, "degraded"),
        ([("postgres", down, True), ("qdrant", up, False)], 503, None),
    ],
)
async def test_readiness_tells_each_part_and_only_what_is_required_takes_it_out(
    build, checks, status, verdict, monkeypatch
):
    monkeypatch.setattr("gateway.front.routes_health.CHECK_SECONDS", 0.05)
    parts = [Dependency(name=n, check=check, required=need) for n, check, need in checks]
    house = build(dependencies=parts)
    async with house.client(key=None) as client:
        reply = await client.get("/readyz")
        assert (await client.get("/healthz")).json() == {"status": "ok"}
    assert reply.status_code == status
    assert reply.json()["dependencies"] == {
        n: "up" if check is up else "down" for n, check, _ in checks
    }
    assert reply.json().get("status") == (verdict or 503)
    assert "secret" not in reply.text
    if status == 503:
        assert reply.json()["code"] == "unavailable"
        assert reply.headers["retry-after"] == "1"


async def test_parts_are_asked_once_a_second_whoever_asks(build):
    asked = []

    async def check():
        asked.append(1)

    house = build(dependencies=[Dependency(name="postgres", check=check)])
    async with house.client(key=None) as client:
        await asyncio.gather(*(client.get("/readyz") for _ in range(50)))
    assert len(asked) == 1


async def test_a_draining_process_is_not_ready_but_answers(house):
    house.readiness.drain()
    async with house.client() as client:
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/v1/admin/keys")).status_code == 200


@pytest.mark.requirement("B14")
async def test_metrics_have_templates_and_classes_and_nothing_a_caller_wrote(client, paths):
    paths.answers["recall.recall"] = ValueError("x")
    await client.get(f"/v1/memories/{MEMORY_ID}?user_id=canary77")
    await client.get("/v1/canary77")
    await client.request("CANARY77", "/v1/memories")
    await client.post("/v1/recall", json={"query": "canary77"})
    text = (await client.get("/metrics")).text
    assert "canary77" not in text.lower()
    assert str(MEMORY_ID) not in text
    found = {
        (s.labels["route"], s.labels["method"], s.labels["status"]): s.value
        for family in text_string_to_metric_families(text)
        for s in family.samples
        if s.name == "memwarden_http_requests_total"
    }
    assert found == {
        ("/v1/memories/{id}", "GET", "2xx"): 1,
        ("unmatched", "GET", "4xx"): 1,
        ("unmatched", "other", "4xx"): 1,
        ("/v1/recall", "POST", "5xx"): 1,
    }
    assert "memwarden_http_unexpected_errors_total 1.0" in text


@pytest.mark.requirement("F14")
async def test_a_request_that_hangs_is_answered_at_its_deadline(build):
    house = build(limits=Limits(request_seconds=0.1))

    async def hanging(*_arguments):
        await asyncio.Event().wait()

    house.paths.answers["memories.get"] = hanging
    loop = asyncio.get_running_loop()
    async with house.client() as client:
        started = loop.time()
        reply = await client.get(f"/v1/memories/{MEMORY_ID}")
    assert loop.time() - started < 2  # the promise is 0.25 s, on a machine of one's own
    check_problem(reply, "unavailable")
    assert reply.headers["retry-after"]


async def test_a_body_that_dribbles_is_refused_in_its_time_and_the_connection_ends(build):
    house = build(limits=Limits(body_seconds=0.05))

    async def dribble():
        yield b"{"
        await asyncio.Event().wait()

    async with house.client() as client:
        reply = await client.post("/v1/memories", content=dribble())
    check_problem(reply, "invalid")
    assert reply.headers["connection"] == "close"
    assert house.refusals.recorded == [("memory:item:write", "invalid", None)]


async def test_a_huge_body_is_refused_unread_and_the_connection_ends(house):
    async with house.client() as client:
        reply = await client.post(
            "/v1/recall", content=b"{}", headers={"Content-Length": str(1 << 40)}
        )
    check_problem(reply, "too_large")
    assert reply.headers["connection"] == "close"
    assert house.refusals.recorded == [("memory:item:recall", "too_large", None)]


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("/v1/memories", 1 << 20, 422),
        ("/v1/memories", (1 << 20) + 1, 413),
        ("/v1/memories/batch", 4 << 20, 422),
        ("/v1/memories/batch", (4 << 20) + 1, 413),
    ],
)
async def test_bodies_are_bounded_to_the_byte(client, path, size, status):
    body = b'{"colour": "' + b"x" * (size - 14) + b'"}'
    assert len(body) == size
    reply = await client.post(path, content=body)
    assert reply.status_code == status
    assert "connection" not in reply.headers


async def serve(edge, scope=None, messages=()):
    """Run one request through `edge`, and return what it sent."""
    sent, waiting = [], list(messages)

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    found = {
        "type": "http",
        "method": "GET",
        "path": "/x",
        "raw_path": b"/x",
        "headers": [(b"host", b"localhost")],
    }
    await edge(found | (scope or {}), receive, send)
    return sent


async def test_a_client_that_leaves_is_not_answered(house):
    scope = {
        "method": "POST",
        "path": "/v1/recall",
        "raw_path": b"/v1/recall",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"x-api-key", KEY.encode())],
    }
    half = {"type": "http.request", "body": b"{", "more_body": True}
    assert await serve(house.app, scope, [half]) == []
    assert house.refusals.recorded == []


@pytest.mark.requirement("F6")
async def test_a_broken_connection_or_half_an_answer_raises_nothing(house):
    async def half(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("zq7canary")

    edge = Edge(half, doors=Doors(), metrics=Metrics(type(house.registry)()))
    sent = await serve(edge)
    assert [message["type"] for message in sent] == ["http.response.start"]

    async def broken(_message):
        raise RuntimeError("zq7canary")

    async def nothing():
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "path": "/x", "headers": [(b"host", b"localhost")]}
    await edge(scope, nothing, broken)


async def test_a_web_socket_is_closed(house):
    sent = await serve(house.app, {"type": "websocket"})
    assert sent == [{"type": "websocket.close", "code": 1008}]


class Mcp:
    """Stands for the MCP application: answers with what it was given."""

    def __init__(self):
        self.calls = []

    async def __call__(self, scope, receive, send):
        self.calls.append(scope[CALL])
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": scope["method"].encode() + b" " + body})


async def test_mcp_gets_authenticated_requests_with_their_call_and_their_body(build):
    mcp = Mcp()
    house = build(mcp=mcp)
    async with house.client() as client:
        reply = await client.post("/mcp", content=b"{}")
        other = await client.delete("/mcp")
    assert (reply.text, other.text) == ("POST {}", "DELETE ")
    assert isinstance(mcp.calls[0], Call)
    assert mcp.calls[0].request_id == reply.headers["x-request-id"]
    assert reply.headers["cache-control"] == "private, no-store"
    assert house.keys.seen[0] == (KEY, "mcp")


async def test_a_stranger_at_mcp_is_told_where_to_learn_how_to_come_in(build):
    mcp = Mcp()
    house = build(mcp=mcp)
    async with house.client(key=None) as client:
        reply = await client.post("/mcp", content=b"{}")
        where = reply.headers["www-authenticate"].partition('resource_metadata="')[2][:-1]
        metadata = await client.get(where)
    check_problem(reply, "unauthenticated")
    assert where == f"{BASE_URL}/.well-known/oauth-protected-resource/mcp"
    assert metadata.json()["resource"] == f"{BASE_URL}/mcp"
    assert mcp.calls == []


async def test_the_public_url_is_what_the_metadata_names(build):
    house = build(mcp=Mcp(), public_url="https://memory.example/")
    transport = httpx.ASGITransport(app=house.app)
    async with httpx.AsyncClient(transport=transport, base_url="https://memory.example") as client:
        metadata = await client.get("/.well-known/oauth-protected-resource/mcp")
        challenge = (await client.post("/mcp")).headers["www-authenticate"]
    assert metadata.json()["resource"] == "https://memory.example/mcp"
    assert challenge.startswith('Bearer resource_metadata="https://memory.example/.well-known/')


async def test_mcp_bodies_are_bounded_too(build):
    house = build(mcp=Mcp())
    async with house.client() as client:
        reply = await client.post("/mcp", content=b"x" * ((4 << 20) + 1))
    check_problem(reply, "too_large")


async def test_without_mcp_there_is_no_such_path(client):
    assert (await client.post("/mcp", content=json.dumps({}))).status_code == 404
