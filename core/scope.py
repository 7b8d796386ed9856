"""Who may touch what, as a value.

Rules this module keeps:
- A `Scope` is the proof of one allow decision and the only key to memories. Only access
  enforcement mints one; a test walks the syntax trees and fails when anything else does.
- It names exactly one tenant and exactly one user. There is no wildcard, no "system" scope, and
  no way to widen one.
- `TenantScope` and `OperatorScope` are the same for administration: they open no memory.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from core.ids import KeyId, NamespaceId, SpaceId, TenantId, UserId


class Action(StrEnum):
    """What may be asked, as `area:object:verb`; the policy's and the audit log's vocabulary."""

    MEMORY_WRITE = "memory:item:write"
    MEMORY_READ = "memory:item:read"
    MEMORY_LIST = "memory:item:list"
    MEMORY_RECALL = "memory:item:recall"
    MEMORY_UPDATE = "memory:item:update"
    MEMORY_FORGET = "memory:item:forget"
    MEMORY_REVEAL = "memory:item:reveal"
    RECALL_READ = "memory:recall:read"
    TENANT_CREATE = "admin:tenant:create"
    TENANT_LIST = "admin:tenant:list"
    TENANT_ERASE = "admin:tenant:erase"
    KEY_CREATE = "admin:key:create"
    KEY_LIST = "admin:key:list"
    KEY_ROTATE = "admin:key:rotate"
    KEY_REVOKE = "admin:key:revoke"
    SPACE_CREATE = "admin:space:create"
    SPACE_LIST = "admin:space:list"
    SPACE_DELETE = "admin:space:delete"
    SPACE_SHARE = "admin:space:share"
    SPACE_UNSHARE = "admin:space:unshare"
    POLICY_READ = "admin:policy:read"
    POLICY_WRITE = "admin:policy:write"
    POLICY_EXPLAIN = "admin:policy:explain"
    GUARD_PREVIEW = "admin:guard:preview"
    QUOTA_READ = "admin:quota:read"
    QUOTA_WRITE = "admin:quota:write"
    AUDIT_READ = "audit:event:read"

    @property
    def object(self) -> str:
        """The policy's object, such as `memory:item`."""
        return self.value.rpartition(":")[0]

    @property
    def verb(self) -> str:
        """The policy's verb, such as `write`."""
        return self.value.rpartition(":")[2]


WRITING = frozenset({Action.MEMORY_WRITE, Action.MEMORY_UPDATE, Action.MEMORY_FORGET})
"""Actions under which the record accepts a change of memories; the database checks it again."""


class Role(StrEnum):
    """What a credential may be for. Roles add up."""

    READER = "reader"
    WRITER = "writer"
    CURATOR = "curator"
    ADMIN = "admin"
    PRIVACY = "privacy"
    AUDITOR = "auditor"
    OPERATOR = "operator"


class SourceKind(StrEnum):
    """By which channel a statement came, most trusted first; the channel decides."""

    OPERATOR = "operator"
    USER_DIRECT = "user_direct"
    AGENT_INFERRED = "agent_inferred"
    TOOL_OUTPUT = "tool_output"
    DOCUMENT = "document"
    IMPORTED = "imported"
    DERIVED = "derived"


