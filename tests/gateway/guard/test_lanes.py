"""Where the guard works, and who waits for whom."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from core.errors import Unavailable
from core.ids import TenantId, new_uuid
from gateway.guard.fields import characters_of
from gateway.guard.lanes import INLINE_CHARACTERS, LONG_CHARACTERS, GuardLanes

ONE, OTHER, THIRD = (TenantId(new_uuid()) for _ in range(3))
SHORT, MIDDLE, LONG = INLINE_CHARACTERS, LONG_CHARACTERS, LONG_CHARACTERS + 1


@pytest.fixture
def lanes() -> Iterator[GuardLanes]:
    made = GuardLanes(most_waiting=4)
    yield made
    made.close()


class Blocked:
    """Keeps a thread busy until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.begun.set()
        assert self.go.wait(30)

    async def under_way(self) -> None:
        assert await asyncio.to_thread(self.begun.wait, 30)


@pytest.mark.parametrize(
    ("characters", "thread"),
    [(SHORT, "MainThread"), (SHORT + 1, "guard-middle"), (MIDDLE, "guard-middle"),
     (LONG, "guard-long")],
)  # fmt: skip
async def test_only_what_is_short_is_judged_on_the_loop(
    lanes: GuardLanes, characters: int, thread: str
) -> None:
    assert await lanes.run(ONE, characters, lambda: threading.current_thread().name) == thread


async def test_what_is_short_passes_those_that_wait_and_so_does_a_text_of_some_length(
    lanes: GuardLanes,
) -> None:
    blocked = Blocked()
    long = asyncio.create_task(lanes.run(ONE, LONG, blocked))
    await blocked.under_way()
    assert await lanes.run(ONE, SHORT, lambda: "short") == "short"
    assert await lanes.run(ONE, MIDDLE, lambda: "middle") == "middle"
    assert not long.done()
    blocked.go.set()
    await long


async def test_a_tenants_first_text_goes_before_anothers_second(lanes: GuardLanes) -> None:
    blocked = Blocked()
    order: list[str] = []
    async with asyncio.TaskGroup() as group:
        group.create_task(lanes.run(ONE, LONG, blocked))
        await blocked.under_way()
        waiting: list[tuple[TenantId, str]] = [
            (ONE, "one's second"), (ONE, "one's third"), (OTHER, "other's first"),
            (THIRD, "third's first"),
        ]  # fmt: skip
        for tenant, name in waiting:
            group.create_task(lanes.run(tenant, LONG, partial(order.append, name)))
            await asyncio.sleep(0)
        blocked.go.set()
    assert order == ["other's first", "third's first", "one's second", "one's third"]


async def test_who_has_been_served_is_first_again(lanes: GuardLanes) -> None:
    for _ in range(3):
        await lanes.run(ONE, LONG, lambda: None)
    assert lanes._under_way == {}


async def test_too_many_are_told_so_and_never_pass_unjudged(lanes: GuardLanes) -> None:
    blocked = Blocked()
    tasks = [asyncio.create_task(lanes.run(ONE, LONG, blocked))]
    await blocked.under_way()
    tasks += [asyncio.create_task(lanes.run(ONE, LONG, lambda: None)) for _ in range(4)]
    await asyncio.sleep(0)
    judged: list[bool] = []
    with pytest.raises(Unavailable):
        await lanes.run(OTHER, LONG, lambda: judged.append(True))
    assert judged == []
    blocked.go.set()
    await asyncio.gather(*tasks)
    lanes.close()
    with pytest.raises(Unavailable):
        await lanes.run(ONE, LONG, lambda: None)


async def test_who_gave_up_waiting_is_not_judged(lanes: GuardLanes) -> None:
    blocked = Blocked()
    judged: list[str] = []
    first = asyncio.create_task(lanes.run(ONE, LONG, blocked))
    await blocked.under_way()
    gone = asyncio.create_task(lanes.run(ONE, LONG, partial(judged.append, "gone")))
    stays = asyncio.create_task(lanes.run(ONE, LONG, partial(judged.append, "stays")))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([gone])
    blocked.go.set()
    await asyncio.gather(first, stays)
    assert judged == ["stays"]


@pytest.mark.parametrize("characters", [SHORT, LONG])
async def test_what_the_guard_raises_reaches_whoever_asked(
    lanes: GuardLanes, characters: int
) -> None:
    def refuse() -> None:
        raise LookupError

    failing: Callable[[], None] = refuse
    with pytest.raises(LookupError):
        await lanes.run(ONE, characters, failing)


@pytest.mark.parametrize(
    ("value", "characters"),
    [("x" * 100, 100), ("", 32), (["a", "b"], 64), ({"key": "value"}, 64), ([1, 2.5, True], 96),
     ([None, None], 0), ({"a": [{"b": "x" * 50}]}, 114)],
)  # fmt: skip
def test_every_string_counts_and_a_short_one_for_its_least(value: object, characters: int) -> None:
    assert characters_of(value) == characters


def test_nothing_is_too_deep_to_count() -> None:
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    assert characters_of(deep) == 32
