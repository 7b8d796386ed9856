"""The verifier finds every way of changing a log, and nothing in one that is whole."""

import ast
import copy
import random
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import SYSTEM_TENANT, TenantId, new_uuid
from gateway.audit import verify as module
from gateway.audit.chain import extend
from gateway.audit.checkpoint import AnchorFile, checkpoint_wire
from gateway.audit.event import to_record
from gateway.audit.live import verify_live
from gateway.audit.seal import GAP, Sealer
from gateway.audit.verify import KeyUnreadable, Status, Verifier, read_public_key
from gateway.audit.writer import Writer
from tests.gateway.audit.attacks import ATTACKS, ONE, SIGNER, STRANGER, TWO, resign
from tests.gateway.audit.log import KEY, FakeSealStore, committed, make_event

pytestmark = pytest.mark.requirement("M6")


@pytest.fixture
def anchor(tmp_path):
    return tmp_path / "anchor"


@pytest.fixture
async def store(anchor):
    """A log of two tenants, sealed in three runs."""
    kept, writers = FakeSealStore(), [Writer(KEY), Writer(KEY)]
    sealer = Sealer(kept, KEY, SIGNER, AnchorFile(anchor))
    for _ in range(3):
        for own in writers:
            committed(own, kept, ONE, 2)
            committed(own, kept, TWO, 1)
        await sealer.run_once()
    assert len(kept.of(ONE)) == 12
    return kept


async def test_a_whole_log_is_whole(store, anchor):
    report = await verify_live(store, [SIGNER.public_key], anchor)
    assert report.status is Status.WHOLE
    assert report.status.value == 0
    assert report.findings == ()
    assert (report.events, report.tenants, report.heads, report.gaps) == (18, 2, 12, 0)


async def test_an_empty_log_is_whole(anchor):
    report = await verify_live(FakeSealStore(), [SIGNER.public_key], anchor)
    assert (report.status, report.events) == (Status.WHOLE, 0)


async def test_events_that_wait_to_be_sealed_are_no_fault(store, anchor):
    committed(Writer(KEY), store, ONE, 2)
    assert (await verify_live(store, [SIGNER.public_key], anchor)).status is Status.WHOLE


@pytest.mark.parametrize(("attack", "sequence"), ATTACKS.values(), ids=ATTACKS.keys())
async def test_a_log_that_was_changed_is_found_out(store, anchor, attack, sequence):
    attack(store)
    report = await verify_live(store, [SIGNER.public_key], anchor)
    assert report.status is Status.TAMPERED
    assert report.status.value == 1
    assert sequence in {one.sequence for one in report.findings}
    hurt = {one.tenant for one in report.findings}
    assert hurt & {str(ONE), str(TWO)}


@pytest.mark.parametrize(
    "attack", ["cut the tail and its heads", "remove a tenant", "rewrite and remove the heads"]
)
async def test_without_an_anchor_only_what_the_record_still_holds_speaks(store, attack):
    ATTACKS[attack][0](store)
    report = await verify_live(store, [SIGNER.public_key], None)
    assert report.status is Status.TAMPERED  # the other tenant's events miss these numbers


async def test_a_whole_database_turned_back_shows_in_the_anchor_alone(store, anchor):
    dump = copy.deepcopy((store.signed, store.at)), [copy.copy(row) for row in store.rows]
    sealer = Sealer(store, KEY, SIGNER, AnchorFile(anchor))
    committed(Writer(KEY), store, ONE)
    await sealer.run_once()
    (store.signed, store.at), store.rows = dump
    assert (await verify_live(store, [SIGNER.public_key], None)).status is Status.WHOLE
    report = await verify_live(store, [SIGNER.public_key], anchor)
    assert report.status is Status.TAMPERED
    assert [(one.tenant, one.sequence) for one in report.findings] == [(str(ONE), 13)]


async def test_another_public_key_verifies_nothing(store, anchor):
    report = await verify_live(store, [STRANGER.public_key], anchor)
    assert report.status is Status.TAMPERED
    both = [STRANGER.public_key, SIGNER.public_key]
    assert (await verify_live(store, both, anchor)).status is Status.WHOLE


async def test_a_log_that_cannot_be_read_is_neither_whole_nor_tampered_with(
    store, anchor, tmp_path
):
    unreadable = await verify_live(store, [SIGNER.public_key], tmp_path)
    assert unreadable.status is Status.UNREADABLE
    store.down = True
    report = await verify_live(store, [SIGNER.public_key], anchor)
    assert report.status is Status.UNREADABLE
    assert report.status.value == 2


