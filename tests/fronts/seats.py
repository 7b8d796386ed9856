"""The real application on the shared gateway, entered as principals of every kind.

Roles, scopes and freshness of a token come from its claims; what verifies tokens is tested by
itself. Here a seat stands for a verified token, so that every combination can be asked for.
"""

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from prometheus_client import CollectorRegistry

from core.adapters.redis.seen import RedisSeenProofs
from core.errors import Unauthenticated
from core.ids import KeyId, TenantId, new_uuid
from core.scope import Principal, Role, Standing
from gateway.auth.presented import Presented
from gateway.confirmation import Claims
from gateway.front.http import create_app
from gateway.front.mcp import McpFront
from gateway.front.routes_discovery import Issuing
from gateway.front.routes_health import Readiness
from gateway.front.security import Doors
from gateway.telemetry import Telemetry
from tests.house import URL, House, rpc_headers
from tests.live.gateways import Agent

MODERN = "2026-07-28"
OLDER = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS = (*OLDER, MODERN)
ISSUER = "https://idp.example"
ASKS: dict[str, Any] = {"elicitation": {"form": {}}}


@dataclass
class Seats:
    """Who sits where: an opaque word for each principal."""

    house: House
    taken: dict[str, Principal] = field(default_factory=dict)
    strangers: int = 0

    def seat(self, principal: Principal) -> str:
        word = f"seat-{len(self.taken)}"
        self.taken[word] = principal
        return word

    async def authenticate(self, presented: Presented, channel: str) -> Principal:
        found = self.taken.get(presented.token or "")
        if found is None:
            raise Unauthenticated
        standing = Standing()
        if found.tenant is not None:
            standing = await self.house.gateway.gate.directory.standing(found.tenant)
        return _in(found, channel=channel, standing=standing)

    def note(self, _source: str | None) -> None:
        self.strangers += 1


def _in(principal: Principal, **changed: Any) -> Principal:
    return Principal(**{name: getattr(principal, name) for name in Principal.__slots__} | changed)


@dataclass
class Replica:
    """One process's fronts, as far as tests can tell: an application with its own MCP server."""

    house: House
    seats: Seats
    client: httpx.AsyncClient

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self.house.run(self.client.request(method, path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def sit(self, tenant: str, user: str | None = "alice", /, **about: Any) -> Agent:
        """Return a caller of `tenant`, by default a fresh token of Alice with every scope.

        Args:
            about: fields of `Principal`.
        """
        principal = {
            "tenant": TenantId(UUID(tenant)),
            "key_id": KeyId(f"token-{new_uuid().hex}"),
            "roles": frozenset({Role.READER, Role.WRITER, Role.CURATOR}),
            "namespaces": None,
            "users": None if user is None else frozenset({user}),
            "person": user,
        }
        word = self.seats.seat(Principal(**principal | about))  # type: ignore[arg-type]  # by name
        return Agent(Bearer(self), word, tenant, user)  # type: ignore[arg-type]  # stands for a client

    def tool(
        self, agent: Agent, name: str, arguments: dict[str, Any], **params: Any
    ) -> httpx.Response:
        """Call a tool over the newest revision, from a client that can ask its person."""
        return modern(
            agent, "tools/call", {"name": name, "arguments": arguments} | params, able=ASKS
        )


@dataclass
class Bearer:
    """Sends what an `Agent` calls its key as a bearer token."""

    replica: Replica

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = dict(options.pop("headers"))
        headers["Authorization"] = f"Bearer {headers.pop('X-API-Key')}"
        return self.replica.request(method, path, headers=headers, **options)


def modern(
    agent: Agent, method: str, params: dict[str, Any], *, able: Any = None, **headers: str
) -> httpx.Response:
    """Ask over revision 2026-07-28.

    Args:
        able: the client's capabilities.
        headers: instead of, or beside, those that belong to the body; underscores for dashes.
    """
    sent = modern_headers(method, params)
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return agent.call("POST", "/mcp", json=modern_body(method, params, able), headers=sent)


def modern_headers(method: str, params: dict[str, Any]) -> dict[str, str]:
    sent = rpc_headers() | {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    return sent | ({"Mcp-Name": params["name"]} if "name" in params else {})


def modern_body(method: str, params: dict[str, Any], able: Any = None) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": able or {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": meta}}


@dataclass(frozen=True)
class Trusted:
    """An issuer as discovery shows it."""

    issuer: str = ISSUER
    scopes_required: bool = True


@contextlib.contextmanager
def replica(
    house: House,
    seats: Seats | None = None,
    *,
    legacy: bool = True,
    claims: Claims | None = None,
    issuers: Sequence[Issuing] = (Trusted(),),
) -> Iterator[Replica]:
    """Serve the application over the house's own gate, as one more replica of it.

    Args:
        seats: shared by replicas; None for new ones.
        claims: where used confirmations are remembered; None for the house's Valkey.
    """
    seats = seats or Seats(house)
    opened: asyncio.Queue[httpx.AsyncClient] = asyncio.Queue()
    over = asyncio.Event()

    async def hold() -> None:
        remembered = RedisSeenProofs(house.engines.redis_url)
        front = McpFront(house.gateway.gate, "0", claims=claims or remembered, legacy=legacy)
        app = create_app(
            house.gateway.gate,
            authenticator=seats,  # type: ignore[arg-type]  # see the module
            failures=seats,
            telemetry=Telemetry(CollectorRegistry()),
            readiness=Readiness(()),
            version="0",
            doors=Doors.of(URL),
            public_url=URL,
            issuers=issuers,
            mcp=front,
        )
        transport = httpx.ASGITransport(app=app)
        async with front.run(), httpx.AsyncClient(transport=transport, base_url=URL) as client:
            await opened.put(client)
            await over.wait()
        await remembered.aclose()

    holding = asyncio.run_coroutine_threadsafe(hold(), house.loop)
    try:
        yield Replica(house, seats, house.run(opened.get()))
    finally:
        house.loop.call_soon_threadsafe(over.set)
        holding.result(30)
