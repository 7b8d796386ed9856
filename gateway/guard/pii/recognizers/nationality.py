"""Nationalities, best effort: the adjective of a country, beside what it says of people.

Rules this module keeps:
- It counts after "is", "am", "the" and before a word for people, for a state or its offices;
  "speaks German", "Chinese food" and "English breakfast" say nothing of a person's origin.
- Religions and political views are not told here.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.place_names import NATIONALITIES
from gateway.guard.pii.recognizer import Recognizer, Span

_PEOPLE = (
    r"(?:citizens?|nationals?|nationality|people|person|man|men|woman|women|girls?|boys?|parents?"
    r"|mother|father|wife|husband|family|immigrants?|descent|origin|heritage|ancestry|passport"
    r"|government|border|embassy|consulate|army|police|minister|ministry|president|parliament"
    r"|authorities|students?|teachers?|friends?|colleagues?|workers?|couple|community|roots)"
)
_BEFORE = re.compile(
    rf"(?<![A-Za-z])(?P<name>{NATIONALITIES})(?:-[A-Z][a-z]{{3,12}})?(?= {_PEOPLE}(?![A-Za-z])"
    rf"| [A-Z][a-z]{{1,16}} {_PEOPLE.replace('(?:', '(?i:', 1)}(?![A-Za-z]))"
)
_SAID = re.compile(
    rf"(?<![A-Za-z])(?:(?:[Ii] am|[Ii]['’]m|[Hh]e is|[Ss]he is|[Tt]hey are|[Ww]e are)(?: an?| half"
    rf"| originally| of)?|(?i:nationality(?: is|:)?|citizenship(?: is|:)?|ethnicity(?: is|:)?)) "
    rf"(?P<name>{NATIONALITIES})(?![A-Za-z])(?! [a-z]{{3,12}}(?:er|or|ist|ing)\b)"
)


class NationalityRecognizer(Recognizer):
    """Reports `NRP`. Source: Regulation (EU) 2016/679, 9(1)."""

    def __init__(self) -> None:
        super().__init__("NRP", "[A-Z][a-z]{2}")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for pattern in (_BEFORE, _SAID):
            for match in pattern.finditer(text):
                yield Span(*match.span("name"), 0.6)
