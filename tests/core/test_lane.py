"""A lane keeps its order, its bound and its promise to tell."""

import asyncio
import threading
from functools import partial

import pytest

from core.errors import Unavailable
from core.lane import Lane


async def test_lower_ranks_go_first_and_equal_ones_in_order_of_arrival():
    lane: Lane[None] = Lane("test")
    order: list[str] = []
    begun, go = threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        go.wait(30)

    async with asyncio.TaskGroup() as group:
        group.create_task(lane.run(9, first))
        await asyncio.to_thread(begun.wait, 30)
        for rank, name in [(2, "c"), (1, "a"), (2, "d"), (1, "b")]:
            group.create_task(lane.run(rank, partial(order.append, name)))
        await asyncio.sleep(0)
        go.set()
    assert order == ["a", "b", "c", "d"]
    lane.close()


async def test_beyond_its_bound_a_caller_is_told_at_once():
    lane: Lane[bool] = Lane("test", most_waiting=2)
    begun, go = threading.Event(), threading.Event()

    def wait() -> bool:
        begun.set()
        return go.wait(30)

    running = [asyncio.create_task(lane.run(0, wait))]
    await asyncio.to_thread(begun.wait, 30)
    running += [asyncio.create_task(lane.run(0, wait)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable):
        await lane.run(0, wait)
    go.set()
    assert await asyncio.gather(*running) == [True] * 3
    lane.close()


async def test_a_failure_goes_to_whoever_asked_and_the_lane_goes_on():
    lane: Lane[int] = Lane("test")
    with pytest.raises(ZeroDivisionError):
        await lane.run(0, lambda: 1 // 0)
    assert await lane.run(0, lambda: 7) == 7
    lane.close()


async def test_a_closed_lane_takes_nothing_more():
    lane: Lane[int] = Lane("test")
    assert await lane.run(0, lambda: 7) == 7
    lane.close()
    lane.close()
    lane._thread.join(30)
    assert not lane._thread.is_alive()
    with pytest.raises(Unavailable):
        await lane.run(0, lambda: 7)
