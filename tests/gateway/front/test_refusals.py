"""Every route against what it must refuse: strangers, malformed requests, errors of every class."""

import json
import logging
from collections import Counter

import httpx
import pytest

from core import errors
from core.errors import FieldFault, GatewayError, Reason
from gateway.front.errors import ROWS, row_of
from gateway.front.http import OPERATIONS
from gateway.front.limits import Limits
from tests.gateway.front.conftest import KEY
from tests.gateway.front.malformed import CANARY, NUMBER, attacks

PROBLEM_MEMBERS = {"type", "title", "status", "detail", "code", "request_id"}


def named(operations):
    return [pytest.param(op, id=f"{op.method} {op.path}") for op in operations]


ROUTES = named(OPERATIONS)


def check_problem(reply, code=None):
    """Check the shape of a refusal, and return it."""
    shown = reply.json()
    assert reply.headers["content-type"] == "application/problem+json"
    assert shown.keys() - PROBLEM_MEMBERS <= {"errors", "reasons", "id"}
    assert shown.keys() >= PROBLEM_MEMBERS
    assert shown["type"] == f"https://memwarden.dev/problems/{shown['code']}"
    assert shown["status"] == reply.status_code
    assert shown["request_id"] == reply.headers["x-request-id"]
    assert code is None or shown["code"] == code
    return shown


def path_of(operation):
    return operation.path.replace("{id}", "0198b1c4-5a6b-7c8d-9e0f-112233445566")


@pytest.mark.requirement("B2")
@pytest.mark.parametrize("operation", ROUTES)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": f"Bearer {CANARY}"},
        {"Authorization": "Basic dTpw"},
        {"Authorization": KEY},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {KEY} x"},
        {"X-API-Key": ""},
        {"X-API-Key": CANARY},
        {"X-API-Key": f"{KEY}\u00e9".encode("latin-1")},
        {"X-API-Key": KEY, "Authorization": f"Bearer {CANARY}"},
        {"X-API-Key": "k" * 9000},
    ],
)
async def test_no_route_answers_a_stranger(house, operation, headers):
    async with house.client(key=None) as client:
        reply = await client.request(
            operation.method, path_of(operation), content=b"{" * 3, headers=headers
        )
    shown = check_problem(reply, "unauthenticated")
    assert reply.status_code == 401
    told = 'Bearer error="invalid_token"' if headers else "Bearer"
    assert reply.headers["www-authenticate"] == told
    assert CANARY not in json.dumps(shown)
    assert house.paths.calls == []
    assert house.refusals.recorded == []
    assert house.failures.sources == ["192.0.2.7"]


@pytest.mark.parametrize("name", ["Authorization", "X-API-Key"])
async def test_a_credential_given_twice_proves_nothing(house, name):
    value = KEY if name == "X-API-Key" else f"Bearer {KEY}"
    async with house.client(key=None) as client:
        reply = await client.get("/v1/admin/keys", headers=[(name, value), (name, value)])
    assert reply.status_code == 401


async def test_the_same_key_in_both_headers_is_one_credential(house):
    async with house.client() as client:
        reply = await client.get("/v1/admin/keys", headers={"X-API-Key": KEY})
    assert reply.status_code == 200
    assert house.keys.seen == [(KEY, "http")]


async def test_a_stranger_is_refused_before_the_body_is_read(house):
    read = False

    async def body():
        nonlocal read
        read = True
        yield b"{"

    async with house.client(key=None) as client:
        reply = await client.post("/v1/memories", content=body())
    assert reply.status_code == 401
    assert not read


@pytest.mark.parametrize("operation", ROUTES)
async def test_no_route_takes_a_parameter_it_does_not_know(house, operation):
    async with house.client() as client:
        reply = await client.request(
            operation.method, path_of(operation) + "?colour=1", json={"content": "x"}
        )
    shown = check_problem(reply, "invalid")
    assert "colour" in [fault["field"] for fault in shown["errors"]]
    assert house.paths.calls == []
    assert len(house.refusals.recorded) == 1
    assert house.refusals.recorded[0][:2] == (operation.action.value, "invalid")


@pytest.mark.parametrize("operation", named([op for op in OPERATIONS if op.body is not None]))
async def test_no_route_takes_a_field_it_does_not_know(house, operation):
    async with house.client() as client:
        reply = await client.request(
            operation.method, path_of(operation), json={"user_id": "alice", "colour": 1}
        )
    shown = check_problem(reply, "invalid")
    assert "colour" in [fault["field"] for fault in shown["errors"]]
    assert house.paths.calls == []
    assert house.refusals.recorded == [(operation.action.value, "invalid", "alice")]


@pytest.mark.requirement("F6", "D14")
async def test_two_thousand_malformed_requests_are_refused_without_echo_or_trace(house, caplog):
    caplog.set_level(logging.DEBUG, "memwarden")
    statuses: Counter[int] = Counter()
    async with house.client() as client:
        for attack in attacks(list(OPERATIONS), seed=20260301, count=2000):
            reply = await client.request(
                attack.method, attack.path, content=attack.content, headers=attack.headers
            )
            where = f"{attack.about}: {attack.method} {attack.path[:80]} -> {reply.status_code}"
            if "/batch" in attack.path and reply.status_code == 200:
                # The batch is one; each item of it is refused by itself.
                assert all(item["code"] for item in reply.json()["results"]), where
            else:
                assert 400 <= reply.status_code < 500, where
                check_problem(reply)
            said = str(reply.headers) + reply.text
            assert CANARY not in said, where
            assert NUMBER not in said, where
            statuses[reply.status_code] += 1
    assert statuses.keys() >= {404, 413, 422}
    assert {name for name, _ in house.paths.calls} <= {"write.write_batch"}
    logged = "".join(r.getMessage() + str(r.exc_info) for r in caplog.records)
    assert CANARY not in logged
    assert "Traceback" not in logged


