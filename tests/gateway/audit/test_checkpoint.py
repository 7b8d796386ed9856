"""Signed heads and the file that keeps them outside the database."""

import os
import stat

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from core.ids import TenantId, new_uuid
from core.ports.seal import Checkpoint
from gateway.audit.checkpoint import AnchorFile, CheckpointSigner
from tests.gateway.audit.log import NOON, SEED

pytestmark = pytest.mark.requirement("M6")
TENANT = TenantId(new_uuid())
SIGNER = CheckpointSigner(SEED)


def changed(checkpoint: Checkpoint, **values) -> Checkpoint:
    names = Checkpoint.__slots__
    return Checkpoint(**({name: getattr(checkpoint, name) for name in names} | values))


def test_a_signer_recognises_its_own_heads_and_no_other():
    head = SIGNER.sign(TENANT, 3, b"h" * 32, NOON)
    assert SIGNER.recognises(head)
    other = CheckpointSigner(b"o" * 32)
    assert not other.recognises(head)
    assert not SIGNER.recognises(other.sign(TENANT, 3, b"h" * 32, NOON))
    for values in (
        {"tenant": TenantId(new_uuid())},
        {"size": 4},
        {"head": b"i" * 32},
        {"at": NOON.replace(microsecond=1)},
        {"key_id": other.key_id},
        {"signature": bytes(64)},
        {"signature": b""},
    ):
        assert not SIGNER.recognises(changed(head, **values))


def test_the_public_key_is_given_as_pem_and_raw():
    key = load_pem_public_key(SIGNER.public_pem.encode())
    assert isinstance(key, Ed25519PublicKey)
    assert key.public_bytes_raw() == SIGNER.public_key
    assert SEED.hex() not in repr(SIGNER)


def test_the_anchor_is_private_and_only_grows(tmp_path):
    path = tmp_path / "anchor"
    anchor = AnchorFile(path)
    assert anchor.last() == {}
    first = SIGNER.sign(TENANT, 1, b"1" * 32, NOON)
    anchor.append([first])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    second = SIGNER.sign(TENANT, 2, b"2" * 32, NOON)
    elsewhere = SIGNER.sign(TenantId(new_uuid()), 9, b"9" * 32, NOON)
    anchor.append([second, elsewhere])
    assert path.read_bytes().startswith(before)
    assert anchor.last() == {TENANT: second, elsewhere.tenant: elsewhere}


def test_the_largest_head_counts_wherever_it_stands(tmp_path):
    anchor = AnchorFile(tmp_path / "anchor")
    newest = SIGNER.sign(TENANT, 2, b"2" * 32, NOON)
    anchor.append([newest, SIGNER.sign(TENANT, 1, b"1" * 32, NOON)])
    assert anchor.last() == {TENANT: newest}


def test_a_line_torn_by_a_crash_is_stepped_over(tmp_path):
    path = tmp_path / "anchor"
    anchor = AnchorFile(path)
    first = SIGNER.sign(TENANT, 1, b"1" * 32, NOON)
    anchor.append([first, SIGNER.sign(TENANT, 2, b"2" * 32, NOON)])
    os.truncate(path, path.stat().st_size - 30)
    assert anchor.last() == {TENANT: first}
    third = SIGNER.sign(TENANT, 3, b"3" * 32, NOON)
    anchor.append([third])
    assert anchor.last() == {TENANT: third}
    assert path.read_bytes().count(b"\n") == 3


@pytest.mark.parametrize("junk", [b"\xff\xfe", b"{}", b"[]", b"null", b'{"tenant":"x"}', b"\0" * 9])
def test_what_is_no_head_is_stepped_over(tmp_path, junk):
    path = tmp_path / "anchor"
    path.write_bytes(junk + b"\n")
    anchor = AnchorFile(path)
    head = SIGNER.sign(TENANT, 1, b"1" * 32, NOON)
    anchor.append([head])
    assert anchor.last() == {TENANT: head}


def test_an_anchor_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(OSError, match="missing"):
        AnchorFile(tmp_path / "missing" / "anchor").append(
            [SIGNER.sign(TENANT, 1, b"1" * 32, NOON)]
        )
