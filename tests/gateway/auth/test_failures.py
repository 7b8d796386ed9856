"""Failed authentications: counted, bounded, and in the end in the log."""

import asyncio

import pytest

from core.errors import Unavailable
from core.ids import SYSTEM_TENANT
from gateway.auth.failures import ACTION, FailureLog
from tests.gateway.access.directory import FakeLog, make_keyring


class Clock:
    now = 6_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def keyring():
    return await make_keyring()


@pytest.fixture
def log():
    return FakeLog()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def failures(keyring, log, clock):
    return FailureLog(keyring, log, sources_per_minute=4, sources_per_hour=10, monotonic=clock)


def counts(log):
    return [event.count for event in log.events]


async def test_failures_of_one_source_are_one_event_with_their_count(failures, log):
    for _ in range(500):
        failures.note("203.0.113.7")
    assert await failures.flush() == 1
    (event,) = log.events
    assert (event.count, event.action, event.decision) == (500, ACTION, "deny")
    assert event.tenant == SYSTEM_TENANT
    assert event.outcome == "unauthenticated"


async def test_an_address_stands_in_the_log_as_a_keyed_hash(failures, log, keyring):
    failures.note("203.0.113.7")
    await failures.flush()
    assert "203.0.113.7" not in repr(log.events)
    assert b"203.0.113.7".hex() not in repr(log.events)
    keys = await keyring.tenant(SYSTEM_TENANT)
    assert log.events[0].actor == keys.blind("actor", "source:203.0.113.7").hex()


async def test_a_source_is_written_twice_a_minute_at_most(failures, log, clock):
    for _ in range(59):
        failures.note("203.0.113.7")
        await failures.flush()
        clock.now += 1
    assert counts(log) == [1]
    clock.now += 2
    await failures.flush()
    assert counts(log) == [1, 58]
    await failures.flush()
    assert counts(log) == [1, 58]


async def test_many_sources_share_one_count_beyond_the_bound(failures, log):
    for number in range(1000):
        failures.note(f"10.0.{number // 250}.{number % 250}")
    assert await failures.flush() == 5
    assert sorted(counts(log)) == [1, 1, 1, 1, 996]


async def test_a_day_of_new_strangers_writes_a_bounded_number_of_events(failures, log, clock):
    for minute in range(24 * 60):
        for number in range(6):
            failures.note(f"10.{minute // 200}.{minute % 200}.{number}")
        await failures.flush()
        clock.now += 60
    await failures.flush()
    assert sum(counts(log)) == 24 * 60 * 6
    assert len(log.events) <= 2 * 24 * 60 + 24 * 10 * 2


async def test_what_waits_for_a_record_that_is_down_is_bounded_and_not_lost(failures, log, clock):
    log.down = True
    for minute in range(50):
        for number in range(20):
            failures.note(f"10.0.{minute}.{number}")
        with pytest.raises(Unavailable):
            await failures.flush()
        clock.now += 60
    assert len(failures._counts) <= 8 + 50
    log.down = False
    await failures.flush(everything=True)
    assert sum(counts(log)) == 1000
    assert not failures._counts


async def test_one_stranger_owns_a_whole_ipv6_network(failures, log):
    for number in range(100):
        failures.note(f"2001:db8::{number:x}")
    failures.note("2001:db8:0:1::1")
    await failures.flush()
    assert sorted(counts(log)) == [1, 100]


@pytest.mark.parametrize("source", [None, "", "unix:", "not an address", "1.2.3.4:80", "::%eth0'"])
async def test_whatever_the_front_knows_of_a_source_is_counted(failures, log, source):
    failures.note(source)
    await failures.flush()
    assert counts(log) == [1]


async def test_mapped_and_plain_addresses_are_one_source(failures, log):
    failures.note("::ffff:203.0.113.7")
    failures.note("203.0.113.7")
    await failures.flush()
    assert counts(log) == [2]


async def test_what_is_counted_while_it_is_written_is_not_lost(failures, log, monkeypatch):
    append = log.append

    async def slow(event):
        failures.note("203.0.113.7")
        await append(event)

    monkeypatch.setattr(log, "append", slow)
    failures.note("203.0.113.7")
    await failures.flush()
    monkeypatch.setattr(log, "append", append)
    await failures.flush(everything=True)
    assert counts(log) == [1, 1]


async def test_the_task_writes_everything_when_it_is_stopped(failures, log):
    stop = asyncio.Event()
    task = asyncio.create_task(failures.run(stop, seconds=60))
    failures.note("203.0.113.7")
    await failures.flush()
    failures.note("203.0.113.7")
    stop.set()
    await asyncio.wait_for(task, 5)
    assert sum(counts(log)) == 2


async def test_the_task_outlives_a_record_that_is_down(failures, log):
    stop = asyncio.Event()
    log.down = True
    failures.note("203.0.113.7")
    task = asyncio.create_task(failures.run(stop, seconds=0.001))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not task.done()
    log.down = False
    stop.set()
    await asyncio.wait_for(task, 5)
    assert counts(log) == [1]
