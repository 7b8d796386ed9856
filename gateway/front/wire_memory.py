"""Kept memories as they look on the wire: shown, listed, changed, forgotten.

Rules this module keeps:
- A memory is shown with the outside names of things: the person as the caller named them, the
  namespace by its name. Ids of the inside are shown for the memory alone.
- In a change, a field that is left out stays as it is; only `expires_at` may be null, which ends
  the expiry.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from typing_extensions import override

from core.ids import EventId
from core.model import (
    Change,
    Json,
    Kind,
    Layer,
    Memory,
    Redaction,
    Sensitivity,
    State,
    Target,
    Trust,
)
from core.scope import Call, SourceKind
from gateway.front.wire import (
    FromQuery,
    Identifier,
    Lax,
    Share,
    Shown,
    Wire,
    moment,
    refuse,
    shown_time,
)
from gateway.front.wire_write import (
    SESSION_END,
    AuditShown,
    Content,
    Metadata,
    RedactionShown,
    Tag,
    Tags,
    redactions_reply,
)
from gateway.gate import Listing

MAX_PAGE = 200
Cursor = Annotated[str, StringConstraints(min_length=1, max_length=2048)]


class PersonQuery(Wire):
    """Whose memory it is; the key may supply it."""

    user_id: Identifier | None = None

    def target(self) -> Target:
        """Return whose memories the call aims at, in every namespace and space it may see."""
        return Target(user_id=self.user_id, namespaces=None, spaces=None)


class ListQuery(PersonQuery):
    """Which memories to list; newest first. Of a space it is that space alone, of a namespace what
    is kept in it and in no space.
    """

    namespace: Identifier | None = None
    space: Identifier | None = None
    layer: Annotated[Layer, Lax] | None = None
    kind: Annotated[Kind, Lax] | None = None
    tag: Tag | None = None
    state: Literal["active", "superseded", "archived", "quarantined"] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE), FromQuery] = 50
    cursor: Cursor | None = None

    @override
    def target(self) -> Target:
        """Return whose memories the list is of, and in which namespaces and spaces."""
        names = None if self.namespace is None else (self.namespace,)
        spaces: tuple[str, ...] | None = None if names is None else ()
        if self.space is not None:
            spaces = (self.space,)
        return Target(user_id=self.user_id, namespaces=names, spaces=spaces)

    def listing(self) -> Listing:
        """Return the conditions as the paths take them."""
        return Listing(
            layer=self.layer,
            kind=self.kind,
            tag=self.tag,
            state=self.state,
            limit=self.limit,
            cursor=self.cursor,
        )


CHANGES = ("content", "tags", "metadata", "importance", "confidence", "expires_at")


def _document_change(schema: dict[str, Any]) -> None:
    """Say in JSON Schema what the model does: no field has a default, and one must be there."""
    for name in CHANGES:
        schema["properties"][name].pop("default", None)
    schema["anyOf"] = [{"required": [name]} for name in CHANGES]


def _change_expiry(value: object) -> object:
    return None if value is None else moment(value)


class ChangeBody(Wire):
    """What to change of a memory; the whole guard runs again."""

    # The defaults below are never read: `change` asks which fields were given.
    model_config = ConfigDict(json_schema_extra=_document_change)

    user_id: Identifier | None = None
    content: Content = ""
    tags: Tags = Field(default=[])
    metadata: Metadata = Field(default={})
    importance: Share = 0.5
    confidence: Share = 0.5
    expires_at: Annotated[
        datetime | None,
        BeforeValidator(_change_expiry),
        WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
    ] = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.model_fields_set.isdisjoint(CHANGES):
            refuse("nothing", "Name at least one field to change.")
        return self

    def target(self) -> Target:
        """Return whose memory is changed."""
        return Target(user_id=self.user_id, namespaces=None, spaces=None)

    def change(self, version: int | None) -> Change:
        """Return the change as the paths take it.

        Args:
            version: from `If-Match`; None for whatever version is there.
        """
        given = self.model_fields_set
        return Change(
            content=self.content if "content" in given else None,
            tags=tuple(self.tags) if "tags" in given else None,
            metadata=self.metadata if "metadata" in given else None,
            importance=self.importance if "importance" in given else None,
            confidence=self.confidence if "confidence" in given else None,
            expires_at=self.expires_at,
            clear_expiry="expires_at" in given and self.expires_at is None,
            expected_version=version,
        )


class SourceShown(Shown):
    """By which channel a statement came, and what the caller said of its place."""

    kind: SourceKind
    ref: str | None
    author: str = Field(
        default="",
        description="Who wrote it, `key:<id>` or `user:<user_id>`; only in a shared space.",
    )


class MemoryShown(Shown):
    """One memory."""

    id: str
    user_id: str
    namespace: str | None
    space: str | None
    layer: Layer
    kind: Kind
    content: str
    tags: list[str]
    entities: list[str]
    metadata: dict[str, Any]
    importance: float
    confidence: float
    sensitivity: Sensitivity
    state: State
    trust: Trust
    source: SourceShown
    task: str | None
    outcome: str | None
    version: int
    created_at: str
    updated_at: str
    occurred_at: str | None
    valid_from: str | None
    valid_until: str | None
    expires_at: str | None
    last_used_at: str | None
    uses: int


class ChangedShown(MemoryShown):
    """The memory after its change, with what the guard transformed."""

    redactions: list[RedactionShown]
    audit: AuditShown


class MemoriesShown(Shown):
    """One page of memories."""

    items: list[MemoryShown]
    next_cursor: str | None


class DeletedShown(Shown):
    """How many memories went."""

    deleted: int


Names = Mapping[UUID, str]
"""Names of the tenant's namespaces and spaces."""


