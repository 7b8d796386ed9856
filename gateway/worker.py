"""What goes on beside the requests: in a gateway that works too, or in a process of its own.

Rules this module keeps:
- Background work (indexer, sealer, failed log-ins) is held in one group: nothing is dropped at the
  end, and a task that breaks ends the process rather than leave it running without.
- It stands on the parts alone: a worker loads no front and no guard, and takes a third less memory.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any

from core.indexer import Indexer
from gateway.audit.seal import Sealer
from gateway.parts import Connections, embedder_of, open_parts, warm
from gateway.server.watch import keep_prepared, tell_breaks
from gateway.settings import Settings

LAST_TASK_SECONDS = 5.0
"""What the indexer has begun gets so long to end when the gateway does."""

Beside = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
"""Work that goes on until the event is set."""


@contextlib.asynccontextmanager
async def open_worker(connections: Connections, settings: Settings) -> AsyncIterator[None]:
    """Index and seal for gateways that do not, until the block ends. Several share the work.

    Raises:
        Unavailable: a part does not answer.
    """
    async with contextlib.AsyncExitStack() as stack:
        model = embedder_of(settings)
        loaded = asyncio.create_task(warm(model))
        parts = await open_parts(connections, model, stack)
        sealer = await parts.sealer()
        beside: list[Beside] = [
            lambda stop: parts.writer.run(parts.seals, stop),
            lambda stop: tell_breaks(sealer, stop),
        ]
        if (server := parts.to_prepare) is not None:
            beside.append(lambda stop: keep_prepared(server, stop))
        await stack.enter_async_context(background(parts.indexer(), sealer, beside))
        await loaded
        yield


@contextlib.asynccontextmanager
async def background(
    indexer: Indexer | None, sealer: Sealer | None, beside: Sequence[Beside]
) -> AsyncIterator[None]:
    """Run what goes on beside the requests; ends it in order, the sealer last."""
    stop = asyncio.Event()
    stop_sealing = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        if sealer is not None:
            group.create_task(sealer.run(stop_sealing))
        try:
            async with asyncio.TaskGroup() as first:
                following = None if indexer is None else first.create_task(indexer.run())
                for work in beside:
                    first.create_task(work(stop))
                try:
                    yield
                finally:
                    stop.set()
                    if indexer is not None and following is not None:
                        indexer.stop()
                        await asyncio.wait({following}, timeout=LAST_TASK_SECONDS)
                        following.cancel()  # its tasks come back by themselves
        finally:
            stop_sealing.set()
