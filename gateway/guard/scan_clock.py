"""The clock of a scan's budget: processor time of the thread that scans, less what is not its work.

Rules this module keeps:
- A machine that is busy with other things must not make the guard refuse: time is processor time.
- A full collection of garbage is not counted. It walks all objects of the process, and falls to
  whichever thread allocates next: in a large process that alone is more than a budget, and a short
  text would be refused for what others hold.
- A text cannot hide its own work there: how often there is a full collection is bounded by what was
  allocated, since Python waits until a quarter more objects have survived.
"""

import gc
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

_FULL: Final = 2
"""The oldest generation; the younger ones hold only what was made just now."""


class _Collected(threading.local):
    began = 0.0
    seconds = 0.0


_collected = _Collected()


def scan_seconds() -> float:
    """Return seconds of this thread's processor time without its full collections of garbage.

    Only the difference of two answers in one thread means anything.
    """
    return time.thread_time() - _collected.seconds


def _collecting(phase: str, info: Mapping[str, Any]) -> None:
    # Called by the collector in the thread that collects, before and after.
    if info["generation"] < _FULL:
        return
    if phase == "start":
        _collected.began = time.thread_time()
    else:
        _collected.seconds += time.thread_time() - _collected.began


gc.callbacks.append(_collecting)
