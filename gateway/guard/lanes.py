"""Where the guard works: short texts at once, others in threads beside the event loop.

Rules this module keeps:
- A text over `INLINE_CHARACTERS` never holds up the event loop: others are answered meanwhile.
- Threads are few, since they share one interpreter: more would only slow down the loop.
- Nobody who waits stands behind a long text unless theirs is long too.
- A tenant's first text goes before another tenant's second: whoever sends hundreds waits for its
  own, and the others wait for one of each.
- What waits is bounded, and whoever gave up waiting costs nothing; what could not be judged is
  refused, never passed.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from core.ids import TenantId
from core.lane import Lane

INLINE_CHARACTERS = 512
"""Up to here a text is judged at once: some 3 ms, and handing it over costs a part of that."""

LONG_CHARACTERS = 4096
"""Longer ones have a thread of their own: 20 ms and more each."""

T = TypeVar("T")


class GuardLanes:
    """Two threads that judge texts: one for those of some length, one for long ones.

    Args:
        most_waiting: texts that may wait for each thread.
    """

    def __init__(self, *, most_waiting: int = 4096) -> None:
        self._middle: Lane[Any] = Lane("guard-middle", most_waiting=most_waiting)
        self._long: Lane[Any] = Lane("guard-long", most_waiting=most_waiting)
        self._under_way: Counter[tuple[Lane[Any], TenantId | None]] = Counter()

    async def run(self, tenant: TenantId | None, characters: int, work: Callable[[], T]) -> T:
        """Return what `work` returns, here or in a thread.

        Args:
            tenant: whose text it is; None for the operator's.
            characters: how much text `work` judges.
            work: judges it; touches nothing that belongs to the event loop.

        Raises: Unavailable (too many wait, or the lanes are closed), and what `work` raises.
        """
        if characters <= INLINE_CHARACTERS:
            return work()
        lane = self._middle if characters <= LONG_CHARACTERS else self._long
        mine = lane, tenant
        self._under_way[mine] += 1
        try:
            made: T = await lane.run(self._under_way[mine], work)
            return made
        finally:
            self._under_way[mine] -= 1
            if not self._under_way[mine]:
                del self._under_way[mine]

    def close(self) -> None:
        """Let the threads end after what waits already."""
        self._middle.close()
        self._long.close()
