"""What a forger has and can do, for tests/identity/forged_forms.py and forged_claims.py.

Every forgery is a good token but for what its name says, signed as well as its maker could. It
names the rule that refuses it, so that none fails for a mistake in the making.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from joserfc import jwk

from tests.identity.issuer import TestIssuer, sign

DROP = object()
"""Leaves a member out; None is JSON's null."""

V = TypeVar("V")


@dataclass(frozen=True)
class World:
    """Whom a forger knows.

    Args:
        issuer: the one that is trusted, with keys called RS256, ES256, EdDSA, and `retired`, which
            it publishes no longer.
        hostile: another issuer with the same key ids and keys of its own.
        tenant: a living tenant of the issuer's.
    """

    issuer: TestIssuer
    hostile: TestIssuer
    tenant: str

    def good(self, kid: str = "RS256", **changes: Any) -> str:
        return self.issuer.token(kid, **{"tenant": self.tenant} | changes)

    def claims(self, **changes: Any) -> dict[str, Any]:
        return changed(self.issuer.claims(tenant=self.tenant), changes)

    def header(self, kid: str = "RS256", /, **changes: Any) -> dict[str, Any]:
        algorithm, _ = self.issuer.keys[kid]
        return changed({"alg": algorithm, "typ": "at+jwt", "kid": kid}, changes)

    def signed(
        self,
        header: bytes | str | dict[str, Any],
        claims: bytes | str | dict[str, Any],
        *,
        kid: str = "RS256",
        key: jwk.Key | None = None,
        algorithm: str | None = None,
    ) -> str:
        """A token of exactly these, signed with the issuer's own key unless told otherwise."""
        own, held = self.issuer.keys[kid]
        return sign(header, claims, key or held, algorithm or own)

    def saying(self, **changes: Any) -> str:
        """A well-signed token whose claims are changed."""
        return self.signed(self.header(), self.claims(**changes))

    def headed(self, **changes: Any) -> str:
        """A well-signed token whose header is changed."""
        return self.signed(self.header(**changes), self.claims())


@dataclass(frozen=True)
class Forgery:
    rule: str
    make: Callable[[World], str]


def each(
    rule: str, called: str, values: Mapping[str, V], make: Callable[[World, V], str]
) -> dict[str, Forgery]:
    """One forgery for each value; `called` holds the value's name as `{}`."""
    return {
        called.format(name): Forgery(rule, lambda world, value=value: make(world, value))  # type: ignore[misc]
        for name, value in values.items()
    }


def one(rule: str, called: str, make: Callable[[World], str]) -> dict[str, Forgery]:
    return {called: Forgery(rule, make)}


def changed(whole: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in (whole | changes).items() if value is not DROP}


def part(token: str, number: int, change: Callable[[str], str]) -> str:
    parts = token.split(".")
    parts[number] = change(parts[number])
    return ".".join(parts)


def twice(whole: dict[str, Any], member: str) -> str:
    text = json.dumps(whole)
    return f'{text[:-1]}, "{member}": {json.dumps(whole[member])}}}'


def now() -> int:
    return int(time.time())  # noqa: TID251 - a forger has a clock of its own
