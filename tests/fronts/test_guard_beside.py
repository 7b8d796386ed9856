"""While long texts are judged everybody else is answered: on a real server, by order, not time."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import httpx
import pytest

from gateway.guard.lanes import LONG_CHARACTERS
from gateway.guard.normalise import Normalised
from gateway.guard.pii.detector import Detector
from tests.fronts.conftest import Served
from tests.live.gateways import Agent

MANY = 20
WAIT = 60.0

Judge = Callable[..., Any]


@dataclass
class Held:
    """Keeps every long text in the detector until it is let go; notes which came, in order."""

    judge: Judge
    begun: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    order: list[str] = field(default_factory=list)

    def detect(self, detector: Detector, normalised: Normalised, *asked: Any) -> Any:
        if len(normalised.original) > LONG_CHARACTERS:
            self.order.append(normalised.original.partition(" ")[0])
            self.begun.set()
            assert self.go.wait(WAIT)
        return self.judge(detector, normalised, *asked)


@pytest.fixture
def held() -> Iterator[Held]:
    made = Held(Detector.detect)

    def detect(detector: Detector, normalised: Normalised, *asked: Any) -> Any:
        return made.detect(detector, normalised, *asked)

    with mock.patch.object(Detector, "detect", detect):
        yield made
        made.go.set()


def long(name: str) -> str:
    return f"{name} " + "and so it goes on, page after page. " * 200


def sent(pool: ThreadPoolExecutor, agent: Agent, path: str, **body: Any) -> Future[httpx.Response]:
    return pool.submit(agent.call, "POST", path, json=agent.about(**body))


def elsewhere(served: Served, *, user: str = "bob") -> Agent:
    """An agent of another tenant, over the same socket."""
    made = served.house.someone(user)
    return Agent(served.agent.http, made.key, made.tenant, user)


@pytest.mark.requirement("F7")
def test_twenty_long_writes_hold_up_no_probe_no_short_write_and_no_recall(
    served: Served, held: Held
) -> None:
    agent, other = served.agent, elsewhere(served)
    with ThreadPoolExecutor(MANY) as pool:
        writes = [
            sent(pool, agent, "/v1/memories", content=long(f"letter-{number}"))
            for number in range(MANY)
        ]
        assert held.begun.wait(WAIT)
        answered = 0
        for number in range(MANY):
            assert agent.http.get("/healthz").status_code == 200
            assert other.try_write(f"a short note, number {number}").status_code == 201
            assert agent.try_write(f"one of my own, number {number}").status_code == 201
            answered += 3
        middle = "of some length, with nothing in it. " * 60
        assert other.try_write(middle).status_code == 201
        found = other.call("POST", "/v1/recall", json=other.about(query="note", timeout_ms=5000))
        assert found.json()["memories"]
        assert answered == 3 * MANY
        assert not any(write.done() for write in writes)
        assert len(held.order) == 1  # one at a time: the others cost nothing while they wait
        held.go.set()
        assert {write.result(WAIT).status_code for write in writes} == {201}
    assert len(held.order) >= MANY


@pytest.mark.requirement("F7")
def test_a_batch_of_long_texts_is_no_queue_for_others(served: Served, held: Held) -> None:
    agent, other = served.agent, elsewhere(served)
    with ThreadPoolExecutor(2) as pool:
        items = [agent.about(content=long(f"page-{number}")) for number in range(MANY)]
        batch = pool.submit(agent.call, "POST", "/v1/memories/batch", json={"items": items})
        assert held.begun.wait(WAIT)
        lanes = served.house.gateway.gate.lanes
        theirs = sent(pool, other, "/v1/memories", content=long("theirs"))
        waiting = threading.Event()
        for _ in range(6000):
            if sum(lanes._under_way.values()) == 2:
                break
            waiting.wait(0.01)
        held.go.set()
        assert theirs.result(WAIT).status_code == 201
        results = batch.result(WAIT).json()["results"]
    assert all("outcomes" in result for result in results)
    pages = [name for name in dict.fromkeys(held.order) if name.startswith("page-")]
    assert len(pages) == MANY
    assert held.order.index("theirs") < held.order.index("page-2")


def test_a_long_text_that_holds_a_secret_is_refused_as_a_short_one_is(served: Served) -> None:
    agent = served.agent
    for content in ("my password is Tulip-99x!", long("then") + "my password is Tulip-99x!"):
        reply = agent.try_write(content)
        assert reply.status_code == 422
        assert reply.json()["reasons"] == [{"kind": "SECRET.PASSWORD", "field": "content"}]


def test_a_text_that_breaks_the_scanner_in_its_thread_is_refused(served: Served) -> None:
    with mock.patch.object(Detector, "detect", side_effect=MemoryError):
        reply = served.agent.try_write(long("letter"))
    assert reply.status_code == 422
    assert {"kind": "SCANNER_FAILED", "field": "content"} in reply.json()["reasons"]
