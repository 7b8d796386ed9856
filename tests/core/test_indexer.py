"""The worker that makes the index follow the record."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from typing_extensions import override

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
    assert not indexer.rebuilding
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


class LostIndex:
    async def empty(self) -> bool:
        return True


class FullOutbox(EmptyOutbox):
    """A record with memories, whose tasks wait until `waiting` is set to nothing."""

    waiting = 3

    @override
    async def pending(self) -> int:
        return self.waiting

    @override
    async def requeue_all(self) -> int:
        return self.waiting


async def test_a_rebuild_is_said_until_the_last_memory_is_back() -> None:
    outbox = FullOutbox()
    indexer = idle_indexer(outbox)
    indexer._index = cast("Any", LostIndex())
    running = asyncio.create_task(indexer.run())
    await ticks(50)
    said = [indexer.rebuilding]
    outbox.waiting = 0
    indexer.wake()
    await ticks(50)
    said.append(indexer.rebuilding)
    assert said == [True, False]
    indexer.stop()
    await running
