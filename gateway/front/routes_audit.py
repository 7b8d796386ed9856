"""The audit log over HTTP."""

from core.scope import Action
from gateway import admin
from gateway.front.operation import Answer, Ask, Operation
from gateway.front.wire_audit import EventsQuery, EventsShown, events_reply


async def list_events(ask: Ask[None, EventsQuery]) -> Answer:
    """List audit events, newest first."""
    return Answer(body=events_reply(await admin.events(ask.gate, ask.call, ask.query.asked())))


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/audit/events",
        action=Action.AUDIT_READ,
        handler=list_events,
        name="list_events",
        summary="List audit events, newest first",
        query=EventsQuery,
        reply=EventsShown,
    ),
)
