"""Recall over HTTP."""

from collections.abc import Mapping
from uuid import UUID

from core.scope import Action
from gateway import memories
from gateway import recall as recalling
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire_recall import RecallBody, RecallShown, recall_reply


async def recall(ask: Ask[RecallBody, Nothing]) -> Answer:
    """Answer a question from what is kept about a person."""
    body = ask.body
    found = await recalling.recall(ask.gate, ask.call, body.target(), body.asked())
    names: Mapping[UUID, str] = {}
    shown = [item.memory for item in found.items]
    if body.format == "text" or any(memory.row.space is not None for memory in shown):
        names = await memories.names(ask.gate, ask.call, shown)
    return Answer(body=recall_reply(found, body, names, ask.started))


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/recall",
        action=Action.MEMORY_RECALL,
        handler=recall,
        name="recall",
        summary="Answer a question from what is kept about a person",
        body=RecallBody,
        reply=RecallShown,
    ),
)
