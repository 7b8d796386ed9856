"""A part that stands still, or is gone, keeps nobody waiting beyond what a request may take.

The processes of the real engines are stopped with SIGSTOP: their sockets take connections and
bytes, and nothing ever comes back. The house is this module's own.
"""

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from unittest import mock

import httpx
import psutil
import pytest

from core import indexer
from core import write as engine
from core.adapters.qdrant.edge import EdgeIndex
from core.errors import Unavailable
from tests.attacks.asks import NAMES, Stage, ask_of, succeeded
from tests.house import House, open_house
from tests.live.gateways import Agent, wait_until

REQUEST_SECONDS = 3.0
SLACK = 0.25
SHARED = 5.0
"""What a machine that is shared may add to any time here."""
RECALL_SECONDS = 0.3


@pytest.fixture(scope="module")
def own() -> Iterator[House]:
    with (
        mock.patch.object(indexer, "LEASE_SECONDS", 1),
        open_house(request_seconds=REQUEST_SECONDS) as house,
    ):
        yield house


@pytest.fixture
def stage(own: House) -> Stage:
    made = Stage.of(own)
    own.indexed()
    return made


def processes(house: House, what: Callable[[psutil.Process], bool]) -> list[psutil.Process]:
    # Of data, and of sockets, which lie elsewhere: paths of sockets must be short.
    folders = (str(house.folder), str(house.engines.edge_socket.parent.parent))
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            line = " ".join(child.cmdline())
            belongs = any(folder in line or folder in child.cwd() for folder in folders)
            if belongs and what(child):
                found.append(child)
    return found


def is_edge(child: psutil.Process) -> bool:
    return any("edge_child" in part for part in child.cmdline())


def is_valkey(child: psutil.Process) -> bool:
    return child.name().startswith("valkey")


def is_postgres(child: psutil.Process) -> bool:
    return child.name().startswith("postgres")


@contextlib.contextmanager
def standing_still(house: House, what: Callable[[psutil.Process], bool]) -> Iterator[None]:
    # Parents first: a stopped postmaster starts no new backend.
    stopped = processes(house, what)
    assert stopped
    for process in stopped:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in reversed(stopped):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)


def timed(send: Callable[[], httpx.Response]) -> tuple[httpx.Response, float]:
    started = time.monotonic()
    reply = send()
    return reply, time.monotonic() - started


def recall(agent: Agent) -> httpx.Response:
    body = agent.about(query="green tea", timeout_ms=int(RECALL_SECONDS * 1000))
    return agent.call("POST", "/v1/recall", json=body)


def usual_seconds(agent: Agent) -> float:
    """How long a recall takes here while nothing hangs, at worst of a few."""
    return max(timed(lambda: recall(agent))[1] for _ in range(5))


@pytest.mark.requirement("F14")
@pytest.mark.parametrize("what", [is_edge, is_valkey], ids=["index", "cache"])
def test_a_recall_waits_for_no_part_that_it_can_do_without(
    own: House, stage: Stage, what: Callable[[psutil.Process], bool]
) -> None:
    usual = usual_seconds(stage.agent)
    with standing_still(own, what):
        for _ in range(3):
            reply, seconds = timed(lambda: recall(stage.agent))
            assert reply.status_code == 200, reply.text
            assert seconds < RECALL_SECONDS + SLACK + usual + SHARED
            found = reply.json()
            assert [memory["content"] for memory in found["memories"]] == ["she drinks green tea"]
            if what is is_edge:
                assert found["degraded"]
        written, seconds = timed(lambda: stage.agent.try_write(f"written while {what.__name__}"))
        assert written.status_code == 201
        assert seconds < REQUEST_SECONDS + SLACK + SHARED
    wait_until(lambda: recall(stage.agent).json()["degraded"] == [], what="the recovery")


@pytest.mark.requirement("F14")
def test_nobody_waits_for_a_record_that_stands_still(own: House, stage: Stage) -> None:
    answers: dict[str, tuple[httpx.Response, float]] = {}

    def ask(name: str) -> None:
        answers[name] = timed(lambda: ask_of(stage, name))

    threads = [threading.Thread(target=ask, args=[name]) for name in NAMES]
    with standing_still(own, is_postgres):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert set(answers) == set(NAMES)
        for name, (reply, seconds) in answers.items():
            assert not succeeded(reply)
            assert reply.status_code in (200, 503), (name, reply.text)
            assert seconds < REQUEST_SECONDS + SLACK + SHARED, name
        ready = own.http.get("/readyz")
        assert ready.status_code == 503
        assert own.http.get("/healthz").status_code == 200
    wait_until(lambda: own.http.get("/readyz").json()["status"] == "ready", what="readiness")
    wait_until(lambda: recall(stage.agent).status_code == 200, what="the recovery")


