"""Identifiers of everything inside the gateway: minted and parsed only here.

Rules this module keeps:
- An id is a UUIDv7 (RFC 9562, 5.7): sortable by time, unguessable in its 62 random bits.
- Each kind has its own type, so that a user's id cannot be passed where a tenant's is wanted.
- What came from outside is parsed once; anything but the canonical spelling is `NotFound`,
  since an id that cannot exist is an id that is not here.
"""

import secrets
import threading
import time
from typing import NewType
from uuid import UUID

from core.errors import NotFound

TenantId = NewType("TenantId", UUID)
UserId = NewType("UserId", UUID)
NamespaceId = NewType("NamespaceId", UUID)
SpaceId = NewType("SpaceId", UUID)
MemoryId = NewType("MemoryId", UUID)
EventId = NewType("EventId", UUID)
RecallId = NewType("RecallId", UUID)
WriterId = NewType("WriterId", UUID)
KeyId = NewType("KeyId", str)
"""Public half of an API key: lower-case letters and digits, no underscore."""

SYSTEM_TENANT = TenantId(UUID(int=0))
"""Owner of the audit chain for what belongs to no tenant: operators and failed authentication."""

_COUNTER_MAX = 0xFFF
_lock = threading.Lock()
_last_ms = 0
_counter = 0


def new_uuid() -> UUID:
    """Return a fresh UUIDv7, strictly increasing within this process.

    Source: RFC 9562, section 6.2, method 1 (a 12-bit counter beside the millisecond).
    """
    global _last_ms, _counter  # noqa: PLW0603 - the monotonic state is one per process by design
    with _lock:
        now_ms = time.time_ns() // 1_000_000
        if now_ms > _last_ms:
            _last_ms, _counter = now_ms, secrets.randbits(11)
        else:  # same millisecond, or the clock went back: stay monotonic
            _counter += 1
            if _counter > _COUNTER_MAX:
                _last_ms, _counter = _last_ms + 1, 0
        ms, counter = _last_ms, _counter
    value = (ms & 0xFFFF_FFFF_FFFF) << 80 | 0x7 << 76 | counter << 64
    return UUID(int=value | 0b10 << 62 | secrets.randbits(62))


def parse_uuid(text: str) -> UUID:
    """Return the UUID spelled by `text` in the canonical lower-case form of 36 characters.

    Raises:
        NotFound: any other spelling; such an id names nothing here.
    """
    try:
        value = UUID(text)
    except (ValueError, AttributeError, TypeError) as err:
        raise NotFound from err
    if str(value) != text:
        raise NotFound
    return value


def parse_memory_id(text: str) -> MemoryId:
    """Return `text` as a memory's id. Raises: NotFound."""
    return MemoryId(parse_uuid(text))


def new_key_id() -> KeyId:
    """Return a fresh public key id: 16 characters of a-z and 0-9, 80 random bits."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    return KeyId("".join(secrets.choice(alphabet) for _ in range(16)))
