"""Sealing: contiguity, one history under races and crashes, and no head that does not extend."""

import asyncio
import contextlib
import random
from datetime import timedelta

import pytest

from core.errors import Unavailable
from core.ids import SYSTEM_TENANT, TenantId, WriterId, new_uuid
from core.ports import SignedEvent
from core.ports.seal import SealBatch
from gateway.audit import seal as module
from gateway.audit.chain import genesis
from gateway.audit.checkpoint import AnchorFile, CheckpointSigner
from gateway.audit.seal import FORGED, GAP, Sealer
from gateway.audit.verify import Status
from gateway.audit.writer import Writer
from tests.gateway.audit.log import (
    KEY,
    NOON,
    SEED,
    FakeSealStore,
    actions,
    committed,
    make_event,
)

pytestmark = pytest.mark.requirement("M6")
ONE, TWO = TenantId(new_uuid()), TenantId(new_uuid())
SIGNER = CheckpointSigner(SEED)


async def test_events_get_their_place_in_their_tenants_chain(store, sealer, writer):
    committed(writer, store, ONE, 3)
    committed(writer, store, TWO, 2)
    assert await sealer.run_once() == 5
    rows = store.of(ONE)
    assert [row.sequence for row in rows] == [1, 2, 3]
    assert [row.signed.event.count for row in rows] == [0, 1, 2]
    assert rows[0].prev == genesis(ONE)
    assert rows[1].prev == rows[0].hash
    assert len(store.of(TWO)) == 2
    assert {one.tenant: one.size for one in store.signed} == {ONE: 3, TWO: 2}
    assert all(SIGNER.recognises(one) for one in store.signed)
    assert AnchorFile(sealer._anchor._path).last() == await store.heads()


async def test_a_second_run_goes_on_where_the_first_ended(store, sealer, writer, verdict):
    committed(writer, store, ONE, 3)
    await sealer.run_once()
    assert await sealer.run_once() == 0
    committed(writer, store, ONE, 2)
    assert await sealer.run_once() == 2
    assert [one.size for one in store.signed] == [3, 5]
    assert (await verdict()).status is Status.WHOLE


async def test_a_number_in_flight_is_waited_for(store, sealer, writer, clock):
    late = writer.sign(make_event(ONE))
    committed(writer, store, ONE, 2)
    assert await sealer.run_once() == 0
    clock.now += 9
    assert await sealer.run_once() == 0
    store.add(late)
    assert await sealer.run_once() == 3
    assert actions(store) == []


async def test_one_writer_that_waits_holds_up_no_other(store, sealer, writer):
    writer.sign(make_event(ONE))
    committed(writer, store, ONE, 2)
    committed(Writer(KEY), store, ONE, 2)
    assert await sealer.run_once() == 2


async def test_a_void_closes_the_hole_at_once(store, sealer, writer, verdict):
    committed(writer, store, ONE)
    lost = writer.sign(make_event(ONE))
    committed(writer, store, ONE)
    writer.lost(lost)
    await writer.flush(store)
    assert await sealer.run_once() == 3
    assert actions(store) == ["audit:writer:void"]
    report = await verdict()
    assert (report.status, report.gaps) == (Status.WHOLE, 0)


async def test_a_hole_that_a_crash_left_becomes_a_visible_gap(
    store, sealer, writer, clock, verdict
):
    committed(writer, store, ONE)
    for _ in range(3):
        writer.sign(make_event(ONE))  # in flight when the process is killed
    committed(writer, store, ONE)
    assert await sealer.run_once() == 1
    clock.now += 10
    assert await sealer.run_once() == 2
    (gap,) = store.of(SYSTEM_TENANT)
    assert gap.signed.event.action == GAP
    assert gap.signed.event.object == f"{writer.id}:2-4"
    assert gap.signed.event.count == 3
    report = await verdict()
    assert (report.status, report.gaps) == (Status.WHOLE, 3)


async def test_a_row_that_comes_after_its_gap_is_sealed_all_the_same(
    store, sealer, writer, clock, verdict
):
    late = writer.sign(make_event(ONE))
    committed(writer, store, ONE)
    await sealer.run_once()
    clock.now += 10
    assert await sealer.run_once() == 2
    store.add(late)
    assert await sealer.run_once() == 1
    report = await verdict()
    assert (report.status, report.gaps) == (Status.WHOLE, 0)


