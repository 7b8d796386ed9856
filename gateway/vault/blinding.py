"""Keyed look-up values: equal texts of one parent are equal, and tell nothing else.

Rules this module keeps:
- One key for each label; the same text under two labels, owners or tenants has unrelated values.
- A text's bytes are its UTF-8 as they stand: nothing is folded or trimmed here.
"""

import struct
from collections.abc import Sequence
from hmac import digest as hmac_digest

from gateway.vault.labels import Label
from gateway.vault.secret import Secret

BLIND_BYTES = 16
_TERM = struct.Struct(">q")


class Blinder:
    """Makes look-up values under one parent secret; derives each label's key once."""

    __slots__ = ("_keys", "_secret")

    def __init__(self, secret: Secret) -> None:
        self._secret = secret
        self._keys: dict[Label, Secret] = {}

    def key(self, label: Label) -> Secret:
        """Return the key under `label`."""
        found = self._keys.get(label)
        if found is None:
            found = self._keys[label] = Secret(self._secret.expand(label.info))
        return found

    def mac(self, label: Label, message: bytes) -> bytes:
        """Return the 32-byte keyed hash of `message`."""
        return self.key(label).mac(message)

    def text(self, label: Label, text: str) -> bytes:
        """Return the 32-byte keyed hash of `text`."""
        return self.mac(label, utf8(text))

    def terms(self, label: Label, words: Sequence[str]) -> list[int]:
        """Return the first 8 bytes of each word's keyed hash as a signed number."""
        key = self.key(label).value
        hashes = (hmac_digest(key, utf8(word), "sha256") for word in words)
        return [_TERM.unpack_from(found)[0] for found in hashes]


def utf8(text: str) -> bytes:
    """Return the bytes of `text`; total and injective, lone surrogates included."""
    return text.encode("utf-8", "surrogatepass")
