"""Audit events as they look on the wire."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.model import Json
from core.ports import LoggedEvent
from gateway.audit.event import to_wire
from gateway.front.wire import FromQuery, Identifier, Moment, Shown, Wire
from gateway.front.wire_memory import Cursor
from gateway.gate import EventQuery, Listed

MAX_EVENTS = 1000


class EventsQuery(Wire):
    """Which audit events; newest first, from `from` (inclusive) to `to` (exclusive)."""

    since: Moment | None = Field(default=None, alias="from")
    until: Moment | None = Field(default=None, alias="to")
    user_id: Identifier | None = None
    action: (
        Annotated[str, StringConstraints(pattern=r"^[a-z_]+(:[a-z_]+){2}$", max_length=64)] | None
    ) = None
    limit: Annotated[int, Field(ge=1, le=MAX_EVENTS), FromQuery] = 100
    cursor: Cursor | None = None

    def asked(self) -> EventQuery:
        """Return the conditions as the paths take them."""
        return EventQuery(
            since=self.since,
            until=self.until,
            user_id=self.user_id,
            action=self.action,
            limit=self.limit,
            cursor=self.cursor,
        )


class EventShown(Shown):
    """One thing done or refused. No content; people and credentials stand as keyed hashes."""

    event_id: str
    sequence: int | None = Field(description="Its place in the tenant's chain, once sealed.")
    at: str
    tenant: str
    actor: str
    on_behalf_of: str | None
    action: str
    object: str
    decision: Literal["allow", "deny"]
    rule: str
    policy_version: str
    outcome: str
    count: int
    request_id: str
    trace_id: str
    prev: str | None
    hash: str | None


class EventsShown(Shown):
    """One page of audit events."""

    items: list[EventShown]
    next_cursor: str | None


def events_reply(page: Listed[LoggedEvent]) -> dict[str, Json]:
    """Return one page of audit events."""
    return {"items": [to_wire(each) for each in page.items], "next_cursor": page.next_cursor}
