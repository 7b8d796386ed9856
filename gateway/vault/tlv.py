"""One encoding for everything that is authenticated or hashed: tag, length, value.

Rules this module keeps:
- It is injective: two different sequences of parts never give the same bytes, whatever separators
  their values hold.
"""

import struct

_HEAD = struct.Struct(">BI")


def encode(*parts: bytes) -> bytes:
    """Return `parts` as (position, length, value) each: 1 byte, 4 bytes, then the value.

    Args:
        parts: at most 255; each under 4 GiB.
    """
    pieces = [_HEAD.pack(at, len(part)) + part for at, part in enumerate(parts, 1)]
    return b"".join(pieces)
