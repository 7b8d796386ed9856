"""Where an MCP client learns how to come in.

Rules this module keeps:
- The resource is named as the client reached it, or as we are told we are reached; `Host` was
  judged before.

Source: RFC 9728; MCP 2026-07-28, authorization.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from gateway.front.edge import encode
from gateway.front.routes_health import Probe
from gateway.front.security import values
from gateway.front.wire import Shown

METADATA_PATH = "/.well-known/oauth-protected-resource/mcp"


class ResourceShown(Shown):
    """Protected-resource metadata of the MCP endpoint."""

    resource: str
    resource_name: str
    bearer_methods_supported: list[str]


def challenge(scope: Scope, public_url: str | None) -> str:
    """Return the `WWW-Authenticate` of a 401 at the MCP endpoint."""
    return f'Bearer resource_metadata="{_base(scope, public_url)}{METADATA_PATH}"'


def discovery(public_url: str | None) -> tuple[Probe, ...]:
    """Return what a client may read before it has a credential."""

    async def metadata(request: Request) -> Response:
        shown = {
            "resource": f"{_base(request.scope, public_url)}/mcp",
            "resource_name": "Memwarden",
            "bearer_methods_supported": ["header"],
        }
        return Response(encode(shown), media_type="application/json")

    return (
        Probe(
            path=METADATA_PATH,
            name="mcp_resource",
            summary="Protected-resource metadata of the MCP endpoint",
            handler=metadata,
            replies={200: ResourceShown},
        ),
    )


def _base(scope: Scope, public_url: str | None) -> str:
    if public_url is not None:
        return public_url.rstrip("/")
    return f"{scope['scheme']}://{values(scope['headers'], b'host')[0]}"
