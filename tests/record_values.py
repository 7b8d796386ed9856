"""Values to fill a record with: scopes, memories, events. Bytes stand for what the vault seals."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any
from uuid import UUID

from core.event import AuditEvent
from core.ids import (
    EventId,
    KeyId,
    MemoryId,
    NamespaceId,
    SpaceId,
    TenantId,
    UserId,
    WriterId,
    new_uuid,
)
from core.model import Kept, Kind, Layer, Persistence, Sensitivity, State, Trust
from core.ports import SignedEvent
from core.scope import (
    Action,
    AnyScope,
    Decision,
    OperatorScope,
    Principal,
    Role,
    Scope,
    SourceKind,
    Spaces,
    TenantScope,
    Trail,
)

DECISION = Decision(rule="writer-memory", policy_version="1")
TRAIL = Trail(actor="a" * 32, on_behalf_of="b" * 32, request_id="req-1", trace_id="")


def principal(tenant: TenantId | None) -> Principal:
    return Principal(
        tenant=tenant,
        key_id=KeyId("k" * 16),
        roles=frozenset({Role.WRITER}),
        namespaces=None,
        users=None,
    )


def operator(action: Action = Action.TENANT_CREATE) -> OperatorScope:
    return OperatorScope(action=action, decision=DECISION, principal=principal(None), trail=TRAIL)


def administrator(
    tenant: TenantId, action: Action = Action.KEY_CREATE, *, epoch: int = 0
) -> TenantScope:
    return TenantScope(
        tenant=tenant,
        action=action,
        decision=DECISION,
        principal=principal(tenant),
        trail=TRAIL,
        epoch=epoch,
    )


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody of a tenant, in one namespace, and the scopes that reach what is kept of them."""

    tenant: TenantId
    user: UserId
    namespace: NamespaceId
    epoch: int = 0

    def scope(
        self,
        action: Action = Action.MEMORY_WRITE,
        *,
        namespaces: Sequence[NamespaceId] | None = None,
        readable: Spaces | None = None,
        writable: Spaces | None = None,
    ) -> Scope:
        chosen = (self.namespace,) if namespaces is None else namespaces
        return Scope(
            tenant=self.tenant,
            user=self.user,
            namespaces=frozenset(chosen),
            readable=readable or Spaces(),
            writable=writable or Spaces(),
            action=action,
            decision=DECISION,
            principal=principal(self.tenant),
            trail=TRAIL,
            epoch=self.epoch,
        )

    @property
    def reading(self) -> Scope:
        return self.scope(Action.MEMORY_RECALL)

    @property
    def writing(self) -> Scope:
        return self.scope(Action.MEMORY_WRITE)

    def kept(self, text: str = "likes tea", **others: Any) -> Kept:
        return kept(text, namespace=self.namespace, **others)


def kept(
    text: str,
    *,
    namespace: NamespaceId,
    memory: MemoryId | None = None,
    version: int = 1,
    space: SpaceId | None = None,
    layer: Layer = Layer.SEMANTIC,
    kind: Kind = Kind.FACT,
    state: State = State.ACTIVE,
    confidence: float = 0.7,
    expires_at: datetime | None = None,
    session: bytes | None = None,
    tags: tuple[bytes, ...] = (),
    terms: dict[int, int] | None = None,
    vectors: tuple[bytes, ...] = (b"vector",),
    details: bytes = b"{}",
    author: bytes | None = None,
    pseudonyms: dict[bytes, bytes] | None = None,
) -> Kept:
    words = {term_of(word): text.split().count(word) for word in text.split()}
    counted = words if terms is None else terms
    return Kept(
        id=memory or MemoryId(new_uuid()),
        version=version,
        namespace=namespace,
        space=space,
        layer=layer,
        kind=kind,
        state=state,
        importance=0.5,
        confidence=confidence,
        persistence=Persistence.DURABLE,
        sensitivity=Sensitivity.NONE,
        trust=Trust.HIGH,
        source_kind=SourceKind.USER_DIRECT,
        outcome=None,
        occurred_at=None,
        expires_at=expires_at,
        until_session_end=False,
        session=session,
        tags=tags,
        digest=hashlib.sha256(text.encode()).digest(),
        content=text.encode(),
        details=details,
        terms=counted,
        token_count=sum(counted.values()),
        vectors=vectors,
        embedder="test-embedder" if vectors else "",
        author=author,
        pseudonyms={TOKEN: b"sealed value"} if pseudonyms is None else pseudonyms,
    )


TOKEN = b"made-token"
"""What every text of a test holds, whoever it is about: so that a foreign one would be seen."""


def term_of(word: str) -> int:
    """Return a made-up blind token of `word`; the same for everybody, so that tests see leaks."""
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big", signed=True)


def blind(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:16]


def event_of(
    scope: AnyScope, at: datetime, *, touched: str = "memories", outcome: str = "ok"
) -> AuditEvent:
    return AuditEvent.of(
        scope, event_id=EventId(new_uuid()), at=at, object=touched, outcome=outcome
    )


@dataclass
class NotedWriter:
    """An `AuditWriter` that remembers what became of each number."""

    writer: WriterId = field(default_factory=lambda: WriterId(new_uuid()))
    kept: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    _numbers: count = field(default_factory=lambda: count(1))  # type: ignore[type-arg]  # an iterator

    def sign(self, event: AuditEvent) -> SignedEvent:
        number = next(self._numbers)
        digest = hashlib.sha256(event.event_id.bytes).digest()
        return SignedEvent(
            event=event, writer=self.writer, number=number, digest=digest, mac=digest
        )

    def committed(self, signed: SignedEvent) -> None:
        self.kept.append(signed.number)

    def lost(self, signed: SignedEvent) -> None:
        self.missing.append(signed.number)


NIL = UUID(int=0)
