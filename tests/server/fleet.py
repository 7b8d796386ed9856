"""Several gateways and a worker, as real processes on one PostgreSQL, one Valkey and one index.

PostgreSQL and Valkey are the embedded binaries, started natively with the roles and passwords of an
embedded gateway; the index is the listening double of `tests/qdrant_double.py`. Every process ends
when its standard input does, so nothing outlives the tests.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from typing_extensions import override

from gateway.cli.migrate import keygen
from gateway.embedded.engines import EmbeddedEngines
from gateway.embedded.places import Places
from tests.live.gateways import ALL_ROLES, Agent
from tests.qdrant_double import listening

START_SECONDS = 300.0  # on a machine that has much else to do
STOP_SECONDS = 30.0
QDRANT_KEY = "a key of the fleet"
PREFIX = "MEMWARDEN_"


def child_environment(settings: dict[str, str]) -> dict[str, str]:
    """Return this process's environment with `settings` as the only ones of ours."""
    others = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX)}  # noqa: TID251 - a child's environment
    return others | {f"{PREFIX}{name}": value for name, value in settings.items()}


@dataclass
class Process:
    """One `memwarden` command that runs until it is told to stop."""

    name: str
    folder: Path
    settings: dict[str, str] = field(repr=False)
    command: str = "serve"
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    url: str = ""

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        """Start it; `wait` waits until it is ready."""
        ready = self.folder / f"{self.name}.ready"
        ready.unlink(missing_ok=True)
        # A worker reads a file and a gateway its environment, so that both ways are in use.
        config = self.folder / f"{self.name}.toml"
        config.write_text(
            "".join(f"{k.lower()} = {json.dumps(v)}\n" for k, v in self.settings.items())
        )
        config.chmod(0o600)
        from_file = self.command == "worker"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "gateway.cli", self.command, "--until-eof"),
                    *("--ready-file", str(ready)),
                    *(("--config", str(config)) if from_file else ()),
                ],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=child_environment({} if from_file else self.settings),
            )

    def wait(self) -> None:
        """Wait until it says that it is ready."""
        assert self.process is not None
        ready = self.folder / f"{self.name}.ready"
        deadline = time.monotonic() + START_SECONDS
        while not ready.exists():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.02)
        told = json.loads(ready.read_text(encoding="utf-8"))
        assert told["pid"] == self.process.pid
        self.url = told.get("url", "")

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def terminate(self) -> None:
        """Tell it to stop, as an orchestrator does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        """Tell it to stop and wait for its end; returns its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.terminate()
        return self._let_go()

    def _let_go(self) -> int:
        assert self.process is not None
        if self.process.stdin is not None:
            self.process.stdin.close()
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self.process is not None
        self.process.kill()
        self._let_go()


@dataclass
class Replica(Process):
    """A gateway of the fleet."""

    _http: httpx.Client | None = field(default=None, repr=False)

    @override
    def wait(self) -> None:
        super().wait()
        self.close()
        self._http = httpx.Client(base_url=self.url, timeout=60.0, trust_env=False)

    @property
    def http(self) -> httpx.Client:
        assert self._http is not None, "this gateway was not started"
        return self._http

    @override
    def stop(self) -> int:
        self.close()
        return super().stop()

    def close(self) -> None:
        """Close the connections to it."""
        if self._http is not None:
            self._http.close()

    def as_agent(self, agent: Agent) -> Agent:
        """Return the same credential, asking this gateway."""
        return Agent(self.http, agent.key, agent.tenant, agent.user)


@dataclass
class Fleet:
    """Gateways that share everything but their memory."""

    folder: Path
    engines: EmbeddedEngines
    qdrant_url: str
    settings: dict[str, str] = field(repr=False)
    operator_key: str = field(repr=False)
    replicas: list[Replica]
    worker: Process

    def tenant(self, name: str) -> Agent:
        """Make a tenant on the first gateway; returns its administrator there."""
        first = self.replicas[0]
        made = first.http.post(
            "/v1/admin/tenants", json={"name": name}, headers={"X-API-Key": self.operator_key}
        )
        assert made.status_code == 201, made.text
        return Agent(first.http, made.json()["admin_key"], made.json()["id"])

    def key(self, admin: Agent, user: str | None = "alice", **spec: Any) -> tuple[str, Agent]:
        """Make a key; returns its id, and an agent with it at the administrator's gateway."""
        body = {
            "name": "agent",
            "roles": list(ALL_ROLES),
            "namespaces": ["main", "side"],
            "users": ["*"],
        } | spec
        made = admin.call("POST", "/v1/admin/keys", json=body)
        assert made.status_code == 201, made.text
        return made.json()["id"], Agent(admin.http, made.json()["key"], admin.tenant, user)

    def agent(self, admin: Agent, user: str | None = "alice", **spec: Any) -> Agent:
        return self.key(admin, user, **spec)[1]

    def replica(self, name: str, **settings: str) -> Replica:
        """Return one more gateway, not started."""
        return Replica(name, self.folder, self.settings | settings)


