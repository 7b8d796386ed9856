"""API keys: how they are spelled, minted and verified.

Rules this module keeps:
- A credential is `mw_<key id>_<secret>`; the id finds the row, the secret proves the caller.
- The secret is shown once. What is kept is HMAC-SHA256 under a pepper that no database holds, over
  the id as well, so that a MAC copied onto another row proves nothing there.
- Every verification computes one HMAC and two comparisons, whether the id is malformed, unknown,
  known with a wrong secret, or right: an answer's cost tells nothing about which ids exist.
- What is not spelled exactly as we mint it is never looked up.
"""

import hashlib
import hmac
import re
import secrets
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from typing_extensions import override  # in the standard library from 3.12

from core.ids import KeyId, new_key_id
from core.ports import KeyRow
from core.scope import SourceKind

MAX_CREDENTIAL = 256
"""Characters of an API key that are read at all; ours have 63."""

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_LENGTH = 43  # 43 of 62 signs carry 256.03 bits
_SPELLING = re.compile(r"mw_([a-z2-7]{16})_([0-9A-Za-z]{43})", re.ASCII)


class Peppers(Protocol):
    """The versioned secrets under which API keys are hashed; kept apart from the record."""

    def pepper(self, version: int | None = None) -> tuple[int, bytes]:
        """Return (version, secret of at least 32 bytes); None asks for the current version.

        Raises:
            Unavailable: there is no such version here.
        """
        ...

    async def learn(self, version: int) -> None:
        """Fetch a version that another process made since, if there is one.

        Raises:
            Unavailable: whoever keeps the peppers does not answer.
        """
        ...


class Minted(NamedTuple):
    """A credential just made. It is shown once; `secret_mac` is what may be kept."""

    key_id: KeyId
    credential: str
    secret_mac: bytes
    pepper_version: int

    @override
    def __repr__(self) -> str:
        return f"Minted(key_id={self.key_id!r}, pepper_version={self.pepper_version})"


class Renewed(NamedTuple):
    """A secret just proved, hashed once more under a newer pepper."""

    key_id: KeyId
    old_mac: bytes
    new_mac: bytes
    pepper_version: int

    @override
    def __repr__(self) -> str:
        return f"Renewed(key_id={self.key_id!r}, pepper_version={self.pepper_version})"


class Parsed(NamedTuple):
    """The two halves of a credential."""

    key_id: KeyId
    secret: str

    @override
    def __repr__(self) -> str:
        return f"Parsed(key_id={self.key_id!r})"


_NOBODY = Parsed(KeyId("-" * 16), "0" * _SECRET_LENGTH)  # an id that none of ours has


def parse_credential(credential: str | None) -> Parsed | None:
    """Return the halves of `credential`, or None unless it is spelled exactly as we mint them.

    Args:
        credential: as the caller sent it; more than 256 characters are not even read.
    """
    if credential is None or len(credential) > MAX_CREDENTIAL:
        return None
    found = _SPELLING.fullmatch(credential)
    return None if found is None else Parsed(KeyId(found[1]), found[2])


class KeySmith:
    """Mints and verifies API keys.

    Args:
        peppers: the secrets under which they are hashed.
    """

    def __init__(self, peppers: Peppers) -> None:
        self._peppers = peppers
        self._decoy = KeyRow(
            id=_NOBODY.key_id,
            tenant=None,
            roles=frozenset(),
            ceiling=SourceKind.DERIVED,
            grants=b"",
            secret_mac=bytes(32),
            previous_mac=None,
            pepper_version=peppers.pepper()[0],
            created_at=datetime.fromtimestamp(0, UTC),
            expires_at=None,
            revoked_at=None,
            usable=False,
        )

    def mint(self) -> Minted:
        """Return a new key: a fresh id, and a secret of 256 random bits under the current pepper.

        Raises:
            Unavailable: there is no pepper.
        """
        return self._mint(new_key_id(), None)

    def remint(self, row: KeyRow) -> Minted:
        """Return a new secret for the key of `row`, for a rotation.

        The pepper stays the row's: while the old secret still works, both are hashed under it.

        Raises:
            Unavailable: the row's pepper is not here.
        """
        return self._mint(row.id, row.pepper_version)

    def adopt(self, credential: str) -> Minted:
        """Return what may be kept of a credential minted earlier, under the current pepper.

        Raises:
            ValueError: it is not spelled as we mint them.
            Unavailable: there is no pepper.
        """
        parsed = parse_credential(credential)
        if parsed is None:
            raise ValueError("not a credential of ours")
        version, pepper = self._peppers.pepper()
        return Minted(parsed.key_id, credential, _mac(pepper, *parsed), version)

    def verify(self, credential: str | None, row: KeyRow | None) -> bool:
        """Return whether `credential` proves the key of `row`, its old secret in overlap included.

        Whether the key is revoked or expired is not judged here. Without a row, the secret is
        compared with that of a decoy, which nothing proves.

        Args:
            credential: as the caller sent it, well-formed or not.
            row: what its id found, or None.

        Raises:
            Unavailable: the row's pepper is not here.

        Source: requirement B12.
        """
        parsed = parse_credential(credential)
        key_id, secret = _NOBODY if parsed is None else parsed
        real = row is not None and row.id == key_id
        # From here on the two cases differ in values alone, and take the same steps.
        known = row if real and row is not None else self._decoy
        _, pepper = self._peppers.pepper(known.pepper_version)
        mac = _mac(pepper, key_id, secret)
        former = known.previous_mac
        # Both comparisons always run; `or` would stop at the first.
        matches = [
            hmac.compare_digest(mac, known.secret_mac),
            hmac.compare_digest(mac, former or bytes(32)) and former is not None,
        ]
        return real and any(matches)

    async def learn(self, row: KeyRow) -> None:
        """Fetch the pepper of `row`, made by another process since. Raises: Unavailable."""
        await self._peppers.learn(row.pepper_version)

    def renewed(self, credential: str, row: KeyRow) -> Renewed | None:
        """Return the secret under the newest pepper, or None when there is nothing to renew.

        A key whose former secret still works is left alone: only the old pepper can prove that one.

        Args:
            credential: what has just proved the key of `row`.
        """
        parsed = parse_credential(credential)
        version, pepper = self._peppers.pepper()
        if parsed is None or row.previous_mac is not None or version <= row.pepper_version:
            return None
        return Renewed(row.id, row.secret_mac, _mac(pepper, *parsed), version)

    def _mint(self, key_id: KeyId, version: int | None) -> Minted:
        secret = "".join(secrets.choice(_ALPHABET) for _ in range(_SECRET_LENGTH))
        kept_version, pepper = self._peppers.pepper(version)
        mac = _mac(pepper, key_id, secret)
        return Minted(key_id, f"mw_{key_id}_{secret}", mac, kept_version)


def _mac(pepper: bytes, key_id: KeyId, secret: str) -> bytes:
    return hmac.digest(pepper, f"{key_id}_{secret}".encode(), hashlib.sha256)