async def test_each_hole_is_waited_for_by_itself(store, sealer, writer, clock):
    writer.sign(make_event(ONE))
    committed(writer, store, ONE)
    await sealer.run_once()
    clock.now += 9
    writer.sign(make_event(ONE))
    committed(writer, store, ONE)
    await sealer.run_once()
    clock.now += 1
    await sealer.run_once()
    assert len(store.of(ONE)) == 1
    clock.now += 10
    await sealer.run_once()
    assert len(store.of(ONE)) == 2
    assert actions(store) == [GAP, GAP]


def forged(signed: SignedEvent, **changes) -> SignedEvent:
    names = SignedEvent.__slots__
    return SignedEvent(**({name: getattr(signed, name) for name in names} | changes))


@pytest.mark.parametrize(
    "change",
    [
        {"event": make_event(ONE)},
        {"event": make_event(TWO)},
        {"mac": bytes(32)},
        {"mac": b""},
        {"digest": bytes(32)},
        {"number": 2},
        {"number": 0},
        {"number": -5},
        {"number": 2**63},
        {"writer": WriterId(new_uuid())},
    ],
)
async def test_a_row_that_no_writer_signed_gets_no_place(store, sealer, writer, change, verdict):
    committed(Writer(KEY), store, ONE, 2)
    store.add(forged(writer.sign(make_event(ONE)), **change))
    await sealer.run_once()
    assert len(store.of(ONE)) == 2
    assert actions(store) == [FORGED]
    assert store.rows[2].aside
    await sealer.run_once()
    assert actions(store) == [FORGED]
    assert (await verdict()).status is Status.WHOLE


async def test_a_row_edited_before_it_is_sealed_is_a_forgery_and_a_gap(
    store, sealer, writer, clock
):
    committed(writer, store, ONE, 3)
    store.rows[1].signed = forged(store.rows[1].signed, event=make_event(ONE, outcome="fine"))
    await sealer.run_once()
    clock.now += 10
    await sealer.run_once()
    assert actions(store) == [FORGED, GAP]
    assert [row.signed.number for row in store.of(ONE)] == [1, 3]


async def test_a_row_deleted_before_it_is_sealed_is_a_gap(store, sealer, writer, clock):
    committed(writer, store, ONE, 3)
    del store.rows[1]
    await sealer.run_once()
    clock.now += 10
    await sealer.run_once()
    assert actions(store) == [GAP]


async def test_two_sealers_that_race_leave_one_history(store, make, writer, verdict):
    sealers = [make(), make(), make()]
    for _ in range(30):
        committed(writer, store, ONE, 2)
        committed(writer, store, TWO, 1)
        await asyncio.gather(*(one.run_once() for one in sealers))
    assert len(store.of(ONE)) == 60
    assert (await verdict()).status is Status.WHOLE
    sizes = [(one.tenant, one.size) for one in store.signed]
    assert len(sizes) == len(set(sizes))


async def test_the_loser_of_a_race_signs_nothing_that_is_kept(store, make, writer, monkeypatch):
    first, second = make(), make()
    committed(writer, store, ONE)
    await first.run_once()
    await second.run_once()
    commit = store.commit

    async def overtaken(batch):
        monkeypatch.setattr(store, "commit", commit)
        await first.run_once()
        return await commit(batch)

    committed(writer, store, ONE)
    monkeypatch.setattr(store, "commit", overtaken)
    assert await second.run_once() == 0
    assert [one.size for one in store.signed] == [1, 2]
    committed(writer, store, ONE)
    assert await second.run_once() == 1


