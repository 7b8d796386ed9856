"""What every command that runs until it is told to stop does alike.

Rules this module keeps:
- SIGTERM and SIGINT drain: what is under way is finished. A second signal changes nothing.
- Of third parties' logs nothing is shown but that they cried out.
- The ready file appears whole, mode 0600, once requests are served; it is removed at the end.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import Unavailable
from gateway.settings import PREFIX, Settings

if TYPE_CHECKING:
    import uvicorn

OURS = ("memwarden", "gateway", "core")
"""Loggers whose words are ours, and safe to show."""


def log_to_stderr(level: str) -> None:
    """Send our own loggers to stderr, and of anybody else's nothing but that they cried out.

    Third parties log requests, statements and exception texts; those may hold what a caller wrote.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_only_ours)
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())


def banner(settings: Settings) -> None:
    """Say on stderr, where it is so, that this is no place for real memories."""
    if settings.environment == "development":
        sys.stderr.write(
            "memwarden: ENVIRONMENT IS development: unsafe settings are accepted. "
            f"Set {PREFIX}ENVIRONMENT=production where memories are real.\n"
        )


def _only_ours(record: logging.LogRecord) -> bool:
    if record.name.partition(".")[0] in OURS:
        return True
    if record.levelno < logging.ERROR:
        return False
    record.msg, record.args, record.exc_info = "an error was logged; its text is withheld", (), None
    return True


class Stop:
    """Ends what runs on a signal, on the end of stdin, or on the loss of an engine.

    Attributes:
        reason: the engine that was lost, or None.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._wanted = False
        self._notice_seconds = 0.0
        self._drain: Callable[[], None] = _nothing
        self._end: Callable[[], None] = _nothing

    def lost(self, engine: str) -> None:
        """End because `engine` is gone."""
        self.reason = engine
        self._want()

    def watch(
        self,
        end: Callable[[], None],
        *,
        drain: Callable[[], None] | None = None,
        notice_seconds: float = 0.0,
        until_eof: bool = False,
    ) -> None:
        """Call `end` when it is time, at once if it was time before.

        Args:
            drain: called `notice_seconds` earlier, so that a balancer looks elsewhere first.
            until_eof: the end of stdin counts as a signal does.
        """
        self._end, self._drain = end, drain or _nothing
        self._notice_seconds = notice_seconds
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._want)
        if until_eof:
            loop.add_reader(sys.stdin.fileno(), self._read_stdin)
        if self._wanted:
            self._want()

    def unwatch(self) -> None:
        """Let signals be again what they were."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

    def _read_stdin(self) -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._want()

    def _want(self) -> None:
        self._wanted = True
        self._drain()
        if self._notice_seconds > 0:
            asyncio.get_running_loop().call_later(self._notice_seconds, self._end)
        else:
            self._end()


def _nothing() -> None:
    """Stand for what is not there yet."""


async def serve_until(
    server: "uvicorn.Server", listening: socket.socket, started: Callable[[], None]
) -> None:
    """Serve on an open socket until the server is told to exit.

    Args:
        started: called once requests are served.
    """
    # uvicorn's own handlers would replace ours and end at the second signal without draining.
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started and not serving.done():  # noqa: ASYNC110 - no event to wait for in uvicorn
        await asyncio.sleep(0.005)
    if server.started:
        started()
    await serving


def exit_of(server: "uvicorn.Server") -> Callable[[], None]:
    """Return what tells `server` to finish what is under way and end."""

    def end() -> None:
        server.should_exit = True

    return end


def listen(host: str, port: int) -> socket.socket:
    """Return a socket bound to `host` and `port`. Raises: Unavailable."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as err:
        listening.close()
        raise Unavailable(f"cannot listen on {host} port {port}: {err.strerror}") from err
    return listening


def shown_host(host: str) -> str:
    """Return `host` as it stands in a URL that reaches it from here."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def announce(path: Path | None, **told: Any) -> None:  # noqa: ANN401 - JSON
    """Write `told` and our process id to the ready file, if one was asked for."""
    if path is None:
        return
    told["pid"] = os.getpid()
    # mkstemp makes the file 0600; the rename shows it whole or not at all.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".memwarden-ready-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(told, file)
    Path(name).rename(path)
