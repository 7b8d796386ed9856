"""What a load balancer, an orchestrator and Prometheus ask. No credential, no tenant's data.

Rules this module keeps:
- `/healthz` asks nothing: a database that is down must not get the process restarted.
- `/readyz` asks each part. What is required and down takes the process out; the index, which a
  recall can do without, only marks it `degraded`.
- Strangers may ask, so the parts are asked at most once a second, whatever comes in.

Source: REQUIREMENTS F.2 and F.4.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from core.errors import Unavailable
from core.model import Json
from gateway.front.edge import encode, passage_of
from gateway.front.errors import PROBLEM_MEDIA_TYPE, problem
from gateway.front.metrics import MEDIA_TYPE, Metrics
from gateway.front.wire import Problem, Shown

CHECK_SECONDS = 1.0
FRESH_SECONDS = 1.0

State = Literal["up", "down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A part that the gateway stands on.

    Args:
        name: told to whoever asks, such as `postgres`.
        check: returns when the part answered; raises, or takes too long, when it did not.
        required: False when the gateway can answer without it, degraded.
    """

    name: str
    check: Callable[[], Awaitable[None]]
    required: bool = True


class Readiness:
    """Whether this process should get requests.

    Args:
        dependencies: the parts, in the order in which they are told.
    """

    def __init__(self, dependencies: Sequence[Dependency]) -> None:
        self._dependencies = dependencies
        self._lock = asyncio.Lock()
        self._states: Mapping[str, State] = {}
        self._asked = float("-inf")
        self.draining = False

    def drain(self) -> None:
        """Say `not ready` from now on: the process is about to stop."""
        self.draining = True

    async def states(self) -> Mapping[str, State]:
        """Return how each part is, asked within the last second."""
        async with self._lock:
            if time.monotonic() - self._asked >= FRESH_SECONDS:
                found = await asyncio.gather(*(_state(each) for each in self._dependencies))
                names = (each.name for each in self._dependencies)
                self._states = dict(zip(names, found, strict=True))
                self._asked = time.monotonic()
            return self._states

    async def judge(self) -> tuple[Literal["ready", "degraded", "unready"], Mapping[str, State]]:
        """Return the verdict and how each part is."""
        states = await self.states()
        down = [each for each in self._dependencies if states[each.name] == "down"]
        if self.draining or any(each.required for each in down):
            return "unready", states
        return ("degraded" if down else "ready"), states


async def _state(dependency: Dependency) -> State:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await dependency.check()
    except Exception:  # noqa: BLE001 - whatever a part raises, it is not up
        return "down"
    return "up"


class HealthShown(Shown):
    """The process answers."""

    status: Literal["ok"]


class ReadyShown(Shown):
    """How the parts are."""

    status: Literal["ready", "degraded"]
    dependencies: dict[str, State]


class UnreadyShown(Problem):
    """The process should get no requests now."""

    dependencies: dict[str, State]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A GET that needs no credential.

    Args:
        handler: answers it.
        replies: status -> the model of its body; None for plain text.
    """

    path: str
    name: str
    summary: str
    handler: Callable[[Request], Awaitable[Response]]
    replies: Mapping[int, type[BaseModel] | None]


def probes(readiness: Readiness, metrics: Metrics) -> tuple[Probe, ...]:
    """Return the probes of a process."""

    async def healthz(_request: Request) -> Response:
        return Response(encode({"status": "ok"}), media_type="application/json")

    async def readyz(request: Request) -> Response:
        status, states = await readiness.judge()
        shown: dict[str, Json] = {"dependencies": dict(states)}
        if status == "unready":
            down = Unavailable("Not ready.")
            return Response(
                encode(problem(down, passage_of(request.scope).request_id) | shown),
                status_code=503,
                media_type=PROBLEM_MEDIA_TYPE,
                headers={"Retry-After": "1"},
            )
        return Response(encode({"status": status} | shown), media_type="application/json")

    async def numbers(_request: Request) -> Response:
        return Response(metrics.render(), media_type=MEDIA_TYPE)

    return (
        Probe(
            path="/healthz",
            name="healthz",
            summary="Does the process answer",
            handler=healthz,
            replies={200: HealthShown},
        ),
        Probe(
            path="/readyz",
            name="readyz",
            summary="Should the process get requests",
            handler=readyz,
            replies={200: ReadyShown, 503: UnreadyShown},
        ),
        Probe(
            path="/metrics",
            name="metrics",
            summary="Numbers for Prometheus",
            handler=numbers,
            replies={200: None},
        ),
    )
