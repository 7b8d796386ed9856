"""The data folder: who may use it, what lies where, and who is using it now.

- DIR is made 0700, or 0711 when root makes it, with 0700 folders within. No other folder's mode or
  owner changes.
- Only an empty folder is taken; a folder is known as ours by its `id`, which names its keys
  wherever it moves.
- One gateway at a time: `lock` is held exclusively while it lives, and says who and where it is.
- Children inherit `alive`, so that lock falls only when the last of them is gone. After a `kill -9`
  the next start waits for it: no old PostgreSQL can still be writing, whatever the process numbers
  say.
"""

import contextlib
import fcntl
import json
import os
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Attaching processes test the lock for an instant; a start looks again before it refuses.
_LOCK_TRIES = 5
_LOCK_PAUSE_SECONDS = 0.02
_LAST_RUN_SECONDS = 15.0
_FOLDER_ID = re.compile(r"[0-9a-f]{32}")
_RECORD_BYTES = 4096
# What an empty folder may hold: our lock from a start that died at once, and a file system's own
# folder.
_NOT_FOREIGN = frozenset({"lock", "alive", "lock.id", "lost+found"})


class FolderInUse(Exception):
    """Another gateway runs on the folder."""

    def __init__(self, pid: int | None) -> None:
        """Name the process that holds the folder, when it has said so."""
        self.pid = pid
        who = "another gateway" if pid is None else f"the gateway with process id {pid}"
        super().__init__(f"the data folder is in use by {who}")


