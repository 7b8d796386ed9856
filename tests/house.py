"""A whole gateway in the test's own process: real engines, the real application, no socket.

Requests go through `httpx.ASGITransport`, so that a test may look at and break what is inside.
What needs a process of its own is in tests/live. The agents are those of tests/live too.
"""

import asyncio
import contextlib
import itertools
import json
import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import httpx
import psycopg
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from typing_extensions import override

import gateway.app
from gateway.app import Gateway, open_gateway
from gateway.cli.serving import OURS
from gateway.embedded.engines import EmbeddedEngines
from gateway.embedded.places import Places
from gateway.parts import Connections
from gateway.settings import load
from tests.live.gateways import ALL_ROLES, Agent
from tests.word_embedder import WordEmbedder

START_SECONDS = 60.0
URL = "http://127.0.0.1:8700"
PROTOCOL = "2025-11-25"

T = TypeVar("T")
_numbers = itertools.count(1)


@dataclass
class Door:
    """What an `Agent` takes for an `httpx.Client`: hands each request to the house's own loop."""

    house: "House"

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self.house.run(self.house.client.request(method, path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)


@dataclass
class House:
    """One gateway on a folder of its own; `open_house` runs it in a thread of its own."""

    folder: Path
    engines: EmbeddedEngines
    gateway: Gateway
    embedder: WordEmbedder
    spans: InMemorySpanExporter
    log: list[str]
    client: httpx.AsyncClient
    loop: asyncio.AbstractEventLoop = field(repr=False)

    @property
    def http(self) -> Any:
        return Door(self)

    @property
    def operator(self) -> Agent:
        return Agent(self.http, self.gateway.operator_key, "operator")

    def run(self, work: Coroutine[Any, Any, T], seconds: float = 120.0) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    def together(self, works: list[Callable[[], Coroutine[Any, Any, T]]]) -> list[T]:
        """Run all at once, and return their results in order."""

        async def all_of_them() -> list[T]:
            return list(await asyncio.gather(*(work() for work in works)))

        return self.run(all_of_them())

    def tenant(self, name: str | None = None) -> Agent:
        """Make a tenant; returns its administrator."""
        name = f"tenant {next(_numbers)}" if name is None else name
        made = self.operator.call("POST", "/v1/admin/tenants", json={"name": name})
        assert made.status_code == 201, made.text
        return Agent(self.http, made.json()["admin_key"], made.json()["id"])

    def agent(self, admin: Agent, user: str | None = None, **spec: Any) -> Agent:
        """Make a key of the administrator's tenant; `user` is whom it acts for unless told."""
        made = admin.call("POST", "/v1/admin/keys", json=key_body(**spec))
        assert made.status_code == 201, made.text
        return Agent(self.http, made.json()["key"], admin.tenant, user)

    def someone(self, user: str = "alice", **spec: Any) -> Agent:
        """An agent of a tenant of its own."""
        return self.agent(self.tenant(), user, **spec)

    def tool(self, agent: Agent, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; returns the JSON-RPC result."""
        reply = self.rpc(agent, "tools/call", {"name": name, "arguments": arguments})
        assert reply.status_code == 200, reply.text
        result: dict[str, Any] = reply.json()["result"]
        return result

    def rpc(
        self, agent: Agent, method: str, params: dict[str, Any], **headers: str
    ) -> httpx.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return agent.call("POST", "/mcp", json=body, headers=rpc_headers() | headers)

    def sql(self, statement: str, *values: Any, role: str = "memwarden_owner") -> list[Any]:
        """Run one statement as a role; the owner is bound by row-level security too."""
        with psycopg.connect(self.engines.database_url(role)) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def below(self, *tables: str) -> Iterator[psycopg.Connection[Any]]:
        """A transaction past the walls of `tables`: what somebody with the files could do.

        Commits when the block ends; nobody else sees the walls down.
        """
        with psycopg.connect(self.engines.database_url("memwarden_owner")) as connection:
            for table in sorted(tables):
                connection.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
            yield connection
            for table in sorted(tables):
                connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")

    def indexed(self, seconds: float = 20.0) -> None:
        """Wait until the index follows the record."""
        deadline = time.monotonic() + seconds
        while self.sql("SELECT count(*) FROM outbox", role="memwarden_index") != [(0,)]:
            assert time.monotonic() < deadline, "the index did not follow"
            time.sleep(0.02)

    def traces(self) -> str:
        """Everything that spans say."""
        provider = self.gateway.telemetry._provider
        assert provider is not None
        provider.force_flush()
        return "\n".join(span.to_json() for span in self.spans.get_finished_spans())

    def sealed_events(self, agent: Agent) -> list[dict[str, Any]]:
        """The tenant's audit events, newest first, once the sealer has placed them all."""
        deadline = time.monotonic() + 10
        while True:
            events = agent.events()
            # The newest may be this look itself, or the one before: they are placed in a second.
            if all(event["sequence"] for event in events[2:]):
                return events
            assert time.monotonic() < deadline, "the sealer did not follow"


def rpc_headers() -> dict[str, str]:
    return {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": PROTOCOL,
    }


def key_body(**spec: Any) -> dict[str, Any]:
    return {
        "name": "agent",
        "roles": list(ALL_ROLES),
        "namespaces": ["main", "side"],
        "users": ["*"],
    } | spec


class _Notes(logging.Handler):
    """Keeps every log line of every logger, arguments and exceptions written out."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


class _HouseThread(threading.Thread):
    """Engines die with the thread that starts them, so a house has one."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        super().__init__(name="house", daemon=True)
        self.house: House | None = None
        self.failed: BaseException | None = None
        self.ready = threading.Event()
        self._folder = folder
        self._settings = settings

    @override
    def run(self) -> None:
        try:
            asyncio.run(self._hold())
        except BaseException as err:  # noqa: BLE001 - told to the thread that waits
            self.failed = err
        finally:
            self.ready.set()

    async def _hold(self) -> None:
        self.loop, self.over = asyncio.get_running_loop(), asyncio.Event()
        spans, embedder = InMemorySpanExporter(), WordEmbedder()
        notes = _Notes()
        root = logging.getLogger()
        async with contextlib.AsyncExitStack() as stack:
            root.addHandler(notes)
            stack.callback(root.removeHandler, notes)
            for name in OURS:  # everything that an operator could ask to see
                logging.getLogger(name).setLevel(logging.DEBUG)
            engines = await stack.enter_async_context(
                EmbeddedEngines.start(
                    self._folder / "data",
                    self._folder / "keys",
                    Places(home=self._folder),
                    on_death=lambda _engine: None,
                )
            )
            with mock.patch.object(gateway.app, "otlp_exporter", return_value=spans):
                opened = await stack.enter_async_context(
                    open_gateway(
                        Connections.embedded(engines),
                        load(**self._settings),
                        own_url=URL,
                        embedder=embedder,
                    )
                )
            client = await stack.enter_async_context(
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(app=opened.http), base_url=URL, timeout=60
                )
            )
            self.house = House(
                self._folder, engines, opened, embedder, spans, notes.lines, client, self.loop
            )
            self.ready.set()
            await self.over.wait()

    def stop(self) -> None:
        if self.failed is None:
            self.loop.call_soon_threadsafe(self.over.set)
        self.join(START_SECONDS)
        if self.failed is not None:
            raise self.failed


@contextlib.contextmanager
def open_house(folder: Path | None = None, **settings: Any) -> Iterator[House]:
    """Run a gateway for the length of the block.

    Args:
        folder: holds `data` and `keys`; None for one that is removed at the end.
        settings: as in gateway.settings.
    """
    with contextlib.ExitStack() as stack:
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="mw-house-"))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        thread = _HouseThread(folder, {"tenant_concurrency": 1000} | settings)
        thread.start()
        stack.callback(thread.stop)
        assert thread.ready.wait(START_SECONDS), "the gateway did not start in time"
        if thread.house is None:
            return
        yield thread.house


def text_of(reply: httpx.Response) -> str:
    """Everything that a reply says, headers included."""
    return json.dumps(list(reply.headers.multi_items())) + reply.text
