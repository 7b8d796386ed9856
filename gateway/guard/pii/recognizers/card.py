"""Numbers of payment cards.

Rules this module keeps:
- 13 to 19 digits, grouped as cards are printed, with a known first digit and a right check digit
  (Luhn) are a card wherever they stand; 12 digits or an unknown first digit need a word beside.
- A number in the shape of a card (4-4-4-4 or 4-6-5) beside "card" or 卡 counts although its
  check digit fails: a mistyped card number is still most of one.
- Announced as an order's number, one in ten bare numbers would pass Luhn by chance: it is none.
- A run of groups longer than a card is tried group by group, so two cards side by side are two.
"""

import re
from collections.abc import Iterator

from stdnum import luhn
from typing_extensions import override

from gateway.guard.pii.context import is_order_number, said_around, stands_alone, words
from gateway.guard.pii.recognizer import Recognizer, Span

_RUN = re.compile(r"[0-9]+(?:[ \t.·_/-]{1,2}[0-9]+)*")
_GROUP = re.compile(r"[0-9]+")
_SAID = words(
    r"cards?|visa|master ?card|amex|american express|discover|diners|maestro|union ?pay|jcb"
    r"|credit|debit|银行卡|信用卡|借记卡|储蓄卡|银联|卡号|卡|账号|帐号|账户|bank|银行|cc|pan"
)
_GLUED = words(r"cards?|visa|mastercard|amex|unionpay|no|cc")
# First digits of the networks in use, with the lengths they issue. Source: ISO/IEC 7812 registry.
_NETWORKS = (
    (re.compile(r"4"), {13, 16, 18, 19}),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), {16}),
    (re.compile(r"3[47]"), {15}),
    (re.compile(r"6(?:011|4[4-9]|5)"), {16, 19}),
    (re.compile(r"62|81"), {16, 17, 18, 19}),
    (re.compile(r"35(?:2[89]|[3-8])"), {16, 17, 18, 19}),
    (re.compile(r"3(?:0[0-5]|[689])"), {14, 16, 19}),
    (re.compile(r"5[0678]|6"), {13, 14, 15, 16, 17, 18, 19}),
    (re.compile(r"220[0-4]|9(?:558|4|0|1|2|3|5)|60|508"), {16, 17, 18, 19}),
)
_LEAST, _MOST = 12, 19
_LEAST_UNSAID = 13
_PRINTED_GROUP = 4
_PRINTED = frozenset({(4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 4, 4, 4, 2)})
_ODD_GROUPS = frozenset({(4, 6, 5), (4, 6, 4), (4, 3, 3, 3), (6, 13), (6, 10), (6, 12), (4, 4, 5)})


class CardRecognizer(Recognizer):
    """Reports `CREDIT_CARD`. Source: ISO/IEC 7812."""

    def __init__(self) -> None:
        super().__init__("CREDIT_CARD")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for run in _RUN.finditer(text):
            if run.end() - run.start() >= _LEAST:
                yield from _in_run(text, run.start(), run.end())


def _in_run(text: str, start: int, end: int) -> Iterator[Span]:
    groups = [match.span() for match in _GROUP.finditer(text, start, end)]
    first = 0
    while first < len(groups):
        taken = None if _in_table(groups, first) else _longest(text, groups, first)
        if taken is None:
            first += 1
        else:
            last, score = taken
            yield Span(groups[first][0], groups[last][1], score)
            first = last + 1


def _longest(text: str, groups: list[tuple[int, int]], first: int) -> tuple[int, float] | None:
    """Return the last group and the score of the longest card that begins with group `first`."""
    best: tuple[int, float] | None = None
    digits = ""
    sizes: tuple[int, ...] = ()
    for last in range(first, len(groups)):
        begin, end = groups[last]
        if len(digits) + end - begin > _MOST:
            break
        digits += text[begin:end]
        sizes += (end - begin,)
        if len(digits) >= _LEAST and _grouped_as_card(sizes, groups, last):
            score = _judge(text, groups[first][0], end, digits, sizes)
            if score:
                best = (last, score)
    return best


def _grouped_as_card(sizes: tuple[int, ...], groups: list[tuple[int, int]], last: int) -> bool:
    if sizes in _ODD_GROUPS:
        return True
    size = sizes[0]
    if sizes[-1] > size or sizes[:-1] != (size,) * (len(sizes) - 1):
        return False
    # Groups smaller than a card's go on and on in a table: as many as there are must be the card.
    return size >= _PRINTED_GROUP or _size(groups, last + 1) != size


def _in_table(groups: list[tuple[int, int]], first: int) -> bool:
    """Return whether group `first` is small and follows one of its size: no card begins there."""
    size = _size(groups, first)
    return size < _PRINTED_GROUP and _size(groups, first - 1) == size


def _size(groups: list[tuple[int, int]], at: int) -> int:
    begin, end = groups[at] if 0 <= at < len(groups) else (0, 0)
    return end - begin


def _judge(text: str, start: int, end: int, digits: str, sizes: tuple[int, ...]) -> float:
    passes = luhn.is_valid(digits) and len(set(digits)) > 1
    if not (passes or sizes in _PRINTED) or not stands_alone(text, start, end, _GLUED):
        return 0.0
    said = said_around(text, start, end, _SAID, 32)
    if passes:
        if said:
            return 0.9
        known = len(digits) >= _LEAST_UNSAID and _is_issued(digits)
        return 0.8 if known and not is_order_number(text, start, _SAID) else 0.0
    return 0.5 if said and digits[0] != "0" else 0.0


def _is_issued(digits: str) -> bool:
    return any(prefix.match(digits) and len(digits) in sizes for prefix, sizes in _NETWORKS)
