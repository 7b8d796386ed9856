"""What the claims of a verified token say, judged by the settings of its issuer.

Rules this module keeps:
- Who, for whom, until when: `iss`, `aud`, `exp` and `sub` are required and compared exactly; times
  may be off by a minute, and a token lives for a day at most.
- A claim of the wrong JSON type proves nothing; it is never converted.
- An ID token, a logout token or a refresh token is no access token, whatever its header says.
- Values that name people, tenants or namespaces are identifiers, or the token is refused.
- An agent that acts for a person (`act`) has the roles that both have; an agent whose roles the
  token does not say has none.
- `cnf` is honoured or the token is refused: a bound token is never taken for a bearer token.

Source: RFC 7519, 4.1; RFC 9068, 4; RFC 8693, 4.1; RFC 7800; requirements B1, B2, B13.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.errors import Invalid, NotFound
from core.ids import SYSTEM_TENANT, TenantId, parse_uuid
from core.scope import Role
from gateway.auth.issuers import Everyone, Issuer
from gateway.auth.jws import Refused, number
from gateway.guard.identifiers import check_identifier

SKEW_SECONDS = 60.0
LIFETIME_SECONDS = 24 * 3600.0
FRESH_SECONDS = 300.0
"""So long after the person proved who they are, what cannot be undone needs no other proof."""

_MOST_VALUES = 1000  # of one list; more is not read
_CLIENT_CLAIMS = ("client_id", "azp", "cid", "appid")  # RFC 9068; OpenID Connect; Okta; Entra v1
_NOT_ACCESS = frozenset({"nonce", "at_hash", "c_hash", "s_hash", "events"})
"""Claims of ID tokens (OpenID Connect Core, 2) and security events (RFC 8417)."""
_KINDS = frozenset({"Bearer", "DPoP"})  # of Keycloak's claim `typ`, which also calls others `ID`
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")  # RFC 6749, 3.3
_THUMBPRINT = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What one verified token says, in our words.

    Args:
        subject, client, actor: `sub`; who got the token, or empty; `sub` of `act`, or None.
        person: who it is, as memories know them.
        key: thumbprint of the key that the sender must prove to hold; None for a bearer token.
    """

    tenant: TenantId
    subject: str = field(repr=False)
    client: str = field(repr=False)
    actor: str | None = field(repr=False)
    person: str = field(repr=False)
    roles: frozenset[Role]
    namespaces: tuple[str, ...] | None = field(repr=False)
    users: frozenset[str] | None = field(repr=False)
    scopes: frozenset[str] | None
    fresh: bool
    key: str | None = field(repr=False)


def understand(
    claims: Mapping[str, Any], issuer: Issuer, audiences: frozenset[str], now: datetime
) -> Statement:
    """Return what a token says.

    Args:
        claims: of a token whose signature was verified with a key of `issuer`.
        audiences: values of `aud` that mean us.

    Raises:
        Refused: it is not for us, not from there, not now, or says something malformed.
    """
    seconds = now.timestamp()
    if claims.get("iss") != issuer.issuer:
        raise Refused("iss")
    _check_audience(claims.get("aud"), audiences)
    _check_times(claims, seconds)
    if not _NOT_ACCESS.isdisjoint(claims) or claims.get("typ", "Bearer") not in _KINDS:
        raise Refused("not-an-access-token")
    subject = _name(claims.get("sub"), "sub")
    person = _name(_at(claims, issuer.user_claim), "user-claim")
    actor = _actor(claims)
    return Statement(
        tenant=_tenant(claims, issuer),
        subject=subject,
        client=_client(claims),
        actor=None if actor is None else _name(actor.get("sub"), "act"),
        person=person,
        roles=_roles(claims, actor, issuer),
        namespaces=_namespaces(claims, issuer),
        users=None if _for_everyone(claims, issuer) else frozenset({person}),
        scopes=_scopes(claims, issuer),
        fresh=_fresh(claims, seconds),
        key=_bound_key(claims),
    )


def _check_audience(value: object, audiences: frozenset[str]) -> None:
    named = _texts(value, "aud")
    if audiences.isdisjoint(named):
        raise Refused("aud")


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    expires = number(claims.get("exp"))
    if expires is None or now >= expires + SKEW_SECONDS:
        raise Refused("exp")
    if "nbf" in claims:
        begins = number(claims["nbf"])
        if begins is None or begins > now + SKEW_SECONDS:
            raise Refused("nbf")
    issued = now
    if "iat" in claims:
        said = number(claims["iat"])
        if said is None or said > now + SKEW_SECONDS:
            raise Refused("iat")
        issued = said
    if expires - min(issued, now) > LIFETIME_SECONDS + SKEW_SECONDS:
        raise Refused("lifetime")


