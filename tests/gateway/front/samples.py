"""Values that paths return, with every field set."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from core.event import AuditEvent
from core.ids import (
    EventId,
    KeyId,
    MemoryId,
    NamespaceId,
    RecallId,
    SpaceId,
    TenantId,
    UserId,
    WriterId,
    new_uuid,
)
from core.model import (
    Details,
    Kind,
    Layer,
    Memory,
    Outcome,
    Persistence,
    Recall,
    Recalled,
    Receipt,
    Redaction,
    Row,
    Sensitivity,
    State,
    Status,
    Trust,
)
from core.ports import Audience, LoggedEvent, MemberRole, SignedEvent
from core.scope import Principal, Role, SourceKind
from gateway.gate import KeyInfo, KeySpec, Listed, NewKey, NewTenant, TenantInfo
from gateway.policies import Checked, Explained, PutPolicy
from gateway.preview import Preview
from gateway.quotas import InForce, Quotas
from gateway.reveal import Revealed
from gateway.spaces import MemberInfo, Shared, SpaceInfo

NOW = datetime(2026, 3, 1, 12, 30, 15, 250000, tzinfo=UTC)
NOW_TEXT = "2026-03-01T12:30:15.250000Z"
TENANT = TenantId(new_uuid())
NAMESPACE = NamespaceId(new_uuid())
SPACE = SpaceId(new_uuid())
MEMORY_ID = MemoryId(new_uuid())
EVENT_ID = EventId(new_uuid())

PRINCIPAL = Principal(
    tenant=TENANT,
    key_id=KeyId("abc"),
    roles=frozenset(Role) - {Role.OPERATOR},
    namespaces=None,
    users=None,
)


def memory(
    content: str = "likes tea",
    *,
    kind: Kind = Kind.PREFERENCE,
    version: int = 3,
    space: SpaceId | None = None,
    author: str | None = None,
    person: str | None = None,
) -> Memory:
    row = Row(
        id=MEMORY_ID,
        version=version,
        user=UserId(UUID(int=7)),
        namespace=NAMESPACE,
        space=space,
        layer=Layer.SEMANTIC,
        kind=kind,
        state=State.ACTIVE,
        importance=0.5,
        confidence=0.75,
        persistence=Persistence.DURABLE,
        sensitivity=Sensitivity.PERSONAL,
        trust=Trust.HIGH,
        source_kind=SourceKind.USER_DIRECT,
        outcome="resolved",
        occurred_at=NOW,
        valid_from=NOW,
        valid_until=None,
        expires_at=None,
        until_session_end=False,
        created_at=NOW,
        updated_at=NOW,
        last_used_at=None,
        uses=2,
        chunks=1,
        content=b"",
        details=b"",
    )
    details = Details(
        tags=("drink",),
        metadata={"n": 1},
        entities=("tea",),
        source_ref="turn 4",
        session_id="s1",
        task="order",
        author=author,
        person=person,
    )
    return Memory(row=row, content=content, details=details)


def recalled(content: str = "likes tea", **others: Any) -> Recalled:
    return Recalled(
        memory=memory(content, **others),
        content=content,
        score=0.8,
        detail="full",
        explain={"dense": 0.8},
    )


def recall(*items: Recalled) -> Recall:
    return Recall(
        id=RecallId(new_uuid()),
        items=items or (recalled(),),
        degraded=("index",),
        withheld=0,
        event_id=EVENT_ID,
    )


REDACTION = Redaction(kind="PHONE_NUMBER", action="mask", field="content", count=1)
RECEIPT = Receipt(
    outcomes=(
        Outcome(
            id=MEMORY_ID,
            status=Status.STORED,
            version=1,
            supersedes=MemoryId(UUID(int=9)),
            expires_at=NOW,
            sensitivity=Sensitivity.PERSONAL,
        ),
    ),
    redactions=(REDACTION,),
    event_id=EVENT_ID,
)

KEY_INFO = KeyInfo(
    id=KeyId("k2"),
    spec=KeySpec(
        name="agent",
        roles=frozenset({Role.READER, Role.WRITER}),
        namespaces=("support",),
        users=None,
        owner="alice",
        addresses=("192.0.2.0/24", "2001:db8::1"),
    ),
    created_at=NOW,
    revoked_at=None,
    last_used_at=NOW,
)
NEW_KEY = NewKey(info=KEY_INFO, credential="mw_k2_shown-once")
ROTATED = NewKey(info=KEY_INFO, credential="mw_k2_shown-once", access_version="rights-3")
TENANT_INFO = TenantInfo(id=TENANT, name="acme", created_at=NOW)

EVENT = LoggedEvent(
    signed=SignedEvent(
        event=AuditEvent(
            event_id=EVENT_ID,
            tenant=TENANT,
            at=NOW,
            actor="a" * 32,
            on_behalf_of=None,
            action="memory:item:read",
            object="memories",
            decision="allow",
            rule="reader",
            policy_version="v1",
            outcome="ok",
            count=1,
            request_id="r",
            trace_id="",
        ),
        writer=WriterId(new_uuid()),
        number=1,
        digest=bytes(32),
        mac=bytes(32),
    ),
    sequence=5,
    prev=bytes(32),
    hash=bytes(32),
)


async def batch(items, once=None):
    """Answer a batch as the path would: an error stays what it is."""
    return [item if isinstance(item, Exception) else RECEIPT for item in items]


IN_FORCE = InForce(
    quotas=Quotas(
        tenant={"concurrency": 8, "stored_memories": None},
        keys={"default": {"requests_per_minute": 600}, "a" * 16: {"writes_per_minute": 0}},
        users={"default": {"requests_per_minute": 60}},
    ),
    version="0123456789abcdef",
    access_version="rights-2",
)

PUT_POLICY = PutPolicy(
    document={
        "rules": [
            {
                "subject": "role:reader",
                "in": "namespace:support",
                "object": "memory:item",
                "verb": "recall",
                "effect": "deny",
            }
        ],
        "people": [{"user_id": "alice", "roles": ["reader"], "namespaces": ["*"]}],
        "cases": [],
    },
    version="0123456789ab",
    access_version="rights-5",
)
EXPLAINED = Explained(
    allowed=False,
    rule="rules[0]",
    policy_version="0123456789ab",
    checked=(
        Checked(subject="role:reader", place="namespace:support", rule="rules[0]", effect="deny"),
    ),
)

GUARD_POLICY = PutPolicy(
    document={
        "rules": [],
        "cases": [{"case": "a card", "text": "card 4111111111111111", "rejected": "CREDIT_CARD"}],
    },
    version="0123456789ab",
    access_version="rights-9",
)

PREVIEW = Preview(
    content="call [PHONE_NUMBER]",
    findings=(REDACTION,),
    sensitivity=Sensitivity.PERSONAL,
    expires_in_seconds=600,
    policy_version="balanced-1/1",
)

REVEALED = Revealed(memory=memory("call Kay"), count=1, event_id=EVENT_ID, purpose="b" * 32)

SPACE_INFO = SpaceInfo(id=SPACE, name="basics", audience=Audience.SAME_USER, created_at=NOW)
MEMBER_INFO = MemberInfo(member="namespace:support", role=MemberRole.WRITER, created_at=NOW)

ANSWERS = {
    "write.write": RECEIPT,
    "write.write_batch": batch,
    "recall.recall": recall(),
    "memories.get": memory(),
    "memories.versions": [memory(), memory(version=2)],
    "memories.page": Listed(items=[memory()], next_cursor="next"),
    "memories.update": (memory(version=4), (REDACTION,), EVENT_ID),
    "memories.forget": 1,
    "memories.names": {NAMESPACE: "support", SPACE: "basics"},
    "admin.create_tenant": NewTenant(info=TENANT_INFO, admin=NEW_KEY),
    "admin.tenants": Listed(items=[TENANT_INFO], next_cursor=None),
    "admin.erase_tenant": 12,
    "admin.create_key": NEW_KEY,
    "admin.keys": [KEY_INFO],
    "admin.rotate_key": ROTATED,
    "admin.revoke_key": "rights-4",
    "admin.events": Listed(items=[EVENT], next_cursor=None),
    "quotas.put": IN_FORCE,
    "quotas.get": IN_FORCE,
    "spaces.create_space": SPACE_INFO,
    "spaces.spaces": [SPACE_INFO],
    "spaces.delete_space": Shared(access_version="rights-6", deleted=3),
    "spaces.put_member": Shared(access_version="rights-7"),
    "spaces.remove_member": Shared(access_version="rights-8"),
    "spaces.members": [MEMBER_INFO],
    "policies.put_access_policy": PUT_POLICY,
    "policies.access_policy": PUT_POLICY,
    "policies.explain": EXPLAINED,
    "guard_policies.put": GUARD_POLICY,
    "guard_policies.get": GUARD_POLICY,
    "preview.preview": PREVIEW,
    "reveal.reveal": REVEALED,
}
NAMES = {
    f"gateway.{module}": [name.partition(".")[2] for name in ANSWERS if name.startswith(module)]
    for module in (
        "admin",
        "guard_policies",
        "memories",
        "policies",
        "preview",
        "quotas",
        "recall",
        "reveal",
        "spaces",
        "write",
    )
}
