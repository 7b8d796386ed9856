"""Numbers of cards that a state, a school or an employer gives, without a recognizer of their own.

Rules this module keeps:
- 5 to 20 letters, digits and dashes with four digits, right after the words: "student ID", 工号.
- A resident identity number is judged by its own check digit and not by the word; nor is one that
  is said to be a social security number and was never issued.
"""

from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Span
from gateway.guard.pii.recognizers.ssn import is_unissued
from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = (
    r"(?:national|tribal|student|employee|staff|voter|state|government|citizen|alien|military|badge"
    r"|registration|personnel|veteran)s? (?:id(?:entity|entification)?(?: card)?|card)"
    r"(?: (?:numbers?|no\.?))?|a-number|green card (?:number|no\.?)"
    r"|(?:id(?:entification|entity)?|personal|civil) (?:numbers?|no\.|card numbers?)"
    r"|学号|工号|员工号|员工编号|军官证|士兵证|警官证|教师证|学生证|居留证|出生证|户口本|社员番号|学籍番号"
)
_VALUE = r"(?=(?:[a-z-]{0,4}[0-9]){4})[a-z0-9]{1,16}(?:-[a-z0-9]{1,12}){0,3}"


class IdNumberRecognizer(AnnouncedRecognizer):
    """Reports `ID_NUMBER`. Source: 45 CFR 164.514(b)(2)."""

    def __init__(self) -> None:
        super().__init__("ID_NUMBER", _NAMES, _VALUE)

    @override
    def find(self, text: str) -> Iterator[Span]:
        for span in super().find(text):
            if not is_unissued(text, span.start, span.end):
                yield span
