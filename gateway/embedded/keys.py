"""The keys folder: the secrets of one data folder, kept apart from it.

- It lies outside DIR, so that a copy of DIR alone opens nothing. A copy of both defeats that.
- The folder is 0700 and its files are 0600, and so they must be found: a laxer one is refused, not
  mended, since whoever could read it may have done so.
- A file appears whole or not at all, and is never replaced by accident.
- It belongs to one data folder, whose id it carries; another's keys are refused.
"""

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from gateway.embedded.folder import DataFolder, FolderUnusable

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,99}")
_LARGEST_SECRET_BYTES = 65_536


class KeysFolder:
    """Named secrets on disk. Names are lower-case; a secret is at most 64 KiB."""

    def __init__(self, path: Path) -> None:
        """Wrap a folder that `open` has checked."""
        self.path = path

    @classmethod
    def open(cls, path: Path, data: DataFolder) -> "KeysFolder":
        """Make or check the keys folder of `data`.

        Raises:
            FolderUnusable: inside DIR, readable by others, or another data folder's.
        """
        path = path.resolve()
        if path == data.path or data.path in path.parents:
            raise FolderUnusable(
                f"the keys folder {path} lies in the data folder: a copy of that would open itself"
            )
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(path.iterdir()):
                path.chmod(0o700)
            _require_private(path, path.stat())
            keys = cls(path)
            belongs_to = keys.read_or_create("folder-id", data.folder_id.encode)
        except OSError as err:
            raise FolderUnusable(f"{path}: {err.strerror or type(err).__name__}") from err
        if belongs_to != data.folder_id.encode():
            raise FolderUnusable(f"{path} holds the keys of another data folder")
        return keys

    def read(self, name: str) -> bytes | None:
        """Return the secret of that name, or None.

        Raises:
            FolderUnusable: the file is not a private one of ours.
        """
        path = self._path(name)
        try:
            # O_NONBLOCK: a pipe put there must not hang the start.
            opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as err:
            raise FolderUnusable(f"{path}: {err.strerror}") from err
        with os.fdopen(opened, "rb") as file:
            found = os.fstat(opened)
            _require_private(path, found)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_SECRET_BYTES:
                raise FolderUnusable(f"{path} is not a key file")
            return file.read()

    def read_or_create(self, name: str, factory: Callable[[], bytes]) -> bytes:
        """Return the secret of that name, durable; `factory` makes it the first time."""
        kept = self.read(name)
        if kept is not None:
            return kept
        path = self._path(name)
        made = factory()
        fresh = self.path / f".{name}.{secrets.token_hex(8)}"
        opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(made)
                file.flush()
                os.fsync(file.fileno())
            # A link, not a rename: a key that is there is never replaced, whoever is quicker.
            with contextlib.suppress(FileExistsError):
                os.link(fresh, path)
        finally:
            fresh.unlink()
        self._settle()
        kept = self.read(name)
        if kept is None:
            raise FolderUnusable(f"{path} does not stay where it is put")
        return kept

    def destroy(self, name: str) -> None:
        """Remove the secret of that name, durably; none is fine.

        The bytes are not overwritten: on flash and copy-on-write file systems that would promise
        more than it does.
        """
        self._path(name).unlink(missing_ok=True)
        self._settle()

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError("a secret's name is lower-case letters, digits, '.', '_' and '-'")
        return self.path / name

    def _settle(self) -> None:
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _require_private(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise FolderUnusable(f"{path} belongs to user {found.st_uid}")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise FolderUnusable(
            f"{path} is open to others (mode {stat.S_IMODE(found.st_mode):04o}); it must be private"
        )
