"""United States social security numbers.

Rules this module keeps:
- 3-2-4 with dashes is one by its shape. With spaces, dots or nothing between, it is one only beside
  a word that says so.
- Area 000, 666 and 900-999, group 00 and serial 0000 were never issued: such a number is none, also
  beside the word, and no other kind that is told by a name takes it there. Numbers that were once
  printed in advertisements are redacted all the same: nobody can tell which one a person means.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.context import said_around, words
from gateway.guard.pii.recognizer import Recognizer, Span

_SHAPE = re.compile(
    r"(?<![0-9A-Za-z])(?<![0-9][-.])(?!000|666|9)[0-9]{3}(?P<sign>[-. ]?)(?!00)[0-9]{2}(?P=sign)"
    r"(?!0000)[0-9]{4}(?![0-9A-Za-z]|[-.][0-9])"
)
_FORM = re.compile(r"(?<![0-9])([0-9]{3})([-. ]?)([0-9]{2})\2([0-9]{4})$")
_NO_AREA = re.compile(r"000|666|9")
_CALLED = re.compile(
    r"(?:(?<![a-z])(?:ssns?|social security)|社会安全|社安号)"
    r"(?:[ :：#=()'\"-]|(?<![a-z])(?:numbers?|no\.?|id|is|was)(?![a-z])|号码|号|是|为){0,12}$",
    re.IGNORECASE,
)
_REACH = 40
_SAID = words(r"ssns?|social|soc\.? sec|tax ?(?:id|payer)|社会安全(?:号码?)?|社安号|社保号")


class SsnRecognizer(Recognizer):
    """Reports `US_SSN`. Source: SSA POMS RM 10201."""

    def __init__(self) -> None:
        super().__init__("US_SSN")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for match in _SHAPE.finditer(text):
            if match["sign"] == "-":
                yield Span(match.start(), match.end(), 0.9)
            elif said_around(text, match.start(), match.end(), _SAID):
                yield Span(match.start(), match.end(), 0.95)


def is_unissued(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` ends with what is called a social security number and was
    never issued.
    """
    form = _FORM.search(text[start:end])
    if form is None:
        return False
    at = start + form.start()
    if _CALLED.search(text[max(0, at - _REACH) : at]) is None:
        return False
    area, _, group, serial = form.groups()
    return _NO_AREA.match(area) is not None or group == "00" or serial == "0000"
