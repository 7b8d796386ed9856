"""Tenants, people, namespaces and API keys."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.event import AuditEvent
from core.ids import KeyId, NamespaceId, TenantId, UserId
from core.ports.audit import LoggedEvent
from core.ports.record import Claim, Reply
from core.scope import OperatorScope, Role, SourceKind, TenantScope


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    """One API key as the record keeps it.

    Args:
        grants: sealed under the tenant's key: `{"name", "namespaces", "users"}`.
        secret_mac: HMAC of the secret under the pepper, 32 bytes.
        previous_mac: of the secret before a rotation; None once its overlap has passed.
        usable: not revoked and not expired, by the database's time.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantRow:
    """One tenant: its id, its sealed name (under the tenant's own key), and when it was made."""

    id: TenantId
    name: bytes = field(repr=False)
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """Inside ids of what a caller named.

    Args:
        user: None when nothing is kept about that person.
        namespaces: keyed look-up -> id, of those that exist.
    """

    user: UserId | None
    namespaces: Mapping[bytes, NamespaceId]


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
        self, tenant: TenantId, user: bytes, namespaces: Sequence[bytes] | None
    ) -> Resolved:
        """Return the ids behind keyed look-ups; None asks for every namespace of the tenant."""
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

    def admin(self, scope: TenantScope | OperatorScope) -> AbstractAsyncContextManager[AdminView]:
        """Open one transaction of administration."""
        ...
