"""Addresses of pages, best effort.

Rules this module keeps:
- Whatever begins with http://, https://, ftp:// or www., to the next space or closing sign.
- A bare name only under a domain that is no suffix of files too: "main.py", "notes.md" and
  "libc.so" are none.
- Loopback names and reserved ones (RFC 2606) are examples and nobody's.
- At most 2,048 characters; each is looked at once.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

_END = r"(?<![.,;:!?'\"])"
_SCHEME = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?:https?|ftp)://|www\.)[^\s<>\"'`，。；、）】」”]{{3,2048}}{_END}",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?<![\w@./:-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,4}"
    r"(?:com|org|net|edu|gov|mil|int|info|biz|eu|de|fr|uk|cn|jp|nl|ch|at|ca|au|br|it|es|se|no|dk"
    r"|fi|be)"
    r"(?:/[^\s<>\"'`，。；、）】」”]{0,1024}(?<![.,;:!?'\"]))?(?![\w@-]|\.[a-z])",
    re.IGNORECASE,
)
_NOBODYS = re.compile(
    r"(?:(?:https?|ftp)://)?(?:localhost|127\.|0\.0\.0\.0|\[::1\]|(?:[a-z0-9-]{1,63}\.){0,4}"
    r"(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost)(?![\w.-]))",
    re.IGNORECASE,
)


class UrlRecognizer(Recognizer):
    """Reports `URL`. Source: 45 CFR 164.514(b)(2)(i)(N); RFC 3986."""

    def __init__(self) -> None:
        super().__init__("URL", r"(?i:://|www\.|[a-z0-9-]\.[a-z]{2})")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for pattern in (_SCHEME, _BARE):
            for match in pattern.finditer(text):
                if not _NOBODYS.match(match.group()):
                    yield Span(*match.span(), 0.6)
