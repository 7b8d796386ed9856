"""The one normaliser: what every scanner, hash and index reads is made here.

Rules this module keeps:
- Nothing else imports `unicodedata`, so there is one canonical form, not several alike.
- The original spelling is kept untouched; the canonical form is for scanning and look-up only.
- Canonical is: NFKC; invisible code points, control characters and terminal escapes dropped;
  dashes, spaces and decimal digits of every script in ASCII; marks struck over a character
  dropped. Case is kept. Applying it twice changes nothing.
- Every canonical index knows the original span it came from.
- The form does not depend on the interpreter: code points that Unicode gave properties to after
  version 14.0 (Python 3.11) stand for themselves.
- Lone surrogates and U+0000 are refused: no store of ours can keep them.
- Time is linear: no cluster longer than 30 marks is composed (UAX #15, stream-safe text).

Source: UAX #15 (normalisation forms), UAX #44 (default-ignorable), UTS #39 (look-alikes).
"""

import re
import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from core.errors import Invalid
from gateway.guard.decode import decoded_layers
from gateway.guard.hidden import Payload, find_payloads
from gateway.guard.scan import ScanFailed, ScanText

MAX_EXPANSION = 4
"""Canonical text may be so many times its original, and 4,096 more: one ligature has 18 letters."""

_MARKS_COMPOSED = 30
"""UAX #15, D4: composing longer runs costs quadratic time in `unicodedata`."""

# Default_Ignorable_Code_Point of Unicode 14.0, and what is as invisible: the Hangul fillers, the
# Braille blank and the interlinear annotation signs. Plane 14 is ignorable as a whole.
INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Body of a character class."""

# Invisible code points that modify the character before them: they belong to its span.
_SELECTORS = "\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"

# Struck over or put around a character: U+0334-0338, and the marks for symbols, keycaps included.
_OVERLAYS = (
    "\u0334-\u0338\u0488\u0489\u1abe\u20d2-\u20d3\u20d8-\u20da\u20dd-\u20e6\u20ea\u20eb"
    "\ua670-\ua672"
)

# Second halves of canonical compositions that are no combining marks.
_COMPOSING = (
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u0fb5"
    "\u0fb7\u102e\u1161-\u1175\u11a8-\u11c2\u1b35\U00011127\U0001133e\U00011357\U000114b0"
    "\U000114ba\U000114bd\U000115af\U00011930"
)

# Given a decomposition, a combining class, a digit value or a case after Unicode 14.0.
_YOUNG = (
    "\U00010efd-\U00010eff\U00011f00-\U00011f59\U0001e030-\U0001e06d\U0001e08f\U0001e4d0-\U0001e4f9"
)

_DASHES = "\u2212\u02d7\u2043\u2796"
"""Not dashes by category, but by look."""

# What the fold leaves as it is and nothing composes with unless a mark follows: most text.
_PLAIN = (
    "\\t\\n\\r -~\u00c0-\u00ff\u0410-\u044f\u2018-\u201f\u3001\u3002\u3008-\u3011\u3041-\u3096"
    "\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
)

# ECMA-48: control sequences, and operating system commands such as a hidden link.
_ESCAPE = (
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]{0,512}(?:\x07|\x1b\\|\x9c)"
)

_INVISIBLE_ONE = re.compile(f"[{INVISIBLE}]")
_SELECTOR_ONE = re.compile(f"[{_SELECTORS}]")
_OVERLAY_ONE = re.compile(f"[{_OVERLAYS}]")
_COMPOSING_ONE = re.compile(f"[{_COMPOSING}]")
_YOUNG_ONE = re.compile(f"[{_YOUNG}]")
_ESCAPE_AT = re.compile(_ESCAPE)
_RUN = re.compile(f"[{_PLAIN}]?(?:{_ESCAPE}|[^{_PLAIN}])+")
_DROPPED_ASCII = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LONG_VOWEL_AS_DASH = re.compile(r"(?<=[0-9])ー(?=[0-9])")
_SPACES = frozenset("\u0085\u2028\u2029\x0b\x0c")

# UTS #39, cut down to letters that look like a Latin one in scripts people mix: Cyrillic, Greek,
# phonetic and Armenian, Cherokee, small capitals, Lisu, Coptic. Index for index.
_LOOK_ALIKES = (
    str.maketrans("АВЕЅІЈКМНОРСТУХЗаеѕіјорсухһӏԁԛԝк", "ABESIJKMHOPCTYX3aesijopcyxhldqwk")
    | str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυχικ", "ABEZHIKMNOPTYXavopyxik")
    | str.maketrans("ɑɡıɩոսօցհ", "agiinuogh")
    | str.maketrans("ᎪᏴᏟᎬᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔ", "ABCEHJKLMPRSTVW")
    | str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢȷ", "abcdefghijklmnoprstuvwyzj")
    | str.maketrans("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGKJCZFMNLSRVHWXYAEIOU")
    | str.maketrans("ⲀⲂⲈⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬⲟⲣⲥ", "ABEHIKMNOPCTYXopc")
)


class _Role(IntEnum):
    STARTER = 0
    EXTENDER = 1  # joins the cluster before it
    INVISIBLE = 2
    SELECTOR = 3  # invisible, but part of the character before it
    YOUNG = 4


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Normalised:
    """A text as it was written, and every reading of it that scanners must see.

    Args:
        original: as written; what is stored, but for what the redactor replaces.
        layers: the canonical form first, then what was decoded out of it.
        findings: hidden text; a finding by itself, whatever it says.
    """

    original: str
    layers: tuple[ScanText, ...]
    findings: tuple[Payload, ...] = ()

    @property
    def canonical(self) -> str:
        """Return the canonical form, case kept."""
        return self.layers[0].text

    @property
    def decoded(self) -> tuple[ScanText, ...]:
        """Return the decoded layers: base64, hex, escapes, spaced letters, hidden text."""
        return self.layers[1:]

    @property
    def offsets(self) -> tuple[tuple[int, int], ...]:
        """Return for each canonical index the original span it came from."""
        return tuple(self.span(at, at + 1) for at in range(len(self.canonical)))

    @property
    def blank(self) -> bool:
        """Return whether nobody could read anything in this text."""
        return not self.canonical.strip()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the smallest original span, in code points, that covers a canonical one."""
        return self.layers[0].span(start, end)


