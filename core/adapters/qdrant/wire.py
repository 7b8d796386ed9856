"""How the gateway and the index's own process talk over their unix socket.

Rules this module keeps:
- A frame is four bytes of length, big-endian, then that much JSON in UTF-8, at most
  MAX_FRAME_BYTES; what breaks that ends the connection.
- One request, one reply, in order, on each connection. A reply is `{"ok": …}` or `{"fault": code}`;
  a fault is a code from a fixed list and holds nothing of the request.
- Vectors travel as base64 of little-endian float32: a list of numbers takes eight times as long to
  read.
- It imports neither the engine, nor a driver, nor numpy: the process that serves must start
  quickly.
"""

import asyncio
import base64
import binascii
import json
import math
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Frame = dict[str, Any]
MAX_FRAME_BYTES = 8 * 1024 * 1024
"""A batch of points is cut far below this; it bounds what one connection can make us hold."""
MAX_POINTS = 128
"""Points in one request: the process serves one request at a time, and a search must not wait
behind a long one (some 60 µs a point)."""
MAX_IDS = 1024
MAX_LIMIT = 1024
_LENGTH_BYTES = 4


class Malformed(Exception):
    """The other side did not keep to these rules."""


async def read_frame(reader: asyncio.StreamReader) -> Frame | None:
    """Return the next frame, or None when the other side has ended the connection between frames.

    Raises:
        Malformed: too long, cut short, or no JSON object.
    """
    try:
        head = await reader.readexactly(_LENGTH_BYTES)
    except asyncio.IncompleteReadError as err:
        if not err.partial:
            return None
        raise Malformed from err
    size = int.from_bytes(head)
    if size > MAX_FRAME_BYTES:
        raise Malformed
    try:
        frame = json.loads(await reader.readexactly(size))
    except (asyncio.IncompleteReadError, ValueError, RecursionError) as err:
        raise Malformed from err
    if not isinstance(frame, dict):
        raise Malformed
    return frame


def pack_frame(frame: Frame) -> bytes:
    """Return `frame` as it travels. Raises: Malformed (too long, or not JSON)."""
    try:
        body = json.dumps(frame, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError) as err:
        raise Malformed from err
    if len(body) > MAX_FRAME_BYTES:
        raise Malformed
    return len(body).to_bytes(_LENGTH_BYTES) + body


def pack_vector(vector: "NDArray[np.float32]") -> str:
    """Return a vector of shape (d,) as base64 of little-endian float32."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def unpack_vector(text: object, dimension: int) -> list[float]:
    """Return the vector in `text`. Raises: Malformed (another dimension, or not finite)."""
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
        values = struct.unpack(f"<{dimension}f", data)
    except (binascii.Error, struct.error, ValueError) as err:
        raise Malformed from err
    if not math.isfinite(sum(values)):  # of float32 in double: only what is not finite gets there
        raise Malformed
    return list(values)


def finite(value: object) -> float:
    """Return `value` as a float. Raises: Malformed (not a finite number)."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Malformed
    return float(value)
