"""A request's body: read within bounds, and parsed as JSON that means one thing.

Rules this module keeps:
- A body is bounded before it is read, in bytes and in seconds.
- Two readers of one body never differ: duplicate names, NaN, infinities, numbers out of range,
  invalid UTF-8, lone surrogates and U+0000 are refused, and the root is an object.
- Nesting is bounded, so that no later step can be made to run out of stack.
- An error names a field at most, and only one that could be somebody's spelling of a field.

Source: RFC 8259; RFC 7493 (I-JSON), 2.1 to 2.4.
"""

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from starlette.types import Receive

from core.errors import Invalid, TooLarge
from core.model import Json

MAX_DEPTH = 64
MAX_VALUES = 100_000
"""Members and items of one body; the largest batch that anybody means has some thousands."""
MAX_INTEGER = 2**63 - 1
"""What every store and most languages hold in one machine word."""
MAX_NUMBER_CHARS = 64
DRAIN_BYTES = 8 * 1024 * 1024
"""A body over its bound is read and thrown away up to here, so that the client sees the answer
instead of a broken pipe; past it the connection ends."""
LARGE_BYTES = 64 * 1024
"""From here on a body is parsed off the event loop."""

_FIELD = re.compile(r"(?=.{1,40}$)[a-z]{1,16}(?:_[a-z]{1,16}|[A-Z][a-z]{1,15})*")
"""Words, joined as `user_id` or `userId`."""
_FOREIGN = re.compile("[\x00\ud800-\udfff]")


class ClientGone(Exception):
    """The client left before its request was whole. There is nobody to answer."""


class HangUp(Exception):
    """What is left of the request was not read: answer with `error`, and end the connection.

    Args:
        error: what the caller is told.
    """

    def __init__(self, error: TooLarge | Invalid) -> None:
        super().__init__()
        self.error = error


def field_name(name: object) -> str:
    """Return `name` if it could be a misspelled field, else `?`.

    A caller's text may stand where a name should, so only short words of small letters are
    repeated, and to that caller alone: no number, no address, and no key of a vendor, even one that
    happens to have no digit, can pass.
    """
    return name if isinstance(name, str) and _FIELD.fullmatch(name) else "?"


async def read_body(receive: Receive, declared: int | None, *, limit: int, seconds: float) -> bytes:
    """Return the whole body.

    Args:
        declared: `Content-Length`, or None when there is none.
        limit: bytes.
        seconds: for the whole body, however small its pieces are.

    Raises:
        TooLarge: over `limit`; the rest was read and thrown away.
        HangUp: over `limit` by far, or late.
        ClientGone: the client left.
    """
    over = TooLarge(f"The body is larger than {limit} bytes.", field="body")
    if declared is not None and declared > limit + DRAIN_BYTES:
        raise HangUp(over)
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise ClientGone
                piece: bytes = message.get("body", b"")
                more = message.get("more_body", False)
                size += len(piece)
                if size > limit + DRAIN_BYTES:
                    raise HangUp(over)
                if size <= limit:
                    pieces.append(piece)
                else:
                    pieces.clear()
    except TimeoutError as err:
        raise HangUp(Invalid("The body did not arrive in time.", field="body")) from err
    if size > limit:
        raise over
    return b"".join(pieces)


async def parse_body(raw: bytes) -> dict[str, Json]:
    """Return `parse_object(raw)`, computed in a thread when it is large. Raises: as that."""
    if len(raw) > LARGE_BYTES:
        return await asyncio.to_thread(parse_object, raw)
    return parse_object(raw)


def parse_object(raw: bytes) -> dict[str, Json]:
    """Return the JSON object that `raw` spells.

    Raises:
        Invalid: not UTF-8, not JSON, or JSON that readers could take differently; see the module.
        TooLarge: more values than anybody means.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Invalid("The body is not valid UTF-8.", field="body") from None
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise _too_deep("body") from None
    except ValueError:
        # What json says of the place quotes nothing, but what it was given hangs on the exception.
        raise Invalid("The body is not valid JSON.", field="body") from None
    if not isinstance(value, dict):
        raise Invalid("The body must be a JSON object.", field="body")
    # Only an escape can spell these characters: JSON forbids a bare U+0000, UTF-8 a surrogate.
    suspicious = "\\u" in text
    brackets = text.count("{") + text.count("[")
    if suspicious or brackets > MAX_DEPTH or brackets + text.count(",") > MAX_VALUES:
        _check(value, strings=suspicious)
    return value


def check_text(text: str, field: str) -> str:
    """Return `text` unless it holds U+0000 or a lone surrogate. Raises: Invalid."""
    if _FOREIGN.search(text):
        raise Invalid("A text holds U+0000 or half of a surrogate pair.", field=field)
    return text


_Place = tuple[Any, ...]  # (parent place, name): a path that costs nothing until it is told


def _check(root: dict[str, Json], *, strings: bool) -> None:
    values = 0
    waiting: list[tuple[Json, int, _Place]] = [(root, 1, ())]
    while waiting:
        value, depth, place = waiting.pop()
        if isinstance(value, str):
            if strings and _FOREIGN.search(value):
                check_text(value, _path(place))
            continue
        if not isinstance(value, dict | list):
            continue
        if depth > MAX_DEPTH:
            raise _too_deep(spell_path(list(_names(place))[-1:]))
        values += len(value)
        if values > MAX_VALUES:
            raise TooLarge(f"The body holds more than {MAX_VALUES} values.", field="body")
        if isinstance(value, dict):
            for name, child in value.items():
                if strings and _FOREIGN.search(name):
                    check_text(name, _path((place, "?")))
                waiting.append((child, depth + 1, (place, name)))
        else:
            waiting.extend((child, depth + 1, (place, n)) for n, child in enumerate(value))


def spell_path(parts: Iterable[object]) -> str:
    """Return a field's path as errors tell it: `metadata.note`, `tags[0]`; `body` for the root."""
    spelled = "".join(
        f"[{part}]" if isinstance(part, int) else f".{field_name(part)}" for part in parts
    )
    return spelled.removeprefix(".") or "body"


def _path(place: _Place) -> str:
    return spell_path(reversed(list(_names(place))))


def _names(place: _Place) -> Iterator[str | int]:
    while place:
        if len(place) > 1:
            yield place[1]
        place = place[0]


def _too_deep(field: str) -> Invalid:
    return Invalid(f"The body is nested deeper than {MAX_DEPTH}.", field=field)


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = next(name for name, count in Counter(n for n, _ in pairs).items() if count > 1)
        raise Invalid("A name stands twice in one object.", field=field_name(twice))
    return value


def _integer(digits: str) -> int:
    if len(digits) > MAX_NUMBER_CHARS or abs(number := int(digits)) > MAX_INTEGER:
        raise Invalid("A number is out of range.", field="body")
    return number


def _float(digits: str) -> float:
    # The literal's length is not bounded here: float() reads any in linear time.
    number = float(digits)
    if not math.isfinite(number):
        raise Invalid("A number is out of range.", field="body")
    return number


def _constant(_: str) -> NoReturn:
    raise Invalid("NaN and infinities are not JSON.", field="body")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)