def normalise(text: str, *, field: str = "text") -> Normalised:
    """Return `text` with its canonical form, its decoded layers and its hidden text.

    Args:
        text: any string; 32,768 characters take some milliseconds.
        field: path of the field, for the refusal.

    Raises:
        Invalid: a lone surrogate or U+0000.
        ScanFailed: the text expands, or decodes to, more than the bounds allow.

    Source: UAX #15.
    """
    check_storable(text, field=field)
    canonical = fold(text)
    if len(canonical.text) > MAX_EXPANSION * len(text) + 4096:
        raise ScanFailed("the text expands beyond its bound")
    payloads = find_payloads(text)
    layers = (canonical, *decoded_layers(canonical, payloads, fold))
    return Normalised(original=text, layers=layers, findings=payloads)


def check_storable(text: str, *, field: str) -> None:
    """Refuse what no store of ours can keep.

    Raises:
        Invalid: a lone surrogate or U+0000; names the field, never the text.
    """
    if "\0" in text:
        raise Invalid("The character U+0000 cannot be stored.", field=field)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as err:
            raise Invalid("The text is not valid Unicode: a lone surrogate.", field=field) from err


def canonical_text(text: str) -> str:
    """Return the form that digests, lexical tokens and claim keys are made of.

    Canonical as above, then case-folded, white space collapsed and cut at the ends. Lossy on
    purpose: two spellings of one sentence give one form.
    """
    folded = fold(fold(text).text.casefold()).text
    return " ".join(folded.split())


def is_blank(text: str) -> bool:
    """Return whether nobody could read anything in `text`: empty, white space, invisible."""
    return not fold(text).text.strip()


def is_nfc(text: str) -> bool:
    """Return whether `text` is in normalisation form C."""
    return unicodedata.is_normalized("NFC", text)


def has_unprintable(text: str) -> bool:
    """Return whether `text` holds a control, format or invisible character, or an odd space."""
    if _INVISIBLE_ONE.search(text):
        return True
    return any(
        (char.isspace() and char != " ") or unicodedata.category(char) in {"Cc", "Cf", "Cs"}
        for char in text
    )


