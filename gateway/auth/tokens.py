"""From a JWT access token to a `Principal`.

Rules this module keeps:
- In this order: its size and form, its issuer, its header, its key, its signature, its claims, its
  proof of possession, its tenant. What fails is one error with one sentence.
- Everything in a principal comes from verified claims and the settings of their issuer; nothing in
  a request overrides it.
- A tenant that is gone, and one whose keys are gone, accept no token.
- Only how its tenant's rights stand is read from the record, each time.
- The token goes nowhere: no log line, no error, no request to anybody holds it or a part of it.

Source: RFC 7519; RFC 8725; RFC 9068, 4; requirements B1, B2, B5, B13.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.errors import NotFound, Unauthenticated
from core.ids import KeyId
from core.ports import Clock, Directory, Keyring, TenantKeys
from core.scope import TOKENS_BEGIN, Principal
from gateway.auth.authenticator import Channel
from gateway.auth.claims import Statement, understand
from gateway.auth.dpop import REMEMBER_SECONDS, SeenProofs, check_proof
from gateway.auth.fetch import Fetcher
from gateway.auth.issuers import Issuer
from gateway.auth.jwks import IssuerKeys
from gateway.auth.jws import Refused, check_header, key_id, parse, verify
from gateway.auth.presented import Presented

_log = logging.getLogger("memwarden.auth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """An issuer whose tokens are accepted.

    Args:
        audiences: values of `aud` that mean us; never empty.
    """

    issuer: Issuer
    keys: IssuerKeys = field(repr=False)
    audiences: frozenset[str]

    def __post_init__(self) -> None:
        """Refuse to trust an issuer without an audience: it would accept tokens made for others."""
        if not self.audiences or not all(self.audiences):
            raise ValueError("an issuer needs an audience")


def trusted(issuers: Sequence[Issuer], base: str) -> tuple[Trusted, ...]:
    """Return the issuers of the settings, ready to be asked for their keys.

    Args:
        base: how clients reach the gateway, without a path.
    """
    return tuple(
        Trusted(
            issuer=issuer,
            keys=IssuerKeys(issuer, Fetcher(issuer).get),
            audiences=issuer.audiences(base),
        )
        for issuer in issuers
    )


class TokenVerifier:
    """Verifies access tokens.

    Args:
        issuers: whose tokens are accepted.
        directory: how a tenant's rights stand.
        keyring: a token's name in the log is a keyed hash.
        clock: what a token's times are compared with.
        seen: which proofs of possession were used.
    """

    def __init__(
        self,
        issuers: Sequence[Trusted],
        *,
        directory: Directory,
        keyring: Keyring,
        clock: Clock,
        seen: SeenProofs,
    ) -> None:
        self._issuers = {each.issuer.issuer: each for each in issuers}
        self._directory = directory
        self._keyring = keyring
        self._clock = clock
        self._seen = seen

    async def principal(self, presented: Presented, channel: Channel) -> Principal:
        """Return who asks with a token.

        Args:
            presented: what the caller sent; its token is no API key.
            channel: the front it came through.

        Raises:
            Unauthenticated: the token proves nothing, or nothing here.
            Unavailable: the issuer's keys, the record, or what remembers proofs does not answer.
        """
        try:
            return await self._principal(presented, channel)
        except Refused as err:
            _log.debug("a token was refused: %s", err.rule)
            # Outside the handler's cause: what a library said of the token does not travel on.
            raise Unauthenticated from None

    async def _principal(self, presented: Presented, channel: Channel) -> Principal:
        if presented.token is None or presented.scheme == "key":
            raise Refused("scheme")
        token = parse(presented.token)
        named = token.claims.get("iss")
        issuing = self._issuers.get(named) if isinstance(named, str) else None
        if issuing is None:
            raise Refused("iss")
        issuer = issuing.issuer
        algorithm = check_header(
            token.header, algorithms=frozenset(issuer.algorithms), types=issuer.types
        )
        verify(token, algorithm, await issuing.keys.key(key_id(token.header)))
        now = self._clock.now()
        said = understand(token.claims, issuer, issuing.audiences, now)
        await self._possession(presented, presented.token, said)
        try:
            keys = await self._keyring.tenant(said.tenant)
            standing = await self._directory.standing(said.tenant)
        except NotFound as err:
            raise Refused("no-tenant") from err
        return Principal(
            tenant=said.tenant,
            key_id=_name(keys, issuer, said),
            roles=said.roles,
            namespaces=said.namespaces,
            users=said.users,
            ceiling=issuer.source_ceiling,
            channel=channel,
            person=said.person,
            scopes=said.scopes,
            fresh=said.fresh,
            standing=standing,
        )

    async def _possession(self, presented: Presented, token: str, said: Statement) -> None:
        if (said.key is not None) != (presented.scheme == "dpop"):
            raise Refused("scheme")  # a bound token as a bearer's, or a bearer's as a bound one
        if said.key is None:
            return
        proof = check_proof(presented, token, said.key, self._clock.now())
        if not await self._seen.first_use(said.tenant, proof, seconds=REMEMBER_SECONDS):
            raise Refused("proof-replayed")


def _name(keys: TenantKeys, issuer: Issuer, said: Statement) -> KeyId:
    """Return what the audit log and budgets call this issuer's, client's and person's tokens."""
    parts = [issuer.issuer, said.client, said.subject]
    if said.actor is not None:  # an agent that acts for somebody is another than that person
        parts.append(said.actor)
    written = "".join(f"{len(part)}:{part}," for part in parts)
    return KeyId(f"{TOKENS_BEGIN}{keys.blind('actor', written).hex()}")
