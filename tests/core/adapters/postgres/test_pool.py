"""A connection is handed on clean, and nobody waits long."""

import asyncio
import logging
import os
import signal

import psycopg
import pytest

from core.adapters.postgres import Pool, PostgresRecord
from core.errors import Conflict, NotFound, Unavailable
from core.ids import MemoryId, new_uuid
from core.model import Filter
from tests.record_values import NotedWriter, event_of

SETTINGS = """
SELECT name, current_setting(name, true) FROM unnest(ARRAY['app.tenant', 'app.user_id',
  'app.namespaces', 'app.read_same', 'app.read_members', 'app.write_same', 'app.write_members',
  'app.action', 'app.audit']) AS name
 WHERE current_setting(name, true) <> ''"""


@pytest.fixture
async def single(make_pool):
    """A pool of one connection: whatever is left on it, the next caller would get."""
    return await make_pool(connections=1, wait_seconds=5.0)


async def left_over(pool):
    """Return what the one connection still has: settings, memories in sight, its state."""
    connection = await pool._pool.getconn()
    try:
        assert connection.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE
        settings = await (await connection.execute(SETTINGS)).fetchall()
        rows = await (await connection.execute("SELECT id FROM memories")).fetchall()
        limit = await (await connection.execute("SHOW statement_timeout")).fetchone()
        return settings, rows, limit
    finally:
        await pool._pool.putconn(connection)


CLEAN: tuple[list[object], list[object], tuple[str]] = ([], [], ("0",))


async def ends_well(view):
    await view.get((await view.recent(Filter(), 1))[0].id)


async def raises(view):
    await view.recent(Filter(), 1)
    raise ZeroDivisionError


async def fails_in_the_server(view):
    await view._transaction.rows("SELECT 1 / %(zero)s::int", {"zero": 0})


async def takes_too_long(view):
    await view._transaction.rows("SELECT set_config('statement_timeout', '20', true)", {})
    await view._transaction.rows("SELECT pg_sleep(30)", {})


async def goes_on_after_a_failure(view):
    with pytest.raises(Unavailable):
        await fails_in_the_server(view)


async def is_disconnected(view):
    await view._transaction.rows("SELECT pg_terminate_backend(pg_backend_pid())", {})


@pytest.mark.requirement("C5")
@pytest.mark.parametrize(
    "happening",
    [
        ends_well,
        raises,
        fails_in_the_server,
        takes_too_long,
        goes_on_after_a_failure,
        is_disconnected,
    ],
)
async def test_nothing_of_a_scope_is_left_on_a_connection(world, single, happening):
    person = await world.person()
    async with world.record.view(person.writing) as view:
        await view.insert(person.kept())
    record = PostgresRecord(single, NotedWriter())
    expected = {ends_well: None, raises: ZeroDivisionError}.get(happening, Unavailable)
    if expected is None:
        async with record.view(person.writing) as view:
            await happening(view)
    else:
        with pytest.raises(expected):
            async with record.view(person.writing) as view:
                await happening(view)
    assert await left_over(single) == CLEAN


async def until_waiting(world, backend, event):
    """Return when the one backend in the list waits for `event`."""
    async with asyncio.timeout(10), world.pool.transaction({}) as transaction:
        while True:
            await asyncio.sleep(0)
            found = await transaction.rows(
                "SELECT FROM pg_stat_activity WHERE pid = ANY (%(pids)s::int[])"
                " AND wait_event = %(event)s AND xact_start IS NOT NULL",
                {"pids": backend, "event": event},
            )
            if found:
                return
            await transaction.rows("SELECT pg_stat_clear_snapshot()", {})


