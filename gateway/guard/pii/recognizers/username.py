"""Names of accounts: what stands right after "username", "user ID", "handle", 用户名.

Rules this module keeps:
- 3 to 40 letters, digits and . _ - @, right after the words; unquoted, it holds a digit or one of
  these signs, since "username is wrong" and "user id of the row" name nobody.
- What a template or a piece of code has there ({user}, user.name, get_user) is none.
- An address of e-mail is one of e-mail.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

_NAMES = (
    r"user ?names?|user[ _-]?ids?|log-?in(?: name| id)?|login|screen ?names?|nick ?names?|nick"
    r"|handles?"
    r"|gamertag|skype(?: id)?|discord(?: id)?|telegram(?: id)?|instagram|twitter|tiktok|snapchat"
    r"|github|gitlab|linkedin|reddit|steam(?: id)?"
)
_CHINESE = r"用户名|登录名|登陆名|登录账号|用户账号|网名|昵称|游戏ID|抖音号|小红书号|微博号"
_SIGN = (
    r"(?:\s{0,2}(?:handle|account|user(?:name)?|id|profile))?\s{0,2}"
    r"(?:is|was|:|=|are|是|为|叫)?\s{0,2}"
)
_VALUE = r"[A-Za-z0-9][A-Za-z0-9._-]{1,38}[A-Za-z0-9_]"
_PATTERN = re.compile(
    rf"(?:(?<![a-z_.])(?:{_NAMES})(?![a-z_.\[(])|{_CHINESE})"
    rf"(?:{_SIGN}['\"‘“`](?P<quoted>@?{_VALUE})['\"’”`]"
    rf"|(?:\s{{0,2}}(?:handle|account|user(?:name)?|id|profile))?\s{{0,2}}(?:is|was|:|=|are|是|为"
    rf"|叫)\s{{0,2}}"
    rf"(?P<plain>@?(?=[A-Za-z0-9._-]{{0,38}}[0-9_]){_VALUE})|\s{{1,2}}(?P<at>@{_VALUE}))"
    rf"(?![A-Za-z0-9_@(\[=.-])",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:user|get|set|my|your|the|some|current|default|is|has|str|new|old|test|self|this|req|null"
    r"|none"
    r"|true|false|int)(?:[_.][a-z_.]{1,32}|s)?|[A-Z_]{3,40}|[0-9]{1,3}",
    re.IGNORECASE,
)


class UsernameRecognizer(Recognizer):
    """Reports `USERNAME`. Source: Regulation (EU) 2016/679, recital 30."""

    def __init__(self) -> None:
        super().__init__("USERNAME", "[A-Za-z0-9]{2}", f"{_NAMES}|{_CHINESE}")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for match in _PATTERN.finditer(text):
            group = match.lastgroup or 0
            if not _CODE.fullmatch(match[group].lstrip("@")):
                yield Span(*match.span(group), 0.7)
