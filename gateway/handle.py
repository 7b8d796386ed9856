"""Sealed handles: what a caller carries for us from one request to the next.

Rules this module keeps:
- A handle is sealed under the tenant's own key, so that every replica opens it and no other tenant.
- Its spelling is the only one: what was altered in any character does not open.
- What it is bound to is inside the seal; whoever opens one compares that, and the purpose is part
  of the seal.

Source: REQUIREMENTS B9; RFC 4648, 3.5 (canonical encodings).
"""

import base64
import binascii
from uuid import UUID

from core.errors import Tampered
from core.ids import new_uuid
from core.ports import Place, TenantKeys

MAX_HANDLE_CHARS = 8192
_ID_BYTES = 16


def seal_handle(keys: TenantKeys, purpose: str, content: bytes) -> str:
    """Return a handle that holds `content`.

    Args:
        purpose: one word; a handle opens for the purpose it was made for.
        content: at most 4 KiB.
    """
    record = new_uuid()
    sealed = keys.seal(Place(record=record, version=1, field=purpose), content)
    return _written(record.bytes + sealed)


def open_handle(keys: TenantKeys, purpose: str, handle: str) -> tuple[UUID, bytes]:
    """Return the handle's own id and what it holds.

    Raises:
        Tampered: altered, of another purpose or of another tenant.
    """
    if len(handle) > MAX_HANDLE_CHARS:
        raise Tampered
    try:
        data = base64.b64decode(handle + "=" * (-len(handle) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error) as err:
        raise Tampered from err
    if len(data) < _ID_BYTES or _written(data) != handle:  # other bits, the same bytes
        raise Tampered
    record = UUID(bytes=data[:_ID_BYTES])
    return record, keys.open(Place(record=record, version=1, field=purpose), data[_ID_BYTES:])


def _written(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
