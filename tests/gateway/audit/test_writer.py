"""One process's numbers: none is skipped, and none that was lost stays open."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.errors import Unavailable
from core.ids import SYSTEM_TENANT, TenantId, WriterId, new_uuid
from gateway.audit.event import digest
from gateway.audit.writer import VOID, Writer, event_mac
from gateway.vault.secret import Secret
from tests.gateway.audit.log import KEY, FakeSealStore, make_event

pytestmark = pytest.mark.requirement("M6")
TENANT = TenantId(new_uuid())


@pytest.fixture
def writer():
    return Writer(KEY)


@pytest.fixture
def store():
    return FakeSealStore()


def test_numbers_begin_at_one_and_skip_none(writer):
    assert [writer.sign(make_event(TENANT)).number for _ in range(5)] == [1, 2, 3, 4, 5]


def test_two_processes_are_two_writers():
    assert Writer(KEY).id != Writer(KEY).id


def test_threads_never_get_the_same_number(writer):
    with ThreadPoolExecutor(8) as pool:
        signed = list(pool.map(lambda _: writer.sign(make_event(TENANT)), range(500)))
    assert sorted(one.number for one in signed) == list(range(1, 501))


def test_the_mac_covers_writer_number_event_and_key(writer):
    signed = writer.sign(make_event(TENANT))
    assert signed.digest == digest(signed.event)
    assert signed.mac == event_mac(KEY, writer.id, 1, signed.digest)
    others = {
        event_mac(KEY, WriterId(new_uuid()), 1, signed.digest),
        event_mac(KEY, writer.id, 2, signed.digest),
        event_mac(KEY, writer.id, 1, digest(make_event(TENANT))),
        event_mac(Secret(b"x" * 32), writer.id, 1, signed.digest),
    }
    assert len(others) == 4
    assert signed.mac not in others


async def test_a_lost_number_is_filled_under_the_same_number(writer, store):
    signed = [writer.sign(make_event(TENANT)) for _ in range(3)]
    store.add(signed[0], signed[2])
    writer.lost(signed[1])
    assert await writer.flush(store) == 1
    void = store.rows[-1].signed
    assert (void.writer, void.number) == (writer.id, 2)
    assert void.event.action == VOID
    assert void.event.tenant == SYSTEM_TENANT
    assert void.mac == event_mac(KEY, writer.id, 2, digest(void.event))
    assert await writer.flush(store) == 0


async def test_a_transaction_that_committed_after_all_keeps_its_number(writer, store):
    signed = writer.sign(make_event(TENANT))
    store.add(signed)
    writer.lost(signed)  # its answer was lost, not its effect
    await writer.flush(store)
    assert [row.signed for row in store.rows] == [signed]


async def test_lost_numbers_wait_while_the_record_is_down(writer, store):
    writer.lost(writer.sign(make_event(TENANT)))
    store.down = True
    with pytest.raises(Unavailable):
        await writer.flush(store)
    store.down = False
    assert await writer.flush(store) == 1


async def test_another_writers_event_is_not_its_loss(writer, store):
    writer.lost(Writer(KEY).sign(make_event(TENANT)))
    assert await writer.flush(store) == 0


async def test_the_task_fills_what_is_left_when_it_is_stopped(writer, store):
    stop = asyncio.Event()
    store.down = True
    task = asyncio.create_task(writer.run(store, stop, seconds=0.001))
    writer.lost(writer.sign(make_event(TENANT)))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not store.rows
    store.down = False
    stop.set()
    await asyncio.wait_for(task, 5)
    assert len(store.rows) == 1
