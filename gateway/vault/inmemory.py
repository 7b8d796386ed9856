"""A key store without a database, shipped for tests and held to the real one's contract.

Rules this module keeps:
- Nothing outlives the object; never used where something is kept.
"""

import secrets
from collections.abc import Mapping

from core.ids import TenantId
from core.model import Owner
from gateway.vault.epochs import EpochKeys
from gateway.vault.kek import StaticKek
from gateway.vault.keyring import KeyringService
from gateway.vault.rows import (
    KEPT,
    KeyState,
    OwnerKeyRow,
    OwnerVersion,
    ServiceKeyRow,
    TenantKeyRow,
    belongs,
)
from gateway.vault.secret import SECRET_BYTES


class MemoryKeyStore:
    """A `KeyStore` in dictionaries, by version."""

    def __init__(self) -> None:
        self._tenants: dict[TenantId, dict[int, TenantKeyRow]] = {}
        self._owners: dict[Owner, dict[int, OwnerKeyRow]] = {}
        self._services: dict[str, dict[int, ServiceKeyRow]] = {}

    async def tenant_keys(self, tenant: TenantId) -> list[TenantKeyRow]:
        """Return every version, oldest first."""
        return [row for _, row in sorted(self._tenants.get(tenant, {}).items())]

    async def add_tenant_key(self, tenant: TenantId, row: TenantKeyRow) -> bool:
        """Keep a version; False when it or a current one is there."""
        rows = self._tenants.setdefault(tenant, {})
        if row.version in rows or any(kept.state.seals for kept in rows.values()):
            return False
        rows[row.version] = row
        return True

    async def owner_keys(self, owner: Owner) -> list[OwnerKeyRow]:
        """Return every version, oldest first."""
        return [row for _, row in sorted(self._owners.get(owner, {}).items())]

    async def add_owner_key(self, owner: Owner, row: OwnerKeyRow) -> bool:
        """Keep a version; False when it or a current one is there."""
        rows = self._owners.setdefault(owner, {})
        if row.version in rows or any(kept.state.seals for kept in rows.values()):
            return False
        rows[row.version] = row
        return True

    async def destroy_owner(self, owner: Owner) -> int:
        """Destroy every version that is not held; returns how many."""
        gone = [
            (rows, row)
            for kept, rows in self._owners.items()
            if belongs(kept, owner)
            for row in rows.values()
            if row.state not in KEPT
        ]
        for rows, row in gone:
            rows[row.version] = OwnerKeyRow(
                version=row.version,
                wrapped=b"",
                tenant_version=row.tenant_version,
                epoch=row.epoch,
                op_count=row.op_count,
                state=KeyState.DESTROYED,
            )
        return len(gone)

    async def count_seals(self, counts: Mapping[OwnerVersion, int]) -> None:
        """Add to `op_count` of each."""
        for (owner, version), count in counts.items():
            row = self._owners[owner][version]
            self._owners[owner][version] = OwnerKeyRow(
                version=version,
                wrapped=row.wrapped,
                tenant_version=row.tenant_version,
                epoch=row.epoch,
                op_count=row.op_count + count,
                state=row.state,
            )

    async def service_keys(self, name: str) -> list[ServiceKeyRow]:
        """Return every version, oldest first."""
        return [row for _, row in sorted(self._services.get(name, {}).items())]

    async def add_service_key(self, name: str, row: ServiceKeyRow) -> bool:
        """Keep a version; False when it is there."""
        rows = self._services.setdefault(name, {})
        if row.version in rows:
            return False
        rows[row.version] = row
        return True


def memory_keyring() -> KeyringService:
    """Return a keyring with random keys that are kept nowhere."""
    return KeyringService(
        MemoryKeyStore(), StaticKek(secrets.token_bytes(SECRET_BYTES)), EpochKeys.random()
    )
