r"""Two ways in which most numbers of people are told: by their shape, or by the word before them.

Rules this module keeps:
- `ShapedRecognizer`: a shape and a check of the whole number. Where one in ten numbers of that
  shape passes the check by chance, a word beside it is asked for as well.
- `AnnouncedRecognizer`: a value of no certain shape counts only right after the word that names it,
  with nothing between but "number", "is", 号码, 是, a colon and the like.
- What is announced as an order's number is none, whatever its check says.
- Shapes end at look-arounds for ASCII letters and digits, never at `\\b`: Chinese beside a number
  is the sentence.
"""

import re
from collections.abc import Callable, Iterator

from stdnum.exceptions import ValidationError
from typing_extensions import override

from gateway.guard.pii.context import is_order_number, said_around, words
from gateway.guard.pii.needles import needles
from gateway.guard.pii.recognizer import Recognizer, Span

SIX_DIGITS = r"[0-9](?:[ \t.·_/()A-Za-z-]{0,3}[0-9]){5}"
"""Sign of a number long enough to be a person's."""

FOUR_DIGITS = r"[0-9](?:[ \t.·_/()A-Za-z-]{0,5}[0-9]){3}"
"""Sign of one that a word before it announces."""

_SEPARATORS = re.compile(r"[ \t.·_/()-]+")
_GLUE = (
    r"(?:[ \t:#=,'\"“”‘’`()\[\]<>|*-]"
    r"|号码|号|账户|帐户|账号|帐号|是|为|為|叫|了|的|我|你|他|她|那个|就|现在"
    r"|(?<![a-z])(?:numbers?|no\.?|num|nr\.?|ids?|is|was|are|it'?s|card|code|of|for|with|ending|in"
    r"|on|details|like|account|my|his|her|their|the|new|old|holder|book|under)(?![a-z])){0,12}"
)


# After a Chinese word, before anything but a letter, or with the value glued on ("QQ318305342").
_WORD_ENDS = r"(?:(?<![a-z])|(?![a-z])|(?-i:(?=[A-Z]{0,3}[0-9])))"


class ShapedRecognizer(Recognizer):
    """Finds numbers of one shape.

    Args:
        kind: what it reports.
        shape: bounded pattern over canonical text; its group `number`, if any, is the finding.
        check: whether the number, without separators, is one; a python-stdnum `validate` will do:
            an exception of its means no.
        said: alternatives of the words that name the kind; matched whole, in any case.
        needs_word: count only beside one of `said`.
        sign: what every finding holds.
        any_case: whether the check is given capitals whatever was written.
        score: how sure it is.
    """

    def __init__(
        self,
        kind: str,
        shape: str,
        *,
        said: str,
        check: Callable[[str], object] | None = None,
        needs_word: bool = False,
        sign: str = SIX_DIGITS,
        any_case: bool = True,
        score: float = 0.8,
    ) -> None:
        super().__init__(kind, sign, said if needs_word else "")
        self._shape = re.compile(shape)
        self._said = words(said)
        self._said_needles = needles(said)
        self._glued = re.compile(
            rf"(?<![a-z])(?:{said})(?: ?(?:number|no|id))?(?=[a-z]{{0,6}} ?[0-9])", re.IGNORECASE
        )
        self._any_case = any_case
        self._check = check
        self._needs_word = needs_word
        self._score = score

    @override
    def find(self, text: str) -> Iterator[Span]:
        group = "number" if "number" in self._shape.groupindex else 0
        apart = self._set_apart(text)
        for match in self._shape.finditer(apart):
            start, end = match.span(group)
            if not self._passes(match[group]):
                continue
            said = apart[start - 1 : start] != text[start - 1 : start] or said_around(
                text, start, end, self._said
            )
            if said or not (self._needs_word or is_order_number(text, start, self._said)):
                yield Span(start, end, min(1.0, self._score + 0.1 * said))

    def _set_apart(self, text: str) -> str:
        """Return `text` with the names that a number is glued to blanked: "NRICS1234567D"."""
        lowered = text.lower()
        if not any(needle in lowered for needle in self._said_needles):
            return text
        return self._glued.sub(lambda match: " " * len(match.group()), text)

    def _passes(self, written: str) -> bool:
        if self._check is None:
            return True
        number = _SEPARATORS.sub("", written)
        try:
            return self._check(number.upper() if self._any_case else number) is not False
        except ValidationError:
            return False


class AnnouncedRecognizer(Recognizer):
    """Finds what stands right after the word that names it.

    Args:
        kind: what it reports.
        names: alternatives of the words, without boundaries; matched whole, in any case.
        value: pattern of the value, in any case.
        sign: what every value holds.
        score: how sure it is.
    """

    def __init__(
        self, kind: str, names: str, value: str, *, sign: str = FOUR_DIGITS, score: float = 0.95
    ) -> None:
        word = rf"(?<![A-Za-z])(?:{names})"
        super().__init__(kind, sign, names)
        self._pattern = re.compile(
            rf"{word}{_WORD_ENDS}{_GLUE}(?P<number>{value})(?![0-9a-z])", re.IGNORECASE
        )
        self._score = score

    @override
    def find(self, text: str) -> Iterator[Span]:
        for match in self._pattern.finditer(text):
            yield Span(*match.span("number"), self._score)
