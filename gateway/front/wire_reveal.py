"""A reveal on the wire.

Rules this module keeps:
- Why is asked for, and comes back as the audit log calls it.
"""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from pydantic import Field, StringConstraints

from core.model import Json, Target
from gateway.front.wire import Identifier, Wire
from gateway.front.wire_memory import MemoryShown, memory_reply
from gateway.front.wire_write import AuditShown
from gateway.reveal import Revealed

MAX_PURPOSE = 200


class RevealBody(Wire):
    """Whose memory to show as it was written, and why."""

    user_id: Identifier | None = None
    purpose: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_PURPOSE),
        Field(
            description="Why, such as the number of a ticket. The audit log keeps a keyed hash of "
            "it; personal data and secrets in it refuse the call."
        ),
    ]

    def target(self) -> Target:
        """Return whose memory it is, in every namespace and space the credential may see."""
        return Target(user_id=self.user_id, namespaces=None, spaces=None)


class RevealedShown(MemoryShown):
    """The memory with the values behind its pseudonyms."""

    revealed: int = Field(description="How many values were put back.")
    purpose: str = Field(description="The purpose as the audit log calls it.")
    audit: AuditShown


def revealed_reply(shown: Revealed, names: Mapping[UUID, str], person: str) -> dict[str, Json]:
    """Return the answer to a reveal.

    Args:
        names, person: as of `memory_reply`.
    """
    return {
        **memory_reply(shown.memory, names, person),
        "revealed": shown.count,
        "purpose": shown.purpose,
        "audit": {"event_id": str(shown.event_id)},
    }
