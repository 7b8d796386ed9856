"""Where an embedded gateway keeps what lies outside its data folder.

- Values come from the settings; nothing here reads the environment.
- Sockets live in a short folder, because a socket's path holds some hundred bytes and DIR may be
  longer.
"""

import fcntl
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gateway.embedded.account import Account

# A socket address holds 104 bytes on macOS and 108 on Linux, its NUL included (sys/un.h); ours add
# at most "/mw-xxxxxxxx/postgres/.s.PGSQL.5432.lock".
_LONGEST_BASE = 60
_SHORT_BASE = Path("/tmp")  # noqa: S108 - only a fresh 0700 folder made by mkdtemp is used in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders of the person who starts the gateway, as the settings found them.

    Attributes:
        home: their home folder.
        state_home: XDG_STATE_HOME, when set.
        runtime_dir: XDG_RUNTIME_DIR, when set: private and in memory, where it exists.
        tmp: the folder for temporary files.
    """

    home: Path
    state_home: Path | None = None
    runtime_dir: Path | None = None
    tmp: Path = _SHORT_BASE

    def keys_of(self, folder_id: str) -> Path:
        """Return the default keys folder of a data folder. Source: XDG Base Directory 0.8."""
        state = self.state_home or self.home / ".local" / "state"
        return state / "memwarden" / "keys" / folder_id

    def socket_base(self, account: Account | None) -> Path:
        """Return the first folder that can hold socket folders: there, short, open to `account`."""
        for base in (self.runtime_dir, self.tmp):
            if base is None or not _fits(base) or not os.access(base, os.W_OK | os.X_OK):
                continue
            # Such as /run/user/0, which only root may enter.
            if account is None or account.reaches(base):
                return base.resolve()
        return _SHORT_BASE


def _fits(base: Path) -> bool:
    whole = os.fsencode(base.resolve())
    # libpq reads a comma in a host as a list of hosts; the others end a quoted setting.
    return len(whole) <= _LONGEST_BASE and not set(whole) & set(b",'\"\\\n")


class RuntimeFolder:
    """A fresh, short, private folder for sockets, gone when the gateway stops.

    Root's is 0711 with a 0700 folder for each account within; anyone else's is 0700 throughout.
    """

    def __init__(self, places: Places, account: Account | None) -> None:
        """Make the folder under `places`, to be entered by `account` too."""
        self.path = Path(tempfile.mkdtemp(prefix="mw-", dir=places.socket_base(account)))
        self.account = account
        if account is not None:
            self.path.chmod(0o711)
        # systemd-tmpfiles leaves a folder alone while somebody holds a lock on it (tmpfiles.d(5)).
        self._held = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._held, fcntl.LOCK_SH)

    def private(self, name: str, *, engine: bool) -> Path:
        """Return a new 0700 folder within; `engine` gives it to the engines' account."""
        folder = self.path / name
        folder.mkdir(mode=0o700)
        if engine and self.account is not None:
            os.chown(folder, self.account.uid, self.account.gid)
        return folder

    def write(self, name: str, text: str) -> Path:
        """Write a file that the engines may read and not change; it must hold no secret."""
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600 if self.account is None else 0o644)
        return path

    def remove(self) -> None:
        """Remove the folder and all in it."""
        os.close(self._held)
        remove_runtime(self.path)


def remove_runtime(path: Path) -> None:
    """Remove a runtime folder, also one that a killed gateway left; anything else is left alone."""
    if path.name.startswith("mw-") and path.is_dir() and path.lstat().st_uid == os.geteuid():
        shutil.rmtree(path, ignore_errors=True)