class FolderUnusable(Exception):
    """The folder cannot be used; the message says why, for the person who named it."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningGateway:
    """Who runs on a folder.

    Attributes:
        url: None until it serves.
        keys: its keys folder.
        runtime: the folder of its sockets.
    """

    pid: int
    url: str | None
    keys: Path | None
    runtime: Path | None


class DataFolder:
    """A data folder held by this process until `close`.

    Attributes:
        path: the folder.
        folder_id: 32 hexadecimal digits, made with the folder.
        alive: the descriptor that children inherit.
        left_runtime: the socket folder that a killed run may have left behind.
    """

    def __init__(self, path: Path, lock: int, alive: int, folder_id: str) -> None:
        self.path = path
        self.folder_id = folder_id
        self.alive = alive
        self.left_runtime: Path | None = None
        self._lock = lock
        self._record: dict[str, str | int] = {}

    @property
    def postgres(self) -> Path:
        """PostgreSQL's own folder."""
        return self.path / "postgres"

    @property
    def edge(self) -> Path:
        """The vector index."""
        return self.path / "edge"

    @property
    def logs(self) -> Path:
        """What the engines say; bounded in size."""
        return self.path / "logs"

    @classmethod
    def open(cls, path: Path) -> Self:
        """Make or check the folder and take it; blocks while the last run's children end.

        Raises:
            FolderInUse: another gateway holds it.
            FolderUnusable: it is foreign, not ours to use, or children of the last run do not end.
        """
        try:
            return cls._open(path.resolve())
        except OSError as err:
            raise FolderUnusable(f"{path}: {err.strerror or type(err).__name__}") from err

    @classmethod
    def _open(cls, path: Path) -> Self:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_own(path)
        lock = _open_private(path / "lock")
        try:
            _take(lock)
            left = str(_read_record(lock).get("runtime") or "")
            _write_record(lock, {"pid": os.getpid(), "runtime": left})
            alive = _open_private(path / "alive")
        except BaseException:
            os.close(lock)
            raise
        try:
            path.chmod(0o711 if os.geteuid() == 0 else 0o700)
            _wait_for_last_run(alive)
            folder = cls(path, lock, alive, _identify(path))
            folder.left_runtime = Path(left) if left else None
            for part in (folder.edge, folder.logs):
                part.mkdir(mode=0o700, exist_ok=True)
        except BaseException:
            os.close(alive)
            os.close(lock)
            raise
        return folder

    def describe(
        self, *, url: str | None = None, keys: Path | None = None, runtime: Path | None = None
    ) -> None:
        """Say in the lock file who runs here; what was said before and is not given again stays."""
        told: dict[str, str | Path | None] = {"url": url, "keys": keys, "runtime": runtime}
        self._record |= {name: str(value) for name, value in told.items() if value is not None}
        _write_record(self._lock, {"pid": os.getpid(), **self._record})

    @staticmethod
    def running(path: Path) -> RunningGateway | None:
        """Return the gateway that runs on the folder, or None. Blocks for an instant at most.

        Raises:
            FolderInUse: something holds the folder and does not say what it is.
            FolderUnusable: the folder is there and may not be read.
        """
        try:
            lock = os.open(path / "lock", os.O_RDONLY | os.O_NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as err:
            raise FolderUnusable(f"{path}: {err.strerror}") from err
        try:
            return _holder(lock)
        finally:
            os.close(lock)

    def close(self) -> None:
        """Let the folder go. Every child must have ended."""
        os.ftruncate(self._lock, 0)
        os.close(self.alive)
        os.close(self._lock)


def _holder(lock: int) -> RunningGateway | None:
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            told = _told(_read_record(lock))
        else:
            return None
        if told is not None:
            return told
        time.sleep(_LOCK_PAUSE_SECONDS)
    raise FolderInUse(None)


def _told(record: dict[str, object]) -> RunningGateway | None:
    pid, url = record.get("pid"), record.get("url")
    if not isinstance(pid, int):
        return None
    return RunningGateway(
        pid=pid,
        url=url if isinstance(url, str) else None,
        keys=_path(record.get("keys")),
        runtime=_path(record.get("runtime")),
    )


def _path(told: object) -> Path | None:
    return Path(told) if isinstance(told, str) and told else None


def _require_own(path: Path) -> None:
    owner = path.stat().st_uid
    if owner != os.geteuid():
        raise FolderUnusable(f"{path} belongs to user {owner}; start as that user, or name another")
    if (path / "id").exists():
        return
    foreign = {entry.name for entry in path.iterdir()} - _NOT_FOREIGN
    if foreign:
        raise FolderUnusable(
            f"{path} is not empty and not a Memwarden folder; name an empty or a new one"
        )


def _identify(path: Path) -> str:
    """Return the folder's id, made on first use: random, so that it says nothing of the place."""
    named = path / "id"
    with contextlib.suppress(FileNotFoundError):
        found = named.read_text(encoding="ascii", errors="replace").strip()
        if not _FOLDER_ID.fullmatch(found):
            raise FolderUnusable(f"{named} is damaged")
        return found
    made = secrets.token_hex(16)
    fresh = path / "lock.id"
    fresh.write_text(made, encoding="ascii")
    fresh.chmod(0o600)
    fresh.rename(named)
    return made


def _open_private(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


def _take(lock: int) -> None:
    for tries_left in reversed(range(_LOCK_TRIES)):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            if not tries_left:
                held_by = _told(_read_record(lock))
                raise FolderInUse(None if held_by is None else held_by.pid) from err
            time.sleep(_LOCK_PAUSE_SECONDS)
        else:
            return


def _wait_for_last_run(alive: int) -> None:
    deadline = time.monotonic() + _LAST_RUN_SECONDS
    while True:
        try:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            if time.monotonic() > deadline:
                raise FolderUnusable(
                    "children of the last run have not ended; end them, then start again"
                ) from err
            time.sleep(_LOCK_PAUSE_SECONDS)
        else:
            return


def _write_record(lock: int, record: dict[str, str | int]) -> None:
    # One write of one size: a reader finds the old record or the new one, never half of both.
    os.pwrite(lock, json.dumps(record).encode().ljust(_RECORD_BYTES), 0)


def _read_record(lock: int) -> dict[str, object]:
    with contextlib.suppress(ValueError):
        record = json.loads(os.pread(lock, _RECORD_BYTES, 0))
        if isinstance(record, dict):
            return record
    return {}
