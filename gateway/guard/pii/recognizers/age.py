"""Ages, best effort: a number with the words that make it a person's years.

Rules this module keeps:
- 1 to 119, after "aged", "age of", "turned", or before "years old", "-year-old", "y/o", 岁.
- The age of a thing is written in the same words and is taken too.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

_NUMBER = r"(?:1[01][0-9]|[1-9][0-9]?)"
_BEFORE = re.compile(
    r"(?<![a-z])(?:aged?(?: of| is|:|=)?|turned|turns|turning|i am|i['’]m|(?:he|she) is|(?:he"
    r"|she)['’]s"
    rf"|年龄[是为:]?|今年) {{0,2}}(?P<age>{_NUMBER})"
    r"(?=[.,;!?)\n]|$|周?岁| (?:and|but|now|this|next|in|last|years? old)(?![a-z]))",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"(?<![0-9A-Za-z.,$€£-])(?P<age>{_NUMBER})(?:(?:[ -](?:years?|yrs?)[ -](?:old|of age)|["
    rf" -]?y/?o"
    r"|[ -]y\.o\.)(?![a-z])|周?岁)",
    re.IGNORECASE,
)


class AgeRecognizer(Recognizer):
    """Reports `AGE`. Source: 45 CFR 164.514(b)(2)(i)(C)."""

    def __init__(self) -> None:
        super().__init__("AGE", "[0-9]")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for pattern in (_BEFORE, _AFTER):
            for match in pattern.finditer(text):
                yield Span(*match.span("age"), 0.6)
