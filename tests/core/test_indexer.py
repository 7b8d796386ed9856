"""The worker that makes the index follow the record."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from core.indexer import Indexer
from core.ports import IndexTask


class EmptyOutbox:
    """An outbox with nothing in it, which counts how often it is asked."""

    def __init__(self) -> None:
        self.leases = 0

    async def lease(self, limit: int, seconds: int) -> list[IndexTask]:
        self.leases += 1
        await asyncio.sleep(0)
        return []

    async def done(self, tasks: Sequence[IndexTask]) -> None:
        raise AssertionError("nothing was taken")

    async def pending(self) -> int:
        return 0

    async def requeue_all(self) -> int:
        raise AssertionError("the index is not empty")


class FullIndex:
    async def empty(self) -> bool:
        return False


def idle_indexer(outbox: EmptyOutbox) -> Indexer:
    unused = cast("Any", None)
    return Indexer(
        outbox=outbox,
        store=unused,
        index=cast("Any", FullIndex()),
        keyring=unused,
        embedder=unused,
        mint=unused,
    )


async def ticks(number: int) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_an_indexer_that_was_woken_looks_once_and_rests() -> None:
    outbox = EmptyOutbox()
    indexer = idle_indexer(outbox)
    running = asyncio.create_task(indexer.run())
    await ticks(50)
    assert outbox.leases == 1
    indexer.wake()
    await ticks(50)
    assert outbox.leases == 2
    assert indexer.pending == 0
    indexer.stop()
    await running


async def test_a_wake_that_comes_while_it_looks_is_not_lost() -> None:
    outbox = EmptyOutbox()
    indexer = idle_indexer(outbox)
    running = asyncio.create_task(indexer.run())
    while outbox.leases == 0:  # noqa: ASYNC110 - the look itself is what is waited for
        await asyncio.sleep(0)
    indexer.wake()  # between its look and its rest
    await ticks(50)
    assert outbox.leases == 2
    indexer.stop()
    await running