def fold(text: str) -> ScanText:
    """Return the canonical form of `text` with its map back; see the rules above."""
    if text.isascii() and not _DROPPED_ASCII.search(text):
        return ScanText(text=text, skeleton=text)
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for run in _RUN.finditer(text):
        _keep(text, done, run.start(), out, starts, ends)
        _fold_run(text, run.start(), run.end(), out, starts, ends)
        done = run.end()
    _keep(text, done, len(text), out, starts, ends)
    folded = "".join(out)
    if "ー" in folded:
        folded = _LONG_VOWEL_AS_DASH.sub("-", folded)
    skeleton = folded if folded.isascii() else folded.translate(_LOOK_ALIKES)
    return ScanText(text=folded, skeleton=skeleton, starts=tuple(starts), ends=tuple(ends))


def _keep(
    text: str, start: int, end: int, out: list[str], starts: list[int], ends: list[int]
) -> None:
    if start < end:
        out.append(text[start:end])
        starts.extend(range(start, end))
        ends.extend(range(start + 1, end + 1))


def _fold_run(
    text: str, start: int, end: int, out: list[str], starts: list[int], ends: list[int]
) -> None:
    cluster = ""
    begin = stop = at = start
    while at < end:
        char = text[at]
        if char in "\x1b\x9b\x9d" and (escape := _ESCAPE_AT.match(text, at, end)):
            at = escape.end()
            continue
        at += 1
        role = _role(char)
        if role is _Role.INVISIBLE:
            continue
        if role is _Role.SELECTOR:
            if cluster:
                stop = at
            continue
        if cluster and role is _Role.EXTENDER and len(cluster) <= _MARKS_COMPOSED:
            cluster += char
            stop = at
            continue
        _emit(_fold_cluster(cluster), begin, stop, out, starts, ends)
        cluster, begin, stop = char, at - 1, at
    _emit(_fold_cluster(cluster), begin, stop, out, starts, ends)


def _emit(
    folded: str, start: int, end: int, out: list[str], starts: list[int], ends: list[int]
) -> None:
    if folded:
        out.append(folded)
        starts.extend([start] * len(folded))
        ends.extend([end] * len(folded))


@lru_cache(maxsize=16_384)
def _role(char: str) -> _Role:
    if _SELECTOR_ONE.match(char):
        return _Role.SELECTOR
    if _INVISIBLE_ONE.match(char):
        return _Role.INVISIBLE
    if _YOUNG_ONE.match(char):
        return _Role.YOUNG
    if unicodedata.category(char) == "Cc" and not char.isspace():
        return _Role.INVISIBLE
    first = unicodedata.normalize("NFKD", char)[0]
    if unicodedata.combining(first) or _COMPOSING_ONE.match(first) or _OVERLAY_ONE.match(first):
        return _Role.EXTENDER
    return _Role.STARTER


@lru_cache(maxsize=16_384)
def _fold_cluster(cluster: str) -> str:
    """Return the canonical form of a starter and what joins it; "" stays ""."""
    if not cluster or _YOUNG_ONE.match(cluster):
        # A young base takes its marks along as they are.
        return cluster
    # Struck-over marks go first: one would keep what stands around it from composing.
    bare = _OVERLAY_ONE.sub("", cluster)
    composed = unicodedata.normalize("NFKC", bare)
    folded = "".join(_fold_char(char) for char in composed)
    if folded[:1].isdigit() and len(folded) > 1:
        # A digit with marks is a digit dressed up; no language writes one.
        folded = "".join(char for char in folded if not unicodedata.combining(char))
    return folded


def _fold_char(char: str) -> str:
    if _INVISIBLE_ONE.match(char) or _OVERLAY_ONE.match(char):
        return ""
    digit = None if _YOUNG_ONE.match(char) else unicodedata.digit(char, None)
    if digit is not None:
        return str(digit)
    if char in _SPACES:
        return "\n"
    category = unicodedata.category(char)
    if category == "Cc":
        return char if char in "\t\n\r" else ""
    if category == "Zs":
        return " "
    return "-" if category == "Pd" or char in _DASHES else char
