"""The guard over HTTP: what it would do, without doing it."""

from core.scope import Action
from gateway import preview as previewing
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire_guard import PreviewBody, PreviewShown, preview_reply


async def preview(ask: Ask[PreviewBody, Nothing]) -> Answer:
    """Say what the guard would do with a text; it is kept nowhere."""
    shown = await previewing.preview(ask.gate, ask.call, ask.body.proposed())
    return Answer(body=preview_reply(shown))


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/guard/preview",
        action=Action.GUARD_PREVIEW,
        handler=preview,
        name="preview_guard",
        summary="Say what the guard would do with a text; it is kept nowhere",
        body=PreviewBody,
        reply=PreviewShown,
    ),
)
