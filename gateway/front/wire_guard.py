"""A preview of the guard as it looks on the wire: a part of a write goes in, findings come out.

Rules this module keeps:
- Fields are spelled as a write spells them, so that what is previewed can be sent as it is.
- A refused text has no `content` in the reply, and nothing else of it.
"""

from typing import Annotated, Literal

from pydantic import Field

from core.model import Json, Layer, Sensitivity
from core.scope import SourceKind
from gateway.front.wire import Identifier, Lax, Shown, Wire
from gateway.front.wire_write import Content, RedactionShown, Source, redactions_reply
from gateway.preview import Preview, Proposed


class PreviewBody(Wire):
    """A text that could be written. Only `content` is required."""

    content: Content
    namespace: Identifier | None = None
    source: Source | None = None
    layer: Annotated[Layer, Lax] = Layer.SEMANTIC

    def proposed(self) -> Proposed:
        """Return it as the path takes it."""
        source = self.source or Source()
        return Proposed(
            content=self.content,
            namespace=self.namespace,
            source=SourceKind.USER_DIRECT if source.kind is None else SourceKind(source.kind),
            ref=source.ref,
            layer=self.layer,
        )


class FindingShown(RedactionShown):
    """What was found and what is done with it; no text."""


class PreviewShown(Shown):
    """What a write of the text would make of it."""

    decision: Literal["accept", "reject"]
    content: str = Field(default="", description="As it would be kept; not with `reject`.")
    findings: list[FindingShown]
    sensitivity: Sensitivity | None
    expires_in_seconds: int | None
    policy_version: str


def preview_reply(shown: Preview) -> dict[str, Json]:
    """Return a preview as it is shown."""
    reply: dict[str, Json] = {"decision": "reject" if shown.content is None else "accept"}
    if shown.content is not None:
        reply["content"] = shown.content
    return reply | {
        "findings": redactions_reply(shown.findings),
        "sensitivity": None if shown.sensitivity is None else shown.sensitivity.value,
        "expires_in_seconds": shown.expires_in_seconds,
        "policy_version": shown.policy_version,
    }