class Fate:
    """Commits and dies at random, from a seed."""

    def __init__(self, store: FakeSealStore, seed: int) -> None:
        self.draw = random.Random(seed)
        self.writers = [Writer(KEY), Writer(KEY)]
        self._store, self._commit = store, store.commit

    async def commit(self, batch: SealBatch) -> bool:
        """Commit as the store does, but for answers that get lost before or after."""
        if self.draw.random() < 0.3:
            raise Unavailable
        done = await self._commit(batch)
        if self.draw.random() < 0.3:
            raise Unavailable
        return done

    async def work(self) -> None:
        """Write some events, of which some do not commit, and some of those are given up."""
        for _ in range(self.draw.randint(0, 4)):
            own, tenant = self.draw.choice(self.writers), self.draw.choice([ONE, TWO])
            if self.draw.random() < 0.8:
                committed(own, self._store, tenant)
                continue
            signed = own.sign(make_event(tenant))
            if self.draw.random() < 0.5:
                own.lost(signed)
        if self.draw.random() < 0.2:
            await self.writers[0].flush(self._store)


@pytest.mark.parametrize("seed", range(40))
async def test_a_sealer_killed_anywhere_leaves_one_history(
    store, make, clock, seed, verdict, monkeypatch
):
    fate, sealer = Fate(store, seed), make()
    with monkeypatch.context() as during:
        during.setattr(store, "commit", fate.commit)
        for _ in range(15):
            await fate.work()
            clock.now += fate.draw.choice([0.2, 11])
            with contextlib.suppress(Unavailable):
                await sealer.run_once()
                continue
            sealer = fate.draw.choice([sealer, make()])
    for own in fate.writers:
        await own.flush(store)
    for _ in range(4):
        clock.now += 11
        await sealer.run_once()
    report = await verdict()
    assert report.findings == ()
    assert report.status is Status.WHOLE
    assert all(row.sequence for row in store.rows)
    assert not sealer.broken


async def test_what_a_crash_left_unanchored_is_anchored_at_the_next_start(
    store, make, writer, path
):
    committed(writer, store, ONE)
    sealer = make()
    await sealer.run_once()
    path.unlink()
    await make().run_once()
    assert AnchorFile(path).last() == await store.heads()


async def test_an_anchor_that_cannot_be_written_holds_nothing_up_but_says_so(
    store, clock, tmp_path, writer
):
    folder = tmp_path / "later"
    sealer = Sealer(store, KEY, SIGNER, AnchorFile(folder / "anchor"), monotonic=clock)
    committed(writer, store, ONE)
    with pytest.raises(Unavailable):
        await sealer.run_once()
    assert len(store.of(ONE)) == 1
    folder.mkdir()
    await sealer.run_once()
    assert AnchorFile(folder / "anchor").last() == await store.heads()


async def test_an_anchor_that_cannot_be_read_stops_the_sealer(store, clock, tmp_path, writer):
    committed(writer, store, ONE)
    sealer = Sealer(store, KEY, SIGNER, AnchorFile(tmp_path), monotonic=clock)
    with pytest.raises(Unavailable):
        await sealer.run_once()
    assert not store.signed


async def test_a_record_that_is_down_loses_nothing(store, sealer, writer):
    committed(writer, store, ONE, 2)
    store.down = True
    with pytest.raises(Unavailable):
        await sealer.run_once()
    store.down = False
    assert await sealer.run_once() == 2


async def test_the_loop_seals_what_comes_and_the_rest_when_it_is_stopped(
    store, sealer, writer, monkeypatch
):
    monkeypatch.setattr(module, "BATCH", 10)
    stop = asyncio.Event()
    committed(writer, store, ONE, 25)
    task = asyncio.create_task(sealer.run(stop, seconds=0.001))
    async with asyncio.timeout(5):
        while len(store.of(ONE)) < 25:  # noqa: ASYNC110 - the store under test tells nobody
            await asyncio.sleep(0)
    assert len(store.of(ONE)) == 25
    store.down = True
    committed(writer, store, ONE, 5)
    await asyncio.sleep(0)
    store.down = False
    stop.set()
    await asyncio.wait_for(task, 5)
    assert len(store.of(ONE)) == 30


async def test_events_stand_in_the_order_of_their_transactions(store, sealer):
    writers = [Writer(KEY) for _ in range(3)]
    times = [NOON + timedelta(seconds=second) for second in (5, 1, 3)]
    for own, at in zip(writers, times, strict=True):
        store.add(own.sign(make_event(ONE, at=at)))
    await sealer.run_once()
    assert [row.signed.event.at for row in store.of(ONE)] == sorted(times)
