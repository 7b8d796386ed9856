"""What every scanner reads, and how a scanner fails.

Rules this module keeps:
- A scanner reads a `ScanText` and reports spans of the original text; it never reports text.
- A span of scan text maps to the smallest span of original code points that covers it.
- A scanner that cannot finish raises `ScanFailed`; the guard turns it into a refusal, never a pass.
- Time is that of `scan_clock`: a process that is busy with other things must not make the guard
  refuse.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from gateway.guard.scan_clock import scan_seconds

SECONDS_PER_BLOCK = 0.25
"""Processor time for each block begun."""

BLOCK_CHARACTERS = 8192


class ScanFailed(Exception):
    """A scanner could not judge the text: too large, too nested, or broken. The text is refused."""


class ScanTimeout(ScanFailed):
    """A scanner ran out of its time. The text is refused."""


class Deadline:
    """When the processor time of some work is used up.

    Args:
        characters: how much text there is to judge, in all its strings.
        timer: seconds of this thread's processor time; to be asked in the thread that works.
    """

    def __init__(self, characters: int, timer: Callable[[], float] = scan_seconds) -> None:
        self._timer = timer
        self._end = timer() + SECONDS_PER_BLOCK * (1 + characters // BLOCK_CHARACTERS)

    @property
    def passed(self) -> bool:
        """Whether the time is used up."""
        return self._timer() > self._end


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanText:
    """One reading of a text: its canonical form, or a layer decoded out of it.

    Args:
        text: what scanners match on.
        skeleton: `text` with look-alike letters folded to Latin, index for index.
        encoded: True for a decoded layer, whose spans cover the encoded original.
        starts, ends: for each index of `text` the original span it stands for; None when they are
            index and index + 1.
    """

    text: str
    skeleton: str
    encoded: bool = False
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the smallest span of the original that covers `text[start:end]`.

        Args:
            start, end: 0 <= start <= end <= len(text), end exclusive.

        Raises:
            IndexError: the span is not inside the text.
        """
        if not 0 <= start <= end <= len(self.text):
            raise IndexError("span outside the text")
        if self.starts is None or self.ends is None:
            return start, end
        if start == end:
            at = self.starts[start] if start < len(self.starts) else self._original_end()
            return at, at
        return min(self.starts[start:end]), max(self.ends[start:end])

    def _original_end(self) -> int:
        return self.ends[-1] if self.ends else 0

    def through(self, starts: Sequence[int], ends: Sequence[int]) -> Self:
        """Return this reading with its spans carried on through another map.

        Args:
            starts, ends: for each index of the text that this one was folded from, the original
                span it stands for.
        """
        if self.starts is not None and self.ends is not None:
            starts, ends = (
                tuple(starts[at] for at in self.starts),
                tuple(ends[at - 1] for at in self.ends),
            )
        return type(self)(
            text=self.text, skeleton=self.skeleton, encoded=True, starts=starts, ends=ends
        )
