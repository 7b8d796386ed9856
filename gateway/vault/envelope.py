"""Envelopes: bytes that open with one key, in one place, or not at all.

    header { suite 1, schema 1, root KEK id 4, tenant version 4, owner version 4,
             nonce 12, commitment 32 } ‖ ciphertext ‖ tag 16

Rules this module keeps:
- Suite 1 is AES-256-GCM-SIV (RFC 8452). The record key and the commitment come from the parent
  secret by HKDF-SHA-256 under two labels; both depend on the nonce and on everything bound.
- The commitment is compared in constant time before anything is decrypted: GCM-SIV alone lets one
  ciphertext open under two keys.
- Bound, and so authenticated: tenant, owner's kind and id (in a space, the person too), namespace,
  record, version, field, and the header itself. Length-prefixed, never joined by a separator.
- A length tells a bucket only: plaintext is padded before it is sealed.
- Every fault raises `Tampered`, alike; an unknown suite or schema is a fault, never a fallback.
"""

import hmac
import os
import struct
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

from core.errors import Tampered
from core.ports.keys import Place
from gateway.vault.labels import Label
from gateway.vault.secret import Secret
from gateway.vault.tlv import encode

SUITE_GCM_SIV = 1
SCHEMA = 1
NONCE_BYTES = 12  # RFC 8452, 4
COMMITMENT_BYTES = 32
TAG_BYTES = 16  # RFC 8452, 4
ROOT_ID_BYTES = 4
_MARK = bytes((SUITE_GCM_SIV, SCHEMA))
_VERSIONS = struct.Struct(">4sII")
_VERSION = struct.Struct(">Q")
_LENGTH = struct.Struct(">I")
_SMALLEST_BUCKET = 64
HEADER_BYTES = len(_MARK) + _VERSIONS.size + NONCE_BYTES + COMMITMENT_BYTES


class OwnerKind(Enum):
    """Whose envelope it is."""

    USER = b"user"
    SPACE = b"space"
    TENANT = b"tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Which keys sealed an envelope: 4 bytes that tell the root KEK, then version numbers."""

    root: bytes
    tenant: int
    owner: int


class Seal:
    """Seals and opens bytes under one secret and one pair of labels. Pure but for the nonce.

    Args:
        secret: parent of every key used here.
        key, commitment: the two labels.
        head: first bytes of the header, suite and schema included; authenticated.
    """

    __slots__ = ("_commitment", "_head", "_key", "_secret")

    def __init__(self, secret: Secret, key: Label, commitment: Label, head: bytes = _MARK) -> None:
        self._secret = secret
        self._key = encode(key.info)
        self._commitment = encode(commitment.info)
        self._head = head

    def seal(self, binding: bytes, plaintext: bytes) -> bytes:
        """Return header ‖ ciphertext ‖ tag; `binding` is an injective encoding of its place."""
        nonce = os.urandom(NONCE_BYTES)
        bound = encode(binding, nonce)
        key = self._secret.expand(self._key + bound)
        header = self._head + nonce + self._secret.expand(self._commitment + bound)
        return header + AESGCMSIV(key).encrypt(nonce, plaintext, encode(binding, header))

    def open(self, binding: bytes, sealed: bytes) -> bytes:
        """Return the plaintext. Raises: Tampered."""
        at = len(self._head)
        body = at + NONCE_BYTES + COMMITMENT_BYTES
        if len(sealed) < body + TAG_BYTES or sealed[: len(_MARK)] != _MARK:
            raise Tampered
        nonce = sealed[at : at + NONCE_BYTES]
        bound = encode(binding, nonce)
        committed = self._secret.expand(self._commitment + bound)
        if not hmac.compare_digest(committed, sealed[at + NONCE_BYTES : body]):
            raise Tampered
        key = self._secret.expand(self._key + bound)
        try:
            return AESGCMSIV(key).decrypt(nonce, sealed[body:], encode(binding, sealed[:body]))
        except InvalidTag as err:
            raise Tampered from err


class RecordSeal:
    """Seals the records of one owner under one version of its key.

    Args:
        secret: the DEK.
        labels: for the record key and its commitment.
        identity: from `identity`; the owner that every envelope is bound to.
    """

    __slots__ = ("_identity", "_seal")

    def __init__(
        self, secret: Secret, labels: tuple[Label, Label], identity: bytes, versions: Versions
    ) -> None:
        head = _MARK + _VERSIONS.pack(versions.root, versions.tenant, versions.owner)
        self._seal = Seal(secret, *labels, head)
        self._identity = identity

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """Return the envelope of `plaintext` at `place`."""
        return self._seal.seal(_binding(self._identity, place), pad(plaintext))

    def open(self, place: Place, envelope: bytes) -> bytes:
        """Return the plaintext. Raises: Tampered."""
        return unpad(self._seal.open(_binding(self._identity, place), envelope))


def identity(tenant: UUID, kind: OwnerKind, owner: UUID, person: UUID | None = None) -> bytes:
    """Return the injective encoding of an owner.

    Args:
        person: whom it is about, in a space whose members are people.
    """
    about = () if person is None else (person.bytes,)
    return encode(tenant.bytes, kind.value, owner.bytes, *about)


def versions_of(envelope: bytes) -> Versions:
    """Return which keys an envelope says it was sealed under; not to be believed before it opens.

    Raises:
        Tampered: too short, or not of a known suite and schema.
    """
    if len(envelope) < HEADER_BYTES + TAG_BYTES or envelope[: len(_MARK)] != _MARK:
        raise Tampered
    root, tenant, owner = _VERSIONS.unpack_from(envelope, len(_MARK))
    return Versions(root=root, tenant=tenant, owner=owner)


def pad(plaintext: bytes) -> bytes:
    """Return length ‖ plaintext ‖ zeros, of a bucket's size: 64, 128, 192 … bytes.

    From 2 KiB on the buckets widen so that a length tells O(log log n) bits and the overhead stays
    under 12 %. Source: Nikitin et al., "Reducing Metadata Leakage from Encrypted Files" (Padmé).
    """
    needed = _LENGTH.size + len(plaintext)
    exponent = needed.bit_length() - 1
    step = max(_SMALLEST_BUCKET, 1 << (exponent - exponent.bit_length()))
    return _LENGTH.pack(len(plaintext)) + plaintext + bytes(-needed % step)


def unpad(padded: bytes) -> bytes:
    """Return what `pad` was given. Raises: Tampered."""
    if len(padded) < _LENGTH.size:
        raise Tampered
    end = _LENGTH.size + _LENGTH.unpack_from(padded)[0]
    if end > len(padded):
        raise Tampered
    return padded[_LENGTH.size : end]


def _binding(owner: bytes, place: Place) -> bytes:
    return encode(
        owner,
        place.namespace.bytes,
        place.record.bytes,
        _VERSION.pack(place.version),
        place.field.encode(),
    )
