"""Finds text hidden in code points that nobody sees.

Rules this module keeps:
- Only invisible symbols that spell something are a finding: at least `MIN_SYMBOLS` that decode.
- What people write with them is never one: joined emoji, flags of tag letters after a black flag,
  joiners between letters of Persian or Hindi, one variation selector after a character.
- The finding covers the original code points from the first hidden symbol to the last.

Source: UTS #51 (emoji and tag sequences), UTS #37 (variation sequences).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MIN_SYMBOLS = 4
"""Tag letters or variation selectors that make a payload; one selector a character is normal."""

MIN_BITS = 16
"""Zero-width characters that make a payload: two letters of eight bits."""

_SUSPECT = re.compile("[\U000e0000-\U000e01ef\ufe00-\ufe0f\u200b-\u200d\u2060-\u2064\ufeff\u180e]")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_TAG = re.compile("[\U000e0020-\U000e007e]")
# A second selector on one character, or one on a letter that has no variants.
_SELECTOR = re.compile(
    "[\ufe00-\ufe0f\U000e0100-\U000e01ef](?=[\ufe00-\ufe0f\U000e0100-\U000e01ef])"
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01efA-Za-z ,.])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_ZERO_WIDTH_RUN = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{2,}")
_NEVER_JOINING = re.compile("[\u200b\u2060-\u2064\ufeff\u180e]")

_PRESENTATION = b"\x0e\x0f"
"""Text and emoji style: the selector an emoji had before the payload began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """Hidden text: the original span that carries it, and what it says (kept out of `repr`)."""

    start: int
    end: int
    text: str = field(repr=False)


def find_payloads(text: str) -> tuple[Payload, ...]:
    """Return the hidden texts in `text`; empty for almost every text. Linear time."""
    if text.isascii() or not _SUSPECT.search(text):
        return ()
    return tuple(payload for payload in _candidates(text) if payload is not None)


def _candidates(text: str) -> Iterator[Payload | None]:
    flags = [match.span() for match in _FLAG.finditer(text)]
    tags = [at for at in _places(_TAG, text) if not any(s <= at < e for s, e in flags)]
    yield _payload(tags, "".join(chr(ord(text[at]) - 0xE0000) for at in tags))
    selectors = _places(_SELECTOR, text)
    said = bytes(_selector_byte(text[at]) for at in selectors)
    yield _payload(selectors, _utf8(said.lstrip(_PRESENTATION)))
    runs = [at for run in _ZERO_WIDTH_RUN.finditer(text) for at in range(run.start(), run.end())]
    for places in (runs, _places(_NEVER_JOINING, text)):
        if len(places) >= MIN_BITS:
            yield _payload(places, _bits("".join(text[at] for at in places)))


def _places(pattern: re.Pattern[str], text: str) -> list[int]:
    return [match.start() for match in pattern.finditer(text)]


def _payload(places: list[int], said: str) -> Payload | None:
    if len(places) < MIN_SYMBOLS or not said.strip():
        return None
    return Payload(start=places[0], end=places[-1] + 1, text=said)


def _selector_byte(char: str) -> int:
    code = ord(char)
    return code - 0xFE00 if char <= "\ufe0f" else code - 0xE0100 + 16


def _bits(symbols: str) -> str:
    """Return what a run of zero-width characters spells in any two-symbol alphabet, or ""."""
    alphabet = sorted(set(symbols), key=symbols.count, reverse=True)
    if len(alphabet) < 2:  # noqa: PLR2004 - one symbol spells nothing
        return ""
    pair = alphabet[:2]
    for zero in pair:
        bits = "".join("0" if s == zero else "1" for s in symbols if s in pair)
        for size in (8, 7):
            values = [int(bits[at : at + size], 2) for at in range(0, len(bits) - size + 1, size)]
            if said := _utf8(bytes(values)):
                return said
    return ""


def _utf8(data: bytes) -> str:
    try:
        said = data.decode()
    except UnicodeDecodeError:
        return ""
    return said if said.isprintable() or said.replace("\n", "").isprintable() else ""
