"""`memwarden worker`: makes the index follow the record and seals the audit log; serves nothing.

Rules this module keeps:
- Several may run: tasks are leased, and of two that seal the same events one history remains.
- It listens nowhere. Whether it lives is seen at the gateways: `/readyz` says `degraded` when
  events wait to be sealed, and `/metrics` how many tasks the index has not followed.
"""

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path

from gateway.cli.serving import Stop, announce, banner, log_to_stderr
from gateway.server.safety import refuse_unsafe
from gateway.settings import Settings, load

log = logging.getLogger("memwarden")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """What the command line asked for. `until_eof` ends the worker when stdin closes."""

    config: Path | None
    ready_file: Path | None
    until_eof: bool


def run(options: WorkerOptions) -> None:
    """Work until told to stop.

    Raises:
        SettingsInvalid: a setting is missing or unsafe, or leads to something that is.
        Unavailable: a database does not answer, or one was not migrated.
    """
    settings = load(options.config)
    refuse_unsafe(settings, "worker")
    log_to_stderr(settings.log_level)
    banner(settings)
    asyncio.run(_work(options, settings))


async def _work(options: WorkerOptions, settings: Settings) -> None:
    from gateway.parts import Connections, refuse_unfit  # noqa: PLC0415 - heavy
    from gateway.worker import open_worker  # noqa: PLC0415 - heavy

    stop, over = Stop(), asyncio.Event()
    connections = Connections.server(settings)
    await refuse_unfit(connections, settings)
    async with open_worker(connections, settings):
        stop.watch(over.set, until_eof=options.until_eof)
        announce(options.ready_file)
        log.info("working")
        try:
            await over.wait()
        finally:
            stop.unwatch()
            if options.ready_file is not None:
                options.ready_file.unlink(missing_ok=True)