CHALLENGES = {
    errors.Unauthenticated: 'Bearer error="invalid_token"',
    errors.ScopeMissing: 'Bearer error="insufficient_scope", scope="memory:read memory:write"',
    errors.StepUpNeeded: 'Bearer error="insufficient_user_authentication", max_age="300"',
}


def one_of_each():
    """Yield an error of each class, with everything it can carry."""
    special = {
        errors.ContentRejected: errors.ContentRejected(
            (Reason(kind="SECRET.PRIVATE_KEY", field="metadata.note"),)
        ),
        errors.NamesInvalid: errors.NamesInvalid((FieldFault(field="a.b", message="Wrong."),)),
        errors.Invalid: errors.Invalid("Wrong.", field="a"),
        errors.TooLarge: errors.TooLarge("Too long.", field="a"),
        errors.Conflict: errors.Conflict(resource_id="k2"),
        errors.Throttled: errors.Throttled(retry_after_seconds=7),
        errors.Unavailable: errors.Unavailable(retry_after_seconds=3),
        errors.Denied: errors.Denied(rule=CANARY),
        errors.ScopeMissing: errors.ScopeMissing(frozenset({"memory:write", "memory:read"})),
    }
    for kind in ROWS:
        yield special.get(kind) or kind()


@pytest.mark.parametrize("error", list(one_of_each()), ids=lambda error: type(error).__name__)
async def test_an_error_of_a_path_is_its_problem(client, paths, house, error):
    error.__cause__ = ValueError(CANARY)
    paths.answers["write.write"] = error
    reply = await client.post("/v1/memories", json={"content": CANARY})
    shown = check_problem(reply, row_of(error).code or error.code)
    assert reply.status_code == row_of(error).status
    assert reply.headers.get("www-authenticate") == CHALLENGES.get(type(error))
    assert CANARY not in reply.text + str(reply.headers)
    assert shown["detail"] == error.detail
    assert house.refusals.recorded == []  # the path has recorded it
    match error:
        case errors.ContentRejected():
            assert shown["reasons"] == [{"kind": "SECRET.PRIVATE_KEY", "field": "metadata.note"}]
        case errors.Invalid():
            assert shown["errors"][0]["message"] == "Wrong."
        case errors.TooLarge():
            assert shown["errors"] == [{"field": "a", "message": "Too long."}]
        case errors.Conflict():
            assert shown["id"] == "k2"
        case errors.Throttled():
            assert reply.headers["retry-after"] == "7"
        case errors.Outdated():
            assert reply.headers["retry-after"] == "1"
        case errors.Unavailable():
            assert reply.headers["retry-after"] == "3"
        case _:
            assert shown.keys() == PROBLEM_MEMBERS
    assert ("retry-after" in reply.headers) == (reply.status_code in (429, 503))


@pytest.mark.requirement("D14")
@pytest.mark.parametrize("error", [ValueError(CANARY), RuntimeError(CANARY), OSError(CANARY)])
async def test_an_error_nobody_foresaw_tells_nothing_and_logs_its_type_alone(
    client, paths, caplog, error
):
    caplog.set_level(logging.DEBUG)
    paths.answers["write.write"] = error
    reply = await client.post("/v1/memories", json={"content": CANARY})
    check_problem(reply, "unavailable")
    assert reply.status_code == 503
    logged = [r for r in caplog.records if r.name == "memwarden.front"]
    assert [type(error).__name__ in r.getMessage() for r in logged] == [True]
    assert CANARY not in "".join(r.getMessage() + str(r.exc_info) for r in caplog.records)


@pytest.mark.requirement("C13")
async def test_when_a_refusal_cannot_be_recorded_the_caller_gets_unavailable(house, monkeypatch):
    async def fail(*_arguments, **_named):
        raise errors.Unavailable

    monkeypatch.setattr(house.refusals, "record", fail)
    async with house.client() as client:
        reply = await client.post("/v1/memories", json={"colour": 1})
    check_problem(reply, "unavailable")


@pytest.mark.requirement("C9")
async def test_missing_and_foreign_answer_alike(client, paths):
    replies = []
    for error in (errors.NotFound(), errors.NotFound()):
        paths.answers["memories.get"] = error
        replies.append(await client.get("/v1/memories/0198b1c4-5a6b-7c8d-9e0f-112233445566"))
    replies.append(await client.get("/v1/memories/no:such"))
    first = replies[0]
    for reply in replies[1:]:
        left, right = first.json(), reply.json()
        assert {**left, "request_id": ""} == {**right, "request_id": ""}
        assert {**first.headers, "x-request-id": ""} == {**reply.headers, "x-request-id": ""}


async def test_too_many_requests_of_one_tenant_at_once_are_throttled_and_recorded(build):
    house = build(limits=Limits(requests_per_tenant=1))

    inner: list[httpx.Response] = []

    async def nested(*_arguments):
        async with house.client() as other:
            inner.append(await other.get("/v1/admin/keys"))
        return []

    house.paths.answers["admin.keys"] = nested
    async with house.client() as client:
        assert (await client.get("/v1/admin/keys")).status_code == 200
        assert (await client.get("/healthz")).status_code == 200
    check_problem(inner[0], "throttled")
    assert house.refusals.recorded == [("admin:key:list", "throttled", None)]


def test_the_root_of_the_errors_has_a_row_for_what_has_none():
    assert row_of(type("Odd", (GatewayError,), {})()).status == 503
