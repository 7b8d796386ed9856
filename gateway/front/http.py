"""The HTTP application: routes, and what happens to a request on its way to a handler.

Rules this module keeps:
- A credential is judged before anything of the body is read.
- What fails before a guarded path is entered, but after authentication, is recorded once, here.
- Every request has one deadline, from its credential to its answer.
- The framework validates nothing, traces nothing and documents nothing by itself: its messages
  repeat what a caller wrote.

Source: REQUIREMENTS B14, C13, F6, F14.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from core.errors import Denied, GatewayError, NotFound, Throttled, Unauthenticated, Unavailable
from core.scope import Action, Call, Principal
from gateway.access.scopes import scopes_of
from gateway.access.version_token import HEADER as ACCESS_VERSION
from gateway.auth.authenticator import Authenticator, Channel
from gateway.auth.failures import Failures
from gateway.front import (
    routes_admin,
    routes_audit,
    routes_guard,
    routes_guard_policies,
    routes_memories,
    routes_policies,
    routes_quotas,
    routes_recall,
    routes_reveal,
    routes_spaces,
)
from gateway.front.body import HangUp, read_body
from gateway.front.edge import Edge, encode, passage_of
from gateway.front.errors import PROBLEM_MEDIA_TYPE, method_not_allowed
from gateway.front.limits import BATCH_BODY_BYTES, Limits, Slots, budget_headers
from gateway.front.metrics import Metrics
from gateway.front.openapi import document
from gateway.front.operation import (
    Answer,
    Ask,
    Collected,
    Operation,
    collect,
    content_length,
    understand,
)
from gateway.front.routes_discovery import Discovery, Issuing
from gateway.front.routes_health import Probe, Readiness, probes
from gateway.front.security import Doors, presented, values
from gateway.gate import Gate
from gateway.telemetry import Telemetry

OPERATIONS: Sequence[Operation] = (
    *routes_admin.OPERATIONS,
    *routes_memories.OPERATIONS,
    *routes_recall.OPERATIONS,
    *routes_reveal.OPERATIONS,
    *routes_audit.OPERATIONS,
    *routes_quotas.OPERATIONS,
    *routes_spaces.OPERATIONS,
    *routes_policies.OPERATIONS,
    *routes_guard_policies.OPERATIONS,
    *routes_guard.OPERATIONS,
)
"""Everything that a credential can ask over HTTP."""

MCP_PATH = "/mcp"
CALL = "memwarden.call"
"""Where an authenticated call waits for the MCP application, in the ASGI scope."""

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_SILENT = TelemetryConfig(
    tracing=False, metrics=False, logs=False, operation_spans=False, auto_configure=False
)


class Front(FastAPI):
    """The application, with the document of our own operations."""

    probes: Sequence[Probe] = ()

    @override
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:  # made when somebody asks: it costs a start 50 ms
            self.openapi_schema = document(OPERATIONS, self.probes, self.version)
        return self.openapi_schema


class Desk:
    """Takes requests in: who asks, for how long, as which call.

    Args:
        gate: what the paths need.
        authenticator: from a credential to a principal.
        failures: told of each credential that proved nothing.
        telemetry: opens the span of a request.
        limits: on time and on requests at once.
        public_url: how clients reach the gateway, when that is not what they put in `Host`.
        discovery: what a caller is told to bring.
    """

    def __init__(
        self,
        gate: Gate,
        *,
        authenticator: Authenticator,
        failures: Failures,
        telemetry: Telemetry,
        limits: Limits,
        public_url: str | None,
        discovery: Discovery,
    ) -> None:
        self._gate = gate
        self._authenticator = authenticator
        self._failures = failures
        self._telemetry = telemetry
        self._limits = limits
        self._public_url = public_url
        self._discovery = discovery
        self._slots = Slots(limits.requests_per_tenant)

    async def serve(self, operation: Operation, request: Request) -> Response:
        """Answer one request of an operation. Raises: GatewayError, HangUp, ClientGone."""
        passage = passage_of(request.scope)
        passage.route = operation.path
        passage.entrance = self._discovery.at_api(request.scope, scopes_of(operation.action))
        async with self._call(request.scope, "http", operation.action) as call:
            ask = await self._ask(operation, request, call)
            return _response(operation, await operation.handler(ask))

    async def serve_mcp(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of the MCP application, which finds its call in the scope.

        Raises: GatewayError, HangUp, ClientGone.
        """
        passage = passage_of(scope)
        passage.route = MCP_PATH
        passage.entrance = self._discovery.at_mcp(scope)
        async with self._call(scope, "mcp", None) as call:
            raw = await read_body(
                receive,
                content_length(scope["headers"]),
                limit=BATCH_BODY_BYTES,
                seconds=self._limits.body_seconds,
            )
            await app({**scope, CALL: call}, _replay(raw, receive), send)

    @contextlib.asynccontextmanager
    async def _call(
        self, scope: Scope, channel: Channel, action: Action | None
    ) -> AsyncIterator[Call]:
        """Let one request in, as the call it is, for as long as a request may take."""
        passage = passage_of(scope)
        parents = values(scope["headers"], b"traceparent")
        parent = parents[0] if len(parents) == 1 else None
        try:
            async with (
                asyncio.timeout(self._limits.request_seconds),
                self._telemetry.request(scope["method"], passage.route, parent) as trace_id,
            ):
                principal = await self._authenticated(scope, channel)
                call = Call(
                    principal=principal,
                    request_id=passage.request_id,
                    trace_id=trace_id,
                    not_before=_not_before(scope),
                )
                budget = self._gate.budget
                passage.told = lambda: budget_headers(budget.tightest(call.request_id))
                own = await budget.concurrency(principal, action)
                with contextlib.ExitStack() as held:
                    try:
                        held.enter_context(self._slots.hold(principal.tenant, own))
                        # The paths of memories charge by themselves: they know the person.
                        if action is not None and not action.object.startswith("memory:"):
                            await budget.charge(call, action)
                    except (Throttled, Denied) as err:
                        if action is not None:
                            await self._gate.refusals.record(call, action, err)
                        raise
                    yield call
        except TimeoutError as err:
            raise Unavailable from err

    async def _authenticated(self, scope: Scope, channel: Channel) -> Principal:
        try:
            brought = presented(scope, self._public_url or "")
            return await self._authenticator.authenticate(brought, channel)
        except Unauthenticated:
            self._failures.note((scope.get("client") or (None,))[0])
            raise

    async def _ask(self, operation: Operation, request: Request, call: Call) -> Ask[Any, Any]:
        collected: Collected | None = None
        try:
            collected = await collect(operation, request, self._limits)
            return understand(operation, request, collected, self._gate, call)
        except (GatewayError, HangUp) as err:
            refusal: GatewayError = err.error if isinstance(err, HangUp) else err
            person = None if collected is None else collected.user_id
            try:  # what cannot be understood costs what it would have cost, or it would be free
                if operation.action.object.startswith("memory:"):
                    await self._gate.budget.charge(call, operation.action)
            except Throttled as over:
                refusal = over
            await self._gate.refusals.record(call, operation.action, refusal, user_id=person)
            if isinstance(refusal, Throttled) and not isinstance(err, HangUp):
                raise refusal from None
            raise


