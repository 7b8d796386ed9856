"""What the guard would do with each line of a long text, or with the text in pieces.

Rules this module keeps:
- Kinds, actions, counts and line numbers come out, and no part of the text.
- The text is read as it comes: what is held at once is one line or one piece of it.
- A piece is no longer than a memory may be. It begins with the end of the one before, so that what
  stands over a cut is seen; near a cut a finding may count twice.
- What no memory could hold ends the scan and is said by its line: nothing is skipped in silence.
"""

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TextIO

from core.errors import Invalid
from core.model import Redaction
from gateway.guard.guard import Guard
from gateway.guard.normalise import is_blank
from gateway.guard.policy import NOWHERE, TextContext

PIECE_CHARACTERS: Final = 32_768
"""As many as the content of a memory may have."""

OVERLAP_CHARACTERS: Final = 1024
"""How much of a piece the next one begins with: more than the longest value but a key in armour,
which is seen by its beginning."""


class Unreadable(Exception):
    """The text is none, or not in UTF-8. The message says where, not what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of the text: one line, or several.

    Args:
        first, last: numbers of its lines, from 1.
        size: in characters.
    """

    first: int
    last: int
    size: int
    rejected: bool
    findings: tuple[Redaction, ...]

    @property
    def changed(self) -> bool:
        """Whether it would be kept otherwise than it is written."""
        kept = {"allow", "observe", "expire"}
        return not self.rejected and any(one.action not in kept for one in self.findings)


def judged_lines(guard: Guard, source: TextIO, context: TextContext = NOWHERE) -> Iterator[Piece]:
    """Yield what would become of each line that shows something, each a memory of its own.

    Args:
        source: decodes strictly.
        context: where the memories would stand.

    Raises:
        Unreadable: not UTF-8, or a character that no text has.
    """
    yield from _judged(guard, ((at, at, line) for at, line in _lines(source)), context)


def judged_pieces(guard: Guard, source: TextIO, context: TextContext = NOWHERE) -> Iterator[Piece]:
    """Yield what would become of the text as a whole, in pieces as long as a memory may be.

    What reaches over several lines, such as a key in armour, is seen here and not line by line.

    Args, Raises: as `judged_lines`.
    """
    yield from _judged(guard, _pieces(_lines(source)), context)


def _judged(
    guard: Guard, pieces: Iterable[tuple[int, int, str]], context: TextContext
) -> Iterator[Piece]:
    for first, last, text in pieces:
        try:
            if is_blank(text):
                continue
            judged = guard.judge({"content": text}, context)
        except Invalid as err:
            where = f"line {first}" if first == last else f"lines {first} to {last}"
            raise Unreadable(f"{where}: {err.detail}") from None
        yield Piece(
            first=first,
            last=last,
            size=len(text),
            rejected=judged.checked is None,
            findings=judged.findings,
        )


def _pieces(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    held: deque[tuple[int, str]] = deque()
    size, fresh = 0, False
    for number, line in lines:
        if held and size + len(line) > PIECE_CHARACTERS:
            yield _joined(held)
            fresh = False
            while held and (size > OVERLAP_CHARACTERS or size + len(line) > PIECE_CHARACTERS):
                size -= len(held.popleft()[1])
        held.append((number, line))
        size, fresh = size + len(line), True
    if fresh:
        yield _joined(held)


def _joined(held: Sequence[tuple[int, str]]) -> tuple[int, int, str]:
    return held[0][0], held[-1][0], "".join(line for _, line in held)


def _lines(source: TextIO) -> Iterator[tuple[int, str]]:
    """Yield (number, line); of a line that is too long, parts with one number that overlap."""
    number, before = 1, ""
    while True:
        line: str | None = None
        with contextlib.suppress(UnicodeDecodeError):
            line = source.readline(PIECE_CHARACTERS - OVERLAP_CHARACTERS)
        if line is None:  # raised out here: the error of the decoder holds the bytes
            raise Unreadable(f"line {number} or one soon after it is not UTF-8")
        if not line:
            return
        if "\0" in line:
            raise Unreadable(f"line {number} holds U+0000: this is no text")
        yield number, before + line
        before = ""
        if line.endswith("\n"):
            number += 1
        else:
            before = line[-OVERLAP_CHARACTERS:]
