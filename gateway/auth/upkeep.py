"""What is written of API keys after they proved somebody: when, and under a newer pepper.

Rules this module keeps:
- Nothing of it is done while a caller waits, and a failure of it fails no call: what could not be
  written waits in memory, is tried again, and is lost with the process alone.
- Times are the database's, to the minute; the notes hold readings of a monotonic clock.
- No secret is held, only its MAC under the newest pepper.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Protocol

from core.errors import GatewayError
from core.ids import KeyId
from core.ports import Directory
from gateway.auth.keys import Renewed

WRITE_SECONDS = 30.0
MOST_NOTES = 100_000
"""Keys that are noted between two writes; those beyond it go without a note."""


class Refreshing(Protocol):
    """Peppers that follow what other processes make."""

    async def refresh(self) -> None:
        """Look for newer versions. Raises: Unavailable."""
        ...


class Upkeep:
    """Notes uses of keys, and writes them down in batches. Belongs to one event loop.

    Args:
        directory: keeps what is noted.
        now: the database's time.
        peppers: looked after on the way.
        monotonic: seconds; only differences are used.
    """

    def __init__(
        self,
        directory: Directory,
        now: Callable[[], Awaitable[datetime]],
        peppers: Refreshing,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._directory = directory
        self._now = now
        self._peppers = peppers
        self._monotonic = monotonic
        self._used: dict[KeyId, float] = {}
        self._written: dict[KeyId, datetime] = {}
        self._renewed: dict[KeyId, Renewed] = {}
        self._writing = asyncio.Lock()

    def note(self, key: KeyId, renewed: Renewed | None) -> None:
        """Note that `key` proved somebody just now, and its secret under the newest pepper if due.

        Never blocks, never fails.
        """
        if key in self._used or len(self._used) < MOST_NOTES:
            self._used[key] = self._monotonic()
            if renewed is not None:
                self._renewed[key] = renewed

    async def flush(self) -> None:
        """Write down what is noted.

        Raises:
            Unavailable: the directory does not answer; what was not written waits.
        """
        async with self._writing:
            await self._write_renewed()
            await self._write_used()

    async def run(self, stop: asyncio.Event, *, seconds: float = WRITE_SECONDS) -> None:
        """Flush every `seconds` until `stop` is set, and once more at the end."""
        while True:
            stopping = stop.is_set()
            with contextlib.suppress(GatewayError):  # it waits and is tried again
                await self.flush()
            if stopping:
                return
            with contextlib.suppress(GatewayError):  # until then the ones known go on proving
                await self._peppers.refresh()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), seconds)

    async def _write_renewed(self) -> None:
        for key, renewed in list(self._renewed.items()):
            # False means that it has another secret by now: nothing is left to do.
            await self._directory.rehash_key(
                key, renewed.old_mac, renewed.new_mac, renewed.pepper_version
            )
            self._renewed.pop(key, None)

    async def _write_used(self) -> None:
        if not self._used:
            return
        noted = dict(self._used)
        now, reading = await self._now(), self._monotonic()
        minutes = {
            key: (now - timedelta(seconds=max(0.0, reading - at))).replace(second=0, microsecond=0)
            for key, at in noted.items()
        }
        # Of a key in constant use one note a minute is enough.
        news = {key: at for key, at in minutes.items() if self._written.get(key) != at}
        if news:
            await self._directory.key_used(news)
        self._written = minutes
        for key, at in noted.items():
            if self._used.get(key) == at:  # else used again while this was being written
                del self._used[key]
