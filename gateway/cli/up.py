"""`memwarden up`: an embedded gateway from start to drain.

Rules this module keeps:
- The engines start first and stop last; the port opens when the gateway can answer.
- The ready file appears whole, mode 0600, once requests are served; it is removed at the end.
- SIGTERM and SIGINT drain: what is under way is finished, then the children are stopped in order.
- The loss of PostgreSQL ends the gateway with an error; a supervisor starts it again.
"""

import asyncio
import contextlib
import importlib
import json
import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import Unavailable
from gateway.embedded.engines import EmbeddedEngines
from gateway.embedded.places import Places
from gateway.settings import Settings, load, personal_folders

if TYPE_CHECKING:
    import types

    import uvicorn

log = logging.getLogger("memwarden")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpOptions:
    """What the command line asked for. `until_eof` ends the gateway when stdin closes."""

    data: Path
    keys: Path | None
    host: str
    port: int
    ready_file: Path | None
    until_eof: bool


def run(options: UpOptions) -> None:
    """Start, serve and drain.

    Raises:
        SettingsInvalid, FolderInUse, FolderUnusable, EngineFailed: it did not start.
        Unavailable: it cannot listen, or lost an engine it needs.
    """
    settings = load()
    _log_to_stderr(settings.log_level)
    asyncio.run(_serve(options, settings))


def _log_to_stderr(level: str) -> None:
    """Send our own loggers to stderr, and of anybody else's nothing but that they cried out.

    Third parties log requests, statements and exception texts; those may hold what a caller wrote.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_only_ours)
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())


OURS = ("memwarden", "gateway", "core")


def _only_ours(record: logging.LogRecord) -> bool:
    if record.name.partition(".")[0] in OURS:
        return True
    if record.levelno < logging.ERROR:
        return False
    record.msg, record.args, record.exc_info = "an error was logged; its text is withheld", (), None
    return True


async def _serve(options: UpOptions, settings: Settings) -> None:
    with _listen(options.host, options.port) as listening:
        stop = _Stop()
        places = Places(**personal_folders())  # type: ignore[arg-type]  # home and tmp are never None
        # The engines start in processes of their own while this one reads its code.
        loading = asyncio.create_task(asyncio.to_thread(_load_code))
        async with EmbeddedEngines.start(
            options.data,
            options.keys,
            places,
            on_death=stop.lost,
            vectors=settings.vectors,
        ) as engines:
            code = await loading
            host = _shown_host(options.host)
            url = f"http://{host}:{listening.getsockname()[1]}"
            connections = code.app.Connections.embedded(engines)
            async with code.app.open_gateway(connections, settings, own_url=url) as gateway:
                server = code.uvicorn.Server(
                    code.listener.listening(
                        gateway.http,
                        host=options.host,
                        port=options.port,
                        drain_seconds=settings.drain_seconds,
                    )
                )
                stop.watch(server, gateway.readiness.drain, until_eof=options.until_eof)
                serving = asyncio.create_task(server.serve(sockets=[listening]))
                try:
                    while not server.started and not serving.done():  # noqa: ASYNC110 - no event to wait for in uvicorn
                        await asyncio.sleep(0.005)
                    if server.started:
                        engines.describe(url)
                        _announce(options.ready_file, url, gateway.operator_key)
                        log.info("serving %s, MCP at %s/mcp", url, url)
                    await serving
                finally:
                    stop.unwatch()
                    if options.ready_file is not None:
                        options.ready_file.unlink(missing_ok=True)
        if stop.reason is not None:
            raise Unavailable(f"{stop.reason} ended; the gateway cannot go on without it")


@dataclass(frozen=True)
class _Code:
    app: "types.ModuleType"
    listener: "types.ModuleType"
    uvicorn: "types.ModuleType"


def _load_code() -> _Code:
    """Import what takes seconds to import: some three on one core, most of it Presidio and MCP."""
    return _Code(
        app=importlib.import_module("gateway.app"),
        listener=importlib.import_module("gateway.front.listener"),
        uvicorn=importlib.import_module("uvicorn"),
    )


def _nothing() -> None:
    """Stand for the drain of a gateway that is not open yet."""


class _Stop:
    """Ends the server on a signal, on the end of stdin, or on the loss of an engine."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._server: uvicorn.Server | None = None
        self._wanted = False
        self._drain: Callable[[], None] = _nothing

    def lost(self, engine: str) -> None:
        self.reason = engine
        self._end()

    def watch(
        self, server: "uvicorn.Server", drain: Callable[[], None], *, until_eof: bool
    ) -> None:
        self._server = server
        self._drain = drain
        loop = asyncio.get_running_loop()
        # uvicorn's own handlers would replace these and end at the second signal without draining.
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end)
        if until_eof:
            loop.add_reader(sys.stdin.fileno(), self._read_stdin)
        if self._wanted:
            self._end()

    def unwatch(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

    def _read_stdin(self) -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            self._end()

    def _end(self) -> None:
        self._wanted = True
        self._drain()  # before the port closes, so that a balancer looks elsewhere
        if self._server is not None:
            self._server.should_exit = True


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as err:
        listening.close()
        raise Unavailable(f"cannot listen on {host} port {port}: {err.strerror}") from err
    return listening


def _shown_host(host: str) -> str:
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def _announce(path: Path | None, url: str, operator_key: str) -> None:
    if path is None:
        return
    told = {
        "url": url,
        "mcp_url": f"{url}/mcp",
        "operator_key": operator_key,
        "pid": os.getpid(),
    }
    # mkstemp makes the file 0600; the rename shows it whole or not at all.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".memwarden-ready-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(told, file)
    Path(name).rename(path)
