"""Tenants, people, namespaces and API keys."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from core.event import AuditEvent
from core.ids import KeyId, NamespaceId, SpaceId, TenantId, UserId
from core.ports.audit import LoggedEvent
from core.ports.record import Claim, Reply
from core.scope import OperatorScope, Role, SourceKind, Standing, TenantScope


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """One API key as the record keeps it.

    Args:
        grants: sealed under the tenant's key: what `gateway.auth.grants.Grants` says.
        secret_mac: HMAC of the secret under the pepper, 32 bytes.
        previous_mac: of the secret before a rotation; None once its overlap has passed.
        usable: not revoked and not expired, by the database's time.
        last_used_at: when it last proved somebody, to the minute.
        standing: of its tenant, in the snapshot that the row was read in.
    """

    id: KeyId
    tenant: TenantId | None
    roles: frozenset[Role]
    ceiling: SourceKind
    grants: bytes = field(repr=False)
    secret_mac: bytes = field(repr=False)
    previous_mac: bytes | None = field(repr=False)
    pepper_version: int
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    usable: bool
    last_used_at: datetime | None = None
    standing: Standing = Standing()


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRow:
    """One tenant: its id, its sealed name (under the tenant's own key), and when it was made."""

    id: TenantId
    name: bytes = field(repr=False)
    created_at: datetime


class Audience(StrEnum):
    """Who shares what in a space: agents, about one person at a time; or people, everything."""

    SAME_USER = "same_user"
    MEMBERS = "members"


class MemberKind(StrEnum):
    """What may be a member of a space."""

    KEY = "key"
    USER = "user"
    NAMESPACE = "namespace"


class MemberRole(StrEnum):
    """What a member may do in a space; a writer also reads."""

    READER = "reader"
    WRITER = "writer"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceRow:
    """One space: a keyed look-up of its name, and the name sealed under the tenant's key."""

    id: SpaceId
    key: bytes
    name: bytes = field(repr=False)
    audience: Audience
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """One member of a space.

    Args:
        key: keyed look-up of `<kind>:<name>`, 16 bytes.
        name: what the caller named, sealed under the tenant's key.
    """

    space: SpaceId
    kind: MemberKind
    key: bytes
    name: bytes = field(repr=False)
    role: MemberRole
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """A space that somebody is a member of, and as what at most."""

    space: SpaceId
    key: bytes
    audience: Audience
    role: MemberRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """As whom a caller may be a member: keyed look-ups of `<kind>:<name>`.

    Args:
        keys: of the credential, of the person, of the namespaces in use.
        every_namespace: also as whatever namespace of the tenant.
    """

    keys: tuple[bytes, ...] = ()
    every_namespace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Inside ids of what a caller named, of one snapshot.

    Args:
        user: None when nothing is kept about that person.
        namespaces: keyed look-up -> id, of those that exist.
        spaces: what they are members of; each space once, with its widest role.
        standing: of the tenant.
    """

    user: UserId | None
    namespaces: Mapping[bytes, NamespaceId]
    spaces: tuple[Membership, ...] = ()
    standing: Standing = Standing()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """A tenant's own policy of one kind, sealed under the tenant's key.

    Args:
        kind: `access`, `quotas`, `pii` or `secrets`.
        version: short hash of its contents, in clear; part of decisions and of cache keys.
    """

    kind: str
    version: str
    sealed: bytes = field(repr=False)


class AdminView(Protocol):
    """One transaction of a tenant's administration or the operator's; it opens no memory."""

    now: datetime

    async def insert_tenant(self, row: TenantRow, name_key: bytes) -> None:
        """Keep a new tenant. Operator only. Raises: Conflict (the name's keyed look-up exists)."""
        ...

    async def tenants(self, after: UUID | None, limit: int) -> list[TenantRow]:
        """Return tenants, oldest first. Operator only."""
        ...

    async def erase_tenant(self, tenant: TenantId) -> int:
        """Remove everything of a tenant but its audit trail; returns how many memories went.

        Operator only. Raises: NotFound.
        """
        ...

    async def insert_key(self, row: KeyRow) -> None:
        """Keep a new API key."""
        ...

    async def keys(self) -> list[KeyRow]:
        """Return the tenant's keys, newest first, revoked ones included."""
        ...

    async def key(self, key: KeyId) -> KeyRow:
        """Return one of the tenant's keys. Raises: NotFound."""
        ...

    async def rotate_key(self, key: KeyId, secret_mac: bytes, *, overlap_seconds: int) -> KeyRow:
        """Give a key a new secret; the old one works for `overlap_seconds` more.

        Raises: NotFound (also: revoked).
        """
        ...

    async def revoke_key(self, key: KeyId) -> None:
        """End a key at once. Raises: NotFound."""
        ...

    async def insert_space(self, row: SpaceRow) -> None:
        """Keep a new space. Raises: Conflict (the name's keyed look-up exists)."""
        ...

    async def spaces(self) -> list[SpaceRow]:
        """Return the tenant's spaces, oldest first."""
        ...

    async def space(self, key: bytes) -> SpaceRow:
        """Return one space by the keyed look-up of its name. Raises: NotFound."""
        ...

    async def delete_space(self, space: SpaceId) -> int:
        """End a space: its members, and everything kept in it, with removal of its points queued.

        Returns how many memories went. Takes rights away, see `epoch`. Raises: NotFound.
        """
        ...

    async def put_member(self, row: MemberRow) -> None:
        """Make a member, or give one another role. Takes rights away when the role shrinks."""
        ...

    async def remove_member(self, space: SpaceId, key: bytes) -> None:
        """End a membership; takes rights away. Raises: NotFound."""
        ...

    async def members(self, space: SpaceId) -> list[MemberRow]:
        """Return the members of a space, oldest first."""
        ...

    async def put_policy(self, row: PolicyRow) -> None:
        """Put a policy in force, whole; takes rights away, for all anybody knows."""
        ...

    async def policy(self, kind: str) -> PolicyRow | None:
        """Return the tenant's own policy of a kind, or None."""
        ...

    async def epoch(self) -> int:
        """Return the epoch of the tenant's rights as this transaction leaves it.

        `revoke_key`, `rotate_key` without overlap, and every method that says so, raise it by one.
        """
        ...

    async def events(
        self,
        *,
        since: datetime | None,
        until: datetime | None,
        on_behalf_of: frozenset[str],
        action: str | None,
        after: tuple[datetime, UUID] | None,
        limit: int,
    ) -> "list[LoggedEvent]":
        """Return the tenant's audit events, newest first, strictly older than `after`.

        Args:
            on_behalf_of: keyed hashes to keep; empty keeps all.
        """
        ...

    async def record(self, event: AuditEvent) -> None:
        """As in `MemoryView`."""
        ...

    async def settle(self, claim: Claim, reply: Reply) -> None:
        """As in `MemoryView`."""
        ...


class Directory(Protocol):
    """Tenants, people, namespaces and API keys. Every method raises Unavailable."""

    async def find_key(self, key: KeyId) -> KeyRow | None:
        """Return one key of whatever tenant; the only look-up that names none."""
        ...

    async def resolve(
        self,
        tenant: TenantId,
        user: bytes,
        namespaces: Sequence[bytes] | None,
        members: Members = Members(),
    ) -> Resolved:
        """Return the ids behind keyed look-ups; None asks for every namespace of the tenant."""
        ...

    async def standing(self, tenant: TenantId) -> Standing:
        """Return how a tenant's rights stand. Raises: NotFound (no such tenant, or erased)."""
        ...

    async def policy(self, tenant: TenantId, kind: str) -> PolicyRow | None:
        """Return a tenant's own policy of a kind, or None."""
        ...

    async def key_used(self, keys: Mapping[KeyId, datetime]) -> None:
        """Write down when keys were last used; never moves a time back."""
        ...

    async def rehash_key(self, key: KeyId, old_mac: bytes, new_mac: bytes, pepper: int) -> bool:
        """Keep the secret of a key under another pepper, if it is still the secret of `old_mac`.

        Also ends its former secret, which only the old pepper could prove. Returns whether it did.
        """
        ...

    async def ensure(
        self, tenant: TenantId, user: bytes, namespace: bytes, sealed_name: bytes
    ) -> tuple[UserId, NamespaceId]:
        """Return the ids, making what is missing; safe under races.

        Args:
            sealed_name: the namespace's name, sealed, kept if it is new.
        """
        ...

    async def namespace_names(self, tenant: TenantId) -> Mapping[NamespaceId, bytes]:
        """Return the sealed name of each namespace of the tenant."""
        ...

    async def space_names(self, tenant: TenantId) -> Mapping[SpaceId, bytes]:
        """Return the sealed name of each space of the tenant."""
        ...

    def admin(self, scope: TenantScope | OperatorScope) -> AbstractAsyncContextManager[AdminView]:
        """Open one transaction of administration."""
        ...
