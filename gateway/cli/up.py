"""`memwarden up`: an embedded gateway from start to drain.

Rules this module keeps:
- The engines start first and stop last; the port opens when the gateway can answer.
- The ready file appears whole, mode 0600, once requests are served; it is removed at the end.
- SIGTERM and SIGINT drain: what is under way is finished, then the children are stopped in order.
- The loss of PostgreSQL ends the gateway with an error; a supervisor starts it again.
"""

import asyncio
import importlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import Unavailable
from gateway.cli.serving import (
    Stop,
    announce,
    exit_of,
    listen,
    log_to_stderr,
    serve_until,
    shown_host,
)
from gateway.embedded.engines import EmbeddedEngines
from gateway.embedded.places import Places
from gateway.settings import Settings, load, personal_folders

if TYPE_CHECKING:
    import types

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
    log_to_stderr(settings.log_level)
    asyncio.run(_serve(options, settings))


async def _serve(options: UpOptions, settings: Settings) -> None:
    with listen(options.host, options.port) as listening:
        stop = Stop()
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
            url = f"http://{shown_host(options.host)}:{listening.getsockname()[1]}"
            connections = code.parts.Connections.embedded(engines)
            async with code.app.open_gateway(connections, settings, own_url=url) as gateway:
                server = code.uvicorn.Server(
                    code.listener.listening(
                        gateway.http,
                        host=options.host,
                        port=options.port,
                        drain_seconds=settings.drain_seconds,
                    )
                )

                def started(operator_key: str = gateway.operator_key) -> None:
                    engines.describe(url)
                    announce(
                        options.ready_file,
                        url=url,
                        mcp_url=f"{url}/mcp",
                        operator_key=operator_key,
                    )
                    log.info("serving %s, MCP at %s/mcp", url, url)

                stop.watch(
                    exit_of(server), drain=gateway.readiness.drain, until_eof=options.until_eof
                )
                try:
                    await serve_until(server, listening, started)
                finally:
                    stop.unwatch()
                    if options.ready_file is not None:
                        options.ready_file.unlink(missing_ok=True)
        if stop.reason is not None:
            raise Unavailable(f"{stop.reason} ended; the gateway cannot go on without it")


@dataclass(frozen=True)
class _Code:
    app: "types.ModuleType"
    parts: "types.ModuleType"
    listener: "types.ModuleType"
    uvicorn: "types.ModuleType"


def _load_code() -> _Code:
    """Import what takes seconds to import: some three on one core, most of it Presidio and MCP."""
    return _Code(
        app=importlib.import_module("gateway.app"),
        parts=importlib.import_module("gateway.parts"),
        listener=importlib.import_module("gateway.front.listener"),
        uvicorn=importlib.import_module("uvicorn"),
    )
