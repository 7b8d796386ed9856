"""Sealed confirmations: a question to the person at the other end, about one call and no other.

Rules this module keeps:
- It is bound to the credential that was asked, to the tool and its arguments, and to five minutes;
  for another caller, another call or later it does not open.
- It says that a question was asked, never that it was answered: the answer comes beside it, from
  the client that asked the person.
- It is good once. Whoever opens one claims its id where every replica looks, before anything is
  done for it.

Source: REQUIREMENTS B9, B11; MCP 2026-07-28, multi round-trip requests, server requirements.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from core.errors import Invalid, Tampered
from core.ids import TenantId
from core.model import Json
from core.ports import TenantKeys
from core.scope import Principal
from gateway.handle import open_handle, seal_handle

VALID_SECONDS = 300
"""REQUIREMENTS B11: a step up is at most five minutes old."""
REMEMBER_SECONDS = VALID_SECONDS + 60
"""Longer than any confirmation opens, on whichever clock."""

_PURPOSE = "confirmation"


class Claims(Protocol):
    """Where every replica remembers what was used."""

    async def first_use(self, tenant: TenantId, proof: bytes, *, seconds: int) -> bool:
        """Remember `proof` for `seconds`; tells whether it was not there before.

        Raises:
            Unavailable: the place is away.
        """
        ...


def seal_confirmation(
    keys: TenantKeys,
    principal: Principal,
    tool: str,
    arguments: Mapping[str, Json],
    now: datetime,
) -> str:
    """Return the state of a question about one call of `tool`.

    Args:
        now: the record's clock, which all replicas share.
    """
    until = now + timedelta(seconds=VALID_SECONDS)
    bound = [principal.key_id, principal.channel, _digest(tool, arguments), until.isoformat()]
    return seal_handle(keys, _PURPOSE, json.dumps(bound).encode())


def open_confirmation(
    keys: TenantKeys,
    principal: Principal,
    tool: str,
    arguments: Mapping[str, Json],
    now: datetime,
    state: str,
) -> UUID:
    """Return the id of a confirmation that was asked of this caller, for this call, just now.

    Raises:
        Invalid: altered, too old, or asked of somebody else or about something else.
    """
    wrong = Invalid("This was not asked of you about this call, or too long ago.", field="state")
    try:
        identity, data = open_handle(keys, _PURPOSE, state)
        key_id, channel, asked, until = json.loads(data)
        over = datetime.fromisoformat(until) <= now
    except (Tampered, ValueError) as err:
        raise wrong from err
    expected = (principal.key_id, principal.channel, _digest(tool, arguments))
    if over or (key_id, channel, asked) != expected:
        raise wrong
    return identity


async def claim(claims: Claims, tenant: TenantId, identity: UUID) -> None:
    """Use a confirmation up.

    Raises:
        Invalid: it was used before.
        Unavailable: nobody can tell.
    """
    proof = _PURPOSE.encode() + identity.bytes
    if not await claims.first_use(tenant, proof, seconds=REMEMBER_SECONDS):
        raise Invalid("This confirmation was used already.", field="state")


def _digest(tool: str, arguments: Mapping[str, Json]) -> str:
    written = json.dumps([tool, arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()
