"""Rows of the key store, and the Protocol that every key store answers to.

Rules this module keeps:
- A row holds wrapped keys only, and its `repr` not even those.
- Adding never overwrites: who loses a race reads what the winner wrote.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from core.ids import TenantId
from core.model import Owner


class KeyState(StrEnum):
    """Where a key version stands."""

    ACTIVE = "active"
    DECRYPT_ONLY = "decrypt_only"
    HELD = "held"
    DESTROYED = "destroyed"

    @property
    def seals(self) -> bool:
        """Whether it seals: a hold keeps a key from being destroyed, not from sealing."""
        return self in {KeyState.ACTIVE, KeyState.HELD}


KEPT = frozenset({KeyState.HELD, KeyState.DESTROYED})
"""States that destroying leaves as they are: under a hold, or gone already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantKeyRow:
    """One version of a tenant's keys.

    Args:
        wrapped: under the root KEK, then under the epoch key; empty once destroyed.
    """

    version: int
    wrapped: bytes = field(repr=False)
    kek_id: str
    epoch: int
    state: KeyState


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerKeyRow:
    """One version of an owner's keys.

    Args:
        wrapped: under the tenant KEK of `tenant_version`, then under the epoch key; empty once
            destroyed. It holds a person's DEK and look-up secret, a space's look-up secret alone,
            or the DEK alone of one person in a space.
        op_count: seals so far, as far as they were written down.
    """

    version: int
    wrapped: bytes = field(repr=False)
    tenant_version: int
    epoch: int
    op_count: int
    state: KeyState


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceKeyRow:
    """One version of a service secret, wrapped under the root KEK."""

    version: int
    wrapped: bytes = field(repr=False)
    kek_id: str


OwnerVersion = tuple[Owner, int]


def belongs(kept: Owner, owner: Owner) -> bool:
    """Tell whether the keys of `kept` go with those of `owner`: its own, and a space's people's."""
    return (kept.tenant, kept.id, kept.is_space) == (owner.tenant, owner.id, owner.is_space) and (
        owner.person is None or kept.person == owner.person
    )


class KeyStore(Protocol):
    """Keeps wrapped keys. Every method raises Unavailable when it cannot answer."""

    async def tenant_keys(self, tenant: TenantId) -> list[TenantKeyRow]:
        """Return every version, oldest first; empty when the tenant never had keys."""
        ...

    async def add_tenant_key(self, tenant: TenantId, row: TenantKeyRow) -> bool:
        """Keep a version; False, and nothing changes, when it or a current one is there."""
        ...

    async def owner_keys(self, owner: Owner) -> list[OwnerKeyRow]:
        """Return every version, oldest first, destroyed ones included."""
        ...

    async def add_owner_key(self, owner: Owner, row: OwnerKeyRow) -> bool:
        """Keep a version; False, and nothing changes, when it or a current one is there."""
        ...

    async def destroy_owner(self, owner: Owner) -> int:
        """Destroy every version of an owner's keys that is not held; returns how many.

        A space without a person takes the keys of everybody in it along.

        No byte of them is left in the store; their numbers are never used again.
        """
        ...

    async def count_seals(self, counts: Mapping[OwnerVersion, int]) -> None:
        """Add to `op_count` of each."""
        ...

    async def service_keys(self, name: str) -> list[ServiceKeyRow]:
        """Return every version of a service secret, oldest first."""
        ...

    async def add_service_key(self, name: str, row: ServiceKeyRow) -> bool:
        """Keep a version; False, and nothing changes, when it is there."""
        ...