async def test_numbers_that_no_gap_explains_are_missed(store, anchor):
    """A sealer that is itself wrong, or bribed, must not hide that an event never got a place."""
    own = Writer(KEY)
    own.sign(make_event(ONE))
    committed(own, store, ONE)
    sealer = Sealer(store, KEY, SIGNER, AnchorFile(anchor))
    store.at[own.id] = 1  # the cursor says that number 1 is no longer awaited
    await sealer.run_once()
    report = await verify_live(store, [SIGNER.public_key], anchor)
    assert [one.what for one in report.findings] == [
        f"numbers 1 to 1 of writer {own.id} are missing"
    ]


async def test_a_number_used_twice_is_found(store, anchor):
    own = Writer(KEY)
    committed(own, store, ONE)
    twin = store.rows[-1].signed
    store.rows.append(type(store.rows[-1])(Writer(KEY)._signed(make_event(ONE), 1)))
    resign(store.rows[-1], writer=twin.writer)
    rebuilt = [store.rows[-2], store.rows[-1]]
    rows = store.of(ONE)
    places = extend(12, rows[-1].hash, [row.signed for row in rebuilt])
    for row, place in zip(rebuilt, places, strict=True):
        row.sequence, row.prev, row.hash = place.sequence, place.prev, place.hash
    store.signed.append(SIGNER.sign(ONE, 14, places[-1].hash, store.time))
    report = await verify_live(store, [SIGNER.public_key], anchor)
    assert [(one.sequence, one.what) for one in report.findings] == [
        (14, "a number that its writer used twice")
    ]


async def test_a_log_in_use_verifies_like_one_at_rest(store, anchor, monkeypatch):
    own, sealer = Writer(KEY), Sealer(store, KEY, SIGNER, AnchorFile(anchor))
    stream, fresh = store.stream, TenantId(new_uuid())

    async def meanwhile(tenant, **bounds):
        committed(own, store, ONE, 2)
        committed(own, store, fresh, 1)
        await sealer.run_once()
        async for logged in stream(tenant, **bounds):
            yield logged

    tenants = store.tenants

    async def and_a_new_one():
        return [*await tenants(), fresh]

    await sealer.run_once()
    monkeypatch.setattr(store, "stream", meanwhile)
    monkeypatch.setattr(store, "tenants", and_a_new_one)
    report = await verify_live(store, [SIGNER.public_key], anchor)
    assert report.findings == ()


async def test_a_line_torn_by_a_crash_is_no_fault_of_the_log(store, anchor):
    with anchor.open("ab") as file:
        file.write(b'[]\n{"tenant": "019')
    assert (await verify_live(store, [SIGNER.public_key], anchor)).status is Status.WHOLE


async def test_what_stands_in_a_gap_is_counted(store, anchor, monkeypatch):
    own, now = Writer(KEY), 0.0
    sealer = Sealer(store, KEY, SIGNER, AnchorFile(anchor), monotonic=lambda: now)
    for _ in range(4):
        own.sign(make_event(ONE))
    committed(own, store, ONE)
    await sealer.run_once()
    now = 10.0
    await sealer.run_once()
    report = await verify_live(store, [SIGNER.public_key], anchor)
    assert (report.status, report.gaps) == (Status.WHOLE, 4)


async def documents(store):
    heads = [checkpoint_wire(one) for one in store.signed]
    events = [to_record(logged) for tenant in (ONE, TWO) async for logged in store.stream(tenant)]
    return heads, events


def judged(heads, events, **how):
    verifier = Verifier([SIGNER.public_key])
    for head in heads:
        verifier.feed_head(head)
    for event in events:
        verifier.feed_event(event)
    return verifier.finish(**how)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.just("\ud800"),
    st.lists(st.none(), max_size=1),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=1),
)


async def test_no_change_of_one_field_goes_unseen(store):
    heads, events = await documents(store)
    assert judged(heads, events).status is Status.WHOLE

    @settings(max_examples=300)
    @given(data=st.data())
    def changed(data):
        documents_ = data.draw(st.sampled_from([heads, events]))
        position = data.draw(st.integers(0, len(documents_) - 1))
        name = data.draw(st.sampled_from(sorted(documents_[position])))
        value = data.draw(JUNK)
        if documents_[position][name] == value and type(value) is type(documents_[position][name]):
            return
        forged = [dict(one) for one in documents_]
        forged[position][name] = value
        report = judged(*((forged, events) if documents_ is heads else (heads, forged)))
        assert report.status is Status.TAMPERED

    changed()


