"""What a caller wrote leaves by the reply that it is for, and by no other door: not by an error, a
log line, a span, a metric, the audit log, or a table in clear.
"""

import secrets
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin
from unittest import mock

import httpx
import pytest

from core.adapters.postgres.admin import ERASED
from gateway.front.http import OPERATIONS
from gateway.front.tools import SPECS
from gateway.guard.pii.detector import Detector
from gateway.telemetry import METHODS
from tests.attacks.asks import NAMES, SAMPLES, Stage, ask_of, succeeded
from tests.attacks.positions import ITEMS, bodies, positions
from tests.house import House, key_body
from tests.live.gateways import Agent
from tests.word_embedder import WordEmbedder

TABLES = sorted({*ERASED, "tenants", "outbox", "audit_events", "audit_checkpoints"})
WRONG = {"list": lambda word: [[word]], "object": lambda word: {word: {word: word}}}


class Words:
    """Made-up words, each put in one place."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}

    def new(self, place: str) -> str:
        word = f"zq{secrets.token_hex(8)}"
        self.places[word] = place
        return word

    def seen_in(self, text: str) -> set[str]:
        text = text.lower()
        return {
            place
            for word, place in self.places.items()
            if word in text or word.encode().hex() in text
        }


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    made = Stage.of(house)
    key = made.admin.call("POST", "/v1/admin/keys", json=key_body(namespaces=["*"])).json()["key"]
    made.agent = Agent(house.http, key, made.agent.tenant, "alice")
    return made


def send(stage: Stage, name: str, fields: dict[str, Any]) -> httpx.Response:
    if name in ITEMS:
        item = {"content": f"one of several {secrets.token_hex(4)}", "user_id": "alice"}
        return ask_of(stage, name, json={"items": [item | fields]})
    return ask_of(stage, name, json=fields)


def closed_choices(annotation: Any) -> bool:
    """Tell whether a field of this type takes something else than any text."""
    kinds = [get_origin(each) or each for each in (annotation, *get_args(annotation))]
    return any(
        kind in (Literal, int, float, bool) or (isinstance(kind, type) and issubclass(kind, Enum))
        for kind in kinds
    ) or "datetime" in str(annotation)


def welcome(words: Words, stage: Stage) -> Iterator[httpx.Response]:
    """A word in each text that a request may carry."""
    for name, model in bodies().items():
        places = [place for place, _ in positions(ITEMS.get(name, model), "")]
        for number, place in enumerate(places):
            word = words.new(f"{name} {place}")
            _, fields = list(positions(ITEMS.get(name, model), word))[number]
            yield send(stage, name, fields)


def unwelcome(words: Words, stage: Stage) -> Iterator[httpx.Response]:
    """A word where it cannot be: each reply is a refusal."""
    for name, model in bodies().items():
        for field, info in ITEMS.get(name, model).model_fields.items():
            for shape, wrong in WRONG.items():
                if shape == "object" and field == "metadata":
                    continue  # any object will do there
                yield send(stage, name, {field: wrong(words.new(f"{name} {field} as {shape}"))})
            if closed_choices(info.annotation) and "str" not in str(get_args(info.annotation)):
                yield send(stage, name, {field: words.new(f"{name} {field} as text")})
    for operation in OPERATIONS:
        for field, info in operation.query.model_fields.items():
            if closed_choices(info.annotation):
                word = words.new(f"{operation.name}?{field}")
                yield ask_of(stage, operation.name, params={info.alias or field: word})


def strange(words: Words, stage: Stage) -> Iterator[httpx.Response]:
    """A word in what surrounds a request."""
    agent, http = stage.agent, stage.house.http
    path = f"/v1/memories/{stage.memory}"
    yield agent.get(words.new("a memory's id"))
    yield agent.call("GET", f"/v1/{words.new('a path')}")
    for known in ("/v1/memories", "/mcp", "/nothing"):
        yield agent.call(words.new(f"a method at {known}").upper(), known)
    yield agent.call("PATCH", path, json={}, headers={"If-Match": words.new("If-Match")})
    yield agent.try_write("x", headers={"Idempotency-Key": words.new("a key") + "\x7f"})
    yield agent.call("GET", path, headers={"Host": words.new("Host")})
    yield agent.call("GET", path, headers={"Origin": f"https://{words.new('Origin')}.example"})
    yield http.get(path, headers={"X-API-Key": f"mw_{words.new('a credential')}"})
    yield http.get(path, headers={"Authorization": f"Bearer {words.new('a token')}"})
    yield http.get(path, headers={"Authorization": f"Basic {words.new('a scheme')}"})
    for body in (b'{"content": "%s', b'{"content": "%s", "content": 1}', b"%s", b'["%s"]'):
        word = words.new(f"a body like {body!r}").encode()
        yield agent.call(
            "POST", "/v1/memories", content=body % word,
            headers={"Content-Type": "application/json"},
        )  # fmt: skip
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        yield agent.call("POST", "/mcp", content=body % word, headers=headers)
    yield agent.call("POST", "/v1/memories", content=b"x",
                     headers={"Content-Type": words.new("a content type")})  # fmt: skip
    yield stage.house.rpc(agent, words.new("a method of JSON-RPC"), {})
    yield stage.house.rpc(agent, "tools/call", {"name": words.new("a tool"), "arguments": {}})
    yield stage.house.rpc(agent, "prompts/get", {"name": words.new("a prompt")})
    yield agent.try_write("my password is " + words.new("a secret") + "T9!", user_id="alice")


def broken(words: Words, stage: Stage) -> Iterator[httpx.Response]:
    """A word in the text of what breaks inside."""
    house = stage.house
    failing = mock.AsyncMock(side_effect=RuntimeError(words.new("an embedder's exception")))
    with mock.patch.object(WordEmbedder, "passages", failing):
        yield stage.agent.try_write(f"{words.new('content while it breaks')} breaks")
    with mock.patch.object(Detector, "detect", side_effect=ValueError(words.new("a scanner's"))):
        yield stage.agent.try_write(f"{words.new('content of a broken scan')} breaks")
    failing = mock.AsyncMock(side_effect=KeyError(words.new("a look-up's exception")))
    with mock.patch.object(type(house.gateway.gate.directory), "namespace_names", failing):
        yield stage.agent.get(stage.memory)
    failing = mock.AsyncMock(side_effect=KeyError(words.new("an exception inside a tool")))
    with mock.patch.object(type(house.gateway.gate.directory), "namespace_names", failing):
        yield stage.house.rpc(
            stage.agent, "tools/call",
            {"name": "memory_get", "arguments": {"memory_id": stage.memory, "user_id": "alice"}},
        )  # fmt: skip


def sinks(house: House, agent: Agent, since: int) -> dict[str, str]:
    """Everything that is written down somewhere, by where."""
    house.indexed()
    found = {
        "logs": "\n".join(house.log[since:]),
        "spans": house.traces(),
        "metrics": house.http.get("/metrics").text,
        "audit": str(agent.events()),
        "readiness": house.http.get("/readyz").text + house.http.get("/healthz").text,
    }
    with house.below(*TABLES) as connection:
        for table in TABLES:
            rows = connection.execute(f"SELECT t::text FROM {table} t").fetchall()
            found[f"table {table}"] = "\n".join(row for (row,) in rows)
    return found


@pytest.mark.requirement("B14", "D14")
def test_what_a_caller_wrote_is_in_no_error_log_span_metric_or_table(
    house: House, stage: Stage
) -> None:
    since = len(house.log)
    parent = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
    house.http.get("/v1/memories", headers={"traceparent": parent, "X-API-Key": stage.agent.key})
    words = Words()
    for reply in welcome(words, stage):
        if not succeeded(reply):
            assert words.seen_in(reply.text) == set()
    assert len(words.places) >= 40
    for make in (unwelcome, strange, broken):
        for reply in make(words, stage):
            assert words.seen_in(str(reply.headers) + reply.text) == set(), reply.request.url.path
            assert not succeeded(reply), (reply.request.url.path, reply.text)
            assert "Traceback" not in reply.text
            assert "/work" not in reply.text
            assert ".py" not in reply.text
    assert len(words.places) >= 120
    for sink, text in sinks(house, stage.agent, since).items():
        assert words.seen_in(text) == set(), sink
        for credential in (stage.agent.key, stage.admin.key, house.operator.key):
            assert credential not in text, sink
            assert credential.rpartition("_")[2] not in text, sink
        assert "alice" not in text or sink.startswith("table"), sink
    assert "ab" * 16 not in {span.context.trace_id for span in house.spans.get_finished_spans()}


ALLOWED = {"memwarden.step", "memwarden.outcome", "http.route", "http.method"}


@pytest.mark.requirement("B14")
def test_spans_carry_what_is_listed_and_no_more(house: House) -> None:
    stage = Stage.of(house)
    for name in NAMES:
        ask_of(stage, name)
        ask_of(stage, name, json={"nothing": 1}, thing="nothing")
    house.traces()
    spans = house.spans.get_finished_spans()
    assert {key for span in spans for key in span.attributes or {}} <= ALLOWED
    assert {event.name for span in spans for event in span.events} == set()
    assert {span.status.description for span in spans} == {None}
    names = {span.name for span in spans}
    routes = {f"{op.method} {op.path}" for op in OPERATIONS}
    steps = {str(value) for span in spans for key, value in (span.attributes or {}).items()
             if key == "memwarden.step"}  # fmt: skip
    doors = {
        f"{method} /mcp" for method in METHODS | {"other"}
    }  # asked by whatever test ran before
    assert {name for name in names if " " in name} <= routes | doors
    assert {name for name in names if " " not in name} == steps


def test_every_sample_is_known() -> None:
    assert {*SAMPLES, *SPECS} == set(NAMES)