def _actor(claims: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if "act" not in claims:
        return None
    actor = claims["act"]
    if not isinstance(actor, dict):
        raise Refused("act")
    # An `act` inside it is history: only the present actor counts (RFC 8693, 4.1).
    return actor


def _tenant(claims: Mapping[str, Any], issuer: Issuer) -> TenantId:
    if issuer.tenant is not None:
        return TenantId(issuer.tenant)
    named = _at(claims, issuer.tenant_claim or ())
    if not isinstance(named, str):
        raise Refused("tenant")
    try:
        tenant = TenantId(parse_uuid(named))
    except NotFound as err:
        raise Refused("tenant") from err
    if tenant == SYSTEM_TENANT:
        raise Refused("tenant")
    return tenant


def _client(claims: Mapping[str, Any]) -> str:
    named = [_name(claims[claim], "client") for claim in _CLIENT_CLAIMS if claim in claims]
    if len(set(named)) > 1:
        raise Refused("client")
    return named[0] if named else ""


def _roles(
    claims: Mapping[str, Any], actor: Mapping[str, Any] | None, issuer: Issuer
) -> frozenset[Role]:
    person = _mapped(claims, issuer) | issuer.default_roles
    return person if actor is None else person & _mapped(actor, issuer)


def _mapped(claims: Mapping[str, Any], issuer: Issuer) -> frozenset[Role]:
    if issuer.roles_claim is None:
        return frozenset()
    value = _at(claims, issuer.roles_claim)
    named = () if value is None else _texts(value, "roles")
    return frozenset[Role]().union(*(issuer.roles.get(name, frozenset()) for name in named))


def _namespaces(claims: Mapping[str, Any], issuer: Issuer) -> tuple[str, ...] | None:
    if issuer.namespaces_claim is None:
        return issuer.namespaces
    value = _at(claims, issuer.namespaces_claim)
    named = () if value is None else _texts(value, "namespaces")
    bound = issuer.namespaces
    checked = dict.fromkeys(_name(name, "namespaces") for name in named)
    return tuple(name for name in checked if bound is None or name in bound)


def _for_everyone(claims: Mapping[str, Any], issuer: Issuer) -> bool:
    if not isinstance(issuer.users, Everyone):
        return False
    value = _at(claims, issuer.users.claim)
    named = () if value is None else _texts(value, "users")
    return not frozenset(issuer.users.values).isdisjoint(named)


def _scopes(claims: Mapping[str, Any], issuer: Issuer) -> frozenset[str] | None:
    if not issuer.scopes_required:
        return None
    value = _at(claims, issuer.scope_claim)
    if value is None:
        return frozenset()
    # A text is words between single spaces (RFC 6749, 3.3); a list has one word an item.
    words = value.split(" ") if isinstance(value, str) else list(_texts(value, "scope"))
    if value != "" and not all(_SCOPE.fullmatch(word) for word in words):
        raise Refused("scope")
    return frozenset(word for word in words if word)


def _fresh(claims: Mapping[str, Any], now: float) -> bool:
    """Tell whether the person proved who they are lately; when a token was made says nothing."""
    if "auth_time" not in claims:
        return False
    proved = number(claims["auth_time"])
    if proved is None or proved > now + SKEW_SECONDS:
        raise Refused("auth_time")
    return now - proved <= FRESH_SECONDS


def _bound_key(claims: Mapping[str, Any]) -> str | None:
    if "cnf" not in claims:
        return None
    bound = claims["cnf"]
    if not isinstance(bound, dict) or bound.keys() != {"jkt"}:
        raise Refused("cnf")
    thumbprint = bound["jkt"]
    if not isinstance(thumbprint, str) or not _THUMBPRINT.fullmatch(thumbprint):
        raise Refused("cnf")
    return thumbprint


def _at(claims: Mapping[str, Any], path: tuple[str, ...]) -> object:
    """Return the claim at `path`, None when there is none (or a JSON null)."""
    value: object = claims
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def _texts(value: object, rule: str) -> tuple[str, ...]:
    """Return a claim that is one text or a list of texts."""
    if isinstance(value, str):
        return (value,)
    if (
        not isinstance(value, list)
        or len(value) > _MOST_VALUES
        or not all(isinstance(item, str) for item in value)
    ):
        raise Refused(rule)
    return tuple(value)


def _name(value: object, rule: str) -> str:
    """Return a claim that names somebody or something."""
    if not isinstance(value, str):
        raise Refused(rule)
    try:
        return check_identifier(rule, value)
    except Invalid as err:
        raise Refused(rule) from err
