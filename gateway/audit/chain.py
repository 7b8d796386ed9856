"""The chain of one tenant's events; pure.

Rules this module keeps:
- The hash of an event covers its tenant, its place, the hash before it, its contents, its writer's
  number and its MAC: to change, move, leave out or repeat one breaks all that follow.
- A chain begins with a hash of its tenant, so that no chain passes for another's.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

from core.ids import TenantId
from core.ports import SignedEvent
from core.ports.seal import Placed

_GENESIS: Final = b"memwarden/audit/genesis/1\0"
_LINK: Final = b"memwarden/audit/link/1\0"


def genesis(tenant: TenantId) -> bytes:
    """Return the hash before the first event of `tenant`, 32 bytes."""
    return hashlib.sha256(_GENESIS + tenant.bytes).digest()


def link(prev: bytes, sequence: int, signed: SignedEvent) -> bytes:
    """Return the hash of one event in its place, 32 bytes.

    Args:
        prev: hash of the event before it, 32 bytes.
        sequence: its place in its tenant's chain, from 1.
        signed: the event, numbered by its writer.
    """
    return hashlib.sha256(
        _LINK
        + signed.event.tenant.bytes
        + sequence.to_bytes(8, "big")
        + prev
        + signed.writer.bytes
        + signed.number.to_bytes(8, "big")
        + signed.digest
        + signed.mac
    ).digest()


def extend(size: int, head: bytes, events: Iterable[SignedEvent]) -> list[Placed]:
    """Return the places of `events` behind a chain of `size` events that ends in `head`."""
    placed: list[Placed] = []
    for sequence, signed in enumerate(events, size + 1):
        following = link(head, sequence, signed)
        placed.append(
            Placed(
                event_id=signed.event.event_id,
                tenant=signed.event.tenant,
                sequence=sequence,
                prev=head,
                hash=following,
            )
        )
        head = following
    return placed
