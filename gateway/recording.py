"""The audit event of a path, in the transaction of what it records.

Rules this module keeps:
- Every event that a path of the gateway leaves of itself is made here, from the proof of its allow
  decision and at the database's time; what is refused is recorded elsewhere (gateway/refusing.py).
"""

from datetime import datetime
from typing import Protocol

from core.event import AuditEvent
from core.ids import EventId, new_uuid
from core.scope import AnyScope


class Recorder(Protocol):
    """The open transaction: a view of memories or of administration."""

    now: datetime

    async def record(self, event: AuditEvent) -> None:
        """Append the event. Raises: Unavailable."""
        ...


async def record(
    view: Recorder, scope: AnyScope, touched: str, *, count: int = 1, action: str | None = None
) -> EventId:
    """Leave one event that `scope` was used on `touched`; returns its id.

    Args:
        touched: id of a thing, or the word for many; never a name or a text.
        count: how many things.
        action: as in `AuditEvent.of`.

    Raises: Unavailable.
    """
    event = AuditEvent.of(
        scope,
        event_id=EventId(new_uuid()),
        at=view.now,
        object=touched,
        count=count,
        action=action,
    )
    await view.record(event)
    return event.event_id
