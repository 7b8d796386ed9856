"""A key's bytes, held so that they do not slip out by accident.

Rules this module keeps:
- `repr`, `str`, formatting, logging, copying and pickling show or carry no key byte.
- The bytes are overwritten when the last holder lets go. Best effort: copies that libraries made on
  the way are beyond Python's reach.
"""

import hmac
from typing import NoReturn, SupportsIndex

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from typing_extensions import override  # typing has it from 3.12 on

SECRET_BYTES = 32


class Secret:
    """Uniformly random key material, or what was derived from it.

    Args:
        value: copied; at least 16 bytes.
    """

    __slots__ = ("_value",)

    def __init__(self, value: bytes | bytearray) -> None:
        if len(value) < 16:  # noqa: PLR2004 - 128 bits is the floor for any key here
            raise ValueError("a secret has at least 16 bytes")
        self._value = bytearray(value)

    @property
    def value(self) -> bytearray:
        """The bytes themselves; never keep or print them."""
        return self._value

    def expand(self, info: bytes, length: int = SECRET_BYTES) -> bytes:
        """Return `length` bytes derived under `info`.

        Source: RFC 5869, 2.3 and 3.3 (the secret is uniform already, so extract is skipped).
        """
        return HKDFExpand(SHA256(), length, info).derive(self._value)

    def mac(self, message: bytes) -> bytes:
        """Return the 32-byte HMAC-SHA-256 of `message`. Source: RFC 2104."""
        return hmac.digest(self._value, message, "sha256")

    @override
    def __repr__(self) -> str:
        return "Secret(…)"

    @override
    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a secret is neither copied nor pickled")

    def __del__(self) -> None:
        # Not on eviction from a cache: a call in flight may still hold the keys, and must not seal
        # under zeros.
        value = getattr(self, "_value", None)
        if value is not None:
            value[:] = bytes(len(value))
