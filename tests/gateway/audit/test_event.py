"""The bytes of an event, against golden vectors and against each other."""

import hashlib
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.event import AuditEvent
from core.ids import EventId, TenantId, WriterId, new_uuid
from core.ports import LoggedEvent, SignedEvent
from gateway.audit.chain import extend, genesis, link
from gateway.audit.event import canonical, digest, spell_time, to_record, to_wire
from gateway.audit.writer import event_mac
from tests.gateway.audit.log import KEY, make_event

pytestmark = pytest.mark.requirement("M6")

TENANT = TenantId(UUID("019a0000-0000-7000-8000-00000000000a"))
GOLDEN = AuditEvent(
    event_id=EventId(UUID("019a0000-0000-7000-8000-000000000001")),
    tenant=TENANT,
    at=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    actor="00112233445566778899aabbccddeeff",
    on_behalf_of=None,
    action="memory:item:write",
    object="memories",
    decision="allow",
    rule="p:role:writer,memory:item,write",
    policy_version="0095d23f1ee9",
    outcome="ok",
    count=2,
    request_id="r-1",
    trace_id="",
)
SIGNED = SignedEvent(
    event=GOLDEN,
    writer=WriterId(UUID("019a0000-0000-7000-8000-0000000000ff")),
    number=7,
    digest=digest(GOLDEN),
    mac=bytes(range(32)),
)


def test_the_canonical_form_is_what_the_documents_say():
    assert canonical(GOLDEN) == b"".join(
        [
            b"memwarden/audit/event/1\0",
            b"\x01\x01\0\0\0\x24019a0000-0000-7000-8000-000000000001",
            b"\x02\x01\0\0\0\x1b2026-01-02T03:04:05.000006Z",
            b"\x03\x01\0\0\0\x24019a0000-0000-7000-8000-00000000000a",
            b"\x04\x01\0\0\0\x2000112233445566778899aabbccddeeff",
            b"\x05\x00\0\0\0\0",
            b"\x06\x01\0\0\0\x11memory:item:write",
            b"\x07\x01\0\0\0\x08memories",
            b"\x08\x01\0\0\0\x05allow",
            b"\x09\x01\0\0\0\x1fp:role:writer,memory:item,write",
            b"\x0a\x01\0\0\0\x0c0095d23f1ee9",
            b"\x0b\x01\0\0\0\x02ok",
            b"\x0c\x02\0\0\0\x012",
            b"\x0d\x01\0\0\0\x03r-1",
            b"\x0e\x01\0\0\0\0",
        ]
    )


def test_hashes_stay_what_they_were():
    assert (
        digest(GOLDEN).hex() == "64d08b7b8e056c46c68056eab4fa27c9265e1bf18a2b41431d3b1d2fc6e54ef7"
    )
    assert (
        genesis(TENANT).hex() == "89577477a1b4948fe3de70458f01b7785c4bddea552e01639f2c99ccdbe570a1"
    )
    assert (
        link(genesis(TENANT), 1, SIGNED).hex()
        == "6b3dff1f1394d5cb9ba0e026f4deded72492fa720c5b29bf089128170a550d4a"
    )
    assert (
        event_mac(KEY, SIGNED.writer, 7, digest(GOLDEN)).hex()
        == "78b52644975f3f490151ad83bf41a8ac9822879a30cccf360cf0827b4b0db797"
    )


def test_every_field_counts():
    changes = {
        "event_id": EventId(new_uuid()),
        "tenant": TenantId(new_uuid()),
        "at": GOLDEN.at + timedelta(microseconds=1),
        "on_behalf_of": "",
        "count": 3,
    }
    digests = {digest(GOLDEN)}
    for field in fields(AuditEvent):
        values = {one.name: getattr(GOLDEN, one.name) for one in fields(AuditEvent)}
        changed = changes.get(field.name, f"{values[field.name]}x")
        digests.add(digest(AuditEvent(**(values | {field.name: changed}))))
    assert len(digests) == 1 + len(fields(AuditEvent))


TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)


@given(one=st.tuples(TEXTS, TEXTS, TEXTS), other=st.tuples(TEXTS, TEXTS, TEXTS))
def test_no_two_events_share_a_form(one, other):
    first, second = (
        canonical(make_event(TENANT, event_id=GOLDEN.event_id, actor=a, action=b, object=c))
        for a, b, c in (one, other)
    )
    assert (first == second) is (one == other)


def test_times_are_utc_with_six_decimals():
    assert spell_time(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00.000000Z"
    there = datetime(2026, 1, 2, 8, tzinfo=timezone(timedelta(hours=8)))
    assert spell_time(there) == "2026-01-02T00:00:00.000000Z"
    assert digest(make_event(TENANT, event_id=GOLDEN.event_id, at=there)) == digest(
        make_event(TENANT, event_id=GOLDEN.event_id, at=there.astimezone(UTC))
    )


def test_the_wire_form_has_the_contracts_fields_and_no_other():
    logged = LoggedEvent(signed=SIGNED, sequence=None, prev=None, hash=None)
    names = (
        "event_id, sequence, at, tenant, actor, on_behalf_of, action, object, decision, rule, "
        "policy_version, outcome, count, request_id, trace_id, prev, hash"
    )
    assert ", ".join(to_wire(logged)) == names
    assert to_wire(logged)["hash"] is None
    assert to_record(logged).keys() - to_wire(logged).keys() == {"writer", "number", "mac"}
    sealed = LoggedEvent(signed=SIGNED, sequence=1, prev=bytes(32), hash=b"\1" * 32)
    assert to_wire(sealed)["hash"] == "01" * 32


def test_each_place_covers_the_one_before_it():
    events = [
        SignedEvent(event=GOLDEN, writer=SIGNED.writer, number=n, digest=SIGNED.digest, mac=b"m")
        for n in (1, 2, 3)
    ]
    placed = extend(0, genesis(TENANT), events)
    assert [one.sequence for one in placed] == [1, 2, 3]
    assert placed[0].prev == genesis(TENANT)
    assert [one.prev for one in placed[1:]] == [one.hash for one in placed[:-1]]
    assert extend(2, placed[1].hash, events[2:]) == placed[2:]


def test_no_chain_passes_for_another_tenants():
    other = TenantId(new_uuid())
    assert genesis(other) != genesis(TENANT)
    assert genesis(TENANT) == hashlib.sha256(b"memwarden/audit/genesis/1\0" + TENANT.bytes).digest()
