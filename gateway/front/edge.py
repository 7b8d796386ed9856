"""The outermost layer: every request passes here first, and every reply last.

Rules this module keeps:
- A request gets an id of ours before anything is read of it; a client's id or trace is not taken.
- Every reply carries that id, forbids storing, and has the security headers, whoever made it.
- No exception passes: what a class of the errors table stands for becomes its problem, anything
  else `unavailable`, logged by the type's name and the line. Its text may hold what a caller wrote,
  so nobody sees that.

Source: REQUIREMENTS B14, D14, F6.
"""

import json
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.errors import GatewayError, Invalid, NotFound, Unavailable
from core.ids import new_uuid
from core.model import Json
from gateway.front.body import ClientGone, HangUp
from gateway.front.challenge import NOWHERE, Entrance, challenge
from gateway.front.errors import PROBLEM_MEDIA_TYPE, problem, problem_headers, row_of
from gateway.front.metrics import Metrics
from gateway.front.security import SECURITY_HEADERS, Doors, Headers

PASSAGE = "memwarden.passage"
"""Key of the `Passage` in an ASGI scope."""
UNMATCHED = "unmatched"
_CREDENTIALS = frozenset({b"authorization", b"x-api-key"})

_log = logging.getLogger("memwarden.front")


@dataclass(slots=True)
class Passage:
    """What the edge knows of one request.

    Args:
        request_id: ours, also in the reply's `X-Request-Id`.
        started: monotonic seconds.
        route: the template it matched; the router's side fills it in.
        entrance: what a challenge names; the router's side fills it in.
        presented: it carried something that may be a credential.
        told: further headers of its reply, asked for when that begins.
        refusal: why the MCP application refused, where that is HTTP's to say.
        status: of the reply, 0 until there is one.
        broken: the client can be told nothing more.
    """

    request_id: str = field(default_factory=lambda: str(new_uuid()))
    started: float = field(default_factory=time.monotonic)
    route: str = UNMATCHED
    entrance: Entrance = NOWHERE
    presented: bool = False
    refusal: GatewayError | None = None
    told: Callable[[], Headers] = tuple
    status: int = 0
    broken: bool = False


def passage_of(scope: Scope) -> Passage:
    """Return what the edge knows of the request behind `scope`."""
    passage: Passage = scope[PASSAGE]
    return passage


def encode(body: Json) -> bytes:
    """Return `body` as compact UTF-8 JSON."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


class Edge:
    """ASGI middleware around everything, the MCP application included.

    Args:
        app: the router.
        doors: who may come in.
        metrics: counts requests.
    """

    def __init__(self, app: ASGIApp, *, doors: Doors, metrics: Metrics) -> None:
        self._app = app
        self._doors = doors
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request, or the application's start and stop."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._pass(scope, receive, send)
        else:  # no part of the contract; 1008 is "policy violation" (RFC 6455, 7.4.1)
            await send({"type": "websocket.close", "code": 1008})

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        passage = Passage(
            presented=not _CREDENTIALS.isdisjoint(name for name, _ in scope["headers"])
        )
        scope[PASSAGE] = passage

        async def seal(message: Message) -> None:
            if passage.broken:
                return
            if message["type"] == "http.response.start":
                passage.status = message["status"]
                given = [*message.get("headers", ()), *passage.told()]
                message["headers"] = _sealed(given, passage.request_id)
            try:
                await send(message)
            except Exception as err:  # noqa: BLE001 - the connection's own fault, whatever it is
                passage.broken = True
                _log.debug("a reply was not delivered: %s", type(err).__name__)

        self._metrics.opened()
        try:
            await self._answered(scope, receive, seal, passage)
        finally:
            self._metrics.closed(
                route=passage.route,
                method=scope["method"],
                status=passage.status,
                seconds=time.monotonic() - passage.started,
            )

    async def _answered(self, scope: Scope, receive: Receive, send: Send, passage: Passage) -> None:
        try:
            self._doors.admit(scope)
            _check_reading(scope)
            await self._app(scope, receive, send)
        except GatewayError as err:
            await _refuse(send, passage, err)
        except ClientGone:
            passage.broken = True
        except HangUp as end:
            await _refuse(send, passage, end.error, close=True)
        except Exception as err:  # noqa: BLE001 - the one place that may: nothing passes the edge
            self._metrics.unexpected()
            _log.error("unexpected %s at %s in %s", type(err).__name__, _line(err), passage.route)
            await _refuse(send, passage, Unavailable())


def _check_reading(scope: Scope) -> None:
    """Refuse what a proxy before us could have read as another request than we do."""
    names = {name for name, _ in scope["headers"]}
    if b"transfer-encoding" in names and b"content-length" in names:  # RFC 9112, 6.1
        raise HangUp(Invalid("The body has two lengths.", field="Content-Length"))
    if b"%2f" in scope.get("raw_path", b"").lower():  # one segment to the one, two to the other
        raise NotFound


async def _refuse(
    send: Send, passage: Passage, error: GatewayError, *, close: bool = False
) -> None:
    if passage.status:  # a reply has begun; it ends unfinished, and the server hangs up
        return
    headers = problem_headers(error)
    told = challenge(error, passage.entrance, presented=passage.presented)
    if told is not None:
        headers["WWW-Authenticate"] = told
    if close:
        headers["Connection"] = "close"
    await send_json(
        send,
        row_of(error).status,
        problem(error, passage.request_id),
        media_type=PROBLEM_MEDIA_TYPE,
        headers=headers,
    )


async def send_json(
    send: Send,
    status: int,
    body: Json,
    *,
    media_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> None:
    """Send a whole reply."""
    content = encode(body)
    raw = [
        (b"content-type", media_type.encode()),
        (b"content-length", str(len(content)).encode()),
    ]
    raw += [(k.lower().encode(), v.encode()) for k, v in (headers or {}).items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": content})


def _sealed(headers: Headers, request_id: str) -> list[tuple[bytes, bytes]]:
    kept = [(name, value) for name, value in headers if name.lower() != b"x-request-id"]
    given = {name.lower() for name, _ in kept}
    kept += [header for header in SECURITY_HEADERS if header[0] not in given]
    kept.append((b"x-request-id", request_id.encode()))
    return kept


def _line(error: BaseException) -> str:
    place = "?"
    for frame, line in traceback.walk_tb(error.__traceback__):
        place = f"{frame.f_code.co_filename.rpartition('/')[2]}:{line}"
    return place
