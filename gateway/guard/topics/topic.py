r"""How a topic is told: a word or phrase that is about it, with a person beside it.

Rules this module keeps:
- A cue is found first, and it is rare; only then is what stands around it in the same clause read.
- A clause ends at a full stop, a question or exclamation mark, a semicolon or a line's end.
- Patterns are bounded and a clause is read for so many characters only, so time is linear.
- Letters end words only against ASCII letters: Chinese is written without spaces.
- What is tried on a text is decided by plain substrings (`gateway.guard.pii.needles`), and which of
  them may be there by the sets of its runs of one, two and three characters: looking for a
  thousand substrings one by one would cost more than all that the guard does besides.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from gateway.guard.pii.needles import needles

REACH = 60
"""So many characters before and after a cue are read for what belongs to it."""

_END = re.compile(r"[!?;\n。！？；…]|\.(?=\s|$)")
_SCORE = 0.6
_LONGEST_RUN = 3


class Span(NamedTuple):
    """A finding in the scanned text: `[start, end)` and a score in (0, 1].

    Not the recognizers' own: importing theirs would load Presidio.
    """

    start: int
    end: int
    score: float = _SCORE


class Reading:
    """A text as topics read it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lowered = text.lower()

    @cached_property
    def _ends(self) -> list[int]:
        return [match.start() for match in _END.finditer(self.text)]

    def runs(self, length: int) -> frozenset[str]:
        """Return every run of `length` characters, in lower case."""
        text = self.lowered
        return frozenset([text[at : at + length] for at in range(len(text) - length + 1)])

    def before(self, start: int) -> str:
        """Return what the clause says before `start`."""
        at = bisect_left(self._ends, start)
        begin = self._ends[at - 1] + 1 if at else 0
        return self.text[max(begin, start - REACH) : start]

    def after(self, end: int) -> str:
        """Return what the clause says from `end` on."""
        at = bisect_left(self._ends, end)
        stop = self._ends[at] if at < len(self._ends) else len(self.text)
        return self.text[end : min(stop, end + REACH)]


class Cue:
    """One way in which a topic is told.

    Args:
        pattern: bounded, over canonical text, in any case; the finding.
        before: what the clause must say right before the cue, or anywhere before it, as the pattern
            is anchored (`$`); None asks nothing.
        around: what the clause must say before or behind the cue, or in it.
        unless: what it must not say anywhere.
        wanted: substrings, in lower case, of which a text with this cue holds one; drawn from
            `pattern` when left out.
        exact: capitals and small letters of `pattern` differ.
    """

    def __init__(
        self,
        pattern: str,
        *,
        before: str | None = None,
        around: str | None = None,
        unless: str | None = None,
        wanted: Sequence[str] | None = None,
        exact: bool = False,
    ) -> None:
        self.needles = needles(_unwrapped(pattern)) if wanted is None else tuple(wanted)
        if not self.needles:
            raise ValueError("a cue that any text may hold would be tried on every text")
        self._pattern = re.compile(pattern, 0 if exact else re.IGNORECASE)
        self._before = _compiled(before)
        self._around = _compiled(around)
        self._unless = _compiled(unless)

    def find(self, reading: Reading) -> Iterator[Span]:
        """Yield what is found."""
        for match in self._pattern.finditer(reading.text):
            start, end = match.span()
            before = reading.before(start)
            if self._before is not None and self._before.search(before) is None:
                continue
            if self._around is not None or self._unless is not None:
                clause = f"{before}{match.group()}{reading.after(end)}"
                if self._around is not None and self._around.search(clause) is None:
                    continue
                if self._unless is not None and self._unless.search(clause) is not None:
                    continue
            yield Span(start, end)


class Topic:
    """A kind of which a text may speak, and the cues that tell it.

    Args:
        kind: what it reports.
        cues: any of them tells it.
    """

    def __init__(self, kind: str, cues: Sequence[Cue]) -> None:
        self.kind = kind
        self.cues = tuple(cues)


class Topics:
    """Several topics, looked for together.

    Args:
        every: one a kind.
    """

    def __init__(self, every: Sequence[Topic]) -> None:
        self._cues = tuple((topic.kind, cue) for topic in every for cue in topic.cues)
        asked: dict[int, dict[str, dict[str, list[int]]]] = {
            length: defaultdict(lambda: defaultdict(list)) for length in range(1, _LONGEST_RUN + 1)
        }
        for at, (_, cue) in enumerate(self._cues):
            for needle in cue.needles:
                length = min(len(needle), _LONGEST_RUN)
                asked[length][needle[:length]][needle].append(at)
        self._asked = {
            length: {run: dict(wanted) for run, wanted in runs.items()}
            for length, runs in asked.items()
        }

    def find(self, text: str) -> Iterator[tuple[str, Span]]:
        """Yield a kind and a place for each cue in canonical `text`."""
        reading = Reading(text)
        for at in sorted(self._worth_trying(reading)):
            kind, cue = self._cues[at]
            for span in cue.find(reading):
                yield kind, span

    def _worth_trying(self, reading: Reading) -> set[int]:
        tried: set[int] = set()
        for length, runs in self._asked.items():
            for run in reading.runs(length) & runs.keys():
                for needle, cues in runs[run].items():
                    if len(needle) == length or needle in reading.lowered:
                        tried.update(cues)
        return tried


_WHOLE = "(?<![a-z])(?:", ")(?![a-z])"


def whole(alternatives: str) -> str:
    """Return a pattern for whole words; a Chinese word needs no boundary."""
    return alternatives.join(_WHOLE)


def _unwrapped(pattern: str) -> str:
    """Return the alternatives of a pattern that is `whole` of them; any other as it is."""
    begin, end = _WHOLE
    inside = pattern.removeprefix(begin).removesuffix(end)
    return inside if len(inside) == len(pattern) - len(begin) - len(end) else pattern


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(pattern, re.IGNORECASE)
