"""The root KEK: whoever holds it may unwrap, and nobody sees its bytes.

Rules this module keeps:
- A wrap is bound to its context: a wrapped key moved to another row does not unwrap.
- A key file that its group or the world may touch is refused, not mended: it may have been read.
- A key file appears whole or not at all, is never replaced, and is 0600 from its first moment.
- Providers answer alike, held to one contract suite; what a key id says is the key, not its home.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import Protocol

from core.errors import Unavailable
from gateway.vault.envelope import Seal
from gateway.vault.labels import Label
from gateway.vault.secret import SECRET_BYTES, Secret
from gateway.vault.tlv import encode

_PRIVATE_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Kek(Protocol):
    """A key that wraps keys, wherever it lives; asynchronous, since it may live in a device."""

    @property
    def id(self) -> str:
        """Stable public name of the key; tells nothing about its bytes."""
        ...

    async def wrap(self, key: bytes, context: bytes) -> bytes:
        """Return `key` wrapped and bound to `context`. Raises: Unavailable."""
        ...

    async def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Return the key.

        Raises:
            Tampered: another key, another context, or changed bytes.
            Unavailable: the provider does not answer.
        """
        ...


class StaticKek:
    """A root KEK given as a value, from the environment or from a keys folder.

    Args:
        key: 32 uniformly random bytes.
    """

    def __init__(self, key: bytes) -> None:
        if len(key) != SECRET_BYTES:
            raise ValueError("a root KEK has 32 bytes")
        secret = Secret(key)
        self._seal = Seal(secret, Label.ROOT_WRAP_KEY, Label.ROOT_WRAP_COMMITMENT)
        self._id = "aes256-" + secret.expand(Label.ROOT_ID.info, 8).hex()

    @property
    def id(self) -> str:
        """Public name: the same for the same key, whichever provider holds it."""
        return self._id

    async def wrap(self, key: bytes, context: bytes) -> bytes:
        """Return `key` wrapped and bound to `context`."""
        return self._seal.seal(encode(context), key)

    async def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        """Return the key. Raises: Tampered."""
        return self._seal.open(encode(context), wrapped)


class FileKek(StaticKek):
    """A root KEK in a private file of 32 random bytes.

    Args:
        path: the file; its folder must exist.
        create: make the file when there is none.

    Raises:
        Unavailable: no such file, or not a private one of 32 bytes.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if create:
            create_key_file(path)
        super().__init__(read_key_file(path))


def create_key_file(path: Path) -> bool:
    """Make a private file of 32 random bytes, durable when this returns.

    Returns False, and changes nothing, when there is a file of that name.

    Raises:
        Unavailable: the folder does not take it.
    """
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(secrets.token_bytes(SECRET_BYTES))
                file.flush()
                os.fsync(opened)
            os.link(fresh, path)  # O_EXCL under the final name would show a file half written
        finally:
            fresh.unlink()
        _sync_folder(path.parent)
    except FileExistsError:
        return False
    except OSError as err:
        raise Unavailable("A key file cannot be made.") from err
    return True


def read_key_file(path: Path) -> bytes:
    """Return the 32 bytes of a private key file.

    Raises:
        Unavailable: missing, open to others, another's, not a plain file, or of another size.
    """
    try:
        # O_NONBLOCK: a pipe put there must not hang the start.
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(opened, "rb") as file:
            found = os.fstat(opened)
            if not stat.S_ISREG(found.st_mode) or found.st_uid not in {0, os.geteuid()}:
                raise Unavailable("A key file is not a plain file of ours.")
            if found.st_mode & _PRIVATE_TO_OTHERS:
                raise Unavailable("A key file is open to others; make it 0600 and its key new.")
            key = file.read(SECRET_BYTES + 1)
    except OSError as err:
        raise Unavailable("A key file cannot be read.") from err
    if len(key) != SECRET_BYTES:
        raise Unavailable("A key file does not hold 32 bytes.")
    return key


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some file systems know no fsync of a folder
            os.fsync(opened)
    finally:
        os.close(opened)