@pytest.mark.requirement("F14")
def test_a_hanging_embedder_delays_no_answer_and_loses_no_write(
    own: House, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "EMBED_SECONDS", 0.2)
    monkeypatch.setattr(indexer, "EMBED_SECONDS", 0.5)
    usual = usual_seconds(stage.agent)
    own.embedder.hanging = True
    try:
        body = stage.agent.about(query="tea that is green", timeout_ms=300)
        reply, seconds = timed(lambda: stage.agent.call("POST", "/v1/recall", json=body))
        assert seconds < RECALL_SECONDS + SLACK + usual + SHARED
        assert reply.json()["degraded"] == ["deadline"]
        assert [memory["content"] for memory in reply.json()["memories"]] == [
            "she drinks green tea"
        ]
        written, seconds = timed(lambda: stage.agent.try_write("said while nothing embeds"))
        assert written.status_code == 201, written.text
        assert seconds < 0.2 + SLACK + usual + SHARED
        found = stage.agent.recall("said nothing embeds")
        assert found[0]["content"] == "said while nothing embeds"
    finally:
        own.embedder.hanging = False
    own.indexed(60)  # the indexer gave up on what hung, and tried again


@pytest.mark.requirement("F14")
def test_an_embedder_that_is_down_leaves_the_words(own: House, stage: Stage) -> None:
    own.embedder.down = True
    try:
        memory = stage.agent.stored("the spare key is under the pot")
        body = stage.agent.about(query="spare key")
        reply = stage.agent.call("POST", "/v1/recall", json=body).json()
        assert reply["degraded"] == ["embedder"]
        assert reply["memories"][0]["id"] == memory
    finally:
        own.embedder.down = False
    own.indexed()  # embedded afterwards
    found = stage.agent.recall("spare key", explain=True, timeout_ms=5000)[0]
    assert found["id"] == memory
    assert found["explain"]["dense"] > 0


def away(_self: EdgeIndex, _frame: object, _seconds: float) -> None:
    raise Unavailable


@pytest.mark.requirement("F14", "C6")
def test_without_the_index_a_recall_answers_says_so_and_keeps_to_its_owner(
    own: House, stage: Stage
) -> None:
    neighbour = own.agent(stage.admin, "bob", users=["bob"])
    neighbour.write("bob drinks green tea too")
    stranger = own.someone()
    stranger.write("a stranger drinks green tea")
    with mock.patch.object(EdgeIndex, "_ask", away):
        reply = recall(stage.agent).json()
        assert reply["degraded"] == ["index"]
        assert [memory["content"] for memory in reply["memories"]] == ["she drinks green tea"]
        written = stage.agent.stored("kept without an index")
        assert stage.agent.recall("kept without an index")[0]["id"] == written
        assert stage.agent.forget(written).status_code == 200
        assert all(m["id"] != written for m in stage.agent.recall("kept without an index"))
        wait_until(lambda: own.http.get("/readyz").json()["status"] == "degraded", what="it")
    own.indexed()
    wait_until(lambda: recall(stage.agent).json()["degraded"] == [], what="the recovery")


@pytest.mark.requirement("F14", "M5")
def test_an_index_process_that_is_killed_comes_back_with_what_it_had(
    own: House, stage: Stage
) -> None:
    before = stage.agent.recall("green tea", timeout_ms=5000, explain=True)
    (edge,) = processes(own, is_edge)
    edge.kill()
    reply, seconds = timed(lambda: recall(stage.agent))
    assert reply.status_code == 200
    assert seconds < RECALL_SECONDS + SLACK + SHARED
    assert [memory["id"] for memory in reply.json()["memories"]] == [m["id"] for m in before]
    wait_until(lambda: recall(stage.agent).json()["degraded"] == [], what="the new process")
    again = stage.agent.recall("green tea", timeout_ms=5000, explain=True)
    assert [dense(memory) for memory in again] == [dense(memory) for memory in before]


def dense(memory: dict[str, Any]) -> tuple[str, float]:
    return memory["id"], memory["explain"]["dense"]


@pytest.mark.requirement("F14")
def test_a_slow_body_is_not_waited_for(own: House, stage: Stage) -> None:
    """The request's own deadline counts while its body arrives."""

    async def drips() -> AsyncIterator[bytes]:
        yield b'{"content": "'
        await asyncio.sleep(3600)

    async def send() -> httpx.Response:
        headers = {"X-API-Key": stage.agent.key, "Content-Type": "application/json"}
        return await own.client.post("/v1/memories", content=drips(), headers=headers)

    reply, seconds = timed(lambda: own.run(send()))
    assert reply.status_code in (422, 503)
    assert seconds < REQUEST_SECONDS + SLACK + SHARED
