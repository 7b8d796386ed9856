import hashlib
import hmac
import os
import struct
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Tampered
from core.ids import MemoryId, TenantId, UserId, new_uuid
from core.model import Owner
from core.ports import OwnerKeys, Place, TenantKeys
from gateway.vault.envelope import (
    HEADER_BYTES,
    TAG_BYTES,
    OwnerKind,
    RecordSeal,
    Versions,
    identity,
    pad,
    unpad,
    versions_of,
)
from gateway.vault.inmemory import memory_keyring
from gateway.vault.labels import Label
from gateway.vault.secret import Secret

LABELS = (Label.OWNER_RECORD_KEY, Label.OWNER_RECORD_COMMITMENT)
TENANT, PERSON, RECORD, NAMESPACE = (UUID(int=n) for n in (1, 2, 3, 4))
PLACE = Place(record=RECORD, version=5, field="content", namespace=NAMESPACE)
FIXED = bytes(range(32))


def seal_of(
    *,
    secret: bytes = FIXED,
    tenant: UUID = TENANT,
    kind: OwnerKind = OwnerKind.USER,
    owner: UUID = PERSON,
    person: UUID | None = None,
    labels: tuple[Label, Label] = LABELS,
) -> RecordSeal:
    versions = Versions(root=b"root", tenant=6, owner=7)
    return RecordSeal(Secret(secret), labels, identity(tenant, kind, owner, person), versions)


# --- known answers ------------------------------------------------------------------------------


def test_the_derivation_gives_the_published_answer():
    # RFC 5869, A.1: the expand step.
    secret = Secret(
        bytes.fromhex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
    )
    assert secret.expand(bytes.fromhex("f0f1f2f3f4f5f6f7f8f9"), 42).hex() == (
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    )


def test_the_cipher_gives_the_published_answer():
    # RFC 8452, C.2: 8 bytes of plaintext, no associated data.
    sealed = AESGCMSIV(bytes((1, *bytes(31)))).encrypt(
        bytes((3, *bytes(11))), bytes.fromhex("0100000000000000"), None
    )
    assert sealed.hex() == "c2ef328e5c71c83b843122130f7364b761e0b97427e3df28"


@pytest.mark.requirement("E1")
def test_an_envelope_is_what_its_document_says(monkeypatch):
    def parts(*values: bytes) -> bytes:
        return b"".join(struct.pack(">BI", i, len(v)) + v for i, v in enumerate(values, 1))

    def derive(label: bytes) -> bytes:
        info = parts(b"memwarden/1/owner/" + label) + parts(binding, nonce)
        return hmac.digest(FIXED, info + b"\x01", hashlib.sha256)

    nonce = bytes(range(12))
    monkeypatch.setattr("gateway.vault.envelope.os.urandom", lambda n: nonce[:n])
    owner = parts(TENANT.bytes, b"user", PERSON.bytes)
    binding = parts(owner, NAMESPACE.bytes, RECORD.bytes, (5).to_bytes(8), b"content")
    header = b"\x01\x01root" + struct.pack(">II", 6, 7) + nonce + derive(b"record-commitment")
    padded = (9).to_bytes(4) + b"some text" + bytes(51)
    body = AESGCMSIV(derive(b"record-key")).encrypt(nonce, padded, parts(binding, header))
    assert seal_of().seal(PLACE, b"some text") == header + body


@pytest.mark.requirement("E1")
def test_an_envelope_sealed_by_the_first_release_opens():
    # Fixed bytes: what is stored must open for ever, whatever is tidied here.
    sealed = bytes.fromhex(KEPT)
    assert seal_of().open(PLACE, sealed) == b"some text"
    assert versions_of(sealed) == Versions(root=b"root", tenant=6, owner=7)


KEPT = (
    "0101726f6f740000000600000007000102030405060708090a0bee740a8a3780b95005d5f5d766e2d8a4d6b4fd68"
    "5ed04c3e53c5688d917f2f9cf7d13523d326532e2a63d9c8b91850580481f90af2cbc4e156790647246d8e4a8a4c"
    "8d1e2b472717e9274477b6d22f0a030c55b0c51fa717150efa7d534b79d5a3aadb5196956f941c4c4e36275e9c19"
)

# --- moved, changed, cut ------------------------------------------------------------------------

ELSEWHERE = {
    "record": Place(record=UUID(int=9), version=5, field="content", namespace=NAMESPACE),
    "version": Place(record=RECORD, version=6, field="content", namespace=NAMESPACE),
    "field": Place(record=RECORD, version=5, field="details", namespace=NAMESPACE),
    "namespace": Place(record=RECORD, version=5, field="content", namespace=UUID(int=9)),
    "no namespace": Place(record=RECORD, version=5, field="content"),
}


@pytest.mark.requirement("E1")
@pytest.mark.parametrize("place", ELSEWHERE.values(), ids=ELSEWHERE)
def test_ciphertext_moved_to_another_place_does_not_open(place):
    sealed = seal_of().seal(PLACE, b"text")
    with pytest.raises(Tampered):
        seal_of().open(place, sealed)


@pytest.mark.requirement("E1")
@pytest.mark.parametrize(
    "moved",
    [
        seal_of(tenant=UUID(int=9)),
        seal_of(owner=UUID(int=9)),
        seal_of(kind=OwnerKind.SPACE),
        seal_of(person=PERSON),
        seal_of(kind=OwnerKind.TENANT),
        seal_of(tenant=PERSON, owner=TENANT),
        seal_of(labels=(Label.TENANT_RECORD_KEY, Label.TENANT_RECORD_COMMITMENT)),
        seal_of(secret=bytes(32)),
    ],
    ids=[
        "tenant",
        "owner",
        "space",
        "about somebody",
        "tenant's own",
        "swapped ids",
        "labels",
        "key",
    ],
)
def test_ciphertext_moved_to_another_owner_does_not_open_even_under_one_key(moved):
    sealed = seal_of().seal(PLACE, b"text")
    with pytest.raises(Tampered):
        moved.open(PLACE, sealed)


