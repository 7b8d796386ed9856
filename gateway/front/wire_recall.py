"""The recall as it looks on the wire.

Rules this module keeps:
- An empty list of tags, layers or kinds is no condition; an empty list of spaces is no space, and
  null is every space one is a member of.
- `top_k` is another name of `limit`, `run_id` of `session_id`; both at once are refused, since one
  of them would have to be ignored.
"""

import time
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from core.model import Json, Kind, Layer, Query, Recall, Recalled, Target, Trust
from gateway.front.prompt_text import render
from gateway.front.wire import (
    Identifier,
    Lax,
    Moment,
    Share,
    Shown,
    Visible,
    Wire,
    refuse,
    shown_time,
)
from gateway.front.wire_memory import Names, SourceShown, source_reply, space_name
from gateway.front.wire_write import MAX_NAME, Tags

MAX_QUERY = 4096
MAX_LIMIT = 50
MAX_TOKENS = 32_768
MAX_TIMEOUT_MS = 10_000
MAX_NAMES = 64

Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]


class RecallBody(Wire):
    """A question about one person. Only `query` is required, and `user_id` unless pinned."""

    query: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUERY), Visible]
    user_id: Identifier | None = None
    namespaces: Annotated[list[Identifier], Field(min_length=1, max_length=MAX_NAMES)] | None = None
    spaces: Annotated[list[Identifier], Field(max_length=MAX_NAMES)] | None = None
    limit: Limit | None = None
    top_k: Limit | None = None
    max_tokens: Annotated[int, Field(ge=1, le=MAX_TOKENS)] = 800
    layers: list[Annotated[Layer, Lax]] = Field(default=[], max_length=MAX_NAMES)
    kinds: list[Annotated[Kind, Lax]] = Field(default=[], max_length=MAX_NAMES)
    tags: Tags = Field(default=[])
    tags_match: Literal["any", "all"] = "any"
    session_id: Identifier | None = None
    run_id: Identifier | None = None
    created_after: Moment | None = None
    created_before: Moment | None = None
    as_of: Moment | None = None
    min_confidence: Share = 0.0
    min_score: Share = 0.0
    task: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)] | None = None
    format: Literal["json", "text"] = "json"
    explain: bool = False
    timeout_ms: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_MS)] = 300

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        if self.limit is not None and self.top_k is not None:
            refuse("twice", "This is another name of `limit`; give one of them.", key="top_k")
        if self.session_id is not None and self.run_id is not None:
            refuse("twice", "This is another name of `session_id`; give one of them.", key="run_id")
        return self

    def target(self) -> Target:
        """Return whom and where the recall asks about."""
        return Target(
            user_id=self.user_id,
            namespaces=None if self.namespaces is None else tuple(self.namespaces),
            spaces=None if self.spaces is None else tuple(self.spaces),
        )

    def asked(self) -> Query:
        """Return the question as the paths take it."""
        return Query(
            text=self.query,
            tags=tuple(self.tags),
            tags_all=self.tags_match == "all",
            session_id=self.session_id or self.run_id,
            layers=frozenset(self.layers),
            kinds=frozenset(self.kinds),
            created_after=self.created_after,
            created_before=self.created_before,
            as_of=self.as_of,
            min_confidence=self.min_confidence,
            min_score=self.min_score,
            limit=self.limit or self.top_k,
            max_tokens=self.max_tokens,
            timeout_ms=self.timeout_ms,
            explain=self.explain,
        )


class RecalledShown(Shown):
    """One memory as a recall returns it."""

    id: str
    layer: Layer
    kind: Kind
    content: str
    detail: Literal["full", "summary"]
    score: float
    confidence: float
    importance: float
    created_at: str
    source: SourceShown
    trust: Trust
    space: str | None
    user_id: str = Field(
        default="", description="Whom it is about; only in a space whose members are people."
    )
    supports: int
    conflicts: list[str]
    explain: dict[str, float] = Field(default={}, description="Only when asked for.")


class RecallShown(Shown):
    """The answer to a recall."""

    recall_id: str
    memories: list[RecalledShown]
    text: str = Field(default="", description="Only with `format: text`.")
    degraded: list[Literal["index", "embedder", "cache", "deadline", "spaces"]]
    took_ms: int


def recall_reply(recall: Recall, body: RecallBody, names: Names, started: float) -> dict[str, Json]:
    """Return the answer to a recall.

    Args:
        names: of the spaces that something was found in; for the text form, of namespaces too.
        started: monotonic seconds when the request came in.
    """
    reply: dict[str, Json] = {
        "recall_id": str(recall.id),
        "memories": [
            recalled_reply(item, explain=body.explain, names=names) for item in recall.items
        ],
        "degraded": list(recall.degraded),
        "took_ms": round((time.monotonic() - started) * 1000),
    }
    if body.format == "text":
        reply["text"] = render(recall, names)
    return reply


def recalled_reply(
    item: Recalled, *, explain: bool, names: Names = MappingProxyType({})
) -> dict[str, Json]:
    """Return one memory as a recall returns it.

    Args:
        names: of spaces.
    """
    row = item.memory.row
    shown: dict[str, Json] = {
        "id": str(row.id),
        "layer": row.layer.value,
        "kind": row.kind.value,
        "content": item.content,
        "detail": item.detail,
        "score": round(item.score, 6),
        "confidence": row.confidence,
        "importance": row.importance,
        "created_at": shown_time(row.created_at),
        "source": source_reply(item.memory),
        "trust": row.trust.value,
        "space": space_name(item.memory, names),
        # A memory supports itself; links between memories, and with them contradictions, are not
        # kept yet.
        "supports": 1,
        "conflicts": [],
    }
    if item.memory.details.person is not None:
        shown["user_id"] = item.memory.details.person
    if explain:
        shown["explain"] = dict(item.explain)
    return shown
