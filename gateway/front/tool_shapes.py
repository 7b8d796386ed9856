"""The shapes of the tools: what each takes and gives, as models and as JSON schemas.

Rules this module keeps:
- At most two arguments of a tool are required, and each says what it is for.
- Schemas hold no `$ref`: some clients follow none.
"""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from core.model import Details, Draft, Kind, Target
from gateway.front.wire import Identifier, Lax, Share, Wire
from gateway.front.wire_recall import MAX_LIMIT, MAX_QUERY
from gateway.front.wire_write import MAX_BATCH, Content, Tags

_USER = Field(
    default=None,
    description="The person the memory is about. Leave out only if the key is for one person.",
)
_Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class WriteArguments(Wire):
    """Arguments of `memory_write`."""

    content: Content = Field(description="One fact, preference or event, in plain words.")
    user_id: Identifier | None = _USER
    kind: Annotated[Kind, Lax] = Field(default=Kind.FACT, description="What it says.")
    importance: Share = Field(default=0.5, description="0 trivial to 1 vital (health, safety).")
    tags: Tags = Field(default=[], description="A few words to filter by later.")
    session_id: Identifier | None = Field(default=None, description="The conversation, if any.")
    space: Identifier | None = Field(default=None, description="A shared space to write to.")

    def target(self) -> Target:
        """Return whom and what the write aims at."""
        return Target(user_id=self.user_id, spaces=() if self.space is None else (self.space,))

    def draft(self) -> Draft:
        """Return the memory as the paths take it."""
        return Draft(
            content=self.content,
            details=Details(tags=tuple(self.tags), session_id=self.session_id),
            kind=self.kind,
            importance=self.importance,
        )


class BatchArguments(Wire):
    """Arguments of `memory_write_batch`."""

    items: Annotated[list[Any], Field(min_length=1, max_length=MAX_BATCH)] = Field(
        description="Each item takes the arguments of memory_write."
    )


class SearchArguments(Wire):
    """Arguments of `memory_search`."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUERY)] = Field(
        description="What you want to know, as a question or key words."
    )
    user_id: Identifier | None = _USER
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None = Field(
        default=None, description="Most memories to return; left out, the query decides (3 to 12)."
    )
    kinds: Annotated[list[Annotated[Kind, Lax]], Field(max_length=len(Kind))] = Field(
        default=[], description="Only these kinds; empty means all."
    )
    namespaces: Annotated[list[Identifier], Field(min_length=1, max_length=64)] | None = Field(
        default=None, description="Only these namespaces; left out, all that the key allows."
    )
    spaces: Annotated[list[Identifier], Field(max_length=64)] | None = Field(
        default=None, description="Shared spaces to search as well; left out, those you are in."
    )


class GetArguments(Wire):
    """Arguments of `memory_get`."""

    memory_id: _Id = Field(description="Id from memory_search or memory_write.")
    user_id: Identifier | None = _USER


class UpdateArguments(Wire):
    """Arguments of `memory_update`."""

    memory_id: _Id = Field(description="Id from memory_search or memory_write.")
    content: Content = Field(description="The corrected text; it replaces the old one.")
    user_id: Identifier | None = _USER


class ForgetArguments(Wire):
    """Arguments of `memory_forget`."""

    memory_id: _Id = Field(description="Id from memory_search or memory_write.")
    user_id: Identifier | None = _USER


def object_schema(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with these properties."""
    return {"type": "object", "properties": properties, "required": required}


TEXT: dict[str, Any] = {"type": "string"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
REDACTIONS = {
    "type": "array",
    "items": object_schema(
        ["kind", "action", "field", "count"],
        kind=TEXT,
        action=TEXT,
        field=TEXT,
        count=COUNT,
    ),
}
AUDIT = object_schema(["event_id"], event_id=TEXT)
RECEIPT = object_schema(
    ["outcomes", "redactions", "audit"],
    outcomes={
        "type": "array",
        "items": object_schema(["id", "status", "version"], id=TEXT, status=TEXT, version=COUNT),
    },
    redactions=REDACTIONS,
    audit=AUDIT,
)
RECALLED = object_schema(
    ["id", "kind", "content", "detail", "score", "created_at", "trust"],
    id=TEXT,
    kind=TEXT,
    content=TEXT,
    detail=TEXT,
    score={"type": "number"},
    created_at=TEXT,
    trust=TEXT,
    space={"type": ["string", "null"], "description": "The shared space it is from, if any."},
)


def drop_user(schema: dict[str, Any]) -> None:
    """Take `user_id` out of a tool's schema, items of a batch included."""
    schema["properties"].pop("user_id", None)
    items = schema["properties"].get("items", {}).get("items")
    if items:
        items["properties"].pop("user_id", None)


def input_schema(model: type[Wire]) -> dict[str, Any]:
    """Return the model's schema with its definitions written in place: clients need no `$ref`."""
    schema = model.model_json_schema()
    schema.pop("description", None)  # the tool's own says more
    definitions = schema.pop("$defs", {})

    def inline(node: Any) -> Any:  # noqa: ANN401 - walks any JSON
        if isinstance(node, dict):
            if "$ref" in node:
                beside = {key: value for key, value in node.items() if key != "$ref"}
                # What stands beside a reference speaks of this field, so it wins.
                return inline(definitions[node["$ref"].rpartition("/")[2]] | beside)
            return {
                key: inline(value)
                for key, value in node.items()
                if not (key == "title" and isinstance(value, str))
            }
        if isinstance(node, list):
            return [inline(value) for value in node]
        return node

    inlined: dict[str, Any] = inline(schema)
    return inlined
