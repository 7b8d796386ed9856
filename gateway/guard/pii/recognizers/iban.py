"""International bank account numbers.

Rules this module keeps:
- The country says the length, so a word after the number neither spoils it nor joins it.
- Spaces and dashes may stand anywhere, lower case counts.
- The ISO 7064 check digits must fit; a country's own inner check need not: an example number in a
  note is personal all the same.
"""

import re
from collections.abc import Iterator

from stdnum import iban
from stdnum.exceptions import ValidationError
from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

# SWIFT, IBAN registry release 99.
_LENGTHS = {
    length: frozenset(countries.split())
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
}
LENGTH_OF = {country: length for length, every in _LENGTHS.items() for country in every}
"""ISO 3166 country -> characters of its IBAN."""

_START = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})(?=[ -]?[0-9][ -]?[0-9])")
_MAX_SEPARATORS = 40


class IbanRecognizer(Recognizer):
    """Reports `IBAN_CODE`. Source: ISO 13616."""

    def __init__(self) -> None:
        super().__init__("IBAN_CODE")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for match in _START.finditer(text):
            length = LENGTH_OF.get(match[1].upper())
            if length is None:
                continue
            end = _take(text, match.start(), length)
            if end and _is_valid(text[match.start() : end]):
                yield Span(match.start(), end)


def _take(text: str, start: int, length: int) -> int:
    """Return where `length` letters and digits from `start` end, or 0."""
    taken = 0
    for at in range(start, min(len(text), start + length + _MAX_SEPARATORS)):
        char = text[at]
        if char.isascii() and char.isalnum():
            taken += 1
            if taken == length:
                following = text[at + 1 : at + 2]
                return 0 if following.isascii() and following.isalnum() else at + 1
        elif char not in " -":
            return 0
    return 0


def _is_valid(number: str) -> bool:
    try:
        iban.validate(number, check_country=False)
    except ValidationError:
        return False
    return True
