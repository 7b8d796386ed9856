"""Reveal over HTTP. No tool does it: what a model is shown, it may say to anybody."""

from core.scope import Action
from gateway import memories
from gateway import reveal as revealing
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire_memory import person_of
from gateway.front.wire_reveal import RevealBody, RevealedShown, revealed_reply


async def reveal_memory(ask: Ask[RevealBody, Nothing]) -> Answer:
    """Show one memory as it was written, pseudonyms undone."""
    target = ask.body.target()
    shown = await revealing.reveal(ask.gate, ask.call, target, ask.names["id"], ask.body.purpose)
    names = await memories.names(ask.gate, ask.call, [shown.memory])
    return Answer(
        body=revealed_reply(shown, names, person_of(ask.call, target)),
        version=shown.memory.row.version,
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/memories/{id}/reveal",
        action=Action.MEMORY_REVEAL,
        handler=reveal_memory,
        name="reveal_memory",
        summary="Show a memory as it was written, pseudonyms undone",
        body=RevealBody,
        reply=RevealedShown,
    ),
)
