"""The nine defaults of the MCP SDK that leave a server open, each closed here.

Each test fails when its hardening is taken away: with the SDK's own behaviour in its place, the
request that is refused here would be served, or what is hidden here would show.
"""

import logging
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from mcp.server._otel import OpenTelemetryMiddleware
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from core.errors import NotFound
from gateway.front import mcp, tool_shapes, tools
from gateway.front.edge import PASSAGE, Passage
from gateway.front.mcp import McpFront, build_server
from tests.fixtures_identity import Signed
from tests.fronts.seats import (
    MODERN,
    Replica,
    modern,
    modern_body,
    modern_headers,
)
from tests.fronts.seats import replica as open_replica
from tests.fronts.test_confirmation import YES, Case, done
from tests.fronts.test_mcp_protocol import SERVED, ask, body_for, headers_for
from tests.house import House
from tests.identity.forging import DROP

CANARY = "canary-7f3a9"
SEARCH = {"name": "memory_search", "arguments": {"query": CANARY}}


def listed_with(signed: Signed, token: str, revision: str | None = MODERN) -> int:
    """The status of a list of tools, asked for with a token."""
    headers = headers_for(revision, "tools/list", {})
    body = body_for(revision, "tools/list", {})
    return signed.ask(token, "POST", "/mcp", json=body, headers=headers).status_code


@pytest.mark.requirement("B1")
def test_1_a_token_for_another_resource_is_refused(signed: Signed) -> None:
    ours = signed.world.issuer.audience
    assert listed_with(signed, signed.world.good(aud=ours)) == 200
    assert listed_with(signed, signed.world.good(aud=[ours, "https://other.example"])) == 200
    for audience in ("https://other.example", f"{ours}2", f"{ours}/", ours.upper(), "", DROP):
        assert listed_with(signed, signed.world.saying(aud=audience)) == 401, audience


@pytest.mark.requirement("B9")
def test_2_state_is_sealed_by_the_tenant_not_by_the_process(replica: Replica, house: House) -> None:
    case = Case(replica)
    state = case.asked()
    with open_replica(house, replica.seats) as another:
        case.replica = another
        assert done(case.forget(requestState=state, inputResponses=YES))


@pytest.mark.requirement("B7")
def test_3_the_doors_are_shut_on_every_bind(replica: Replica) -> None:
    agent = replica.sit(replica.house.tenant().tenant)
    for headers in ({"Host": "evil.example"}, {"Host": "evil.example:8700"}, {"Origin": "null"}):
        for revision in SERVED:
            assert ask(agent, revision, "tools/list", {}, **headers).status_code == 403


@pytest.mark.requirement("B3", "B4")
def test_4_each_tool_has_its_scope_and_the_challenge_names_all_of_it(replica: Replica) -> None:
    tenant = replica.house.tenant().tenant
    writer = replica.sit(tenant, scopes=frozenset({"memory:write"}))
    write = {"name": "memory_write", "arguments": {"content": "likes tea"}}
    assert modern(writer, "tools/call", write).status_code == 200
    reply = modern(writer, "tools/call", SEARCH)
    assert reply.status_code == 403
    assert 'error="insufficient_scope"' in reply.headers["WWW-Authenticate"]
    assert 'scope="memory:read"' in reply.headers["WWW-Authenticate"]


@pytest.mark.requirement("B3", "B8")
def test_5_headers_are_compared_when_the_list_of_tools_fails(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tool_shapes.SearchArguments.model_json_schema

    def announced() -> dict[str, Any]:
        schema = plain()
        schema["properties"]["query"]["x-mcp-header"] = "Query"
        return schema

    async def broken(*_: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(tool_shapes.SearchArguments, "model_json_schema", announced)
    monkeypatch.setattr(mcp, "tools_for", broken)
    with open_replica(house) as another:
        agent = another.sit(house.tenant().tenant)
        good = modern(agent, "tools/call", SEARCH, Mcp_Param_Query=CANARY)
        assert good.status_code == 200, good.text
        for headers in ({}, {"Mcp_Param_Query": "tea"}):
            reply = modern(agent, "tools/call", SEARCH, **headers)
            assert reply.status_code == 400
            assert reply.json()["error"]["code"] == -32020


@pytest.fixture
def strangers_spans() -> Iterator[InMemorySpanExporter]:
    """Every span that anybody but ourselves makes while the test runs."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with mock.patch("mcp.shared._otel._tracer", provider.get_tracer("test")):
        yield exporter


@pytest.mark.requirement("B14")
def test_6_no_span_of_the_sdk_is_made(
    replica: Replica, strangers_spans: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    agent = replica.sit(replica.house.tenant().tenant)
    with mock.patch.object(tools, "SPECS", {"memory_search": _Broken()}):
        reply = modern(agent, "tools/call", SEARCH, traceparent="00-" + "a" * 32 + "-" + "b" * 16)
    assert CANARY not in reply.text
    assert strangers_spans.get_finished_spans() == ()
    assert CANARY not in caplog.text
    server = build_server(replica.house.gateway.gate, _nobody, "0")
    assert not [each for each in server.middleware if isinstance(each, OpenTelemetryMiddleware)]


def test_the_spans_of_the_sdk_would_be_seen(strangers_spans: InMemorySpanExporter) -> None:
    from mcp.shared import _otel  # noqa: PLC0415 - what the fixture replaces

    with _otel.otel_span(name="seen", kind=trace.SpanKind.SERVER, attributes={}, context=None):
        pass
    assert [span.name for span in strangers_spans.get_finished_spans()] == ["seen"]


class _Broken:
    """A tool that breaks and says why."""

    async def handler(self, *_: Any) -> Any:
        raise RuntimeError(CANARY)


def _nobody(_: Any) -> Any:
    raise NotFound


@pytest.mark.requirement("B3")
async def test_7_without_an_authenticated_call_nothing_is_served(house: House) -> None:
    front = McpFront(house.gateway.gate, "0")
    for revision in SERVED:
        headers = headers_for(revision, "tools/list", {})
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "POST", "headers": raw, PASSAGE: Passage()}
        with pytest.raises(NotFound):
            await front(scope, mock.AsyncMock(), mock.AsyncMock())


@pytest.mark.requirement("B1", "B9")
def test_8_two_people_of_one_client_are_two_and_nobody_is_none(
    replica: Replica, signed: Signed
) -> None:
    for subject in (DROP, "", None, 7):
        assert listed_with(signed, signed.world.saying(sub=subject)) == 401
    wrote = {"name": "memory_write", "arguments": {"content": f"{CANARY} is mine"}}

    def call(subject: str, params: dict[str, Any]) -> dict[str, Any]:
        token = signed.world.good(sub=subject, client_id="one-client")
        reply = signed.ask(
            token, "POST", "/mcp",
            json=modern_body("tools/call", params), headers=modern_headers("tools/call", params),
        )  # fmt: skip
        shown: dict[str, Any] = reply.json()["result"]
        return shown

    assert not call("anna", wrote)["isError"]
    assert f"{CANARY} is mine" in str(call("anna", SEARCH)["structuredContent"])
    assert f"{CANARY} is mine" not in str(call("boris", SEARCH)["structuredContent"])


@pytest.mark.requirement("B1")
@pytest.mark.parametrize("revision", SERVED)
def test_9_a_token_ends(signed: Signed, revision: str | None) -> None:
    assert listed_with(signed, signed.world.good(), revision) == 200
    for end in (DROP, None, 0.0, 1):
        assert listed_with(signed, signed.world.saying(exp=end), revision) == 401
