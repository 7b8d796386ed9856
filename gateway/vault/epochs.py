"""Epoch keys: the second wrap of every live key, held outside any database.

Rules this module keeps:
- A deleted row lives on in the write-ahead log and in old dumps. What it wraps dies when the epoch
  key is destroyed, which no database ever held.
- An epoch's number says which key; the newest wraps, all that are left unwrap.
"""

import re
import secrets
from pathlib import Path
from typing import Protocol

from core.errors import Unavailable
from gateway.vault.envelope import Seal
from gateway.vault.kek import create_key_file, read_key_file
from gateway.vault.labels import Label
from gateway.vault.secret import SECRET_BYTES, Secret
from gateway.vault.tlv import encode

_NAME = re.compile(r"epoch-([0-9]{6})")


class Epochs(Protocol):
    """Holds the epoch keys."""

    def current(self) -> int:
        """Return the number of the epoch that wraps now. Raises: Unavailable."""
        ...

    def wrap(self, epoch: int, wrapped: bytes, context: bytes) -> bytes:
        """Return `wrapped` wrapped again under that epoch's key. Raises: Unavailable."""
        ...

    def unwrap(self, epoch: int, wrapped: bytes, context: bytes) -> bytes:
        """Return what `wrap` was given.

        Raises:
            Tampered: another epoch, another context, or changed bytes.
            Unavailable: that epoch's key is not here.
        """
        ...


class EpochKeys:
    """Epoch keys by number, in memory.

    Args:
        keys: number, from 1, to 32 random bytes; at least one.
    """

    def __init__(self, keys: dict[int, bytes]) -> None:
        if not keys:
            raise Unavailable("There is no epoch key.")
        self._seals = {
            epoch: Seal(Secret(key), Label.EPOCH_WRAP_KEY, Label.EPOCH_WRAP_COMMITMENT)
            for epoch, key in keys.items()
        }

    @classmethod
    def random(cls) -> "EpochKeys":
        """Return a first epoch that is kept nowhere else."""
        return cls({1: secrets.token_bytes(SECRET_BYTES)})

    @classmethod
    def in_folder(cls, folder: Path, *, create: bool = False) -> "EpochKeys":
        """Return the epoch keys in `folder`: private files `epoch-000001` and on.

        Args:
            folder: must exist.
            create: make the first one when there is none.

        Raises:
            Unavailable: none there, or one that is not a private file of 32 bytes.
        """
        found = _numbered(folder)
        if not found and create:
            create_key_file(folder / "epoch-000001")  # losing the race is as good
            found = _numbered(folder)
        return cls({epoch: read_key_file(path) for epoch, path in found.items()})

    def current(self) -> int:
        """Return the newest epoch's number."""
        return max(self._seals)

    def wrap(self, epoch: int, wrapped: bytes, context: bytes) -> bytes:
        """Return `wrapped` wrapped again, bound to the epoch and to `context`."""
        return self._of(epoch).seal(_binding(epoch, context), wrapped)

    def unwrap(self, epoch: int, wrapped: bytes, context: bytes) -> bytes:
        """Return what `wrap` was given. Raises: Tampered, Unavailable."""
        return self._of(epoch).open(_binding(epoch, context), wrapped)

    def _of(self, epoch: int) -> Seal:
        try:
            return self._seals[epoch]
        except KeyError as err:
            raise Unavailable("An epoch key is not here.") from err


def _binding(epoch: int, context: bytes) -> bytes:
    return encode(epoch.to_bytes(8), context)


def _numbered(folder: Path) -> dict[int, Path]:
    try:
        entries = list(folder.iterdir())
    except OSError as err:
        raise Unavailable("The folder of epoch keys cannot be read.") from err
    matches = ((_NAME.fullmatch(entry.name), entry) for entry in entries)
    return {int(match[1]): entry for match, entry in matches if match is not None}
