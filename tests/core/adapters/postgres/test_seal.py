"""Giving events their place, once, by one run at a time."""

import asyncio
import hashlib

import pytest

from core.ids import SYSTEM_TENANT, EventId, TenantId, WriterId, new_uuid
from core.ports.seal import Checkpoint, Placed, SealBatch
from tests.record_values import NotedWriter, event_of, operator

HASH = b"h" * 32


async def logged(world, person, count):
    async with world.record.view(person.reading) as view:
        for _ in range(count):
            await view.record(event_of(person.reading, view.now))


async def waiting(store, tenant):
    return [row for row in await store.unsealed(10_000) if row.event.tenant == tenant]


def batch(tenant, rows, at, *, size=0, **others):
    placed = [
        Placed(
            event_id=row.event.event_id,
            tenant=tenant,
            sequence=size + number,
            prev=HASH,
            hash=hashlib.sha256(row.event.event_id.bytes).digest(),
        )
        for number, row in enumerate(rows, start=1)
    ]
    head = Checkpoint(
        tenant=tenant,
        size=size + len(rows),
        head=placed[-1].hash,
        at=at,
        key_id="k" * 16,
        signature=b"s" * 64,
    )
    return SealBatch(expected={tenant: size}, placed=placed, checkpoints=[head], **others)


async def test_rows_are_placed_and_read_back_in_order(world):
    store = await world.seals()
    person = await world.person()
    await logged(world, person, 5)
    rows = await waiting(store, person.tenant)
    assert [row.number for row in rows] == sorted(row.number for row in rows)
    first = batch(person.tenant, rows[:3], await store.now())
    assert await store.commit(first)
    assert await store.commit(batch(person.tenant, rows[3:], await store.now(), size=3))
    assert await waiting(store, person.tenant) == []
    events = [row async for row in store.stream(person.tenant)]
    assert [(row.sequence, row.signed) for row in events] == list(enumerate(rows, start=1))
    assert (events[0].prev, events[0].hash) == (HASH, first.placed[0].hash)
    assert [row.sequence async for row in store.stream(person.tenant, after=2, limit=2)] == [3, 4]
    heads = [head async for head in store.checkpoints(person.tenant)]
    assert [head.size for head in heads] == [3, 5]
    assert (await store.heads({person.tenant}))[person.tenant] == heads[-1]
    assert (await store.heads())[person.tenant] == heads[-1]
    assert person.tenant in await store.tenants()
    assert await store.heads({TenantId(new_uuid())}) == {}


async def test_of_runs_that_race_one_goes_in(world):
    store = await world.seals()
    person = await world.person()
    await logged(world, person, 3)
    rows = await waiting(store, person.tenant)
    now = await store.now()
    results = await asyncio.gather(
        *(store.commit(batch(person.tenant, rows, now)) for _ in range(5))
    )
    assert sorted(results) == [False, False, False, False, True]
    assert [head.size async for head in store.checkpoints(person.tenant)] == [3]


async def test_a_run_goes_in_whole_or_not_at_all(world):
    store = await world.seals()
    person, other = await world.person(), await world.person()
    await logged(world, person, 2)
    await logged(world, other, 1)
    rows = await waiting(store, person.tenant)
    foreign = await waiting(store, other.tenant)
    now = await store.now()
    stale = batch(person.tenant, rows, now, size=7)
    unknown = batch(person.tenant, rows, now, aside=[EventId(new_uuid())])
    mistaken = batch(person.tenant, [*rows, *foreign], now)
    for wrong in (stale, unknown, mistaken):
        assert not await store.commit(wrong)
    assert await waiting(store, person.tenant) == rows
    assert await store.heads({person.tenant}) == {}
    assert await store.commit(batch(person.tenant, rows, now))


async def test_what_is_set_aside_is_not_offered_again_and_gets_no_place(world):
    store = await world.seals()
    person = await world.person()
    await logged(world, person, 2)
    forged, genuine = await waiting(store, person.tenant)
    now = await store.now()
    aside = SealBatch(expected={}, aside=[forged.event.event_id])
    assert await store.commit(aside)
    assert await waiting(store, person.tenant) == [genuine]
    assert not await store.commit(batch(person.tenant, [forged], now))
    assert not await store.commit(aside)


async def test_the_sealers_own_events_go_in_with_its_changes(world):
    store = await world.seals()
    person = await world.person()
    await logged(world, person, 1)
    rows = await waiting(store, person.tenant)
    writer = NotedWriter()
    own = writer.sign(event_of(operator(), await store.now()))
    cursors = {writer.writer: 1, rows[0].writer: 1}
    assert await store.commit(
        batch(person.tenant, rows, await store.now(), added=[own], cursors=cursors)
    )
    assert own in await store.unsealed(10_000)
    assert await store.cursors([writer.writer]) == {writer.writer: 1}
    await store.commit(SealBatch(expected={}, cursors={writer.writer: 0}))
    assert await store.cursors([writer.writer]) == {writer.writer: 1}
    assert await store.cursors([WriterId(new_uuid())]) == {}


async def test_a_lost_number_is_filled_only_where_it_is_free(world):
    store = await world.seals()
    person = await world.person()
    writer = NotedWriter()
    taken = writer.sign(event_of(operator(), await store.now()))
    await store.add_voids([taken])
    twin = NotedWriter(writer=writer.writer)
    fillers = [twin.sign(event_of(operator(), await store.now())) for _ in range(2)]
    await store.add_voids(fillers)
    found = [row for row in await store.unsealed(10_000) if row.writer == writer.writer]
    assert found == [taken, fillers[1]]
    assert {row.event.tenant for row in found} == {SYSTEM_TENANT}
    assert person.tenant != SYSTEM_TENANT


async def test_one_busy_writer_hides_no_other(world):
    store = await world.seals()
    person = await world.person()
    await logged(world, person, 4)
    lonely = NotedWriter()
    await store.add_voids([lonely.sign(event_of(operator(), await store.now()))])
    rows = await store.unsealed(1)
    assert sum(row.writer == lonely.writer for row in rows) == 1
    assert sum(row.writer == world.writer.writer for row in rows) == 1


@pytest.mark.requirement("C13")
async def test_a_committed_event_is_in_the_log_before_anybody_is_answered(world):
    store = await world.seals()
    person = await world.person()
    event = event_of(person.reading, await world.record.now())
    await world.record.append(event)
    assert [row.event for row in await waiting(store, person.tenant)] == [event]
