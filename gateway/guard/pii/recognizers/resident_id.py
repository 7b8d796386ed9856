"""Resident identity numbers of China, and the residence permits of the same form.

Rules this module keeps:
- 18 characters count when region, date and check digit (ISO 7064 MOD 11-2) all fit, wherever they
  stand: glued to Chinese, full-width, with spaces or dashes, ending in x or X.
- 15 digits, the form before 1999, have no check digit: they count only beside a word that says so.
- A number whose check digit fails is none; no context makes it one.
"""

import re
from collections.abc import Iterator
from datetime import date

from stdnum.cn import ric
from typing_extensions import override

from gateway.guard.pii.context import said_around, words
from gateway.guard.pii.recognizer import Recognizer, Span

# GB/T 2260, the first two digits; 81-83 stand for residents of Hong Kong, Macau and Taiwan.
_PROVINCES = frozenset(
    str(code)
    for first, last in (
        (11, 15),
        (21, 23),
        (31, 37),
        (41, 46),
        (50, 54),
        (61, 65),
        (71, 71),
        (81, 83),
    )
    for code in range(first, last + 1)
)
_NO_SEPARATORS = str.maketrans("", "", " .·_-")
_SEPARATOR = r"[ .·_-]{0,2}"
# A look-ahead, so that a number begins at each group of digits and not only after the last match.
_LONG = re.compile(rf"(?<![0-9])(?=([1-9](?:{_SEPARATOR}[0-9]){{16}}{_SEPARATOR}[0-9Xx])(?![0-9]))")
_SHORT = re.compile(r"(?<![0-9])[1-9][0-9]{14}(?![0-9])")
_SAID = words(
    r"身份证|身份号码|证件|公民身份|居民身份|身分證|"
    r"resident (?:id|identity)|id (?:card|number|no)|identity (?:card|number)|national id"
)
_FIRST_YEAR = 1880


class ResidentIdRecognizer(Recognizer):
    """Reports `CN_RESIDENT_ID`. Source: GB 11643-1999."""

    def __init__(self) -> None:
        super().__init__("CN_RESIDENT_ID")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for match in _LONG.finditer(text):
            number = match[1].translate(_NO_SEPARATORS).upper()
            if _is_valid(number):
                yield Span(*match.span(1))
        for match in _SHORT.finditer(text):
            number = match.group()
            plausible = number[:2] in _PROVINCES and _is_date(f"19{number[6:12]}")
            if plausible and said_around(text, *match.span(), _SAID, 24):
                yield Span(*match.span(), 0.7)


def _is_valid(number: str) -> bool:
    return (
        number[:2] in _PROVINCES
        and _is_date(number[6:14])
        and ric.calc_check_digit(number) == number[-1]
    )


def _is_date(digits: str) -> bool:
    try:
        day = date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return _FIRST_YEAR <= day.year < 2100  # noqa: PLR2004 - no birthday is later