@pytest.mark.requirement("C5")
@pytest.mark.parametrize("place", ["in a statement", "between two", "in the commit", "twice"])
async def test_a_cancelled_call_leaves_nothing_behind(world, single, place):
    person = await world.person()
    writer = NotedWriter()
    record = PostgresRecord(single, writer)
    backend: list[int] = []

    async def call():
        async with record.view(person.writing) as view:
            await view.insert(person.kept())
            await view.record(event_of(person.writing, view.now))
            transaction = view._transaction
            backend.append(transaction._connection.info.backend_pid)
            if place == "between two":
                await asyncio.Event().wait()
            elif place == "in the commit":
                transaction.later("SELECT pg_sleep(30)", {})
            else:
                await transaction.rows("SELECT pg_sleep(30)", {})

    task = asyncio.create_task(call())
    await until_waiting(world, backend, "ClientRead" if place == "between two" else "PgSleep")
    task.cancel()
    if place == "twice":
        asyncio.get_running_loop().call_soon(task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await left_over(single) == CLEAN
    assert writer.kept == []
    assert writer.missing == [1]
    async with world.record.view(person.reading) as view:
        assert await view.recent(Filter(), 5) == []


async def test_a_hundred_calls_cancelled_at_any_moment_leave_nothing_behind(world, make_pool):
    person = await world.person()
    pool = await make_pool(connections=3, wait_seconds=5.0)
    record = PostgresRecord(pool, NotedWriter())

    async def call(number):
        async with record.view(person.writing) as view:
            await view.insert(person.kept(f"memory {number}"))
            await view.record(event_of(person.writing, view.now))

    for number in range(100):
        task = asyncio.create_task(call(number))
        for _ in range(number % 25):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    for _ in range(3):
        assert await left_over(pool) == CLEAN


async def test_a_refusal_keeps_the_connection(world, single):
    person = await world.person()
    record = PostgresRecord(single, NotedWriter())
    backends = set()

    async def look():
        async with record.view(person.reading) as view:
            backends.add(view._transaction._connection.info.backend_pid)
            await view.get(MemoryId(new_uuid()))

    for _ in range(3):
        with pytest.raises(NotFound):
            await look()
    assert len(backends) == 1


@pytest.mark.requirement("F14")
@pytest.mark.parametrize("place", ["in a statement", "in the commit"])
async def test_a_server_that_stands_still_is_unavailable(single, place):
    stopped: list[int] = []

    async def ask():
        async with single.transaction({"statement_timeout": "50"}) as transaction:
            stopped.append(transaction._connection.info.backend_pid)
            os.kill(stopped[0], signal.SIGSTOP)
            if place == "in a statement":
                await transaction.rows("SELECT 1", {})

    try:
        async with asyncio.timeout(8):
            with pytest.raises(Unavailable):
                await ask()
    finally:
        os.kill(stopped[0], signal.SIGCONT)
    async with single.transaction({}) as transaction:
        assert await transaction.rows("SELECT 1", {}) == [(1,)]


async def test_a_full_pool_answers_within_a_second(world, make_pool):
    pool = await make_pool(connections=1, wait_seconds=0.2)
    async with pool.transaction({}), asyncio.timeout(1):
        with pytest.raises(Unavailable):
            async with pool.transaction({}):
                pass


async def test_a_connection_that_died_in_the_pool_is_replaced_unseen(world, make_pool):
    pool = await make_pool(connections=2, wait_seconds=5.0)
    held = [await pool._pool.getconn() for _ in range(2)]
    for connection in held:
        await pool._pool.putconn(connection)
    killer = await (await make_pool(connections=1))._pool.getconn()
    for connection in held:
        await killer.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
    await killer.close()
    async with pool.transaction({}) as transaction:
        assert await transaction.rows("SELECT 1", {}) == [(1,)]


async def test_a_server_that_is_not_there_is_unavailable(tmp_path):
    pool = Pool(f"postgresql://nobody@/none?host={tmp_path}", name="none", wait_seconds=0.2)
    with pytest.raises(Unavailable):
        await pool.open(seconds=0.3)
    await pool.close()


def causes(error):
    """Yield what a careless log of `error` would print, and of all that led to it."""
    yield f"{error!r} {error}"
    for led_to_it in {error.__cause__, error.__context__} - {None}:
        yield from causes(led_to_it)


@pytest.mark.requirement("D14")
async def test_what_the_server_says_ends_in_the_adapter(world, caplog):
    caplog.set_level(logging.DEBUG)
    person = await world.person()
    memory = person.kept("a text that must not be told")
    twin = person.kept("another", memory=memory.id)
    impossible = person.kept("a text that must not be told", confidence=7.0)
    async with world.record.view(person.writing) as view:
        await view.insert(memory)
    for wrong, expected in ((twin, Conflict), (impossible, Unavailable)):
        with pytest.raises(expected) as raised:
            async with world.record.view(person.writing) as view:
                await view.insert(wrong)
        texts = list(causes(raised.value))
        assert sum(text.startswith("RecordFault") for text in texts) == 1
        for secret in ("must not be told", str(person.user), "constraint", "memories"):
            assert not any(secret in text for text in texts)
    assert "must not be told" not in caplog.text
    assert "INSERT" not in caplog.text


@pytest.mark.requirement("C13")
async def test_without_its_audit_event_no_change_is_kept(world):
    person = await world.person()
    memory = person.kept()
    event = event_of(person.writing, await world.record.now(), outcome="x" * 1000)

    async def write():
        async with world.record.view(person.writing) as view:
            await view.insert(memory)
            await view.record(event)

    with pytest.raises(Unavailable):
        await write()
    assert world.writer.missing
    async with world.record.view(person.reading) as view:
        assert await view.find([memory.id], Filter()) == []
    with pytest.raises(Unavailable):
        await world.record.append(event)
