"""Finds secrets: what opens something, and so is refused rather than cleaned.

Rules this module keeps:
- Every reading of the text is scanned: canonical with look-alikes folded, each decoded layer, and
  for some rules the text with its white space taken out.
- A rule runs only when one of its keywords is there; plain text pays for some substring look-ups.
- A rule that runs out of time refuses the text: `ScanTimeout`, never a silent skip.
- Talk about secrets is no secret: "password policy", "my password is too weak", `${DB_PASSWORD}`.

Source: CWE-200; the formats are the vendors' own, in policies/secrets.yaml.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import regex

from gateway.guard.normalise import Normalised
from gateway.guard.rules import Judge, SecretRule, SecretRules
from gateway.guard.scan import BLOCK_CHARACTERS, SECONDS_PER_BLOCK, ScanText, ScanTimeout
from gateway.guard.scan_clock import scan_seconds

_ENGINE_SECONDS = 4.0
"""The pattern engine counts the processor time of every thread of the process, embedding included,
so it gets this many seconds for each of ours."""

_SCRAMBLED = 0.42
"""Changes of case a letter: one in two where letters are random, two a word in CamelCase."""

_LEAST_ODD = 8
_LONGEST_PIECE = 3.2
"""Signs a piece of one class, on average: two where letters and digits are random."""
_HEX = re.compile(r"[0-9a-f]{24,128}|[0-9A-F]{24,128}")
_LONGEST_HUMP = 2.4
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_RUN = re.compile(r"[A-Za-z0-9]{10,512}")
_IN_THE_OPEN = re.compile(
    r"(?<![a-z])(?:commit|hash|sha[0-9-]{0,4}|md5|checksum|digest|etag|uuid|guid|urls?|version|image"
    r"|fingerprint|public|publishable|nonce|trace|span|request|build|rev|object|row|integrity|module"
    r"|cache|idempotency|primary|foreign|partition|sort|routing|correlation|resolved|tarball|http"
    r"|src|href|file|path|blob|tree|branch|seed|font|order|ticket|tracking|serial|model|part"
    r"|(?<!key )ids?)(?![a-z])"
)
"""What names a value that opens nothing, however random."""

_EDGES = "()[]<>{},.;:!?。、，；：！？…*"
_QUOTES = "\"'`“‘"
_WORD = re.compile(r"[A-Za-z]+")
_WORDS_JOINED = re.compile(r"[A-Za-z]+(?:[-/][A-Za-z]+)?")
_HUMP = r"[A-Z](?=[a-z]{0,24}[aeiouy])[a-z]{2,24}"
_SNAKE_OR_DOTTED = re.compile(
    rf"[a-z]+(?:[_.][a-z]+)+|(?=[a-z]{{0,24}}[aeiouy])[a-z]{{2,24}}(?:{_HUMP}){{1,6}}"
)
_MEASURED = re.compile(
    r"time|length|min|max|attempt|expir|ttl|rounds|version|age|days|limit|count|size|strength"
)
_SHELL = re.compile(r"\$[({A-Za-z_]")
_OF_MOST = 0.83
"""Share of the entropy that a value of its length can have, for a short one to be random."""
_CODE = re.compile(r"[A-Za-z_][\w.]*\(|[A-Za-z_][\w.]*\[.*\]|[=<>]|!=")
_REFERENCE = re.compile(r"(?:[a-z]+:/|[~.]?/)[\w./-]+$|[a-z]+://", re.IGNORECASE)
_GOES_ON = re.compile(r"[ \t]{1,3}[a-z]")
_COUNTED = re.compile(
    r"[ \t]?[位个次天年月日字小分周秒条种项元块%]|[ \t](?:char|digit|letter|symbol|bit|byte)"
)
_ADDRESS = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}\.[A-Za-z]{2,24}")
_SYMBOL = re.compile(r"[^A-Za-z0-9]")
_PROSE = re.compile(r"[\"'`)\]”’」]|\s{0,2}(?:[A-Za-z]{2,12}[,.]?[ ]){3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFinding:
    """A secret at `original[start:end]`, and the rule that saw it. No text."""

    kind: str
    start: int
    end: int
    rule: str


def find_secrets(
    normalised: Normalised,
    rules: SecretRules,
    timer: Callable[[], float] = scan_seconds,
) -> tuple[SecretFinding, ...]:
    """Return the secrets in a text, in the order of the rules; spans are of the original.

    Args:
        normalised: with its decoded layers.
        rules: loaded from policies/secrets.yaml.
        timer: seconds of this thread's work, for the deadline.

    Raises:
        ScanTimeout: a rule did not finish in 250 ms for each 8 KB begun.
    """
    blocks = 1 + len(normalised.original) // BLOCK_CHARACTERS
    deadline = timer() + SECONDS_PER_BLOCK * blocks
    found: dict[SecretFinding, None] = {}
    named = bytearray(len(normalised.original))
    for layer in normalised.layers:
        for finding in _scan(layer, rules, lambda: deadline - timer()):
            # The rules go from the vendor's own to the general: the first name for a value stays.
            if named.find(b"\0", finding.start, finding.end) >= 0:
                named[finding.start : finding.end] = b"\1" * (finding.end - finding.start)
                found[finding] = None
    return tuple(found)


def _scan(
    layer: ScanText, rules: SecretRules, left: Callable[[], float]
) -> Iterator[SecretFinding]:
    text = layer.skeleton
    lowered = text.lower()
    squeezed = _Squeezed(text)
    spaced, solid = _by_space(rules.keywords)
    present = {word for word in spaced if word in lowered}
    # Without white space in it, what stands in the text also stands in the squeezed one.
    present.update(word for word in solid if word in squeezed.lowered)
    if not present:
        return
    for rule in rules.rules:
        if present.isdisjoint(rule.keywords):
            continue
        if not rule.squeeze:
            for start, end in _matches(rule, text, rules, left()):
                yield _finding(rule, layer, start, end)
            continue
        for start, end in _matches(rule, squeezed.text, rules, left()):
            begin, stop = squeezed.span(start, end)
            if rule.judge != "armour" or not _PROSE.match(text, stop):
                yield _finding(rule, layer, begin, _reach(rule, text, stop))


@lru_cache(maxsize=256)
def _by_space(keywords: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keywords with white space in them, and those without."""
    spaced = tuple(word for word in keywords if any(map(str.isspace, word)))
    return spaced, tuple(word for word in keywords if word not in spaced)


