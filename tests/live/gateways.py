"""A gateway as a person runs it: `memwarden up` in a process of its own, over real HTTP and MCP.

Tests make their own tenants and agents, so that one gateway serves a whole worker.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

START_SECONDS = 60.0
STOP_SECONDS = 30.0
ALL_ROLES = ("reader", "writer", "curator", "auditor", "privacy")


@dataclass
class Agent:
    """A credential and the person it acts for by default."""

    http: httpx.Client = field(repr=False)
    key: str = field(repr=False)
    tenant: str
    user: str | None = None

    def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"X-API-Key": self.key} | options.pop("headers", {})
        return self.http.request(method, path, headers=headers, **options)

    def write(self, content: str, **fields: Any) -> dict[str, Any]:
        reply = self.try_write(content, **fields)
        assert reply.status_code == 201, reply.text
        receipt: dict[str, Any] = reply.json()
        return receipt

    def try_write(self, content: Any, **fields: Any) -> httpx.Response:
        headers = fields.pop("headers", {})
        return self.call("POST", "/v1/memories", json=self.about(content=content, **fields),
                         headers=headers)  # fmt: skip

    def stored(self, content: str, **fields: Any) -> str:
        memory: str = self.write(content, **fields)["outcomes"][0]["id"]
        return memory

    def recall(self, query: str, **fields: Any) -> list[dict[str, Any]]:
        reply = self.call("POST", "/v1/recall", json=self.about(query=query, **fields))
        assert reply.status_code == 200, reply.text
        found: list[dict[str, Any]] = reply.json()["memories"]
        return found

    def get(self, memory: str, **fields: Any) -> httpx.Response:
        return self.call("GET", f"/v1/memories/{memory}", params=self.about(**fields))

    def forget(self, memory: str) -> httpx.Response:
        return self.call("DELETE", f"/v1/memories/{memory}", params=self.about())

    def listed(self, **fields: Any) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        cursor = None
        while True:
            params = self.about(**fields) | ({} if cursor is None else {"cursor": cursor})
            reply = self.call("GET", "/v1/memories", params=params)
            assert reply.status_code == 200, reply.text
            items += reply.json()["items"]
            cursor = reply.json()["next_cursor"]
            if cursor is None:
                return items

    def events(self, **params: Any) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        cursor = None
        while True:
            asked: dict[str, Any] = {"limit": 200, **params}
            if cursor is not None:
                asked["cursor"] = cursor
            reply = self.call("GET", "/v1/audit/events", params=asked)
            assert reply.status_code == 200, reply.text
            items += reply.json()["items"]
            cursor = reply.json()["next_cursor"]
            if cursor is None:
                return items

    def about(self, **fields: Any) -> dict[str, Any]:
        given = {} if self.user is None else {"user_id": self.user}
        return given | fields


@dataclass
class Running:
    """One gateway process and what its ready file said."""

    folder: Path
    process: subprocess.Popen[bytes]
    url: str
    mcp_url: str
    operator_key: str
    http: httpx.Client
    environment: dict[str, str]

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def keys(self) -> Path:
        return self.folder / "keys"

    def tenant(self, name: str) -> Agent:
        """Make a tenant; returns its administrator."""
        made = self.http.post(
            "/v1/admin/tenants", json={"name": name}, headers={"X-API-Key": self.operator_key}
        )
        assert made.status_code == 201, made.text
        return Agent(self.http, made.json()["admin_key"], made.json()["id"])

    def agent(self, admin: Agent, user: str | None = None, **spec: Any) -> Agent:
        """Make a key of the administrator's tenant; `user` is whom it acts for unless told."""
        body = {
            "name": "agent",
            "roles": list(ALL_ROLES),
            "namespaces": ["main", "side"],
            "users": ["*"],
        } | spec
        made = admin.call("POST", "/v1/admin/keys", json=body)
        assert made.status_code == 201, made.text
        return Agent(self.http, made.json()["key"], admin.tenant, user)

    def kill(self) -> None:
        """End it as a power cut would: SIGKILL, nothing drained."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(STOP_SECONDS)
        self.http.close()

    def stop(self) -> None:
        """End it as an operator would: SIGTERM, drained."""
        self.process.terminate()
        assert self.process.wait(STOP_SECONDS) == 0, self.said()
        self.http.close()

    def said(self) -> str:
        return (self.folder / "gateway.log").read_text(encoding="utf-8", errors="replace")


def start(folder: Path, **environment: str) -> Running:
    """Start a gateway on `folder`, or start it again."""
    ready = folder / "ready.json"
    ready.unlink(missing_ok=True)
    command = [
        *(sys.executable, "-m", "gateway.cli", "up", "--port", "0", "--ready-file", str(ready)),
        *("--data", str(folder / "data"), "--keys", str(folder / "keys")),
    ]
    with (folder / "gateway.log").open("ab") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, **environment}  # noqa: TID251 - a child's environment
        )  # fmt: skip
    deadline = time.monotonic() + START_SECONDS
    while not ready.exists():
        said = (folder / "gateway.log").read_text(encoding="utf-8", errors="replace")
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    told = json.loads(ready.read_text(encoding="utf-8"))
    return Running(
        folder=folder,
        process=process,
        url=told["url"],
        mcp_url=told["mcp_url"],
        operator_key=told["operator_key"],
        http=httpx.Client(base_url=told["url"], timeout=60.0, trust_env=False),
        environment=environment,
    )


@contextlib.contextmanager
def running(**environment: str) -> Iterator[Running]:
    """Run a gateway on a new folder for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="mw-live-") as name:
        gateway = start(Path(name), **environment)
        try:
            yield gateway
        finally:
            if gateway.process.poll() is None:
                gateway.stop()


def wait_until(true: Any, *, seconds: float = 10.0, what: str = "it") -> None:
    """Poll `true()` until it holds."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"{what} did not happen in {seconds} s"
        time.sleep(0.02)
