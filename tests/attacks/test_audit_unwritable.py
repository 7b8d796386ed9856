"""Without an audit log nobody is answered, and nothing stays behind of what was asked."""

import contextlib
import functools
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from core.adapters.postgres.admin import ERASED
from core.errors import Unavailable
from tests.attacks.asks import NAMES, Stage, ask_of, succeeded
from tests.house import House

TABLES = sorted({*ERASED, "tenants", "outbox"})
SENTENCE = Unavailable.sentence


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    return Stage.of(house)


@contextlib.contextmanager
def unwritable(house: House) -> Iterator[None]:
    house.sql("REVOKE INSERT ON audit_events FROM memwarden_app")
    try:
        yield
    finally:
        house.sql("GRANT INSERT ON audit_events TO memwarden_app")


@contextlib.contextmanager
def locked(house: House) -> Iterator[None]:
    with psycopg.connect(house.engines.database_url("memwarden_owner")) as connection:
        connection.execute("LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE")
        yield
        connection.rollback()


def everything(house: House) -> dict[str, Any]:
    """How many rows each table has, and what stands in those that a change would touch."""
    house.indexed()
    with house.below(*TABLES) as connection:
        found: dict[str, Any] = {}
        for table in TABLES:
            cursor = connection.execute(f"SELECT md5(string_agg(t::text, ',')) FROM {table} t")
            found[table] = cursor.fetchone()
        return found


@pytest.mark.requirement("C13")
def test_every_sample_is_answered_while_the_log_can_be_written(house: House) -> None:
    for name in NAMES:
        stage = Stage.of(house)
        reply = ask_of(stage, name)
        assert succeeded(reply), (name, reply.text)


@pytest.mark.requirement("C13")
def test_no_read_and_no_write_is_answered_without_the_log(house: House, stage: Stage) -> None:
    before = everything(house)
    with unwritable(house):
        for name in NAMES:
            reply = ask_of(stage, name)
            assert not succeeded(reply), name
            said = reply.text
            assert "green tea" not in said, name
            assert stage.memory not in said, name
            if reply.request.url.path != "/mcp" and name != "write_memories":
                assert reply.status_code == 503, (name, said)
                assert reply.headers["retry-after"]
            else:
                assert SENTENCE in said, (name, said)
    assert everything(house) == before


@pytest.mark.requirement("C13")
@pytest.mark.parametrize("name", NAMES)
def test_no_refusal_is_answered_without_the_log(house: House, stage: Stage, name: str) -> None:
    """Malformed, denied or not there: it is recorded, or it is not said."""
    with unwritable(house):
        refused = [ask_of(stage, name, json={"content": 7, "nothing": "x", "name": 3})]
        if name not in {"create_tenant", "list_tenants", "create_key", "list_keys"}:
            refused.append(ask_of(stage, name, params={"user_id": "", "limit": "x"}))
        for reply in refused:
            assert not succeeded(reply)
            if reply.request.url.path == "/mcp":
                assert SENTENCE in reply.text or "error" in reply.json()
            elif reply.request.method in {"GET", "POST"}:
                assert reply.status_code == 503, reply.text


@pytest.mark.requirement("C13")
def test_a_repeat_of_an_idempotent_write_is_not_answered_without_the_log(
    house: House, stage: Stage
) -> None:
    headers = {"Idempotency-Key": "audited"}
    first = ask_of(stage, "write_memory", headers=headers)
    assert first.status_code == 201
    with unwritable(house):
        again = ask_of(stage, "write_memory", headers=headers)
    assert again.status_code == 503, again.text
    assert ask_of(stage, "write_memory", headers=headers).json() == first.json()


@pytest.mark.requirement("C13")
def test_a_repeat_of_an_idempotent_write_is_recorded(house: House, stage: Stage) -> None:
    headers = {"Idempotency-Key": "recorded"}
    requests = [ask_of(stage, "write_memory", headers=headers) for _ in range(2)]
    events = stage.agent.events(action="memory:item:write")
    for reply in requests:
        found = [each for each in events if each["request_id"] == reply.headers["x-request-id"]]
        assert len(found) == 1


RECOVERY_SECONDS = 10.0
"""Until everything is normal again after a fault has ended. Source: REQUIREMENTS F4."""


@pytest.mark.requirement("C13")
def test_once_the_log_can_be_written_again_everything_is_answered_again(
    house: House, stage: Stage
) -> None:
    """No connection keeps a trace of what failed on it."""
    headers = {"X-API-Key": stage.agent.key}

    async def write(number: int) -> int:
        body = stage.agent.about(content=f"again and again {number}")
        return (await house.client.post("/v1/memories", json=body, headers=headers)).status_code

    for round_ in range(2):
        with unwritable(house):
            refused = house.together([functools.partial(write, n) for n in range(24)])
        assert set(refused) == {503}
        # Connections that failed are made anew, which may take a moment; then each one works.
        waiting = [100 * round_ + n for n in range(48)]
        deadline = time.monotonic() + RECOVERY_SECONDS
        while waiting:
            assert time.monotonic() < deadline, f"{len(waiting)} writes are refused for good"
            answers = house.together([functools.partial(write, n) for n in waiting])
            assert set(answers) <= {201, 503}
            waiting = [n for n, status in zip(waiting, answers, strict=True) if status != 201]
    for name in NAMES:
        assert succeeded(ask_of(Stage.of(house), name)), name


@pytest.mark.requirement("C13", "F14")
def test_a_locked_log_is_no_log(house: House, stage: Stage) -> None:
    """Who waits for the log waits a bounded time, and gets no answer."""
    before = everything(house)
    replies: dict[str, Any] = {}

    def ask(name: str) -> None:
        replies[name] = ask_of(stage, name)

    with locked(house):
        threads = [threading.Thread(target=ask, args=[name]) for name in NAMES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert set(replies) == set(NAMES)
    for name, reply in replies.items():
        assert not succeeded(reply), name
    assert everything(house) == before
