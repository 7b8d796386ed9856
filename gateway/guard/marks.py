"""Marks: placeholders of one request, before their person's key gives them words.

Rules this module keeps:
- A mark's word is drawn at random for one request, after its texts came in: nothing that was typed
  can be one.
- Equal values are equal in their canonical form, however they are spelled: full-width, broken up,
  in Chinese numerals, with the country or without.
- What a mark took the place of is kept to the character, marks that it swallowed undone.
- A text made to look like a placeholder is none, and is not left looking like one.
"""

import re
from collections.abc import Iterator
from secrets import token_bytes

from core.placeholders import (
    LETTERS,
    TOKEN_BYTES,
    Mark,
    Marks,
    placeholder,
    replaced,
    spans_in,
    word_of,
)
from gateway.guard.kinds import IDENTIFIERS
from gateway.guard.normalise import Normalised, canonical_text, fold

_AS_WRITTEN = frozenset({"ALIPAY_ID", "CRYPTO_WALLET", "EMAIL_ADDRESS", "IP_ADDRESS", "WECHAT_ID"})
"""Identifiers in which a dot or a dash counts; in all others letters and digits do."""

_NUMERALS = str.maketrans(
    "零〇○一二三四五六七八九幺两壹贰叁肆伍陆柒捌玖", "00012345678912123456789"
)
_OF_CHINA = re.compile(r"(?:00)?86(?=1[3-9][0-9]{9}\Z)")
_ALIKE = re.compile(
    rf"\[\s?\w{{1,64}}\s{{1,3}}p\s?-\s?[{LETTERS}]{{{2 * TOKEN_BYTES}}}\s?\]", re.IGNORECASE
)


class Marker:
    """Puts marks in the texts of one request, and remembers what they stand for."""

    def __init__(self) -> None:
        self._marks: dict[str, Mark] = {}
        self._words: dict[Mark, str] = {}

    @property
    def marks(self) -> Marks:
        """Every mark that was put."""
        return self._marks

    def put(self, kind: str, value: str, spelling: str) -> str:
        """Return the placeholder that stands for `spelling`.

        Args:
            value: what was found.
            spelling: what the placeholder takes the place of: `value`, and what overlapped it.
        """
        value, spelling = self._undone(value), self._undone(spelling)
        mark = Mark(kind=kind, canonical=canonical(kind, value), value=value, spelling=spelling)
        word = self._words.get(mark)
        if word is None:
            word = self._words[mark] = word_of(token_bytes(TOKEN_BYTES))
            self._marks[word] = mark
        return placeholder(kind, word)

    def _undone(self, text: str) -> str:
        def undo(kind: str, word: str) -> str:
            mark = self._marks.get(word)
            return placeholder(kind, word) if mark is None else mark.spelling

        return replaced(text, undo)


def canonical(kind: str, value: str) -> str:
    """Return the form in which two spellings of one value of `kind` are equal."""
    if kind == "CRYPTO_WALLET":  # its letters' case is part of it
        return "".join(fold(value).text.split())
    written = canonical_text(value)
    if kind not in IDENTIFIERS or kind in _AS_WRITTEN:
        return written
    bare = "".join(char for char in written.translate(_NUMERALS) if char.isalnum())
    return _OF_CHINA.sub("", bare) if kind == "PHONE_NUMBER" else bare


def lookalikes(normalised: Normalised) -> Iterator[tuple[int, int]]:
    """Yield the original spans that a reader would take for a placeholder, and that are none."""
    read = normalised.layers[0].skeleton
    if "[" not in read:
        return
    exact = spans_in(normalised.original)
    for found in _ALIKE.finditer(read):
        start, end = normalised.span(found.start(), found.end())
        # A mark that combines with the bracket makes the span longer than the placeholder.
        if not any(start <= one[0] and one[1] <= end for one in exact):
            yield start, end
