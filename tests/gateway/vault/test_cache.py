import asyncio
import gc

import pytest

from core.errors import Unavailable
from gateway.vault.cache import KeyCache


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Source:
    """Answers when told to, and counts how often it was asked."""

    def __init__(self, value: object = "value") -> None:
        self.value = value
        self.asked = 0
        self.began = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self) -> object:
        self.asked += 1
        self.began.set()
        await self.open.wait()
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> KeyCache[str, object]:
    return KeyCache(ttl_seconds=300, size=2, monotonic=clock)


async def test_an_entry_lives_its_time_however_often_it_is_used(cache, clock):
    source = Source()
    for now in (0, 100, 200, 299.9):
        clock.now = now
        assert await cache.get("a", source) == "value"
    assert source.asked == 1
    clock.now = 300
    await cache.get("a", source)
    assert source.asked == 2


async def test_time_counts_from_before_the_load(cache, clock):
    source = Source()
    source.open.clear()
    first = asyncio.create_task(cache.get("a", source))
    await source.began.wait()
    clock.now = 299
    source.open.set()
    await first
    clock.now = 301
    await cache.get("a", source)
    assert source.asked == 2


async def test_the_one_unused_for_longest_goes_first(cache):
    sources = {name: Source(name) for name in "abc"}
    for name in ("a", "b", "a", "c", "a"):
        assert await cache.get(name, sources[name]) == name
    assert len(cache) == 2
    await cache.get("b", sources["b"])
    assert [sources[name].asked for name in "abc"] == [1, 2, 1]


async def test_an_entry_goes_by_itself():
    cache: KeyCache[str, object] = KeyCache(ttl_seconds=0.02, size=2, monotonic=lambda: 0.0)
    await cache.get("a", Source())
    async with asyncio.timeout(5):
        while len(cache):  # noqa: ASYNC110 - the timer tells nobody that it went
            await asyncio.sleep(0)


async def test_an_old_timer_does_not_end_a_fresh_entry(cache):
    await cache.get("a", Source())
    old = cache._entries["a"]
    cache.drop("a")
    await cache.get("a", Source())
    cache._expire("a", old)
    assert len(cache) == 1


async def test_misses_at_once_make_one_load(cache):
    source = Source()
    source.open.clear()
    asked = [asyncio.create_task(cache.get("a", source)) for _ in range(50)]
    await source.began.wait()
    source.open.set()
    assert await asyncio.gather(*asked) == ["value"] * 50
    assert source.asked == 1


async def test_a_caller_that_gives_up_does_not_end_the_load_for_others(cache):
    source = Source()
    source.open.clear()
    gone, stays = (asyncio.create_task(cache.get("a", source)) for _ in range(2))
    await source.began.wait()
    gone.cancel()
    await asyncio.wait([gone])
    source.open.set()
    assert await stays == "value"
    assert source.asked == 1


async def test_a_failure_reaches_all_who_wait_and_is_not_remembered(cache):
    source = Source(Unavailable())
    told = await asyncio.gather(*(cache.get("a", source) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(one, Unavailable) for one in told)
    source.value = "back"
    assert await cache.get("a", source) == "back"


async def test_a_failure_that_nobody_waits_for_is_not_reported_as_lost(cache):
    source = Source(Unavailable())
    source.open.clear()
    gone = asyncio.create_task(cache.get("a", source))
    await source.began.wait()
    lost: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: lost.append(context))
    gone.cancel()
    await asyncio.wait([gone])
    loading = cache._loads["a"]
    source.open.set()
    await asyncio.wait([loading])
    del loading
    gc.collect()
    assert lost == []


async def test_that_there_is_none_is_not_remembered(cache):
    source = Source(None)
    for _ in range(3):
        assert await cache.get("a", source) is None
    assert source.asked == 3
    assert len(cache) == 0


async def test_a_load_that_is_cancelled_is_forgotten(cache):
    source = Source()
    source.open.clear()
    waits = asyncio.create_task(cache.get("a", source))
    await source.began.wait()
    cache._loads["a"].cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    source.open.set()
    assert await cache.get("a", source) == "value"


async def test_what_is_loading_while_its_key_is_dropped_is_not_kept(cache):
    source = Source()
    source.open.clear()
    first = asyncio.create_task(cache.get("a", source))
    await source.began.wait()
    cache.drop("a")
    source.open.set()
    assert await first == "value"
    assert len(cache) == 0
    await cache.get("a", source)
    assert source.asked == 2
