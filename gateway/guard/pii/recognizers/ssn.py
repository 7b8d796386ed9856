"""United States social security numbers.

Rules this module keeps:
- 3-2-4 with dashes is one by its shape. With spaces, dots or nothing between, it is one only beside
  a word that says so.
- Area 000, 666 and 900-999, group 00 and serial 0000 were never issued; with dashes they are one
  all the same where the word is said: a mistyped number is still a person's. Numbers that were
  once printed in advertisements are redacted too: nobody can tell which one a person means.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.context import said_around, said_before, words
from gateway.guard.pii.recognizer import Recognizer, Span

_SHAPE = re.compile(
    r"(?<![0-9A-Za-z])(?<![0-9][-.])(?!000|666|9)[0-9]{3}(?P<sign>[-. ]?)(?!00)[0-9]{2}(?P=sign)"
    r"(?!0000)[0-9]{4}(?![0-9A-Za-z]|[-.][0-9])"
)
_ANY = re.compile(
    r"(?<![0-9A-Za-z])(?<![0-9][-.])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![0-9A-Za-z]|[-.][0-9])"
)
_NAMED = words(r"ssns?|social security(?: (?:number|no\.?))?|社会安全(?:号码?)?|社安号")
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
        for match in _ANY.finditer(text):
            if said_before(text, match.start(), _NAMED, 24):
                yield Span(match.start(), match.end(), 0.85)