TOKENS_BEGIN = "token-"
"""Begins the `key_id` of every token, and of no API key: those have no hyphen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a tenant's rights stood when a credential was verified; read with it, in one snapshot.

    Args:
        epoch: grows with everything that takes a right away. What is decided under one epoch is not
            answered under a later one: the record refuses to commit it.
        policy, quotas: versions of the tenant's own access policy and quotas; empty for none.
        pii, secrets: of its own policies for personal data and for secrets; as those.
    """

    epoch: int = 0
    policy: str = ""
    quotas: str = ""
    pii: str = ""
    secrets: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks, once authenticated. Everything in it comes from the verified credential.

    Args:
        tenant: None for the operator alone, who sees no memory.
        key_id: id of the credential: an API key's public id, or `token-` and the keyed hash of
            (issuer, client, subject). Safe to log and to key a budget with.
        roles: what the credential is for.
        namespaces: names it may use; None means every namespace of the tenant.
        users: outside ids of the people it may act for; None means everybody of the tenant.
        ceiling: the most trusted source kind that its writes may claim.
        channel: `http` or `mcp`; decides the default source kind.
        person: outside id of the person whose credential it is: a token's user, a key's owner; None
            for a key of nobody. What that person may not do, the credential may not.
        scopes: OAuth scopes of a token; None for an API key, whose roles are its scopes.
        fresh: the person proved who they are within the last minutes; False asks for a step up
            before what cannot be undone. An API key is made for what it does, and always fresh.
        standing: the tenant's, as of when the credential was verified.
    """

    tenant: TenantId | None
    key_id: KeyId
    roles: frozenset[Role]
    namespaces: tuple[str, ...] | None = field(repr=False)
    users: frozenset[str] | None = field(repr=False)
    ceiling: SourceKind = SourceKind.USER_DIRECT
    channel: str = "http"
    person: str | None = field(default=None, repr=False)
    scopes: frozenset[str] | None = None
    fresh: bool = True
    standing: Standing = Standing()

    @property
    def by_token(self) -> bool:
        """Whether the credential is an access token, of an issuer that knows our scopes or not."""
        return self.key_id.startswith(TOKENS_BEGIN)

    @property
    def pinned_user(self) -> str | None:
        """The only person this credential may act for, or None when there are several."""
        if self.users is not None and len(self.users) == 1:
            return next(iter(self.users))
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One authenticated request on its way in: who asks, and the ids that tie its traces together.

    Args:
        request_id: ours, also in the reply's `X-Request-Id`.
        trace_id: 32 hex digits of our own trace, or empty when telemetry is off.
        not_before: the version token that came with the request (`X-Access-Version`): it is judged
            at that epoch of its tenant's rights, or a later one.
        confirmed: the person at the other end has confirmed this very call, see `Principal.fresh`.
    """

    principal: Principal = field(repr=False)
    request_id: str
    trace_id: str = ""
    not_before: str | None = None
    confirmed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """What the audit log will say of who asked. Keyed hashes; no id of a person or a credential.

    Args:
        actor: keyed hash of the credential's id, 32 hex digits.
        on_behalf_of: keyed hash of the user, 32 hex digits; None for administration.
    """

    actor: str
    on_behalf_of: str | None
    request_id: str
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why an action is allowed: the rule, the policy's version, and its obligations."""

    rule: str
    policy_version: str
    obligations: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spaces:
    """Shared sets by audience. `same_user`: agents share one person; `members`: people share."""

    same_user: frozenset[SpaceId] = frozenset()
    members: frozenset[SpaceId] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Proof of one allow decision, and the only key to a store. Only access enforcement mints one.

    A recall sees `tenant ∧ ((user = u ∧ namespace ∈ N ∧ no space) ∨ (space ∈ S₁ ∧ user = u) ∨
    (space ∈ S₂))` with S₁ the readable `same_user` and S₂ the readable `members` spaces.

    Args:
        tenant: exactly one: two tenants take two decisions and two audit events.
        user: whose memories; never absent, never a wildcard.
        namespaces: N above; for a write, the one namespace written to.
        readable, writable: spaces that may be read, and written to.
        into: the space that a write goes to, one of `writable`; None for what is in no space.
        epoch: of the tenant's rights, under which this was decided; see `Standing`. None for a
            worker, which acts for nobody and whose rule is fixed.
        known: False when nothing is kept about this person yet; such a scope reads as empty and
            must create nothing.
        principal: who asks.
        trail: what the audit log says of who asked.
    """

    tenant: TenantId
    user: UserId
    namespaces: frozenset[NamespaceId]
    readable: Spaces = Spaces()
    writable: Spaces = Spaces()
    into: SpaceId | None = None
    action: Action
    decision: Decision
    principal: Principal = field(repr=False)
    trail: Trail
    epoch: int | None = 0
    known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantScope:
    """Proof that a tenant's own administration or audit may be touched. It opens no memory."""

    tenant: TenantId
    action: Action
    decision: Decision
    principal: Principal = field(repr=False)
    trail: Trail
    epoch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorScope:
    """Proof that the operator may make, list or erase tenants. It opens nothing inside one."""

    action: Action
    decision: Decision
    principal: Principal = field(repr=False)
    trail: Trail


AnyScope = Scope | TenantScope | OperatorScope
"""Any proof of an allow decision."""
