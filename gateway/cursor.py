"""Sealed cursors: where a list goes on, for one caller and one question only.

Rules this module keeps:
- A cursor is sealed under the tenant's key and names its credential and its question; taken
  anywhere else, or altered, it does not open.
- It holds a time and an id, nothing that a caller could not have seen.
"""

import json
from datetime import datetime
from uuid import UUID

from core.errors import Invalid, Tampered
from core.ports import TenantKeys
from core.scope import Principal
from gateway.handle import open_handle, seal_handle

Key = tuple[datetime, UUID]
"""The last row of a page: its time and its id."""

_PURPOSE = "cursor"


def seal_cursor(keys: TenantKeys, principal: Principal, question: str, last: Key) -> str:
    """Return the cursor after `last`, for `principal` asking `question` again.

    Args:
        question: everything the answer depends on but the cursor; compared, never kept in clear.
    """
    data = json.dumps([last[0].isoformat(), str(last[1]), principal.key_id, question])
    return seal_handle(keys, _PURPOSE, data.encode())


def open_cursor(keys: TenantKeys, principal: Principal, question: str, cursor: str) -> Key:
    """Return the key that `seal_cursor` was given.

    Raises:
        Invalid: altered, or made for somebody else or for another question.
    """
    wrong = Invalid("This cursor belongs to another list.", field="cursor")
    try:
        _, data = open_handle(keys, _PURPOSE, cursor)
        at, row, key_id, asked = json.loads(data)
    except (Tampered, ValueError) as err:
        raise wrong from err
    if (key_id, asked) != (principal.key_id, question):
        raise wrong
    return datetime.fromisoformat(at), UUID(row)
