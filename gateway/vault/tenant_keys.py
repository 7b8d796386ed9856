"""One tenant's keys, unwrapped: wraps its owners' keys, seals what belongs to no person, and names
points and look-ups that must be found again while an erasure is resumed.

Rules this module keeps:
- The newest version wraps and seals; every version that is not destroyed unwraps and opens.
- A tenant's secrets are two: the KEK, new with each version, and the look-up secret, which stays.
- A pointer is short because it is never believed: what it names is confirmed in the record.
"""

import os
import struct
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV

from core.errors import Tampered
from core.ids import MemoryId, TenantId
from core.model import Owner
from core.ports.keys import Place
from gateway.vault.blinding import BLIND_BYTES, Blinder
from gateway.vault.envelope import (
    NONCE_BYTES,
    TAG_BYTES,
    OwnerKind,
    RecordSeal,
    Seal,
    Versions,
    identity,
    versions_of,
)
from gateway.vault.labels import Label, lookup
from gateway.vault.secret import SECRET_BYTES, Secret
from gateway.vault.tlv import encode

TENANT_SECRET_BYTES = 2 * SECRET_BYTES
_RECORD = (Label.TENANT_RECORD_KEY, Label.TENANT_RECORD_COMMITMENT)
_POINTER = struct.Struct(">16sI")
_CHUNK = struct.Struct(">I")
_UUID_VERSION_8 = 8  # RFC 9562, 5.8: bits of our own making


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantVersionKey:
    """One unwrapped version: the KEK, and which root KEK stands above it."""

    kek: Secret = field(repr=False)
    root: bytes


class UnwrappedTenantKeys:
    """Implements `core.ports.TenantKeys`.

    Args:
        tenant: whose.
        keys: every version that opens, by number.
        lookup_secret: parent of everything but envelopes and wraps.
        current: the version that wraps and seals.
    """

    __slots__ = ("_blinder", "_current", "_keys", "_pointer", "_seals", "_wraps", "tenant")

    def __init__(
        self,
        tenant: TenantId,
        keys: Mapping[int, TenantVersionKey],
        lookup_secret: Secret,
        current: int,
    ) -> None:
        self.tenant = tenant
        self._current = current
        self._keys = keys
        whose = identity(tenant, OwnerKind.TENANT, tenant)
        self._seals = {
            version: RecordSeal(
                key.kek, _RECORD, whose, Versions(root=key.root, tenant=version, owner=0)
            )
            for version, key in keys.items()
        }
        self._wraps = {
            version: Seal(key.kek, Label.TENANT_WRAP_KEY, Label.TENANT_WRAP_COMMITMENT)
            for version, key in keys.items()
        }
        self._blinder = Blinder(lookup_secret)
        self._pointer = AESGCMSIV(self._blinder.key(Label.TENANT_POINTER).value)

    @property
    def version(self) -> int:
        """The version that wraps and seals now."""
        return self._current

    def root_of(self, version: int) -> bytes:
        """Return the short id of the root KEK above a version that unwraps."""
        return self._keys[version].root

    def wrap(self, secret: bytes, context: bytes) -> bytes:
        """Return an owner's secrets wrapped under the current version, bound to `context`."""
        return self._wraps[self._current].seal(encode(context), secret)

    def unwrap(self, version: int, wrapped: bytes, context: bytes) -> bytes:
        """Return what `wrap` was given. Raises: Tampered."""
        wrap = self._wraps.get(version)
        if wrap is None:
            raise Tampered
        return wrap.open(encode(context), wrapped)

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """Return an envelope bound to the tenant and to `place`."""
        return self._seals[self._current].seal(place, plaintext)

    def open(self, place: Place, envelope: bytes) -> bytes:
        """Return the plaintext. Raises: Tampered."""
        seal = self._seals.get(versions_of(envelope).tenant)
        if seal is None:
            raise Tampered
        return seal.open(place, envelope)

    def blind(self, label: str, text: str) -> bytes:
        """Return the 16-byte look-up value of `text`. Raises: LookupError (no such label)."""
        return self._blinder.text(lookup("tenant", "blind", label), text)[:BLIND_BYTES]

    def word(self, label: str, value: UUID | str) -> str:
        """Return the index's keyed word of `value`, 32 hex digits. Raises: LookupError."""
        return self._blinder.text(lookup("tenant", "word", label), str(value))[:BLIND_BYTES].hex()

    def point_id(self, owner: Owner, memory: MemoryId, chunk: int) -> UUID:
        """Return the keyed id of one point of this tenant; a caller cannot aim at another's."""
        kind = OwnerKind.SPACE if owner.is_space else OwnerKind.USER
        whose = identity(owner.tenant, kind, owner.id)
        place = encode(whose, memory.bytes, _CHUNK.pack(chunk))
        hashed = int.from_bytes(self._blinder.mac(Label.TENANT_POINT_ID, place)[:16])
        hashed = hashed & ~(0xF << 76) | _UUID_VERSION_8 << 76
        return UUID(int=hashed & ~(0b11 << 62) | 0b10 << 62)

    def seal_pointer(self, memory: MemoryId, version: int) -> str:
        """Return the pointer to one version of a memory: 64 characters of base64url."""
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._pointer.encrypt(nonce, _POINTER.pack(memory.bytes, version), None)
        return urlsafe_b64encode(nonce + sealed).decode()

    def open_pointer(self, pointer: str) -> tuple[MemoryId, int]:
        """Return (memory, version). Raises: Tampered."""
        try:
            raw = b64decode(pointer, altchars=b"-_", validate=True)
            if len(raw) != NONCE_BYTES + _POINTER.size + TAG_BYTES:
                raise Tampered
            opened = self._pointer.decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], None)
        except (ValueError, InvalidTag) as err:
            raise Tampered from err
        memory, version = _POINTER.unpack(opened)
        return MemoryId(UUID(bytes=memory)), version
