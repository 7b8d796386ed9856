"""Sealed cursors: where a list goes on, for one caller and one question only.

Rules this module keeps:
- A cursor is sealed under the tenant's key and names its credential and its question; taken
  anywhere else, or altered, it does not open.
- It holds a time and an id, nothing that a caller could not have seen.
"""

import base64
import binascii
import json
from datetime import datetime
from uuid import UUID

from core.errors import Invalid, Tampered
from core.ids import new_uuid
from core.ports import Place, TenantKeys
from core.scope import Principal

Key = tuple[datetime, UUID]
"""The last row of a page: its time and its id."""

_ID_BYTES = 16


def seal_cursor(keys: TenantKeys, principal: Principal, question: str, last: Key) -> str:
    """Return the cursor after `last`, for `principal` asking `question` again.

    Args:
        question: everything the answer depends on but the cursor; compared, never kept in clear.
    """
    record = new_uuid()
    data = json.dumps([last[0].isoformat(), str(last[1]), principal.key_id, question])
    sealed = keys.seal(Place(record=record, version=1, field="cursor"), data.encode())
    return base64.urlsafe_b64encode(record.bytes + sealed).rstrip(b"=").decode()


def open_cursor(keys: TenantKeys, principal: Principal, question: str, cursor: str) -> Key:
    """Return the key that `seal_cursor` was given.

    Raises:
        Invalid: altered, or made for somebody else or for another question.
    """
    wrong = Invalid("This cursor belongs to another list.", field="cursor")
    try:
        data = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        place = Place(record=UUID(bytes=data[:_ID_BYTES]), version=1, field="cursor")
        at, row, key_id, asked = json.loads(keys.open(place, data[_ID_BYTES:]))
    except (Tampered, ValueError, binascii.Error) as err:
        raise wrong from err
    if (key_id, asked) != (principal.key_id, question):
        raise wrong
    return datetime.fromisoformat(at), UUID(row)