class Engines(threading.Thread):
    """Holds engines in a thread of their own: they die with the thread that starts them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(name="fleet-engines", daemon=True)
        self.engines: EmbeddedEngines | None = None
        self.ready = threading.Event()
        self.failed: BaseException | None = None
        self._folder = folder

    def begin(self) -> EmbeddedEngines:
        """Start, and return the engines once they run."""
        self.start()
        assert self.ready.wait(START_SECONDS), "the engines did not start in time"
        if self.failed is not None:
            raise self.failed
        assert self.engines is not None
        return self.engines

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
        async with EmbeddedEngines.start(
            self._folder / "data",
            self._folder / "engine-keys",
            Places(home=self._folder),
            on_death=lambda _engine: None,
            with_edge=False,
        ) as self.engines:
            self.ready.set()
            await self.over.wait()

    def stop(self) -> None:
        """End the engines and wait for it."""
        if self.failed is None and self.ready.is_set():
            self.loop.call_soon_threadsafe(self.over.set)
        self.join(STOP_SECONDS)


def server_settings(
    engines: EmbeddedEngines, qdrant_url: str, keys: Path, anchor: Path
) -> dict[str, str]:
    """Return the settings of a process of the fleet."""
    return {
        "ENVIRONMENT": "development",  # sockets and loopback: there is nothing to encrypt for
        "DATABASE_URL": engines.database_url("memwarden_app"),
        "DATABASE_INDEX_URL": engines.database_url("memwarden_index"),
        "DATABASE_SEAL_URL": engines.database_url("memwarden_seal"),
        "DATABASE_CONNECTIONS": "6",
        "KEYSTORE_URL": engines.keystore_url,
        "REDIS_URL": engines.redis_url,
        "QDRANT_URL": qdrant_url,
        "QDRANT_API_KEY": QDRANT_KEY,
        "KEK_FILE": str(keys / "root.key"),
        "EPOCH_KEYS": str(keys),
        "AUDIT_ANCHOR": str(anchor),
        "OPERATOR_KEY_FILE": str(keys / "operator"),
        "HOST": "127.0.0.1",
        "PORT": "0",
    }


def migrated(
    settings: dict[str, str], engines: EmbeddedEngines
) -> subprocess.CompletedProcess[str]:
    """Run `memwarden migrate` and return what it did."""
    owner = {
        "DATABASE_OWNER_URL": engines.database_url("memwarden_owner"),
        "KEYSTORE_URL": settings["KEYSTORE_URL"],
    }
    return subprocess.run(
        [sys.executable, "-m", "gateway.cli", "migrate"],
        env=child_environment(owner),
        capture_output=True,
        text=True,
        check=False,
    )


@contextlib.contextmanager
def run_fleet(replicas: int = 3, **settings: str) -> Iterator[Fleet]:
    """Run a fleet for the length of the block.

    Args:
        replicas: how many gateways.
        settings: of every process, by their names without the prefix.
    """
    folder = Path(tempfile.mkdtemp(prefix="mw-fleet-"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        holder = Engines(folder)
        stack.callback(holder.stop)
        engines = holder.begin()
        keygen(folder / "keys")
        qdrant_url = stack.enter_context(listening(QDRANT_KEY, folder))
        shared = server_settings(engines, qdrant_url, folder / "keys", folder / "anchor.jsonl")
        shared |= {"REPLICAS": str(replicas)} | settings
        told = migrated(shared, engines)
        assert told.returncode == 0, told.stderr
        fleet = Fleet(
            folder=folder,
            engines=engines,
            qdrant_url=qdrant_url,
            settings=shared,
            operator_key=(folder / "keys" / "operator").read_text(encoding="ascii"),
            replicas=[Replica(f"gateway-{n}", folder, shared) for n in range(1, replicas + 1)],
            worker=Process("worker", folder, shared, "worker"),
        )
        processes = [*fleet.replicas, fleet.worker]
        stack.callback(_stop, processes)
        for process in processes:
            process.start()
        for process in processes:
            process.wait()
        yield fleet


def _stop(processes: list[Process]) -> None:
    started = [process for process in processes if process.process is not None]
    with ThreadPoolExecutor(max(1, len(started))) as pool:
        list(pool.map(lambda process: process.stop(), started))
