"""One thread for work that keeps a core busy, and an order of who goes first.

Rules this module keeps:
- One job at a time: a job in progress cannot be stopped, so it must be short.
- Whoever has given up waiting costs nothing: a cancelled job that has not begun is skipped.
- What waits is bounded; beyond that a caller is told at once.
"""

import asyncio
import itertools
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from core.errors import Unavailable

T = TypeVar("T")
_Job = tuple[int, int, Callable[[], T] | None, "Future[T]"]
_LAST = 2**31


class Lane(Generic[T]):
    """Runs jobs of one kind in one daemon thread, lowest rank first, then in order of arrival.

    Args:
        name: of the thread.
        most_waiting: jobs that may wait.
    """

    def __init__(self, name: str, *, most_waiting: int = 4096) -> None:
        self._jobs: queue.PriorityQueue[_Job[T]] = queue.PriorityQueue(most_waiting)
        self._arrivals = itertools.count()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._beginning = threading.Lock()
        self._begun = self._closed = False

    async def run(self, rank: int, job: Callable[[], T]) -> T:
        """Return what `job` returns, once it is its turn.

        Raises: Unavailable (too many wait, or the lane is closed), and what `job` raises.
        """
        with self._beginning:
            if self._closed:
                raise Unavailable
            if not self._begun:
                self._thread.start()
                self._begun = True
        future: Future[T] = Future()
        try:
            self._jobs.put_nowait((rank, next(self._arrivals), job, future))
        except queue.Full as err:
            raise Unavailable from err
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Let the thread end after what waits already."""
        with self._beginning:
            ending = self._begun and not self._closed
            self._closed = True
        if ending:
            self._jobs.put((_LAST, next(self._arrivals), None, Future()))

    def _work(self) -> None:
        while True:
            _, _, job, future = self._jobs.get()
            if job is None:
                return
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(job())
            except Exception as err:  # noqa: BLE001 - belongs to whoever waits for it
                future.set_exception(err)
