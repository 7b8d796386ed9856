"""A chain that no longer extends what was signed: found, left alone, and no hindrance to others."""

import pytest

from core.ids import SYSTEM_TENANT, TenantId, new_uuid
from gateway.audit.checkpoint import AnchorFile, CheckpointSigner
from gateway.audit.seal import BROKEN
from gateway.audit.verify import Status
from tests.gateway.audit.log import NOON, SEED, FakeSealStore, actions, committed

pytestmark = pytest.mark.requirement("M6")
ONE, TWO = TenantId(new_uuid()), TenantId(new_uuid())
SIGNER = CheckpointSigner(SEED)


async def snapshot(store) -> FakeSealStore:
    """Return the database as it is now, as a dump would hold it."""
    copy = FakeSealStore()
    copy.rows = [module_row(row) for row in store.rows]
    copy.signed, copy.at = list(store.signed), dict(store.at)
    return copy


def module_row(row):
    return type(row)(row.signed, row.sequence, row.prev, row.hash, row.aside)


async def restored(store, dump) -> None:
    store.rows, store.signed, store.at = dump.rows, dump.signed, dump.at


async def test_a_database_turned_back_is_found_at_the_start(store, make, writer, verdict):
    committed(writer, store, ONE, 3)
    await make().run_once()
    dump = await snapshot(store)
    committed(writer, store, ONE, 3)
    await make().run_once()
    await restored(store, dump)
    sealer = make()
    await sealer.run_once()
    assert sealer.broken == {ONE: "turned-back"}
    assert actions(store) == [BROKEN]
    assert store.of(SYSTEM_TENANT)[0].signed.event.object == str(ONE)
    assert (await verdict()).status is Status.TAMPERED


async def test_a_broken_chain_is_not_signed_again_and_the_others_go_on(store, make, writer, clock):
    committed(writer, store, ONE, 3)
    sealer = make()
    await sealer.run_once()
    dump = await snapshot(store)
    committed(writer, store, ONE)
    await sealer.run_once()
    await restored(store, dump)
    committed(writer, store, ONE, 2)
    committed(writer, store, TWO, 2)
    await sealer.run_once()
    clock.now += 10  # the number that was turned back is awaited in vain
    await sealer.run_once()
    await sealer.run_once()
    assert len(store.of(ONE)) == 3
    assert len(store.of(TWO)) == 2
    assert sealer.broken == {ONE: "turned-back"}
    assert actions(store).count(BROKEN) == 1


def no_heads(store):
    store.signed.clear()


def an_older_head(store):
    store.signed.pop()


def a_strangers_head(store):
    store.signed.append(CheckpointSigner(b"x" * 32).sign(ONE, 99, b"h" * 32, NOON))


def another_hash_below_a_newer_head(store):
    store.signed.append(SIGNER.sign(ONE, 99, b"h" * 32, NOON))
    store.of(ONE)[-1].hash = bytes(32)


def no_event_below_a_newer_head(store):
    store.signed.append(SIGNER.sign(ONE, 99, b"h" * 32, NOON))
    store.of(ONE)[-1].sequence = None


def another_head(store):
    store.signed[-1] = SIGNER.sign(ONE, 4, b"h" * 32, NOON)


@pytest.mark.parametrize(
    ("attack", "fault"),
    [
        (no_heads, "turned-back"),
        (an_older_head, "turned-back"),
        (a_strangers_head, "signature"),
        (another_hash_below_a_newer_head, "forked"),
        (no_event_below_a_newer_head, "forked"),
        (another_head, "forked"),
    ],
)
@pytest.mark.parametrize("restarted", [True, False])
async def test_no_head_is_signed_over_a_history_that_does_not_extend(
    store, make, writer, attack, fault, restarted
):
    sealer = make()
    for _ in range(2):
        committed(writer, store, ONE, 2)
        await sealer.run_once()
    attack(store)
    before = len(store.signed)
    committed(writer, store, ONE, 2)
    sealer = make() if restarted else sealer
    await sealer.run_once()
    assert sealer.broken == {ONE: fault}
    assert not [one for one in store.signed[before:] if one.tenant == ONE]


async def test_an_anchor_of_another_key_is_not_believed(store, make, writer, path):
    committed(writer, store, ONE)
    await make().run_once()
    stranger = CheckpointSigner(b"x" * 32)
    AnchorFile(path).append([stranger.sign(ONE, 50, b"h" * 32, NOON)])
    sealer = make()
    await sealer.run_once()
    assert sealer.broken == {ONE: "signature"}


async def test_a_broken_system_chain_keeps_its_alarms_aside(store, make, writer):
    committed(writer, store, SYSTEM_TENANT, 2)
    sealer = make()
    await sealer.run_once()
    store.signed.clear()
    committed(writer, store, ONE)
    sealer = make()
    await sealer.run_once()
    assert sealer.broken == {SYSTEM_TENANT: "turned-back"}
    assert len(store.of(ONE)) == 1
    alarms = [row for row in store.rows if row.signed.event.action == BROKEN]
    assert [row.aside for row in alarms] == [True]
