"""`memwarden serve`: one gateway of several, on servers that are there already.

Rules this module keeps:
- What the settings name is judged before anything is opened, and what it leads to before anything
  is served; each fault is one line that names its setting, with exit code 78.
- It indexes and seals nothing: `memwarden worker` does.
- At SIGTERM it says `not ready` first, then finishes what is under way.
"""

import asyncio
import importlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.cli.serving import (
    Stop,
    announce,
    banner,
    exit_of,
    listen,
    log_to_stderr,
    serve_until,
    shown_host,
)
from gateway.server.safety import refuse_unsafe
from gateway.settings import Settings, load

if TYPE_CHECKING:
    import types

log = logging.getLogger("memwarden")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What the command line asked for. `until_eof` ends the gateway when stdin closes."""

    config: Path | None
    ready_file: Path | None
    until_eof: bool


def run(options: ServeOptions) -> None:
    """Start, serve and drain.

    Raises:
        SettingsInvalid: a setting is missing or unsafe, or leads to something that is.
        Unavailable: it cannot listen, a database does not answer, or one was not migrated.
    """
    settings = load(options.config)
    refuse_unsafe(settings, "serve")
    log_to_stderr(settings.log_level)
    banner(settings)
    asyncio.run(_serve(options, settings))


async def _serve(options: ServeOptions, settings: Settings) -> None:
    with listen(settings.host, settings.port) as listening:
        stop = Stop()
        code = await asyncio.to_thread(_load_code)
        url = f"http://{shown_host(settings.host)}:{listening.getsockname()[1]}"
        connections = code.parts.Connections.server(settings)
        await code.parts.refuse_unfit(connections, settings)
        async with code.app.open_gateway(connections, settings, own_url=url) as gateway:
            server = code.uvicorn.Server(
                code.listener.listening(
                    gateway.http,
                    host=settings.host,
                    port=settings.port,
                    drain_seconds=settings.drain_seconds,
                )
            )

            def started() -> None:
                announce(options.ready_file, url=url, mcp_url=f"{url}/mcp")
                log.info("serving %s, MCP at %s/mcp", url, url)

            stop.watch(
                exit_of(server),
                drain=gateway.readiness.drain,
                notice_seconds=settings.drain_notice_seconds,
                until_eof=options.until_eof,
            )
            try:
                await serve_until(server, listening, started)
            finally:
                stop.unwatch()
                if options.ready_file is not None:
                    options.ready_file.unlink(missing_ok=True)


@dataclass(frozen=True)
class _Code:
    app: "types.ModuleType"
    parts: "types.ModuleType"
    listener: "types.ModuleType"
    uvicorn: "types.ModuleType"


def _load_code() -> _Code:
    importlib.import_module("qdrant_client")  # here, since it takes seconds and blocks whoever does
    return _Code(
        app=importlib.import_module("gateway.app"),
        parts=importlib.import_module("gateway.parts"),
        listener=importlib.import_module("gateway.front.listener"),
        uvicorn=importlib.import_module("uvicorn"),
    )
