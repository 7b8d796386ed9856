"""What a pattern may be, so that matching it takes a bounded time whatever the text is.

Rules this module keeps:
- A pattern repeats only what it bounds: no `*`, no `+`, no `{n,}` outside a character class. Its
  worst case is then a constant a character, and a timeout stands behind it.
- A tenant's own pattern is also tame: made of a closed list of parts, no repeat of what varies
  itself, and few ways to match at one place.
- What is said of a fault holds nothing of the pattern.
"""

import re
from typing import Final

import regex

_ESCAPED_OR_CLASS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_UNBOUNDED: Final = re.compile(r"(?<!\()[*+]|\{\d*,\}")

MAX_WAYS: Final = 100_000
"""Ways to match at one place: the product of what the repeats of a pattern leave open."""
MAX_REPEAT: Final = 1_024

_ESCAPES: Final = re.compile(r"\\[dDwWsSbBntr]|\\[^A-Za-z0-9]", re.DOTALL)
_TOKEN: Final = re.compile(
    r"(?P<counted>\{(?P<least>\d{1,6})(?:,(?P<most>\d{1,6}))?\})|(?P<maybe>\?)|(?P<close>\))"
    r"|(?P<open>\((?:\?(?::|=|!|<=|<!|P<value>|i:))?(?!\?))|(?P<either>\|)|(?P<letter>[^{(])",
    re.DOTALL,
)
_SET_OPERATION: Final = re.compile(r".\[|--|&&|\|\||~~", re.DOTALL)


def bounded(pattern: str) -> str:
    """Return `pattern` if it repeats only what it bounds. Raises: ValueError."""
    if _UNBOUNDED.search(_ESCAPED_OR_CLASS.sub("x", pattern)):
        raise ValueError("repeats without a bound; write {0,n}")
    try:
        regex.compile(pattern)
    except regex.error as err:
        raise ValueError("is no pattern") from err
    return pattern


def tame(pattern: str) -> str:
    """Return `pattern` if it may be a tenant's own.

    Raises:
        ValueError: it holds a part that is not allowed, repeats what varies itself, repeats more
            than 1,024 times, or can match in more than 100,000 ways at one place.
    """
    for part in _ESCAPED_OR_CLASS.findall(pattern):
        if part.startswith("\\") and not _ESCAPES.fullmatch(part):
            raise ValueError("has an escape that is not allowed")
        if part.startswith("[") and _SET_OPERATION.search(part):
            raise ValueError("has an operation on sets of characters")
    _check_ways(_ESCAPED_OR_CLASS.sub("x", pattern))
    return bounded(pattern)


class _Walk:
    """What is known of a pattern as far as it has been read.

    Args:
        ways: to match at one place.
        varies: for each group that is open, whether what is in it can match in several ways.
        closed: whether the group that has just ended does; False after anything else.
    """

    def __init__(self) -> None:
        self.ways = 1
        self.varies = [False]
        self.closed = False

    def repeat(self, least: int, most: int) -> None:
        if most > MAX_REPEAT or least > most:
            raise ValueError(f"repeats more than {MAX_REPEAT} times")
        if self.closed and most > 1:
            raise ValueError("repeats what varies itself")
        self.ways *= most - least + 1
        self.varies[-1] = self.varies[-1] or most > least
        self.closed = False

    def close(self) -> None:
        if len(self.varies) == 1:
            raise ValueError("is no pattern")
        self.closed = self.varies.pop()
        self.varies[-1] = self.varies[-1] or self.closed


def _check_ways(bare: str) -> None:
    """Read a pattern whose escapes and classes are one letter each. Raises: ValueError."""
    walk, at = _Walk(), 0
    while at < len(bare):
        token = _TOKEN.match(bare, at)
        if token is None:
            raise ValueError("has a group, or a brace, that is not allowed")
        match token.lastgroup:
            case "counted":
                walk.repeat(int(token["least"]), int(token["most"] or token["least"]))
            case "maybe":
                walk.repeat(0, 1)
            case "close":
                walk.close()
            case kind:
                walk.closed = False
                if kind == "open":
                    walk.varies.append(False)
                elif kind == "either":
                    walk.varies[-1] = True
        at = token.end()
    if walk.ways > MAX_WAYS:
        raise ValueError("can match in too many ways; bound its repeats more tightly")
