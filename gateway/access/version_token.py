"""The version token: a later request that brings it is judged at that epoch, or a later one.

Rules this module keeps:
- A reply that took a right away carries the epoch it did so under, sealed for its tenant. Whoever
  passes it on to another replica is never answered under older rights (the new-enemy problem).
- It tells its holder nothing and grants nothing; another tenant's, and what was changed on the way,
  is malformed.

Source: requirement C4; Zanzibar (USENIX ATC 2019), 2.2.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from uuid import UUID

from core.errors import Invalid, Tampered
from core.ids import TenantId
from core.ports import Place, TenantKeys

HEADER: Final = "X-Access-Version"
_EPOCH_BYTES: Final = 8
_SPELLING: Final = re.compile(r"[A-Za-z0-9_-]{1,512}", re.ASCII)


def mint_version(keys: TenantKeys, epoch: int) -> str:
    """Return the token of `epoch`, at least 0, of the tenant whose keys these are."""
    sealed = keys.seal(_place(keys.tenant), epoch.to_bytes(_EPOCH_BYTES))
    return urlsafe_b64encode(sealed).rstrip(b"=").decode()


def open_version(keys: TenantKeys, token: str) -> int:
    """Return the epoch in `token`.

    Raises:
        Invalid: it is not a token of this tenant.
    """
    try:
        return int.from_bytes(keys.open(_place(keys.tenant), _decoded(token)))
    except (Tampered, ValueError):
        pass
    # Outside the handler: no cause with the caller's bytes hangs on what is raised.
    raise Invalid("This is no version token of this tenant.", field=HEADER)


def _decoded(token: str) -> bytes:
    if not _SPELLING.fullmatch(token):
        raise ValueError
    return urlsafe_b64decode(token + "=" * (-len(token) % 4))


def _place(tenant: TenantId) -> Place:
    return Place(record=UUID(int=tenant.int), version=1, field="access.epoch")
