"""Which events may be sealed now: those whose writer left no hole before them.

Rules this module keeps:
- A writer's numbers are taken in order. What follows a hole waits for it, since the transaction
  that has the missing number may still commit.
- A hole that stays is declared a gap, with its bounds, and what follows goes on.
- A number below the cursor is a transaction that took longer than the patience: it is taken.
- Only differences of this process's own monotonic clock are used; nobody can set it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from core.ids import WriterId
from core.ports import SignedEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Numbers of a writer that never came, both ends included."""

    writer: WriterId
    first: int
    last: int


@dataclass(slots=True)
class Arrived:
    """What may be sealed, how far each writer has come, and what never came."""

    ready: list[SignedEvent] = field(default_factory=list)
    cursors: dict[WriterId, int] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)


class Arrivals:
    """Remembers since when each hole has been waited for.

    Args:
        patience_seconds: how long.
        monotonic: seconds.
    """

    def __init__(self, *, patience_seconds: float, monotonic: Callable[[], float]) -> None:
        self._patience = patience_seconds
        self._monotonic = monotonic
        self._since: dict[tuple[WriterId, int], float] = {}

    def judge(self, rows: Iterable[SignedEvent], cursors: Mapping[WriterId, int]) -> Arrived:
        """Return what of `rows` may be sealed.

        Args:
            rows: genuine and unsealed, any order; of each writer its lowest numbers.
            cursors: how far each writer had come before.
        """
        by_writer: dict[WriterId, list[SignedEvent]] = defaultdict(list)
        for row in rows:
            by_writer[row.writer].append(row)
        arrived, now, holes = Arrived(), self._monotonic(), dict[tuple[WriterId, int], float]()
        for writer, own in by_writer.items():
            cursor = start = cursors.get(writer, 0)
            for row in sorted(own, key=lambda one: one.number):
                if row.number > cursor + 1:
                    hole = (writer, cursor + 1)
                    since = holes[hole] = self._since.get(hole, now)
                    if now - since < self._patience:
                        break
                    arrived.gaps.append(Gap(writer=writer, first=cursor + 1, last=row.number - 1))
                cursor = max(cursor, row.number)
                arrived.ready.append(row)
            if cursor > start:
                arrived.cursors[writer] = cursor
        self._since = holes
        return arrived
