"""Where a client learns how to come in, and which issuers' tokens are taken.

Rules this module keeps:
- A resource is named as we are told we are reached, or as the client reached it; `Host` was judged
  before. It is the audience that its tokens must be for, byte for byte.
- The document of a resource is found under the resource's own path and names that resource alone.
- Nothing is promised that is not so: without an issuer there is no authorization server and no
  scope, and API keys are the only credentials.

Source: RFC 9728; RFC 8707; MCP 2026-07-28, authorization.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from gateway.access.scopes import READ, SCOPES, WRITE
from gateway.auth.dpop import ALGORITHMS as PROOF_ALGORITHMS
from gateway.front.challenge import Entrance
from gateway.front.edge import encode
from gateway.front.routes_health import Probe
from gateway.front.security import values
from gateway.front.wire import Shown

WELL_KNOWN = "/.well-known/oauth-protected-resource"
MCP_RESOURCE = "/mcp"
FIRST_SCOPES = frozenset({READ, WRITE})
"""Asked of a client that has no token yet; what more a call needs is asked when it is made."""


class ResourceShown(Shown):
    """Protected-resource metadata."""

    resource: str
    resource_name: str
    bearer_methods_supported: list[str]
    authorization_servers: list[str] | None = None
    scopes_supported: list[str] | None = None
    dpop_signing_alg_values_supported: list[str] | None = None


class Issuing(Protocol):
    """An authorization server whose tokens are taken."""

    @property
    def issuer(self) -> str:
        """Its identifier."""
        ...

    @property
    def scopes_required(self) -> bool:
        """Its tokens do what their scopes say, and no more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """How the gateway is found, and by whose tokens it is entered.

    Args:
        public_url: how clients reach it; None for the name that each puts in `Host`.
        issuers: whose tokens are taken; may be empty.
    """

    public_url: str | None = None
    issuers: Sequence[Issuing] = ()

    def at_mcp(self, scope: Scope) -> Entrance:
        """Return what a challenge at the MCP endpoint names: always where to learn more."""
        return Entrance(
            metadata=self._metadata(scope, MCP_RESOURCE),
            scopes=FIRST_SCOPES if self._scoped else frozenset(),
        )

    def at_api(self, scope: Scope, needed: frozenset[str]) -> Entrance:
        """Return what a challenge at the HTTP API names.

        Args:
            needed: scopes of the operation.
        """
        if not self.issuers:  # an API key comes from an administrator: there is nothing to look up
            return Entrance()
        scopes = needed if self._scoped else frozenset[str]()
        return Entrance(metadata=self._metadata(scope, ""), scopes=scopes)

    def probes(self) -> tuple[Probe, ...]:
        """Return what a client may read before it has a credential."""
        return (
            self._probe(MCP_RESOURCE, "mcp_resource", "Memwarden", "of the MCP endpoint"),
            self._probe("", "api_resource", "Memwarden HTTP API", "of the HTTP API"),
        )

    def _probe(self, resource: str, name: str, title: str, of: str) -> Probe:
        async def metadata(request: Request) -> Response:
            shown = self._shown(f"{self._base(request.scope)}{resource}", title)
            return Response(encode(shown), media_type="application/json")

        return Probe(
            path=f"{WELL_KNOWN}{resource}",
            name=name,
            summary=f"Protected-resource metadata {of}",
            handler=metadata,
            replies={200: ResourceShown},
        )

    def _shown(self, resource: str, title: str) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "resource": resource,
            "resource_name": title,
            "bearer_methods_supported": ["header"],
        }
        if self.issuers:
            shown["authorization_servers"] = [each.issuer for each in self.issuers]
            if self._scoped:
                shown["scopes_supported"] = sorted(SCOPES)
            shown["dpop_signing_alg_values_supported"] = sorted(PROOF_ALGORITHMS)
        return shown

    @property
    def _scoped(self) -> bool:
        # A provider that cannot issue our scopes would refuse a client that asked it for them.
        return any(each.scopes_required for each in self.issuers)

    def _metadata(self, scope: Scope, resource: str) -> str:
        return f"{self._base(scope)}{WELL_KNOWN}{resource}"

    def _base(self, scope: Scope) -> str:
        if self.public_url is not None:
            return self.public_url.rstrip("/")
        return f"{scope['scheme']}://{values(scope['headers'], b'host')[0]}"
