"""Rows of API keys, and peppers to hash them under."""

from typing import Any

from core.ids import TenantId, new_uuid
from core.ports import KeyRow
from core.scope import Role, SourceKind
from gateway.auth.grants import Grants, keys_tenant, seal_grants
from gateway.auth.keys import KeySmith, Minted
from gateway.vault.keyring import KeyringService
from gateway.vault.secret import Secret
from gateway.vault.services import ServiceSecrets
from tests.gateway.access.directory import NOON


class _Peppers(ServiceSecrets):
    __slots__ = ()

    async def learn(self, version: int) -> None:
        """There are no others."""
        self.pepper(version)

    def up_to(self, version: int) -> "_Peppers":
        """Return those that a process knew before a newer one was made."""
        return _Peppers({number: _SECRETS[number] for number in range(1, version + 1)})


_SECRETS = {1: Secret(b"1" * 32), 2: Secret(b"2" * 32)}
PEPPERS = _Peppers(_SECRETS)
TENANT = TenantId(new_uuid())


def make_row(minted: Minted, **changes) -> KeyRow:
    """Return the row of a key whose grants are not looked at."""
    values: dict[str, Any] = {
        "id": minted.key_id,
        "tenant": TENANT,
        "roles": frozenset({Role.READER}),
        "ceiling": SourceKind.USER_DIRECT,
        "grants": b"",
        "secret_mac": minted.secret_mac,
        "previous_mac": None,
        "pepper_version": minted.pepper_version,
        "created_at": NOON,
        "expires_at": None,
        "revoked_at": None,
        "usable": True,
    }
    return KeyRow(**(values | changes))


async def issue(keyring: KeyringService, grants: Grants, **changes) -> tuple[str, KeyRow]:
    """Return a credential and the whole row of its key."""
    minted = KeySmith(PEPPERS).mint()
    row = make_row(minted, **changes)
    keys = await keyring.tenant(keys_tenant(row.tenant))
    sealed = seal_grants(
        keys,
        grants,
        key_id=row.id,
        roles=row.roles,
        ceiling=row.ceiling,
        expires_at=row.expires_at,
    )
    return minted.credential, edited(row, grants=sealed)


def edited(row: KeyRow, **changes) -> KeyRow:
    """Return `row` as somebody with the database could leave it."""
    return KeyRow(**({name: getattr(row, name) for name in KeyRow.__slots__} | changes))