def _matches(
    rule: SecretRule, text: str, rules: SecretRules, seconds: float
) -> Iterator[tuple[int, int]]:
    if seconds <= 0:
        raise ScanTimeout("secrets")
    judge = _JUDGES[rule.judge]
    try:
        allowed = seconds * _ENGINE_SECONDS
        for match in rule.pattern.finditer(text, timeout=allowed):
            if judge(match, rule, rules):
                yield match.span("value" if rule.judge in _ON_VALUE else 0)
    except TimeoutError as err:
        raise ScanTimeout("secrets") from err


def _finding(rule: SecretRule, layer: ScanText, start: int, end: int) -> SecretFinding:
    begin, stop = layer.span(start, end)
    return SecretFinding(kind=rule.kind, start=begin, end=stop, rule=rule.id)


def _reach(rule: SecretRule, text: str, end: int) -> int:
    """Return where the secret ends: after the line of its closing sign, or with the text."""
    if rule.until is None:
        return end
    closing = text.find(rule.until, end)
    line = text.find("\n", closing) if closing >= 0 else -1
    return line if line >= 0 else len(text)


class _Squeezed:
    """A text without its white space, and the way back."""

    def __init__(self, source: str) -> None:
        self.text = "".join(source.split())
        self.lowered = self.text.lower()
        self._source = source
        self._places: list[int] = []

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where `text[start:end]` stands in the source. The map is made when first asked."""
        if not self._places:
            self._places = [at for at, char in enumerate(self._source) if not char.isspace()]
        return self._places[start], self._places[end - 1] + 1


def _always(_match: regex.Match[str], _rule: SecretRule, _rules: SecretRules) -> bool:
    return True


def _filled(match: regex.Match[str], _rule: SecretRule, rules: SecretRules) -> bool:
    value = match["value"]
    return not (rules.placeholder.fullmatch(value) or _SHELL.match(value.lstrip("\"'")))


def _token(match: regex.Match[str], rule: SecretRule, rules: SecretRules) -> bool:
    value = match["value"]
    return (
        (_has_both(value) or _is_scrambled(value))
        and not rules.placeholder.fullmatch(value)
        and not _REFERENCE.match(value)
        and not _CODE.match(value)
        and entropy_bits(value) >= min(rule.entropy_bits, _OF_MOST * math.log2(len(value)))
    )


def _random(match: regex.Match[str], rule: SecretRule, rules: SecretRules) -> bool:
    """Judge what stands near a name, not next to it: only what no word and no id looks like."""
    named = match.string[max(0, match.start() - 16) : match.start("value")].lower()
    return (
        not _IN_THE_OPEN.search(named)
        and _token(match, rule, rules)
        and any(_is_mixed(run) for run in _RUN.findall(match["value"]))
    )


def _password_written(match: regex.Match[str], _rule: SecretRule, rules: SecretRules) -> bool:
    """Judge what stands after a colon or an equals sign."""
    value = match["value"].strip(_EDGES)
    if _is_plain(match, value, rules):
        return False
    # "Password: letmein" is one; "password: click the link" is a sentence.
    return not (_WORD.fullmatch(value) and _goes_on(match))


def _password_said(match: regex.Match[str], _rule: SecretRule, rules: SecretRules) -> bool:
    """Judge what stands after "password is"."""
    value = match["value"].strip(_EDGES)
    if _is_plain(match, value, rules):
        return False
    if match.string[match.start("value") - 1] in _QUOTES:
        return True
    if _WORDS_JOINED.fullmatch(value):
        return _mixed_case(value) or not (_goes_on(match) or _SYMBOL.search(value))
    return True


def _password_beside(match: regex.Match[str], _rule: SecretRule, rules: SecretRules) -> bool:
    """Judge what stands after "password" with nothing between: only what no word looks like."""
    value = match["value"].strip("()[]<>{},;:")
    if _is_plain(match, value, rules) or _ADDRESS.match(value):
        return False
    odd = bool(re.search(r"[!@#$%^&*?+~=]", value)) or _mixed_case(value)
    digit = any(char.isdigit() for char in value)
    if match.string[match.start("value") - 1] in _QUOTES:
        return odd or digit
    return odd and digit and any(char.isalpha() for char in value)


def _password_digits(match: regex.Match[str], _rule: SecretRule, rules: SecretRules) -> bool:
    value = match["value"].strip(_EDGES)
    odd = any(char.isdigit() for char in value) or (len(value) >= _LEAST_ODD and _mixed_case(value))
    return odd and not _is_plain(match, value, rules)


def _is_plain(match: regex.Match[str], value: str, rules: SecretRules) -> bool:
    whole = match["value"]
    return (
        len(value) < 4  # noqa: PLR2004 - the patterns' own least length
        or rules.plain.fullmatch(value) is not None
        or rules.placeholder.fullmatch(whole) is not None
        or rules.placeholder.fullmatch(value) is not None
        or _SNAKE_OR_DOTTED.fullmatch(value) is not None
        or _CODE.match(whole) is not None
        or _REFERENCE.match(value) is not None
        or _SHELL.match(value) is not None
        or (value.isdigit() and _is_measure(match))
        or _COUNTED.match(match.string, match.end()) is not None
    )


def _is_measure(match: regex.Match[str]) -> bool:
    """Return whether the name is one of a setting: PASSWORD_RESET_TIMEOUT = 3600."""
    named = match.string[match.start() : match.start("value")].lower()
    return _MEASURED.search(named) is not None


def _goes_on(match: regex.Match[str]) -> bool:
    """Return whether a sentence goes on after the value: "… is kept in the safe"."""
    unended = match["value"][-1:] not in _EDGES
    return unended and _GOES_ON.match(match.string, match.end()) is not None


def _mixed_case(value: str) -> bool:
    return value[1:] != value[1:].lower() and value != value.upper()


def _has_both(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _is_mixed(run: str) -> bool:
    """Return whether letters, capitals and digits alternate as they do in no word with a number."""
    return _has_both(run) and (
        _LONGEST_PIECE * len(_PIECE.findall(run)) >= len(run) or _HEX.fullmatch(run) is not None
    )


def _is_scrambled(value: str) -> bool:
    """Return whether the case changes at every other letter or so, as in no CamelCase word."""
    changes = sum(one.isupper() != other.isupper() for one, other in pairwise(value))
    return value.isalpha() and (
        changes >= _SCRAMBLED * len(value)
        or (not value.isupper() and _LONGEST_HUMP * len(_PIECE.findall(value)) >= len(value))
    )


def entropy_bits(value: str) -> float:
    """Return the Shannon entropy of `value` in bits a character; 0 for an empty one."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


_ON_VALUE: frozenset[Judge] = frozenset(
    {
        "filled",
        "token",
        "random",
        "password_written",
        "password_said",
        "password_beside",
        "password_digits",
    }
)
"""Judged by their value, and so found by it: the words around are no secret."""

_JUDGES: dict[Judge, Callable[[regex.Match[str], SecretRule, SecretRules], bool]] = {
    "none": _always,
    "armour": _always,
    "filled": _filled,
    "token": _token,
    "random": _random,
    "password_written": _password_written,
    "password_said": _password_said,
    "password_beside": _password_beside,
    "password_digits": _password_digits,
}
