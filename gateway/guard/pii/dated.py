"""What stands before a person's name and looks like an address: a date, and "Dr.".

Rules this module keeps:
- "12 May Street" is a street: a day and a month are a date only with a year or a title behind.
- "Dr" is a title where a name follows and none comes before: behind a number, a comma or a month.
"""

import re
from typing import Final

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|JAN(?:UARY)?|FEB(?:RUARY)?"
    r"|MAR(?:CH)?|APR(?:IL)?|MAY|JUNE?|JULY?|AUG(?:UST)?|SEPT?(?:EMBER)?|OCT(?:OBER)?"
    r"|NOV(?:EMBER)?|DEC(?:EMBER)?)\.?"
)
_DAY = r"[0-9]{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:1[89]|20|21)[0-9]{2}(?![0-9])"
_TITLE = r"(?:Dr|DR|Mr|MR|Mrs|MRS|Ms|MS|Prof)(?![A-Za-z])"
_NAME = r"(?=\.? {1,2}[^\W\d_])"
_DATE = re.compile(
    rf"(?<![0-9A-Za-z])(?:{_DAY}(?: of)? {_MONTH}(?:,? (?P<year>{_YEAR})|(?=,? {_TITLE}{_NAME}))"
    rf"|{_MONTH} (?P<day>{_DAY}),? (?P<last>{_YEAR}))"
)
_CALLED = re.compile(
    rf"(?:^|(?<=[0-9])|(?<=[0-9][a-z]{{2}})|(?<=[,;])|(?<![A-Za-z]){_MONTH})"
    rf",? {{0,2}}(?P<title>(?<![A-Za-z0-9]){_TITLE})(?=\.? {{1,2}}[A-ZÀ-ÖØ-ÞĀ-Ž])"
)
_PARTS: Final = ("year", "day", "last")


def dates(text: str) -> frozenset[int]:
    """Return where the numbers of dates begin: days and years."""
    found = set()
    for match in _DATE.finditer(text):
        found.add(match.start())
        found |= {match.start(part) for part in _PARTS if match[part] is not None}
    return frozenset(found)


def titles(text: str) -> frozenset[int]:
    """Return where titles of people begin that no street is named with."""
    return frozenset(match.start("title") for match in _CALLED.finditer(text))
