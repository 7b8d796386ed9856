"""Starting, watching and ending the engines' processes.

- Every child starts through `shim.py`, so that it ends when the gateway does, however that ends.
  The death signal is tied to the *thread* that started the child: start engines in a thread that
  lives as long as they should.
- A child is a session of its own: Ctrl-C reaches only the gateway, which ends its children in
  order.
- A child inherits `alive` of the data folder, and nothing else that is open.
- Secrets reach a child through its standard input: never its arguments or environment, which others
  can read.
- What it says goes to a private file that stays within a bound.
"""

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import gateway.embedded.shim
from gateway.embedded.account import Account

Probe = Callable[[], Awaitable[bool]]

_LOG = logging.getLogger(__name__)
_SHIM = Path(gateway.embedded.shim.__file__)
# prctl's death signal is Linux's own; elsewhere the shim stays and watches a pipe.
_HAS_DEATH_SIGNAL = sys.platform.startswith("linux")
_LARGEST_LOG_BYTES = 4_194_304
_LOG_LOOK_SECONDS = 20.0
_PROBE_PAUSE_SECONDS = 0.01
_FIRST_BACKOFF_SECONDS = 0.1
_LONGEST_BACKOFF_SECONDS = 5.0


class EngineFailed(Exception):
    """An engine did not start, or ended where it should not have."""

    def __init__(self, engine: str, reason: str) -> None:
        """Say which engine, and why as far as that is known."""
        self.engine = engine
        super().__init__(f"{engine} {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """What to start and how to treat it.

    Attributes:
        name: for logs and errors.
        argv: the program by its full path, and its arguments; no secrets.
        cwd: where it starts; entered before the user changes, so it may lie where that user could
            not go by itself.
        log: where its output is appended.
        alive: a descriptor it inherits, see `DataFolder.alive`.
        account: whom it becomes; None for the caller.
        environment: all of its environment.
        feed: what it reads on its standard input.
        ready: asked again and again until true; None for a child that is run to its end.
        socket: a stale socket to remove before it starts.
        start_seconds: how long it may take until it is ready.
        stop_signal: asks it to end in order; after `grace_seconds` it is killed.
        death_signal: what it gets when the gateway dies.
    """

    name: str
    argv: tuple[str, ...]
    cwd: Path
    log: Path
    alive: int
    account: Account | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    feed: bytes = field(default=b"", repr=False)
    ready: Probe | None = None
    socket: Path | None = None
    start_seconds: float = 30.0
    stop_signal: signal.Signals = signal.SIGTERM
    grace_seconds: float = 10.0
    death_signal: signal.Signals = signal.SIGKILL
    watched: bool = not _HAS_DEATH_SIGNAL


class ChildProcess:
    """One run of a child."""

    def __init__(self, child: Child) -> None:
        """Prepare; nothing runs yet."""
        self.child = child
        self._process: asyncio.subprocess.Process | None = None
        self._watch: int | None = None

    @property
    def pid(self) -> int | None:
        """The process id, once started."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start the child and wait until it is ready; when this raises, nothing runs.

        Raises:
            EngineFailed: it ended, or was not ready in time.
        """
        try:
            await self._spawn()
            async with asyncio.timeout(self.child.start_seconds):
                await self._until_ready()
        except TimeoutError as err:
            await self.stop()
            raise self._failure("was not ready in time") from err
        except BaseException:
            await self.stop()
            raise

    async def run(self) -> None:
        """Run the child to its end.

        Raises:
            EngineFailed: it took too long or its exit code is not zero.
        """
        try:
            await self._spawn()
            async with asyncio.timeout(self.child.start_seconds):
                code = await self.wait()
        except TimeoutError as err:
            raise self._failure("took too long") from err
        finally:
            await self.stop()
        if code != 0:
            raise self._failure(f"failed (exit code {code})")

    async def wait(self) -> int:
        """Wait for the child's end and return its exit code; meanwhile its log is kept small."""
        process = self._running()
        ended = asyncio.ensure_future(process.wait())
        try:
            while not ended.done():
                await asyncio.wait((ended,), timeout=_LOG_LOOK_SECONDS)
                bound_log(self.child.log)
            return ended.result()
        finally:
            ended.cancel()

    async def stop(self) -> None:
        """End the child: in order when it can, by force when it does not."""
        if self._process is None:
            return
        process = self._process
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(self.child.stop_signal)
            try:
                async with asyncio.timeout(self.child.grace_seconds):
                    await process.wait()
            except TimeoutError:
                _LOG.warning("%s did not end in time and is killed", self.child.name)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        self._forget_watch()

    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise EngineFailed(self.child.name, "has not been started")
        return self._process

    async def _spawn(self) -> None:
        child = self.child
        if child.socket is not None:
            child.socket.unlink(missing_ok=True)
        watched, inherited = -1, [child.alive]
        if child.watched:
            watched, self._watch = os.pipe()
            inherited.append(watched)
        log = os.open(child.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        account = child.account or Account(uid=-1, gid=-1)
        numbers = (os.getpid(), child.death_signal.value, account.uid, account.gid, watched)
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", str(_SHIM), *map(str, numbers), *child.argv),
                cwd=child.cwd,
                env=dict(child.environment),
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                pass_fds=inherited,
                start_new_session=True,
            )
        except OSError as err:
            self._forget_watch()
            raise self._failure("could not be started") from err
        finally:
            os.close(log)
            if watched >= 0:
                os.close(watched)
        await self._feed(self._process)

    async def _feed(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None:
            return
        # One that ends at once says why in its log and exit code, not here.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(self.child.feed)
            await process.stdin.drain()
        process.stdin.close()

    async def _until_ready(self) -> None:
        process = self._running()
        while process.returncode is None:
            if self.child.ready is None or await self.child.ready():
                return
            await asyncio.sleep(_PROBE_PAUSE_SECONDS)
        raise self._failure(f"ended while starting (exit code {process.returncode})")

    def _failure(self, what: str) -> EngineFailed:
        return EngineFailed(self.child.name, f"{what}; see {self.child.log}")

    def _forget_watch(self) -> None:
        if self._watch is not None:
            os.close(self._watch)
            self._watch = None


class Keeper:
    """Keeps one child running, or says that it cannot."""

    def __init__(self, child: Child, *, on_death: Callable[[str], None] | None = None) -> None:
        """Prepare; with `on_death` the child's end is final and told, else it is started again."""
        self._child = child
        self._on_death = on_death
        self._process = ChildProcess(child)
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the present run."""
        return self._process.pid

    async def start(self) -> None:
        """Start the child and keep watch. Raises EngineFailed when the first start fails."""
        await self._process.start()
        self._task = asyncio.create_task(self._keep(), name=f"keep {self._child.name}")

    async def stop(self) -> None:
        """Stop watching and end the child."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))
            self._task = None
        await self._process.stop()

    async def _keep(self) -> None:
        while True:
            code = await self._process.wait()
            await self._process.stop()
            _LOG.error("%s ended by itself (exit code %d)", self._child.name, code)
            if self._on_death is not None:
                self._on_death(self._child.name)
                return
            await self._start_again()

    async def _start_again(self) -> None:
        backoff = _FIRST_BACKOFF_SECONDS
        while True:
            await asyncio.sleep(backoff)
            backoff = min(2 * backoff, _LONGEST_BACKOFF_SECONDS)
            self._process = ChildProcess(self._child)
            try:
                await self._process.start()
            except (EngineFailed, OSError) as err:
                _LOG.warning("%s does not start again: %s", self._child.name, type(err).__name__)
            else:
                return


def bound_log(log: Path) -> None:
    """Move what a large log holds aside; the child appends to the same, now empty, file."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size > _LARGEST_LOG_BYTES:
            before = log.with_name(f"{log.name}.1")
            shutil.copyfile(log, before)
            before.chmod(0o600)
            os.truncate(log, 0)


async def accepts(socket: Path) -> bool:
    """Whether something takes connections at `socket`: the readiness of a child that serves one."""
    try:
        _, writer = await asyncio.open_unix_connection(socket)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