def person_of(call: Call, target: Target) -> str:
    """Return the outside id of the person `target` is about: named, or pinned by the credential."""
    return target.user_id or call.principal.pinned_user or ""


def source_reply(memory: Memory) -> dict[str, Json]:
    """Return where a memory came from, and in a shared space from whom."""
    shown: dict[str, Json] = {
        "kind": memory.row.source_kind.value,
        "ref": memory.details.source_ref,
    }
    if memory.row.space is not None and memory.details.author is not None:
        shown["author"] = memory.details.author
    return shown


def space_name(memory: Memory, names: Names) -> str | None:
    """Return the name of the space that a memory is in; its id where the name is not known."""
    space = memory.row.space
    return None if space is None else names.get(space, str(space))


def memory_reply(memory: Memory, names: Names, person: str) -> dict[str, Json]:
    """Return one memory.

    Args:
        person: outside id of whom the call is about, as the caller named them; what is in a space
            whose members are people says itself whom it is about.
    """
    row, details = memory.row, memory.details
    ends = SESSION_END if row.until_session_end else None
    return {
        "id": str(row.id),
        "user_id": details.person or person,
        "namespace": names.get(row.namespace),
        "space": space_name(memory, names),
        "layer": row.layer.value,
        "kind": row.kind.value,
        "content": memory.content,
        "tags": list(details.tags),
        "entities": list(details.entities),
        "metadata": dict(details.metadata),
        "importance": row.importance,
        "confidence": row.confidence,
        "sensitivity": row.sensitivity.value,
        "state": row.state.value,
        "trust": row.trust.value,
        "source": source_reply(memory),
        "task": details.task,
        "outcome": row.outcome,
        "version": row.version,
        "created_at": shown_time(row.created_at),
        "updated_at": shown_time(row.updated_at),
        "occurred_at": shown_time(row.occurred_at),
        "valid_from": shown_time(row.valid_from),
        "valid_until": shown_time(row.valid_until),
        "expires_at": shown_time(row.expires_at) or ends,
        "last_used_at": shown_time(row.last_used_at),
        "uses": row.uses,
    }


def changed_reply(
    memory: Memory,
    names: Names,
    person: str,
    redactions: tuple[Redaction, ...],
    event_id: EventId,
) -> dict[str, Json]:
    """Return a memory after its change."""
    return memory_reply(memory, names, person) | {
        "redactions": redactions_reply(redactions),
        "audit": {"event_id": str(event_id)},
    }


def memories_reply(
    memories: Sequence[Memory], next_cursor: str | None, names: Names, person: str
) -> dict[str, Json]:
    """Return one page of memories."""
    return {
        "items": [memory_reply(memory, names, person) for memory in memories],
        "next_cursor": next_cursor,
    }
