r"""What a text must hold, as plain substrings, before a pattern of words is tried on it.

Rules this module keeps:
- A needle is the longest run of plain characters that every match of an alternative holds, in lower
  case; an alternative without one makes the whole pattern unfiltered.
- Looking for some plain words costs a tenth of trying the pattern of them.
"""

import re

_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_OPTIONAL = ("?", "*", "{")


def needles(alternatives: str) -> tuple[str, ...]:
    """Return a substring for each of the `|`-separated patterns; empty when one has none.

    Args:
        alternatives: a pattern in any case, of the words of a recognizer.
    """
    found = tuple(_longest_run(one) for one in _split(alternatives))
    return () if "" in found else found


def _split(pattern: str) -> list[str]:
    parts, depth, at, begin = [], 0, 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[" and (match := _CLASS.match(pattern, at)):
            at = match.end() - 1
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            parts.append(pattern[begin:at])
            begin = at + 1
        at += 1
    return [*parts, pattern[begin:]]


def _longest_run(pattern: str) -> str:
    runs, depth, at = [""], 0, 0
    while at < len(pattern):
        char = pattern[at]
        plain = ""
        if char == "\\":
            at += 1
            plain = "" if pattern[at].isalnum() else pattern[at]
        elif char == "[" and (match := _CLASS.match(pattern, at)):
            at = match.end() - 1
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char not in "?*+{}.^$|":
            plain = char
        at += 1
        if depth or not plain or pattern[at : at + 1] in _OPTIONAL:
            runs.append("")
        else:
            runs[-1] += plain.lower()
        if pattern[at : at + 1] == "{":
            at = pattern.find("}", at) + 1
    return max(runs, key=len)
