"""One ciphertext that two keys accept can be made for AES-GCM-SIV; the commitment refuses it."""

import os

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

from core.errors import Tampered
from core.ids import new_uuid
from core.ports import Place
from gateway.vault import envelope as sealing
from gateway.vault.envelope import OwnerKind, RecordSeal, Versions, identity
from gateway.vault.labels import Label
from gateway.vault.secret import Secret
from gateway.vault.tlv import encode
from tests.gateway.vault.polyval import BLOCK, Schedule, blocks_of, inverse, multiply, number

LABELS = (Label.OWNER_RECORD_KEY, Label.OWNER_RECORD_COMMITMENT)
VERSIONS = Versions(root=b"root", tenant=1, owner=1)
SHOWN = b"pay Alice"


def derived(secret: Secret, label: Label, bound: bytes) -> bytes:
    return secret.expand(encode(label.info) + bound)


def two_key_ciphertext(one: Schedule, other: Schedule, data: bytes) -> bytes:
    """Return ciphertext ‖ tag that both schedules accept; under `one` it reads as `SHOWN`."""
    wanted: list[int] = []
    tag = b""
    while len(wanted) < 2:  # one tag in four has a hash under both keys
        tag = os.urandom(BLOCK)
        hashes = one.wanted_hash(tag), other.wanted_hash(tag)
        wanted = [value for value in hashes if value is not None]
    streams = [schedule.keystream(tag, 4) for schedule in (one, other)]
    shown = number((len(SHOWN).to_bytes(4) + SHOWN).ljust(BLOCK, b"\0"))
    known = [shown ^ streams[0][0], 0]
    lengths = number((len(data) * 8).to_bytes(8, "little") + (4 * BLOCK * 8).to_bytes(8, "little"))
    # Hash = constant + c2·h³ + c3·h² under each key: two equations, two unknown blocks.
    rows = []
    for schedule, stream, want in zip((one, other), streams, wanted, strict=True):
        plain = [*(c ^ s for c, s in zip(known, stream, strict=False)), stream[2], stream[3]]
        constant = schedule.hash([*blocks_of(data), *plain, lengths])
        rows.append((schedule.power(3), schedule.power(2), want ^ constant))
    (a, b, p), (c, d, q) = rows
    scale = inverse(multiply(a, d) ^ multiply(b, c))
    c2 = multiply(scale, multiply(d, p) ^ multiply(b, q))
    c3 = multiply(scale, multiply(a, q) ^ multiply(c, p))
    return b"".join(block.to_bytes(BLOCK, "little") for block in (*known, c2, c3)) + tag


@pytest.mark.requirement("E2")
def test_a_ciphertext_made_for_two_keys_opens_under_the_committed_one_alone():
    secrets = [Secret(os.urandom(32)) for _ in range(2)]
    place = Place(record=new_uuid(), version=1, field="content")
    whose = identity(new_uuid(), OwnerKind.USER, new_uuid())
    binding, nonce = sealing._binding(whose, place), os.urandom(12)
    bound = encode(binding, nonce)
    keys = [derived(secret, LABELS[0], bound) for secret in secrets]

    for committed in (0, 1):
        head = bytes((1, 1)) + sealing._VERSIONS.pack(b"root", 1, 1)
        header = head + nonce + derived(secrets[committed], LABELS[1], bound)
        data = encode(binding, header)
        order = [keys[committed], keys[1 - committed]]
        crafted = two_key_ciphertext(Schedule(order[0], nonce), Schedule(order[1], nonce), data)
        # The attack is real: the bare cipher takes it under both keys, as two texts.
        opened = [AESGCMSIV(key).decrypt(nonce, crafted, data) for key in order]
        assert opened[0] != opened[1]

        seals = [RecordSeal(secret, LABELS, whose, VERSIONS) for secret in secrets]
        assert seals[committed].open(place, header + crafted) == SHOWN
        with pytest.raises(Tampered):
            seals[1 - committed].open(place, header + crafted)


@pytest.mark.requirement("E2")
def test_a_wrong_commitment_is_refused_before_anything_is_decrypted(monkeypatch):
    seal = RecordSeal(
        Secret(os.urandom(32)), LABELS, identity(new_uuid(), OwnerKind.USER, new_uuid()), VERSIONS
    )
    place = Place(record=new_uuid(), version=1, field="content")
    changed = bytearray(seal.seal(place, b"text"))
    changed[sealing.HEADER_BYTES - 1] ^= 1

    class Never:
        def __init__(self, key: bytes) -> None:
            raise AssertionError("decrypted under a key that was not committed to")

    monkeypatch.setattr(sealing, "AESGCMSIV", Never)
    with pytest.raises(Tampered):
        seal.open(place, bytes(changed))