async def test_no_missing_field_and_no_other_order_goes_unseen(store):
    heads, events = await documents(store)
    for position in (0, 7, 11):
        for name in events[position]:
            forged = [dict(one) for one in events]
            del forged[position][name]
            assert judged(heads, forged).status is Status.TAMPERED
    draw = random.Random(1)
    for _ in range(200):
        forged = list(events)
        draw.shuffle(forged)
        by_tenant = {
            tenant: [one["sequence"] for one in forged if one["tenant"] == str(tenant)]
            for tenant in (ONE, TWO)
        }
        whole = all(order == sorted(order) for order in by_tenant.values())
        assert (judged(heads, forged).status is Status.WHOLE) is whole


async def test_a_tenants_own_events_verify_without_the_others(store):
    heads, events = await documents(store)
    own = [one for one in events if one["tenant"] == str(ONE)]
    its = [one for one in heads if one["tenant"] == str(ONE)]
    assert judged(its, own, every_tenant=False).status is Status.WHOLE
    assert judged(its, own).status is Status.TAMPERED


@pytest.mark.parametrize("document", [{}, {"tenant": None}, {"tenant": []}, {"tenant": "x"}])
def test_what_is_no_document_is_a_finding_and_no_crash(document):
    assert judged([document], []).status is Status.TAMPERED
    assert judged([], [document]).status is Status.TAMPERED


def test_findings_are_bounded():
    report = judged([{"tenant": str(number)} for number in range(1000)], [])
    assert len(report.findings) == 100


async def test_gaps_do_not_come_from_a_tenants_own_chain(store, anchor):
    own = Writer(KEY)
    own.sign(make_event(ONE))
    store.at[own.id] = 1
    store.add(own.sign(make_event(ONE, action="audit:writer:gap", object=f"{own.id}:1-1")))
    await Sealer(store, KEY, SIGNER, AnchorFile(anchor)).run_once()
    assert (await verify_live(store, [SIGNER.public_key], anchor)).status is Status.TAMPERED


async def test_a_gap_that_cannot_be_read_is_a_finding(store, anchor):
    committed_gap = Writer(KEY)
    store.add(
        committed_gap.sign(make_event(SYSTEM_TENANT, action="audit:writer:gap", object="none"))
    )
    await Sealer(store, KEY, SIGNER, AnchorFile(anchor)).run_once()
    assert (await verify_live(store, [SIGNER.public_key], anchor)).status is Status.TAMPERED


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [
        ([], [(2, 9, False)]),
        ([(2, 9)], [(2, 9, True)]),
        ([(1, 99)], [(2, 9, True)]),
        ([(4, 5)], [(2, 3, False), (4, 5, True), (6, 9, False)]),
        ([(2, 3), (8, 9)], [(2, 3, True), (4, 7, False), (8, 9, True)]),
        ([(2, 6), (4, 9)], [(2, 6, True), (7, 9, True)]),
        ([(2, 9), (3, 4)], [(2, 9, True)]),
        ([(11, 12)], [(2, 9, False)]),
    ],
)
def test_holes_are_explained_by_gaps_number_by_number(gaps, expected):
    numbers, writer = module._Numbers(), new_uuid()
    for number in (1, 10, 5000):
        assert not numbers.seen(writer, number)
    for first, last in [*gaps, (11, 4999)]:
        numbers.explain(f"{writer}:{first}-{last}")
    found = [(first, last, known) for _, first, last, known in numbers.holes() if first < 10]
    assert found == expected


@given(st.sets(st.integers(1, 20_000), min_size=1, max_size=50))
def test_every_number_that_is_not_there_is_in_a_hole(used):
    numbers, writer = module._Numbers(), new_uuid()
    for number in used:
        assert not numbers.seen(writer, number)
        assert numbers.seen(writer, number)
    missing = {n for _, first, last, _ in numbers.holes() for n in range(first, last + 1)}
    assert missing == set(range(1, max(used))) - used


def test_a_public_key_is_read_from_its_pem():
    assert read_public_key(SIGNER.public_pem.encode()) == SIGNER.public_key
    for junk in (b"", b"-----BEGIN PUBLIC KEY-----\nAA==\n-----END PUBLIC KEY-----\n", b"\xff"):
        with pytest.raises(KeyUnreadable):
            read_public_key(junk)


def test_a_public_key_of_another_kind_is_refused():
    other = X25519PrivateKey.generate().public_key()
    with pytest.raises(KeyUnreadable):
        read_public_key(other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def test_the_verifier_imports_nothing_of_ours():
    """What it shares with the writer, it could be wrong about in the same way."""
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
    assert roots - set(sys.stdlib_module_names) == {"cryptography"}


def test_the_verifier_names_the_action_that_the_sealer_uses():
    assert module._GAP == GAP
    assert str(SYSTEM_TENANT) == module.SYSTEM
