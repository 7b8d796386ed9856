"""From a credential to a `Principal`.

Rules this module keeps:
- Unknown, wrong, expired and revoked are one error with one sentence, after the same work.
- Everything in a principal comes from the verified row; nothing in a request overrides it.
- Rows are not cached: a revoked key ends with the transaction that revoked it.
- A row that contradicts itself (operator with a tenant, grants that do not open) proves nothing.
- What is not spelled like an API key is a token, if there are issuers; never first one, then the
  other.
- A key that is bound to networks proves nothing from elsewhere, nor where no address is known.
- No error here carries the credential or a part of it.
"""

from typing import Literal, Protocol

from core.errors import NotFound, Tampered, Unauthenticated, Unavailable
from core.ids import KeyId
from core.ports import Directory, Keyring, KeyRow
from core.scope import Principal, Role
from gateway.auth.addresses import inside, read_address, read_network
from gateway.auth.grants import Grants, keys_tenant, open_grants
from gateway.auth.keys import KeySmith, Renewed, parse_credential
from gateway.auth.presented import Presented

KEY_PREFIX = "mw_"
"""Begins every API key, and no token: those begin with a JSON object in base64url."""

Channel = Literal["http", "mcp"]


class Proofs(Protocol):
    """What is told of each API key that proved somebody; never blocks, never fails."""

    def note(self, key: KeyId, renewed: Renewed | None) -> None:
        """Note a use of `key`, and its secret under the newest pepper if that is due."""
        ...


class Tokens(Protocol):
    """Verifies access tokens; see `gateway.auth.tokens`."""

    async def principal(self, presented: Presented, channel: Channel) -> Principal:
        """Return who asks. Raises: Unauthenticated, Unavailable."""
        ...


class Authenticator:
    """Verifies credentials.

    Args:
        directory: finds the row of a key.
        smith: verifies secrets.
        keyring: opens the grants.
        proofs: told of each key that proved somebody.
        tokens: verifies what is no API key; None when no issuer is trusted.
    """

    def __init__(
        self,
        directory: Directory,
        smith: KeySmith,
        keyring: Keyring,
        *,
        proofs: Proofs | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        self._directory = directory
        self._smith = smith
        self._keyring = keyring
        self._proofs = proofs
        self._tokens = tokens

    async def authenticate(self, presented: Presented, channel: Channel) -> Principal:
        """Return who asks.

        Args:
            presented: what the caller sent.
            channel: the front it came through; decides the default source kind of a write.

        Raises:
            Unauthenticated: it proves nothing: malformed, unknown, wrong, expired or revoked.
            Unavailable: the directory, the keys or a token's issuer cannot answer.
        """
        token = presented.token
        if self._tokens is not None and token is not None and not token.startswith(KEY_PREFIX):
            return await self._tokens.principal(presented, channel)
        credential = None if presented.scheme == "dpop" else presented.token
        parsed = parse_credential(credential)
        row = None if parsed is None else await self._directory.find_key(parsed.key_id)
        if row is not None and not row.usable:  # as if it were not there: its pepper may be gone
            row = None
        proven = await self._proves(credential, row)
        if credential is None or row is None or not proven or not _sound(row):
            raise Unauthenticated
        grants = await self._grants(row)
        if not _reaches(grants, presented.peer):
            raise Unauthenticated
        if self._proofs is not None:
            self._proofs.note(row.id, self._smith.renewed(credential, row))
        return Principal(
            tenant=row.tenant,
            key_id=KeyId(row.id),
            roles=row.roles,
            namespaces=grants.namespaces,
            users=grants.users,
            ceiling=row.ceiling,
            channel=channel,
            person=grants.owner,
            standing=row.standing,
        )

    async def _proves(self, credential: str | None, row: KeyRow | None) -> bool:
        try:
            return self._smith.verify(credential, row)
        except Unavailable:  # hashed under a pepper that another process has made since
            if row is None:
                raise
            await self._smith.learn(row)
            return self._smith.verify(credential, row)

    async def _grants(self, row: KeyRow) -> Grants:
        try:
            return open_grants(await self._keyring.tenant(keys_tenant(row.tenant)), row)
        except (NotFound, Tampered) as err:  # the tenant's keys are gone, or the row was edited
            raise Unauthenticated from err


def _reaches(grants: Grants, peer: str | None) -> bool:
    """Whether a key may be used from `peer`."""
    if grants.addresses is None:
        return True
    return inside(read_address(peer), map(read_network, grants.addresses))


def _sound(row: KeyRow) -> bool:
    """The operator has no tenant, everybody else has one, and nobody is both."""
    if row.tenant is None:
        return row.roles == {Role.OPERATOR}
    return bool(row.roles) and Role.OPERATOR not in row.roles
