"""A short memory for unwrapped keys.

Rules this module keeps:
- An entry lives at most its time to live, on the monotonic clock, however often it is used; unused
  it goes by itself.
- At most `size` entries; the one unused for longest goes first.
- Concurrent misses of one key make one load; a caller that gives up does not end it for the others.
- A failed load is not remembered, and neither is "there is none".
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class KeyCache(Generic[K, V]):
    """Loaded values by key; for one event loop.

    Args:
        ttl_seconds: how long an entry lives.
        size: how many there may be.
        monotonic: seconds, never going back.
    """

    def __init__(self, *, ttl_seconds: float, size: int, monotonic: Callable[[], float]) -> None:
        self._ttl = ttl_seconds
        self._size = size
        self._monotonic = monotonic
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._loads: dict[K, asyncio.Task[V | None]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    async def get(self, key: K, load: Callable[[], Awaitable[V | None]]) -> V | None:
        """Return the living entry, or what `load` returns; None is passed on, not kept."""
        found = self._entries.get(key)
        if found is not None and self._monotonic() < found[0]:
            self._entries.move_to_end(key)
            return found[1]
        self._entries.pop(key, None)
        task = self._loads.get(key)
        if task is None:
            task = asyncio.ensure_future(self._load(key, load))
            self._loads[key] = task
            task.add_done_callback(_heard)
        return await asyncio.shield(task)

    def drop(self, key: K) -> None:
        """Forget one entry; what is being loaded is not kept either."""
        self._entries.pop(key, None)
        self._loads.pop(key, None)

    def drop_all(self, goes: Callable[[K], bool]) -> None:
        """Forget every entry whose key `goes`; what is being loaded is not kept either."""
        for key in [key for key in (*self._entries, *self._loads) if goes(key)]:
            self.drop(key)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()

    async def _load(self, key: K, load: Callable[[], Awaitable[V | None]]) -> V | None:
        # Counted from before the load: what is read may be destroyed while it travels.
        began = self._monotonic()
        try:
            value = await load()
            if value is not None and self._loads.get(key) is asyncio.current_task():
                self._keep(key, value, began)
            return value
        finally:
            if self._loads.get(key) is asyncio.current_task():  # else it was dropped meanwhile
                del self._loads[key]

    def _keep(self, key: K, value: V, since: float) -> None:
        entry = (since + self._ttl, value)
        self._entries[key] = entry
        self._entries.move_to_end(key)
        asyncio.get_running_loop().call_later(self._ttl, self._expire, key, entry)
        while len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def _expire(self, key: K, entry: tuple[float, V]) -> None:
        if self._entries.get(key) is entry:
            del self._entries[key]


def _heard(task: asyncio.Task[V | None]) -> None:
    """Take a failure that nobody waits for any more, so that it is not reported as lost."""
    if not task.cancelled():
        task.exception()
