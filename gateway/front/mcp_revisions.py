"""Which revision of MCP a request is of, before the SDK sees it.

Rules this module keeps:
- A request that names no revision, or one from before 2026-07-28, is of the older kind. It is
  served without a session, unless older revisions are off.
- No session is ever given out, so whatever names one is told that there is none: the same answer
  for one that was made up, guessed or taken from somebody else.
- A body of the newest revision comes with its headers: a request is not taken for an older one, and
  its headers left unread, because a header is missing.

Source: MCP 2026-07-28, transports, standard headers; MCP 2025-11-25, transports, sessions.
"""

import json
from collections.abc import Mapping

from mcp_types import HEADER_MISMATCH, PROTOCOL_VERSION_META_KEY, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.errors import NotFound
from core.model import Json
from gateway.front.edge import send_json
from gateway.front.mcp_errors import quiet_error
from gateway.front.security import values

_VERSION, _SESSION = b"mcp-protocol-version", b"mcp-session-id"


class Revisions:
    """ASGI middleware around the SDK's application.

    Args:
        app: serves every revision.
        older: serve those before 2026-07-28 too.
    """

    def __init__(self, app: ASGIApp, *, older: bool) -> None:
        self._app = app
        self._older = older

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one POST, whose body comes in one piece."""
        named = values(scope["headers"], _VERSION)
        if named and named[0] not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, receive, send)
            return
        first = await receive()
        body = _parsed(first.get("body", b""))
        if not self._older:
            data: Json = {
                "supported": list(MODERN_PROTOCOL_VERSIONS),
                "requested": named[0] if named else "",
            }
            await _refuse(send, body, UNSUPPORTED_PROTOCOL_VERSION, data)
        elif values(scope["headers"], _SESSION):
            raise NotFound
        elif _names_newer(body):
            await _refuse(send, body, HEADER_MISMATCH)
        else:
            await self._app(scope, _again(first, receive), send)


def _parsed(raw: bytes) -> Mapping[str, Json]:
    """Return the body, or nothing where it is no object: the SDK says what is wrong with it."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _names_newer(body: Mapping[str, Json]) -> bool:
    params = body.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    named = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    return named is not None and named not in HANDSHAKE_PROTOCOL_VERSIONS


async def _refuse(
    send: Send, body: Mapping[str, Json], code: int, data: Json | None = None
) -> None:
    identity = body.get("id")
    error: dict[str, Json] = {"code": code, "data": data}
    reply = {
        "jsonrpc": "2.0",
        "id": identity if isinstance(identity, str | int) else None,
        "error": quiet_error(error),
    }
    await send_json(send, 400, reply)


def _again(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that gives `first`, then what comes next."""
    waiting = [first]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay
