"""What a JSON-RPC error of the MCP front says: one sentence of ours for each code.

Rules this module keeps:
- The SDK's own errors repeat what a caller sent (a rejected body whole) and what broke inside (the
  text of an exception). None of that leaves, or is logged: the code stays, the sentence is ours.
- What no code of the table stands for is an internal error.
- What a client can mend by itself, such as a scope that its token lacks, is told in the reply's
  head, with the status that HTTP has for it.
- How long a reply may be kept is not the SDK's to say.
"""

import functools
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.errors import GatewayError
from core.model import Json
from gateway.front.challenge import challenge
from gateway.front.edge import Passage, passage_of
from gateway.front.errors import ROWS, row_of

SENTENCES: Mapping[int, str] = {
    row.jsonrpc_code: kind.sentence for kind, row in reversed(list(ROWS.items()))
} | {
    PARSE_ERROR: "The body is not JSON.",
    INVALID_REQUEST: "The body must be one JSON-RPC request or notification.",
    METHOD_NOT_FOUND: "There is no such method.",
    INVALID_PARAMS: "The parameters are not what this method takes; `_meta` is one of them.",
    INTERNAL_ERROR: "The gateway could not answer.",
    HEADER_MISMATCH: "A header and the body do not agree.",
    MISSING_REQUIRED_CLIENT_CAPABILITY: "This needs a capability that the client has not named.",
    UNSUPPORTED_PROTOCOL_VERSION: "This revision of the protocol is not served here.",
}

_REVISION = re.compile(r"v?[0-9][0-9.-]{0,23}", re.ASCII)
"""Spelled like a version: words that a caller wrote are not repeated."""
_log = logging.getLogger("memwarden.front")

C = TypeVar("C")
P = TypeVar("P")
R = TypeVar("R")


def quiet(handler: Callable[[C, P], Awaitable[R]]) -> Callable[[C, P], Awaitable[R]]:
    """Return `handler` so that whatever it raises says only what its code says."""

    @functools.wraps(handler)
    async def run(context: C, params: P) -> R:
        try:
            return await handler(context, params)
        except GatewayError as err:
            code = row_of(err).jsonrpc_code
        except MCPError as err:
            code = err.code
        except Exception as err:  # noqa: BLE001 - the SDK would send its text, and log it
            _log.error("unexpected %s in the MCP front", type(err).__name__)
            code = INTERNAL_ERROR
        # Outside the handlers: no cause with a caller's values hangs on what the SDK gets.
        raise MCPError(code=code, message=sentence(code))

    return run


def sentence(code: int) -> str:
    """Return what an error of this code says."""
    return SENTENCES.get(code, SENTENCES[INTERNAL_ERROR])


def quiet_error(error: Json) -> dict[str, Json]:
    """Return a JSON-RPC error object with its code, and nothing else of what the SDK wrote but the
    revisions that are served.
    """
    given = error if isinstance(error, dict) else {}
    asked = given.get("code")
    code = asked if isinstance(asked, int) and asked in SENTENCES else INTERNAL_ERROR
    said: dict[str, Json] = {"code": code, "message": sentence(code)}
    data = given.get("data")
    if code == UNSUPPORTED_PROTOCOL_VERSION and isinstance(data, dict):
        said["data"] = {"supported": data.get("supported", []), "requested": _revision(data)}
    return said


def _revision(data: Mapping[str, Json]) -> str:
    """Return the revision that was asked for, if it is spelled like one."""
    asked = data.get("requested")
    return asked if isinstance(asked, str) and _REVISION.fullmatch(asked) else "unknown"


class QuietErrors:
    """ASGI middleware around the SDK's application: rewrites each JSON-RPC error that it answers.

    Args:
        app: answers JSON in one piece.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        reply = _Reply(send, passage_of(scope))
        await self._app(scope, receive, reply.take)


class _Reply:
    """One reply on its way out; what is JSON waits until it is whole."""

    def __init__(self, send: Send, passage: Passage) -> None:
        self._send = send
        self._passage = passage
        self._start: Message | None = None
        self._body = bytearray()

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message["headers"] if pair[0].lower() != b"cache-control"]
            message["headers"] = kept
        if message["type"] == "http.response.start" and _is_json(message):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self._start)
        else:
            await self._send(message)

    async def _finish(self, start: Message) -> None:
        body = _quieted(bytes(self._body))
        kept = [pair for pair in start["headers"] if pair[0].lower() != b"content-length"]
        start["headers"] = [*kept, (b"content-length", str(len(body)).encode())]
        refusal = self._passage.refusal
        if refusal is not None:
            start["status"] = row_of(refusal).status
            told = challenge(refusal, self._passage.entrance, presented=True)
            if told is not None:
                start["headers"].append((b"www-authenticate", told.encode()))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _is_json(message: Message) -> bool:
    headers = {name.lower(): value for name, value in message.get("headers", ())}
    return bool(headers.get(b"content-type", b"").startswith(b"application/json"))


def _quieted(body: bytes) -> bytes:
    try:
        whole: Any = json.loads(body) if body else None
    except ValueError:
        whole = None
    if not isinstance(whole, dict) or "error" not in whole:
        return body
    told = whole | {"error": quiet_error(whole["error"])}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
