"""Reads what a text says in another encoding, so that a scanner sees through it.

Rules this module keeps:
- At most `MAX_DEPTH` layers deep, `MAX_GROWTH` times the text in all, `MAX_CHARACTERS` whatever the
  text; beyond that the text is refused, not passed.
- Only what decodes to readable text is a layer: a hash, a picture or an id decodes to noise.
- A span of a layer maps to the original characters that encode it: exactly for escapes and spaced
  letters, as the whole run for base64 and hex.
- Linear time: each pattern starts at a fixed sign and repeats one class.

Not decoded here: ROT13. It leaves digits as they are, and no key or address survives it; the screen
for instructions, which it can hide, decodes it for itself.

Source: CWE-174 (double decoding), CWE-409 (decompression bound).
"""

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator, Sequence

from gateway.guard.hidden import Payload
from gateway.guard.scan import ScanFailed, ScanText

MAX_DEPTH = 2
MAX_GROWTH = 4
MAX_CHARACTERS = 1_000_000

_SLACK = 4096
"""Short texts may grow by more than their factor."""

_MIN_RUN = 16
"""Shorter runs of base64 or hex hold no address and no key."""

_HINT = re.compile(
    r"%[0-9A-Fa-f]{2}|&[#A-Za-z]|\\[ux]|[A-Za-z0-9+/_-]{16}|(?:[0-9A-Fa-f]{2}[ :]){7}|(?:[!-~] ){9}"
)
_UNIT = re.compile(
    r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)"
    r"|(?P<entity>&(?:#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});?)"
    r"|(?P<bytes>(?:\\x[0-9A-Fa-f]{2})+)"
    r"|(?P<units>(?:\\u[0-9A-Fa-f]{4})+)"
    r"|(?P<point>\\u\{[0-9A-Fa-f]{1,6}\})"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:[\r\n]{1,2}[A-Za-z0-9+/_-]{4,})*={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9A-Fa-f]{2}[ :]?){8,}(?![0-9A-Za-z])")
_SPACED = re.compile(r"(?<![^\s])(?:[!-~] ){9,}[!-~](?!\S)")
_URL_SAFE = str.maketrans("-_", "+/", "\r\n=")
_BYTE_SIGNS = str.maketrans("", "", "\\x%")


def decoded_layers(
    canonical: ScanText, payloads: Sequence[Payload], fold: Callable[[str], ScanText]
) -> tuple[ScanText, ...]:
    """Return the layers decoded out of `canonical`, hidden text first.

    Args:
        canonical: the canonical form of the original.
        payloads: hidden texts, already decoded; each is a layer of its own.
        fold: the normaliser's fold; every layer is canonical too.

    Raises:
        ScanFailed: the layers are larger than the bounds allow.
    """
    layers = [_blob(payload.text, (payload.start, payload.end), fold) for payload in payloads]
    frontier = [canonical, *layers]
    room = min(MAX_CHARACTERS, MAX_GROWTH * len(canonical.text) + _SLACK)
    for _ in range(MAX_DEPTH):
        frontier = [layer for text in frontier for layer in _decode(text, fold)]
        layers.extend(frontier)
        room -= sum(len(layer.text) for layer in frontier)
        if room < 0:
            raise ScanFailed("the text decodes to more than its bound")
    return tuple(layers)


def _decode(layer: ScanText, fold: Callable[[str], ScanText]) -> Iterator[ScanText]:
    if not _HINT.search(layer.text):
        return
    yield from _unescaped(layer, fold)
    yield from _despaced(layer, fold)
    for match in _HEX.finditer(layer.text):
        said = _from_hex(match.group())
        if said:
            yield _blob(said, layer.span(*match.span()), fold)
    for match in _BASE64.finditer(layer.text):
        for start, end in _pieces(match):
            said = _from_base64(layer.text[start:end])
            if said:
                yield _blob(said, layer.span(start, end), fold)


def _blob(said: str, span: tuple[int, int], fold: Callable[[str], ScanText]) -> ScanText:
    return fold(said).through((span[0],) * len(said), (span[1],) * len(said))


def _unescaped(layer: ScanText, fold: Callable[[str], ScanText]) -> Iterator[ScanText]:
    """Yield the whole text with its escapes resolved, if any; their neighbours stay near."""
    out: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for match in _UNIT.finditer(layer.text):
        said = _resolve(match)
        if said == match.group():
            continue
        _copy(layer, done, match.start(), out, starts, ends)
        begin, stop = layer.span(*match.span())
        out.append(said)
        starts.extend([begin] * len(said))
        ends.extend([stop] * len(said))
        done = match.end()
    if done:
        _copy(layer, done, len(layer.text), out, starts, ends)
        yield fold("".join(out)).through(starts, ends)


def _despaced(layer: ScanText, fold: Callable[[str], ScanText]) -> Iterator[ScanText]:
    for match in _SPACED.finditer(layer.text):
        spans = [layer.span(at, at + 1) for at in range(match.start(), match.end(), 2)]
        starts, ends = zip(*spans, strict=True)
        yield fold(match.group()[::2]).through(starts, ends)


def _copy(
    layer: ScanText, start: int, end: int, out: list[str], starts: list[int], ends: list[int]
) -> None:
    out.append(layer.text[start:end])
    if layer.starts is None or layer.ends is None:
        starts.extend(range(start, end))
        ends.extend(range(start + 1, end + 1))
    else:
        starts.extend(layer.starts[start:end])
        ends.extend(layer.ends[start:end])


def _resolve(match: re.Match[str]) -> str:
    unit = match.group()
    if match.lastgroup in ("percent", "bytes"):
        return bytes.fromhex(unit.translate(_BYTE_SIGNS)).decode("utf-8", "replace")
    if match.lastgroup == "entity":
        return html.unescape(unit)
    if match.lastgroup == "units":
        return bytes.fromhex(unit.replace("\\u", "")).decode("utf-16-be", "replace")
    code = int(unit[3:-1], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else unit  # noqa: PLR2004 - Unicode's own


def _from_hex(run: str) -> str:
    digits = run.removeprefix("0x").replace(" ", "").replace(":", "")
    return _readable(bytes.fromhex(digits)) if len(digits) >= _MIN_RUN else ""


def _pieces(match: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the run, and what lies between the signs that a path or a wrapped line puts into it."""
    yield match.span()
    run = match.group()
    if any(sign in run for sign in "/\n-_"):
        yield from (
            (match.start() + piece.start(), match.start() + piece.end())
            for piece in re.finditer(r"[A-Za-z0-9+]{16,}={0,2}", run)
            if piece.group() != run
        )


def _from_base64(run: str) -> str:
    signs = run.translate(_URL_SAFE)
    whole = signs[: len(signs) - (len(signs) % 4 == 1)]
    try:
        return _readable(base64.b64decode(whole + "=" * (-len(whole) % 4), validate=True))
    except binascii.Error:
        return ""


def _readable(data: bytes) -> str:
    encoding = "utf-16-le" if data[1::2].count(0) * 4 > len(data) else "utf-8"
    try:
        said = data.decode(encoding)
    except UnicodeDecodeError:
        return ""
    seen = said.translate({9: None, 10: None, 13: None, 0xFEFF: None})
    return said if len(seen) >= 4 and seen.isprintable() else ""  # noqa: PLR2004 - shorter says nothing
