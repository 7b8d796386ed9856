"""Keeps what was read for each tenant, by its version, and reads each version once.

Rules this module keeps:
- A version never changes, so it may be kept between requests; what was replaced is asked for by
  nobody and goes.
- A bounded number of tenants is kept, and none that nobody has asked about for a while. Two that
  ask at once for one version wait for one reading of it.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from core.ids import TenantId

IDLE_SECONDS: Final = 900.0

T = TypeVar("T")


@dataclass(slots=True)
class _Kept(Generic[T]):
    version: str
    value: T
    used: float


class VersionCache(Generic[T]):
    """What is in force in each tenant.

    Args:
        clock: monotonic seconds.
        most: tenants kept at once.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, most: int) -> None:
        self._clock = clock
        self._most = most
        self._kept: OrderedDict[TenantId, _Kept[T]] = OrderedDict()
        self._reading: dict[tuple[TenantId, str], asyncio.Task[T]] = {}

    def __len__(self) -> int:
        """How many tenants are kept."""
        return len(self._kept)

    async def get(
        self, tenant: TenantId, version: str, read: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        """Return what is of `version` in `tenant`.

        Args:
            read: reads it; called where it is not kept. What it raises is kept nowhere.
        """
        kept = self._kept.get(tenant)
        if kept is not None and kept.version == version:
            kept.used = self._clock()
            self._kept.move_to_end(tenant)
            return kept.value
        reading = self._reading.get((tenant, version))
        if reading is None:
            reading = asyncio.create_task(self._read(tenant, version, read))
            self._reading[tenant, version] = reading
            reading.add_done_callback(lambda _: self._reading.pop((tenant, version)))
            reading.add_done_callback(_heard)
        # Whoever began it may hang up; the others still wait for it.
        return await asyncio.shield(reading)

    def keep(self, tenant: TenantId, version: str, value: T) -> None:
        """Keep what was read, and let go of what is one too many or has been idle."""
        now = self._clock()
        self._kept[tenant] = _Kept(version, value, now)
        self._kept.move_to_end(tenant)
        while self._kept:
            eldest = next(iter(self._kept.values()))
            if len(self._kept) <= self._most and eldest.used > now - IDLE_SECONDS:
                break
            self._kept.popitem(last=False)

    async def _read(
        self, tenant: TenantId, version: str, read: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        value = await read()
        self.keep(tenant, version, value)
        return value


def _heard(reading: "asyncio.Task[Any]") -> None:
    """Take note of how it ended, should everybody who waited have left."""
    if not reading.cancelled():
        reading.exception()
