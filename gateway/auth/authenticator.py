"""From a credential to a `Principal`.

Rules this module keeps:
- Unknown, wrong, expired and revoked are one error with one sentence, after the same work.
- Everything in a principal comes from the verified row; nothing in a request overrides it.
- Rows are not cached: a revoked key ends with the transaction that revoked it.
- A row that contradicts itself (operator with a tenant, grants that do not open) proves nothing.
- No error here carries the credential or a part of it.
"""

from typing import Literal

from core.errors import NotFound, Tampered, Unauthenticated
from core.ids import KeyId
from core.ports import Directory, Keyring, KeyRow
from core.scope import Principal, Role
from gateway.auth.grants import Grants, keys_tenant, open_grants
from gateway.auth.keys import KeySmith, parse_credential
from gateway.auth.presented import Presented

Channel = Literal["http", "mcp"]


class Authenticator:
    """Verifies credentials against the directory.

    Args:
        directory: finds the row of a key.
        smith: verifies secrets.
        keyring: opens the grants.
    """

    def __init__(self, directory: Directory, smith: KeySmith, keyring: Keyring) -> None:
        self._directory = directory
        self._smith = smith
        self._keyring = keyring

    async def authenticate(self, presented: Presented, channel: Channel) -> Principal:
        """Return who asks.

        Args:
            presented: what the caller sent. Only API keys are known here; whatever else it may be
                proves nothing.
            channel: the front it came through; decides the default source kind of a write.

        Raises:
            Unauthenticated: it proves nothing: malformed, unknown, wrong, expired or revoked.
            Unavailable: the directory or the keys cannot answer.
        """
        credential = None if presented.scheme == "dpop" else presented.token
        parsed = parse_credential(credential)
        row = None if parsed is None else await self._directory.find_key(parsed.key_id)
        proven = self._smith.verify(credential, row)
        if row is None or not proven or not row.usable or not _sound(row):
            raise Unauthenticated
        grants = await self._grants(row)
        return Principal(
            tenant=row.tenant,
            key_id=KeyId(row.id),
            roles=row.roles,
            namespaces=grants.namespaces,
            users=grants.users,
            ceiling=row.ceiling,
            channel=channel,
            standing=row.standing,
        )

    async def _grants(self, row: KeyRow) -> Grants:
        try:
            return open_grants(await self._keyring.tenant(keys_tenant(row.tenant)), row)
        except (NotFound, Tampered) as err:  # the tenant's keys are gone, or the row was edited
            raise Unauthenticated from err


def _sound(row: KeyRow) -> bool:
    """The operator has no tenant, everybody else has one, and nobody is both."""
    if row.tenant is None:
        return row.roles == {Role.OPERATOR}
    return bool(row.roles) and Role.OPERATOR not in row.roles
