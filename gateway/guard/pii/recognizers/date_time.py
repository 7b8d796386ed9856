"""Dates, best effort: calendar dates with a day in them, with their time of day if it is written.

Rules this module keeps:
- ISO 8601, day and month in either order with a year, or a month's name with a day; 年月日.
- A day and a month without a year, such as 5/21, only after "on", "by", "today is" and the like:
  elsewhere it is a fraction.
- A year alone, a weekday, "yesterday" and a time of day tell nobody apart and are left.
- Numbers of versions and pieces of longer numbers are none.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

_YEAR = r"(?:1[89]|20|21)[0-9]{2}"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])"
_NAME = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_TIME = (
    r"(?:(?:T|,? |, at | at )(?:[01]?[0-9]|2[0-4]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?"
    r"(?: ?[AaPp]\.?[Mm]\.?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)"
)
_FREE = r"(?<![0-9A-Za-z_$€£¥])(?<![0-9][-./:,])"
_ENDS = r"(?![0-9A-Za-z_%]|[-/:][0-9]|\.[0-9])"
_DATE = re.compile(
    rf"{_FREE}(?:{_YEAR}(?P<sign>[-/.]){_MONTH}(?P=sign){_DAY}"
    rf"|{_MONTH}(?P<other>[-/.]){_DAY}(?P=other)(?:{_YEAR}|[0-9]{{2}}(?<=[-/][0-9]{{2}}))"
    rf"|{_DAY}(?P<third>[-/.]){_MONTH}(?P=third)(?:{_YEAR}|[0-9]{{2}}(?<=[-/][0-9]{{2}}))"
    rf"|{_DAY}[ -]{_NAME}[ ,-]{{1,2}}(?:{_YEAR}|'?[0-9]{{2}})"
    rf"|{_DAY}(?:st|nd|rd|th)(?: of)? {_NAME}(?:,? {_YEAR})?"
    rf"|{_DAY} {_NAME}(?! ?[0-9])"
    rf"|{_NAME} {_DAY}(?:st|nd|rd|th)?(?:,? {_YEAR})?"
    rf"){_TIME}?{_ENDS}",
    re.IGNORECASE,
)
_SHORT = re.compile(
    rf"(?<![a-z])(?:on|by|until|before|after|since|due|dated?|today is|tomorrow is|the)[ ,:]{{1,2}}"
    rf"(?P<date>{_MONTH}/{_DAY}|{_DAY}/{_MONTH})(?![0-9A-Za-z_/%]|[.-][0-9])",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?<![0-9])(?:[0-9]{2}|[0-9]{4}|[〇零一二三四五六七八九]{4})年 ?"
    r"[0-9〇零一二三四五六七八九十]{1,3}月"
    r" ?(?:[0-9〇零一二三四五六七八九十]{1,3}[日号])?"
    r"|(?<![0-9])[0-9]{1,2}月[0-9]{1,2}[日号]"
)


class DateRecognizer(Recognizer):
    """Reports `DATE_TIME`. Source: 45 CFR 164.514(b)(2)(i)(C); ISO 8601."""

    def __init__(self) -> None:
        super().__init__("DATE_TIME", r"[0-9]|月")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for pattern, group in ((_DATE, 0), (_CHINESE, 0), (_SHORT, "date")):
            for match in pattern.finditer(text):
                yield Span(*match.span(group), 0.6)
