"""The log of a real gateway: sealed in a second, whole, and changed in vain."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gateway.app import open_seal_store
from gateway.audit.live import verify_live
from gateway.audit.verify import Report, Status, read_public_key
from gateway.parts import PUBLIC_KEY, Connections
from tests.house import House
from tests.live.gateways import Agent

pytestmark = [pytest.mark.requirement("M6"), pytest.mark.xdist_group("audit-log")]


@pytest.fixture(scope="module")
def agent(house: House) -> Agent:
    """An agent with a dozen sealed events in its tenant's chain."""
    someone = house.someone()
    for number in range(6):
        someone.call("POST", "/v1/memories", json={"content": f"note {number}", "user_id": "alice"})
        someone.call("POST", "/v1/recall", json={"query": "note", "user_id": "alice"})
    deadline = time.monotonic() + 10
    while waiting(house, someone):
        assert time.monotonic() < deadline, "the sealer did not follow"
        time.sleep(0.02)
    return someone


def waiting(house: House, agent: Agent) -> int:
    (row,) = house.sql(
        "SELECT count(*) FROM audit_events WHERE tenant = %s AND sequence IS NULL",
        agent.tenant,
        role="memwarden_seal",
    )
    return int(row[0])


def verify(house: House) -> Report:
    async def run() -> Report:
        pem = (house.folder / "keys" / PUBLIC_KEY).read_bytes()
        async with open_seal_store(house.engines.database_url("memwarden_seal")) as store:
            anchor = Connections.embedded(house.engines).anchor
            return await verify_live(store, [read_public_key(pem)], anchor)

    return asyncio.run(run())


def test_the_log_of_a_gateway_in_use_is_whole(house: House, agent: Agent) -> None:
    report = verify(house)
    assert report.findings == ()
    assert report.status is Status.WHOLE
    assert report.events > 12
    assert report.heads > 0


def test_an_event_has_its_place_within_a_second(house: House, agent: Agent) -> None:
    agent.call("POST", "/v1/recall", json={"query": "note", "user_id": "alice"})
    started = time.monotonic()
    while waiting(house, agent):
        assert time.monotonic() - started < 5, "a loaded machine may be slow, but not that slow"
        time.sleep(0.005)


@contextmanager
def changed(house: House, agent: Agent, *statements: str) -> Iterator[None]:
    """Change the tenant's rows as somebody with the files could, and put them back."""
    tables = ("audit_events", "audit_checkpoints")
    with house.below(*tables) as below:
        for table in tables:
            below.execute(
                f"CREATE TABLE saved_{table} AS SELECT * FROM {table} WHERE tenant = %s",
                [agent.tenant],
            )
        for statement in statements:
            assert below.execute(statement, {"tenant": agent.tenant}).rowcount > 0
    try:
        yield
    finally:
        with house.below(*tables) as below:
            for table in tables:
                below.execute(f"DELETE FROM {table} WHERE tenant = %s", [agent.tenant])
                below.execute(f"INSERT INTO {table} SELECT * FROM saved_{table}")
                below.execute(f"DROP TABLE saved_{table}")


MINE = "WHERE tenant = %(tenant)s"
LAST = f"SELECT max(sequence) FROM audit_events {MINE}"
FIRST = f"SELECT min(size) FROM audit_checkpoints {MINE}"
NOWHERE = "sequence = NULL, prev = NULL, hash = NULL, aside = true"
ATTACKS: dict[str, tuple[str, ...]] = {
    "an outcome is edited": (f"UPDATE audit_events SET outcome = 'fine' {MINE} AND sequence = 5",),
    "a person is edited": (
        f"UPDATE audit_events SET on_behalf_of = repeat('0', 32) {MINE} AND sequence = 5",
    ),
    "a time is edited": (
        f"UPDATE audit_events SET at = at - interval '1 microsecond' {MINE} AND sequence = 5",
    ),
    "the first event is dropped": (f"DELETE FROM audit_events {MINE} AND sequence = 1",),
    "one in the middle is dropped": (f"DELETE FROM audit_events {MINE} AND sequence = 5",),
    "the last is dropped": (f"DELETE FROM audit_events {MINE} AND sequence = ({LAST})",),
    "the tail is cut with its heads": (
        f"DELETE FROM audit_events {MINE} AND sequence > 5",
        f"DELETE FROM audit_checkpoints {MINE} AND size > 5",
    ),
    "everything is removed": (
        f"DELETE FROM audit_events {MINE}",
        f"DELETE FROM audit_checkpoints {MINE}",
    ),
    "a place is taken away": (f"UPDATE audit_events SET {NOWHERE} {MINE} AND sequence = ({LAST})",),
    "one is dropped and the rest moves up": (
        f"DELETE FROM audit_events {MINE} AND sequence = 5",
        f"UPDATE audit_events SET sequence = sequence + 1000 {MINE} AND sequence > 5",
        f"UPDATE audit_events SET sequence = sequence - 1001 {MINE} AND sequence > 1000",
    ),
    "two are swapped": (
        f"UPDATE audit_events SET sequence = 1000 {MINE} AND sequence = 5",
        f"UPDATE audit_events SET sequence = 5 {MINE} AND sequence = 6",
        f"UPDATE audit_events SET sequence = 6 {MINE} AND sequence = 1000",
    ),
    "a hash is edited": (
        f"UPDATE audit_events SET hash = sha256('x'::bytea) {MINE} AND sequence = 5",
    ),
    "a head is edited": (
        f"UPDATE audit_checkpoints SET head = sha256('x'::bytea) {MINE} AND size = ({FIRST})",
    ),
}


@pytest.mark.parametrize("statements", ATTACKS.values(), ids=ATTACKS.keys())
def test_a_change_below_the_gateway_is_found(
    house: House, agent: Agent, statements: tuple[str, ...]
) -> None:
    with changed(house, agent, *statements):
        report = verify(house)
    assert report.status is Status.TAMPERED
    assert agent.tenant in {finding.tenant for finding in report.findings}
    assert verify(house).status is Status.WHOLE


def test_a_row_that_somebody_inserts_gets_no_place_and_an_alarm(house: House, agent: Agent) -> None:
    with house.below("audit_events") as below:
        below.execute(
            "INSERT INTO audit_events SELECT tenant, gen_random_uuid(), at, actor, on_behalf_of,"
            " action, object, decision, rule, policy_version, outcome, count, request_id, trace_id,"
            f" writer, number + 1000000, digest, mac, NULL, NULL, NULL FROM audit_events {MINE}"
            " AND sequence = 5",
            {"tenant": agent.tenant},
        )
    deadline = time.monotonic() + 10
    while waiting_for(house, agent) == [(None, False)]:
        assert time.monotonic() < deadline, "the sealer did not look at it"
        time.sleep(0.02)
    assert waiting_for(house, agent) == [(None, True)]
    alarms = house.sql(
        "SELECT count(*) FROM audit_events WHERE action = 'audit:event:forge'",
        role="memwarden_seal",
    )
    assert alarms[0][0] >= 1
    assert verify(house).status is Status.WHOLE
    with house.below("audit_events") as below:
        below.execute(f"DELETE FROM audit_events {MINE} AND aside", {"tenant": agent.tenant})


def waiting_for(house: House, agent: Agent) -> list[Any]:
    return house.sql(
        "SELECT sequence, aside FROM audit_events WHERE tenant = %s AND number > 1000000",
        agent.tenant,
        role="memwarden_seal",
    )
