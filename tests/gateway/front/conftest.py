"""The HTTP application over paths that record what they were asked and answer what they are told.

What the paths do is tested with them; here it matters what reaches them, and what becomes of their
answers. `tests/fronts` runs the same application on real engines.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry

from core.adapters.redis.budget import RedisBudget
from core.errors import Unauthenticated
from gateway import (
    admin,
    guard_policies,
    memories,
    policies,
    preview,
    quotas,
    recall,
    reveal,
    spaces,
    write,
)
from gateway.budgets import Budgets
from gateway.front.http import create_app
from gateway.front.limits import Limits
from gateway.front.routes_health import Dependency, Readiness
from gateway.quotas import QuotaBook
from gateway.telemetry import Telemetry
from tests.gateway.front import samples

BASE_URL = "http://127.0.0.1:8700"
KEY = "mw_abc_" + "s" * 40


class Paths:
    """Stands for every guarded path. Set `answers[name]` to change what one returns or raises."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = dict(samples.ANSWERS)
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def stub(self, name: str):
        async def path(gate, call, *arguments):
            self.calls.append((name, arguments))
            answer = self.answers[name]
            if isinstance(answer, BaseException):
                raise answer
            return await answer(*arguments) if callable(answer) else answer

        return path

    @property
    def last(self) -> tuple[Any, ...]:
        """Arguments of the last call."""
        return self.calls[-1][1]


class Refusals:
    def __init__(self) -> None:
        self.recorded: list[tuple[str, str, str | None]] = []

    async def record(self, call, action, error, *, user_id=None):
        self.recorded.append((action.value, error.code, user_id))


class Keys:
    """Knows one key; stands for the authenticator."""

    def __init__(self) -> None:
        self.principal = samples.PRINCIPAL
        self.seen: list[tuple[str | None, str]] = []
        self.error: Exception | None = None

    async def authenticate(self, presented, channel):
        self.seen.append((presented.token, channel))
        if self.error is not None:
            raise self.error
        if presented.token != KEY:
            raise Unauthenticated
        return self.principal


class Failures:
    def __init__(self) -> None:
        self.sources: list[str | None] = []

    def note(self, source):
        self.sources.append(source)


async def _up() -> None:
    return None


class House:
    """One application and everything it stands on."""

    def __init__(self, paths: Paths, **options: Any) -> None:
        self.paths = paths
        self.refusals = Refusals()
        self.keys = Keys()
        self.failures = Failures()
        self.registry = CollectorRegistry()
        dependencies = options.pop(
            "dependencies",
            [
                Dependency(name="postgres", check=_up),
                Dependency(name="qdrant", check=_up, required=False),
            ],
        )
        self.readiness = Readiness(dependencies)
        nowhere: Any = None  # its principal's tenant has put no quotas, so nobody is asked for them
        budget = Budgets(
            RedisBudget("unix:///nowhere/valkey.sock?db=0"),  # counts by itself
            QuotaBook(nowhere, nowhere),
            nowhere,
            key_requests=options.pop("key_requests", 0),
        )
        gate: Any = SimpleNamespace(refusals=self.refusals, budget=budget)
        keys: Any = self.keys
        self.app = create_app(
            gate,
            authenticator=keys,
            failures=self.failures,
            telemetry=Telemetry(registry=self.registry),
            readiness=self.readiness,
            version="0.0.0",
            limits=options.pop("limits", Limits()),
            **options,
        )

    @asynccontextmanager
    async def client(self, key: str | None = KEY) -> AsyncIterator[httpx.AsyncClient]:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        transport = httpx.ASGITransport(app=self.app, client=("192.0.2.7", 1))
        async with httpx.AsyncClient(
            transport=transport, base_url=BASE_URL, headers=headers
        ) as client:
            yield client


@pytest.fixture
def paths(monkeypatch) -> Paths:
    found = Paths()
    modules = (
        admin,
        guard_policies,
        memories,
        policies,
        preview,
        quotas,
        recall,
        reveal,
        spaces,
        write,
    )
    for module in modules:
        for name in samples.NAMES[module.__name__]:
            stub = found.stub(f"{module.__name__.rpartition('.')[2]}.{name}")
            monkeypatch.setattr(module, name, stub)
    return found


@pytest.fixture
def house(paths) -> House:
    return House(paths)


@pytest.fixture
def build(paths):
    """Make a house with other options."""

    def make(**options: Any) -> House:
        return House(paths, **options)

    return make


@pytest.fixture
async def client(house) -> AsyncIterator[httpx.AsyncClient]:
    async with house.client() as found:
        yield found