@pytest.mark.requirement("E1")
async def test_ciphertext_moved_between_any_two_rows_does_not_open():
    keyring = memory_keyring()
    seals: list[OwnerKeys | TenantKeys] = []
    for _ in range(2):
        tenant = TenantId(new_uuid())
        seals.append(await keyring.create_tenant(tenant))
        owners = (
            Owner(tenant=tenant, id=PERSON),
            Owner(tenant=tenant, id=PERSON, is_space=True, person=UserId(PERSON)),
            Owner(tenant=tenant, id=PERSON, is_space=True, person=UserId(RECORD)),
        )
        seals += [await keyring.ensure_owner(owner) for owner in owners]
    places = [PLACE, *ELSEWHERE.values()]
    kept = {(s, p): seals[s].seal(places[p], b"text") for s in range(8) for p in range(6)}
    for (s, p), sealed in kept.items():
        for at_s, at_p in kept:
            if (s, p) == (at_s, at_p):
                assert seals[at_s].open(places[at_p], sealed) == b"text"
            else:
                with pytest.raises(Tampered):
                    seals[at_s].open(places[at_p], sealed)


@pytest.mark.requirement("E1")
async def test_an_envelope_with_any_bit_flipped_does_not_open():
    keyring = memory_keyring()
    tenant = TenantId(new_uuid())
    of_tenant = await keyring.create_tenant(tenant)
    of_owner = await keyring.ensure_owner(Owner(tenant=tenant, id=PERSON))
    keys: OwnerKeys | TenantKeys
    for keys in (of_tenant, of_owner):
        sealed = keys.seal(PLACE, b"text")
        assert len(sealed) == HEADER_BYTES + 64 + TAG_BYTES
        for at in range(len(sealed) * 8):
            changed = bytearray(sealed)
            changed[at // 8] ^= 1 << at % 8
            with pytest.raises(Tampered):
                keys.open(PLACE, bytes(changed))


@pytest.mark.requirement("E1")
def test_an_envelope_cut_or_longer_does_not_open():
    sealed = seal_of().seal(PLACE, b"text")
    for changed in (*(sealed[:end] for end in range(len(sealed))), sealed + b"\0", sealed * 2):
        with pytest.raises(Tampered):
            seal_of().open(PLACE, changed)


def test_an_unknown_suite_or_schema_does_not_open_even_when_authentic(monkeypatch):
    for mark in (b"\x02\x01", b"\x01\x02", b"\x00\x00"):
        with monkeypatch.context() as patch:
            patch.setattr("gateway.vault.envelope._MARK", mark)
            sealed = seal_of().seal(PLACE, b"text")
            assert seal_of().open(PLACE, sealed) == b"text"
        with pytest.raises(Tampered):
            seal_of().open(PLACE, sealed)
        with pytest.raises(Tampered):
            versions_of(sealed)


def test_every_fault_looks_alike():
    sealed = seal_of().seal(PLACE, b"text")
    flipped = sealed[:-1] + bytes([sealed[-1] ^ 1])
    faults = [b"", sealed[:40], b"\x02" + sealed[1:], flipped, bytes(len(sealed))]
    told = set()
    for fault in faults:
        with pytest.raises(Tampered) as caught:
            seal_of().open(PLACE, fault)
        told.add(str(caught.value))
    assert told == {""}


# --- nonces, lengths ----------------------------------------------------------------------------


def distinct_nonces(count: int) -> bool:
    seal = seal_of()
    at = HEADER_BYTES - 44
    return len({seal.seal(PLACE, b"")[at : at + 12] for _ in range(count)}) == count


@pytest.mark.requirement("E1")
def test_nonces_are_distinct():
    assert distinct_nonces(20_000)


@pytest.mark.long
def test_a_million_nonces_are_distinct():
    assert distinct_nonces(1_000_000)


def test_the_same_text_in_the_same_place_never_gives_the_same_bytes():
    one, other = (seal_of().seal(PLACE, b"text") for _ in range(2))
    same = sum(a == b for a, b in zip(one[14:], other[14:], strict=True))
    assert same < len(one) // 8


@given(st.binary(max_size=5000))
def test_opening_gives_back_what_was_sealed(plaintext):
    assert unpad(pad(plaintext)) == plaintext
    assert seal_of().open(PLACE, seal_of().seal(PLACE, plaintext)) == plaintext


def test_a_length_shows_a_bucket_only():
    sizes = [len(pad(bytes(n))) for n in range(70_000)]
    assert set(sizes[:2044]) == set(range(64, 2049, 64))
    assert sizes == sorted(sizes)
    assert all(size <= max((n + 4) * 1.12, n + 4 + 63) for n, size in enumerate(sizes))
    assert len(set(sizes)) < 150
    assert sizes[0] == sizes[60] == 64
    assert len(seal_of().seal(PLACE, b"a")) == len(seal_of().seal(PLACE, b"a" * 60))


def test_padding_that_lies_about_its_length_is_a_fault():
    for padded in (b"", b"\0\0\0", (61).to_bytes(4) + bytes(60), b"\xff" * 64):
        with pytest.raises(Tampered):
            unpad(padded)


def test_a_memory_of_a_megabyte_seals():
    text = os.urandom(1 << 20)
    place = Place(record=MemoryId(new_uuid()), version=1, field="details")
    assert seal_of().open(place, seal_of().seal(place, text)) == text
