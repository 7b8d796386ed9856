"""The write as it looks on the wire: what is sent, and what comes back.

Rules this module keeps:
- Names and shapes are the published contract's; `draft()` and `receipt_reply()` are the only
  translations, the same for every front.
- What would claim a tenant or a person inside free-form metadata is refused: it would read like an
  authority that it has not.
"""

import json
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from core.model import (
    Details,
    Draft,
    Json,
    Kind,
    Layer,
    Persistence,
    Receipt,
    Redaction,
    Sensitivity,
    Status,
    Target,
)
from core.scope import SourceKind
from gateway.front.wire import (
    TOO_LARGE,
    Identifier,
    Lax,
    Moment,
    Problem,
    Share,
    Shown,
    Visible,
    Wire,
    moment,
    refuse,
    shown_time,
)

MAX_CONTENT = 32_768
MAX_TAGS = 64
MAX_TAG = 128
MAX_ENTITIES = 64
MAX_NAME = 256
MAX_REF = 1024
MAX_METADATA_BYTES = 16 * 1024
MAX_BATCH = 256
MAX_TTL_SECONDS = 10 * 365 * 86_400
RESERVED = frozenset({"user_id", "tenant_id", "tenant", "namespace"})
SESSION_END = "session_end"


def _metadata(value: dict[str, Json]) -> dict[str, Json]:
    for name in value:
        if name in RESERVED:
            refuse("reserved", "This name is reserved.", key=name)
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_METADATA_BYTES:
        refuse(TOO_LARGE, f"This must be at most {MAX_METADATA_BYTES} bytes of JSON.")
    return value


def _expiry(value: object) -> object:
    return value if value is None or value == SESSION_END else moment(value)


Content = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CONTENT), Visible]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TAG), Visible]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Entity = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME), Visible]
Metadata = Annotated[
    dict[str, Any],
    AfterValidator(_metadata),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": True,
            "propertyNames": {"not": {"enum": sorted(RESERVED)}},
            "description": f"At most {MAX_METADATA_BYTES} bytes of JSON.",
        }
    ),
]
Expiry = Annotated[
    datetime | Literal["session_end"] | None,
    BeforeValidator(_expiry),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date-time"},
                {"const": SESSION_END},
                {"type": "null"},
            ]
        }
    ),
]


class Source(Wire):
    """By which channel the statement came. More trust than the credential has is lowered."""

    kind: Literal["user_direct", "agent_inferred", "tool_output", "document", "imported"] | None = (
        None
    )
    ref: Annotated[str, StringConstraints(max_length=MAX_REF)] | None = None


class WriteBody(Wire):
    """A memory to keep. Only `content` is required, and `user_id` unless the key supplies it."""

    content: Content
    user_id: Identifier | None = None
    namespace: Identifier | None = None
    space: Identifier | None = None
    session_id: Identifier | None = None
    layer: Annotated[Layer, Lax] = Layer.SEMANTIC
    kind: Annotated[Kind, Lax] = Kind.FACT
    importance: Share = 0.5
    confidence: Share = 0.7
    tags: Tags = Field(default=[])
    metadata: Metadata = Field(default={})
    entities: list[Entity] = Field(default=[], max_length=MAX_ENTITIES)
    occurred_at: Moment | None = None
    expires_at: Expiry = None
    ttl_seconds: Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS)] | None = None
    persistence: Annotated[Persistence, Lax] = Persistence.DURABLE
    source: Source | None = None
    extract: Literal["auto", "none"] = "auto"
    task: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)] | None = None
    outcome: Literal["resolved", "failed"] | None = None
    wait: Literal["merged", "durable"] = "merged"

    @model_validator(mode="after")
    def _session(self) -> Self:
        if self.expires_at == SESSION_END and self.session_id is None:
            refuse("session", "`session_end` needs a session_id.", key="expires_at")
        return self

    def target(self) -> Target:
        """Return whom and what the write aims at."""
        return Target(
            user_id=self.user_id,
            namespaces=None if self.namespace is None else (self.namespace,),
            spaces=() if self.space is None else (self.space,),
        )

    def draft(self) -> Draft:
        """Return the memory as the paths take it."""
        source = self.source or Source()
        return Draft(
            content=self.content,
            details=Details(
                tags=tuple(self.tags),
                metadata=self.metadata,
                entities=tuple(self.entities),
                source_ref=source.ref,
                session_id=self.session_id,
                task=self.task,
            ),
            layer=self.layer,
            kind=self.kind,
            importance=self.importance,
            confidence=self.confidence,
            occurred_at=self.occurred_at,
            expires_at=self.expires_at if isinstance(self.expires_at, datetime) else None,
            until_session_end=self.expires_at == SESSION_END,
            ttl_seconds=self.ttl_seconds,
            persistence=self.persistence,
            source_kind=None if source.kind is None else SourceKind(source.kind),
            extract=self.extract == "auto",
            outcome=self.outcome,
            wait_merged=self.wait == "merged",
        )


class BatchBody(Wire):
    """Up to 256 memories; each is judged by itself."""

    items: Annotated[
        list[Any],
        Field(min_length=1, max_length=MAX_BATCH),
        WithJsonSchema(
            {
                "type": "array",
                "items": {"$ref": "#/components/schemas/WriteBody"},
                "minItems": 1,
                "maxItems": MAX_BATCH,
            }
        ),
    ]


class OutcomeShown(Shown):
    """What became of one fact."""

    id: str
    status: Status
    version: int
    supersedes: str | None
    expires_at: str | None
    sensitivity: Sensitivity


class RedactionShown(Shown):
    """What the guard transformed; no text."""

    kind: str
    action: str
    field: str
    count: int


class AuditShown(Shown):
    """The audit event that stands for the call."""

    event_id: str


class ReceiptShown(Shown):
    """The answer to a write."""

    outcomes: list[OutcomeShown]
    redactions: list[RedactionShown]
    audit: AuditShown


class BatchShown(Shown):
    """The answer to a batch, in its order: what a single write would answer, or a problem."""

    results: list[ReceiptShown | Problem]


def receipt_reply(receipt: Receipt) -> dict[str, Json]:
    """Return the answer to a write."""
    return {
        "outcomes": [
            {
                "id": str(outcome.id),
                "status": outcome.status.value,
                "version": outcome.version,
                "supersedes": None if outcome.supersedes is None else str(outcome.supersedes),
                "expires_at": shown_time(outcome.expires_at),
                "sensitivity": outcome.sensitivity.value,
            }
            for outcome in receipt.outcomes
        ],
        "redactions": redactions_reply(receipt.redactions),
        "audit": {"event_id": str(receipt.event_id)},
    }


def redactions_reply(redactions: tuple[Redaction, ...]) -> list[Json]:
    """Return what the guard transformed."""
    return [
        {"kind": each.kind, "action": each.action, "field": each.field, "count": each.count}
        for each in redactions
    ]