def create_app(  # noqa: PLR0913 - the composition root names each part once
    gate: Gate,
    *,
    authenticator: Authenticator,
    failures: Failures,
    telemetry: Telemetry,
    readiness: Readiness,
    version: str,
    doors: Doors | None = None,
    limits: Limits | None = None,
    public_url: str | None = None,
    issuers: Sequence[Issuing] = (),
    mcp: ASGIApp | None = None,
    lifespan: Lifespan | None = None,
) -> FastAPI:
    """Return the application: HTTP API, probes, and MCP at `/mcp` when there is one.

    Args:
        gate: what the paths need.
        authenticator: from a credential to a principal.
        failures: told of each credential that proved nothing.
        telemetry: its registry is what `/metrics` shows.
        readiness: what `/readyz` says.
        version: of the gateway, for the OpenAPI document.
        doors: names and pages let in; by default loopback and the host of `public_url`.
        limits: on time and on requests at once.
        public_url: how clients reach the gateway.
        issuers: the authorization servers whose tokens are taken.
        mcp: ASGI application; gets authenticated requests with their call under `CALL`.
        lifespan: surrounds the application's life.
    """
    discovery = Discovery(public_url=public_url, issuers=issuers)
    desk = Desk(
        gate,
        authenticator=authenticator,
        failures=failures,
        telemetry=telemetry,
        limits=limits or Limits(),
        public_url=public_url,
        discovery=discovery,
    )
    metrics = Metrics(telemetry.registry)
    app = Front(
        title="Memwarden",
        version=version,
        openapi_url="/openapi.json",
        docs_url=None,  # its pages load scripts of a third party
        redoc_url=None,
        redirect_slashes=False,
        telemetry=_SILENT,
        lifespan=lifespan,
        exception_handlers={HTTPException: _unrouted},
        middleware=[
            Middleware(Edge, doors=doors or Doors.of(public_url), metrics=metrics),
        ],
    )
    app.probes = (*probes(readiness, metrics), *discovery.probes())
    for path, methods in _by_path(OPERATIONS).items():
        app.add_route(path, _endpoint(desk, methods), [*methods, "OPTIONS"])
    for probe in app.probes:
        app.add_route(probe.path, _named(probe), ["GET"])
    if mcp is not None:
        app.add_route(MCP_PATH, _McpDoor(desk, mcp))  # type: ignore[arg-type]  # an ASGI application is a route as well
    return app


