"""Who may issue tokens for this gateway, and what their claims mean here: a setting, checked whole.

Rules this module keeps:
- An unknown field, an empty audience, an algorithm that is not asymmetric, or a role that no token
  may have stops the start; a fault names the field and never the value.
- An issuer speaks for one tenant, or names one in a claim of its own; never both, never neither.
- A claim is found by its exact name, or by its exact path; no pattern is matched.
- What a token does not say gives nothing: no roles claim no mapped role, no namespaces claim no
  namespace.

Source: RFC 8414 (issuer identifiers); RFC 8725, 3.8 and 3.9; requirements B1, B6.
"""

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FilePath,
    StringConstraints,
    model_validator,
)

from core.errors import Invalid
from core.ids import SYSTEM_TENANT
from core.scope import Role, SourceKind
from gateway.guard.identifiers import check_identifier

Algorithm = Literal["RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519"]
Text = Annotated[str, StringConstraints(min_length=1, max_length=512)]
Ceiling = Literal[
    SourceKind.USER_DIRECT, SourceKind.AGENT_INFERRED, SourceKind.TOOL_OUTPUT, SourceKind.DOCUMENT
]


def _alone(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _identifier(value: str) -> str:
    try:
        return check_identifier("name", value)
    except Invalid as err:
        raise ValueError("not an identifier") from err


def _type(value: str) -> str:
    return value.lower().removeprefix("application/")


def _granted(role: Role) -> Role:
    if role is Role.OPERATOR:
        raise ValueError("no token makes an operator")
    return role


Claim = Annotated[tuple[Text, ...], BeforeValidator(_alone), Field(min_length=1, max_length=8)]
"""Where a claim is: its name, or the names on the way to it. A dot is part of a name."""
Texts = Annotated[tuple[Text, ...], BeforeValidator(_alone), Field(min_length=1, max_length=64)]
Roles = frozenset[Annotated[Role, AfterValidator(_granted)]]


class Everyone(BaseModel):
    """Which tokens may act for everybody of their tenant: those whose claim has one of `values`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    claim: Claim
    values: Texts


class Issuer(BaseModel):
    """One issuer of tokens.

    Args:
        name: ours, for logs.
        issuer: as it stands in `iss`, compared byte for byte.
        audience: values of `aud` that mean us; by default our public URL and its MCP endpoint.
        jwks_uri: where its keys are; found through its metadata when left out.
        algorithms: those accepted.
        types: of the header's `typ`; an empty text accepts a header without one.
        tenant, tenant_claim: the tenant it speaks for, or the claim that names one.
        user_claim: who the person is.
        roles_claim, roles: values of a claim -> our roles.
        default_roles: of every token, beside the mapped ones.
        namespaces_claim: names the namespaces; the setting `namespaces` bounds them.
        namespaces: those of every token; None is every one of the tenant.
        users: the token's own person alone, or everybody for some tokens.
        scope_claim, scopes_required: where OAuth scopes are, and whether they bound what a token
            may do. A provider that cannot issue our scopes needs False.
        source_ceiling: the most trusted source kind that writes may claim.
        allow_http_loopback: its URLs may be plain HTTP on loopback; development only.
        allow_private_addresses: it stands in our own network.
        ca_file: PEM file of the authorities that vouch for its host, instead of the public ones.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
    issuer: Text
    audience: Texts | None = None
    jwks_uri: Text | None = None
    algorithms: Annotated[frozenset[Algorithm], Field(min_length=1)] = frozenset({"RS256", "ES256"})
    types: Annotated[frozenset[Annotated[str, AfterValidator(_type)]], Field(min_length=1)] = (
        frozenset({"at+jwt"})
    )
    tenant: UUID | None = None
    tenant_claim: Claim | None = None
    user_claim: Claim = ("sub",)
    roles_claim: Claim | None = None
    roles: dict[Text, Roles] = Field(default_factory=dict)
    default_roles: Roles = frozenset()
    namespaces_claim: Claim | None = None
    namespaces: tuple[Annotated[str, AfterValidator(_identifier)], ...] | None = None
    users: Literal["subject"] | Everyone = "subject"
    scope_claim: Claim = ("scope",)
    scopes_required: bool = True
    source_ceiling: Ceiling = SourceKind.USER_DIRECT
    allow_http_loopback: bool = False
    allow_private_addresses: bool = False
    ca_file: FilePath | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for url in (self.issuer, *([] if self.jwks_uri is None else [self.jwks_uri])):
            if not url_allowed(url, allow_http_loopback=self.allow_http_loopback):
                raise ValueError("issuer and jwks_uri must be plain https URLs")
        if (self.tenant is None) == (self.tenant_claim is None):
            raise ValueError("name either tenant or tenant_claim")
        if self.tenant == SYSTEM_TENANT:
            raise ValueError("tenant is no tenant of anybody")
        if bool(self.roles) != (self.roles_claim is not None):
            raise ValueError("roles_claim and roles go together")
        if not self.roles and not self.default_roles:
            raise ValueError("give roles_claim and roles, or default_roles")
        return self

    def audiences(self, base: str) -> frozenset[str]:
        """Return the values of `aud` that mean us.

        Args:
            base: how clients reach the gateway, without a path.
        """
        if self.audience is not None:
            return frozenset(self.audience)
        base = base.rstrip("/")
        return frozenset({base, f"{base}/mcp"})


def faults(issuers: Sequence[Issuer], *, production: bool, public_url: str | None) -> Iterator[str]:
    """Yield what is wrong with the issuers of one deployment taken together; no values."""
    if len({issuer.name for issuer in issuers}) < len(issuers):
        yield "two issuers have one name"
    if len({issuer.issuer for issuer in issuers}) < len(issuers):
        yield "two entries are of one issuer"
    for number, issuer in enumerate(issuers):
        if production and issuer.allow_http_loopback:
            yield f"{number}: allow_http_loopback is for development"
        if production and issuer.audience is None and not public_url:
            yield f"{number}: no audience, and no public URL to be one"


def url_allowed(url: str, *, allow_http_loopback: bool) -> bool:
    """Return whether keys or metadata may be fetched from `url`: https, or http on loopback if so
    allowed; a host and nothing that hides one.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    host = parts.hostname or ""
    plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if not plain or not host or port == 0 or "@" in parts.netloc or parts.fragment or parts.query:
        return False
    return parts.scheme == "https" or (
        allow_http_loopback and parts.scheme == "http" and _is_loopback(host)
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
