"""E-mail addresses, glued to Chinese, internationalised, or written with "(at)".

Rules this module keeps:
- Work starts at each `@` and goes at most 64 characters left and 255 right, so time is linear
  (a pattern for the whole address backtracks over every letter of a long text).
- Chinese beside an ASCII address is the sentence, not the address. A local part in Chinese is taken
  only when no ASCII stands before the `@`.
- `git@host:path`, `icon@2x.png` and `name@1.2.3` are no addresses.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

_MAX_LOCAL = 64  # RFC 5321, 4.5.3.1.1
_MAX_CJK_LOCAL = 12

_LABEL = r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}"
_ASCII_DOMAIN = re.compile(rf"(?:{_LABEL}\.){{1,8}}(?:xn--[A-Za-z0-9-]{{1,59}}|[A-Za-z]{{2,24}})")
_LETTER = r"[A-Za-z0-9\u00df-\u024f\u0370-\u058f\u05d0-\u1fff-]"
_WIDE_DOMAIN = re.compile(rf"(?:{_LETTER}{{1,63}}\.){{1,8}}{_LETTER}{{2,24}}")
_CJK_DOMAIN = re.compile(
    r"(?:[\w-]{1,63}\.){1,4}(?:中国|中國|公司|网络|網絡|网址|香港|台湾|台灣|商城|集团|在线|手机"
    r"|公益)"
)
_LITERAL = re.compile(r"\[(?:IPv6:)?[0-9A-Fa-f:.]{3,45}\]")
_CJK = re.compile(r"[\u3400-\u9fff\u3041-\u30ff\uac00-\ud7a3]")
_IMAGE = re.compile(r"[0-9]{1,2}x\.(?:png|jpe?g|gif|webp|svg|avif)$", re.IGNORECASE)
_BRACKETED_AT = re.compile(
    r"\s{0,2}(?:[\[({<]\s{0,2}at\s{0,2}[\])}>]|艾特|#at#)\s{0,2}", re.IGNORECASE
)
_SPOKEN_AT = re.compile(r"\s{1,2}at\s{1,2}", re.IGNORECASE)
_DOT = r"\s{0,2}(?:\.|[\[({<]\s{0,2}(?:dot|\.)\s{0,2}[\])}>]|\sdot\s|点)\s{0,2}"
_LOOSE_DOMAIN = re.compile(
    rf"{_LABEL}(?:{_DOT}{_LABEL}){{0,4}}{_DOT}[A-Za-z]{{2,10}}", re.IGNORECASE
)
_SPOKEN_DOMAIN = re.compile(
    (
        rf"{_LABEL}(?:\sdot\s{_LABEL}){{0,3}}\sdot\s(?:com|org|net|edu|gov|io|cn|de|uk|co"
        rf"|info)(?![a-z])"
    ),
    re.IGNORECASE,
)


class EmailRecognizer(Recognizer):
    """Reports `EMAIL_ADDRESS`. Source: RFC 5321, RFC 6531."""

    def __init__(self) -> None:
        super().__init__(
            "EMAIL_ADDRESS", r"@|艾特|#at#|(?i:[\[({<]\s{0,2}at\s{0,2}[\])}>]|\sdot\s)"
        )

    @override
    def find(self, text: str) -> Iterator[Span]:
        at = text.find("@")
        while at >= 0:
            start = _local_start(text, at)
            end = _domain_end(text, at + 1)
            if start < at and end and not _is_other(text, start, at, end):
                yield Span(start, end)
            at = text.find("@", at + 1)
        for sign, domain in ((_BRACKETED_AT, _LOOSE_DOMAIN), (_SPOKEN_AT, _SPOKEN_DOMAIN)):
            for match in sign.finditer(text):
                start = _local_start(text, match.start())
                said = domain.match(text, match.end())
                if start < match.start() and said:
                    yield Span(start, said.end(), 0.9)


def _local_start(text: str, at: int) -> int:
    lowest = max(0, at - _MAX_LOCAL)
    start = at
    if text[at - 1 : at] == '"':
        quote = text.rfind('"', lowest, at - 1)
        return quote if quote >= 0 else at
    while start > lowest and _is_local(text[start - 1]):
        start -= 1
    if start == at:
        lowest = max(0, at - _MAX_CJK_LOCAL)
        while start > lowest and _CJK.match(text[start - 1]):
            start -= 1
    while start < at and text[start] in ".'-":
        start += 1
    return start


def _is_local(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char in "._%+'-"
    return char.isalnum() and not _CJK.match(char)


def _domain_end(text: str, start: int) -> int:
    for pattern in (_ASCII_DOMAIN, _LITERAL, _CJK_DOMAIN, _WIDE_DOMAIN):
        match = pattern.match(text, start)
        if match:
            return match.end()
    return 0


def _is_other(text: str, start: int, at: int, end: int) -> bool:
    remote_path = text[start:at] == "git" and text[end : end + 1] in (":", "/")
    return remote_path or _IMAGE.match(text, at + 1, end) is not None