class _McpDoor:
    """Lets authenticated requests of every method through to the MCP application."""

    def __init__(self, desk: Desk, app: ASGIApp) -> None:
        self._desk = desk
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._desk.serve_mcp(self._app, scope, receive, send)


def _by_path(operations: Sequence[Operation]) -> dict[str, dict[str, Operation]]:
    found: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        found.setdefault(operation.path, {})[operation.method] = operation
    return found


Endpoint = Callable[[Request], Awaitable[Response]]


def _endpoint(desk: Desk, methods: Mapping[str, Operation]) -> Endpoint:
    allowed = {*methods, "OPTIONS"} | ({"HEAD"} if "GET" in methods else set())
    allow = ", ".join(sorted(allowed))

    async def endpoint(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": allow})
        method = "GET" if request.method == "HEAD" else request.method
        return await desk.serve(methods[method], request)

    return endpoint


def _named(probe: Probe) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        passage_of(request.scope).route = probe.path
        return await probe.handler(request)

    return endpoint


def _not_before(scope: Scope) -> str | None:
    """Return the version token that came along; two of them are none of ours."""
    found = values(scope["headers"], ACCESS_VERSION.lower().encode())
    return ", ".join(found) if found else None


def _response(operation: Operation, answer: Answer) -> Response:
    headers = {} if answer.version is None else {"ETag": f'"{answer.version}"'}
    if answer.access_version is not None:
        headers[ACCESS_VERSION] = answer.access_version
    if answer.body is None:
        return Response(status_code=operation.status, headers=headers)
    return Response(
        encode(answer.body),
        status_code=operation.status,
        headers=headers,
        media_type="application/json",
    )


async def _unrouted(request: Request, error: Exception) -> Response:
    """Answer what no route takes: a path that is not there, or a method that it has not."""
    if not isinstance(error, HTTPException) or error.status_code != 405:  # noqa: PLR2004 - HTTP's own
        raise NotFound
    return Response(
        encode(method_not_allowed(passage_of(request.scope).request_id)),
        status_code=405,
        headers={"Allow": ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))},
        media_type=PROBLEM_MEDIA_TYPE,
    )


def _replay(raw: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body already read, then what the client does next."""
    waiting = [raw]

    async def replay() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replay
