"""The index's own process: what it survives, what it throws away, and who may talk to it."""

import asyncio
import json
import shutil
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core.adapters.qdrant import wire
from core.adapters.qdrant.edge import EdgeIndex
from core.adapters.qdrant.filters import owned
from core.errors import Unavailable
from tests.core.adapters.qdrant.edge_process import EdgeProcess, folder_in_memory
from tests.core.adapters.qdrant.points import Person, towards

LOCKED = 75


@pytest.fixture
def edge() -> Iterator[EdgeProcess]:
    with EdgeProcess() as process:
        yield process


@asynccontextmanager
async def opened(edge: EdgeProcess) -> AsyncIterator[EdgeIndex]:
    index = EdgeIndex(edge.socket)
    try:
        yield index
    finally:
        await index.aclose()


async def ask(edge: EdgeProcess, frame: wire.Frame) -> wire.Frame | None:
    reader, writer = await asyncio.open_unix_connection(edge.socket)
    writer.write(wire.pack_frame(frame))
    reply = await wire.read_frame(reader)
    writer.close()
    await writer.wait_closed()
    return reply


@pytest.mark.parametrize("how", ["kill", "stop"])
async def test_what_was_acknowledged_is_there_after_the_process_ends(edge, how):
    alice = Person()
    points = [alice.point(towards(1, 0.9 - i / 100)) for i in range(40)]
    async with opened(edge) as index:
        for start in range(0, 40, 8):
            await index.upsert(alice.tenant, points[start : start + 8])
        await index.remove(alice.tenant, alice.owner, [points[0].id])
        before = await index.search(alice.reach(), limit=50)
        getattr(edge, how)()
        edge.start()
        assert await index.search(alice.reach(), limit=50) == before
        assert len(before) == 39
        assert not await index.empty()


async def test_a_call_waits_for_a_process_that_is_being_started_again(edge):
    alice = Person()
    async with opened(edge) as index:
        await index.upsert(alice.tenant, [alice.point()])
        edge.kill()
        waiting = asyncio.create_task(index.count(alice.tenant, alice.owner))
        await asyncio.sleep(0)
        await asyncio.to_thread(edge.start)
        assert await waiting == 1


async def test_while_the_process_stays_away_calls_fail_at_once(edge):
    index = EdgeIndex(edge.socket, timeout_seconds=0.3)
    assert await index.ready()
    edge.kill()
    with pytest.raises(Unavailable):
        await index.count("t", "o")
    index._away_since = asyncio.get_running_loop().time() - 60
    async with asyncio.timeout(0.1):
        assert not await index.ready()
    await index.aclose()


async def test_a_folder_removed_while_it_was_stopped_is_an_empty_index(edge):
    alice = Person()
    async with opened(edge) as index:
        await index.upsert(alice.tenant, [alice.point()])
        edge.stop()
        shutil.rmtree(edge.data)
        edge.start()
        assert await ask(edge, {"op": "info"}) == {"ok": {"empty": True, "made_anew": "new"}}
        assert await index.empty()


async def test_a_second_process_leaves_the_folder_alone(edge):
    alice = Person()
    async with opened(edge) as index:
        await index.upsert(alice.tenant, [alice.point()])
        second = edge.spawn()
        await asyncio.to_thread(second.communicate)
        assert second.returncode == LOCKED
        assert await index.count(alice.tenant, alice.owner) == 1


def test_folder_and_socket_belong_to_their_owner_alone(edge):
    assert stat.S_IMODE(edge.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(edge.data.stat().st_mode) == 0o700
    within = [path.stat().st_mode for path in edge.data.rglob("*")]
    assert [oct(mode) for mode in within if stat.S_IMODE(mode) & 0o077] == []


def test_it_ends_in_order_and_leaves_no_socket(edge):
    assert edge.stop() == 0
    assert not edge.socket.exists()


PERSON = Person()
OWNED = owned(PERSON.tenant, PERSON.owner).to_rest()
VECTOR = wire.pack_vector(PERSON.point().vector)
SEARCH = {"op": "search", "filter": OWNED, "vector": VECTOR, "limit": 1, "also": []}
POINT = {
    "id": str(PERSON.point().id),
    "vector": VECTOR,
    "terms": [],
    "payload": {"tenant": PERSON.tenant, "owner": PERSON.owner, "pointer": "p"},
}


@pytest.mark.requirement("C6")
@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"op": "drop"},
        {"op": ["search"]},
        {"op": "count"},
        {"op": "count", "filter": {"must": OWNED["must"][:1]}},
        {"op": "count", "filter": {"must": OWNED["must"][1:]}},
        {"op": "remove", "filter": {"must": [{"has_id": []}]}},
        {**SEARCH, "filter": {}},
        {**SEARCH, "filter": {"should": OWNED["must"]}},
        {**SEARCH, "limit": 0},
        {**SEARCH, "limit": True},
        {**SEARCH, "limit": 10**9},
        {**SEARCH, "vector": "AAAA"},
        {**SEARCH, "vector": 7},
        {**SEARCH, "vector": "*"},
        {**SEARCH, "also": ["x"]},
        {"op": "upsert", "filter": OWNED, "points": [{}]},
        {"op": "upsert", "filter": OWNED, "points": [POINT] * 129},
        {"op": "upsert", "filter": OWNED, "points": [{**POINT, "payload": {}}]},
        {
            "op": "upsert",
            "filter": OWNED,
            "points": [{**POINT, "payload": {"tenant": PERSON.tenant, "owner": "another"}}],
        },
        {"op": "upsert", "filter": OWNED, "points": [{**POINT, "terms": [[1, 1], [1.0, 1.0]]}]},
        {"op": "upsert", "filter": OWNED, "points": [{**POINT, "terms": [[-1], [1.0]]}]},
        {"op": "upsert", "filter": OWNED, "points": [{**POINT, "terms": [[1], ["x"]]}]},
    ],
    ids=lambda frame: json.dumps(frame)[:60],
)
async def test_a_request_that_is_not_as_agreed_is_refused_and_does_nothing(running, frame):
    assert await ask(running, frame) == {"fault": "malformed"}
    assert await ask(running, {"op": "count", "filter": OWNED}) == {"ok": 0}


@pytest.fixture(scope="module")
def running() -> Iterator[EdgeProcess]:
    with EdgeProcess() as process:
        yield process


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff\xff\xff\xff",
        b"\x00\x00",
        b"\x00\x00\x00\x02[]",
        b"\x00\x00\x00\x04null",
        b"\x00\x00\x00\x03{,}",
        b"\x00\x00\x00\x02\xff\xfe",
        b"\x00\x00\x30\x00" + b"[" * 0x3000,
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
async def test_garbage_ends_its_connection_and_nothing_else(running, raw):
    reader, writer = await asyncio.open_unix_connection(running.socket)
    writer.write(raw)
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    assert await ask(running, {"op": "ping"}) == {"ok": True}


async def test_it_says_nothing_of_what_it_was_asked(edge):
    alice = Person()
    async with opened(edge) as index:
        await index.upsert(alice.tenant, [alice.point()])
        await ask(edge, {"op": "count", "filter": {"secret": alice.owner}})
    edge.stop()
    for name in (alice.tenant, alice.owner, alice.user, "Traceback"):
        assert name.encode() not in edge.said


async def test_deleted_points_are_dropped_from_the_files(edge):
    alice = Person()
    async with opened(edge) as index:
        many = [alice.point(towards(i, 0.5)) for i in range(1200)]
        await index.upsert(alice.tenant, many)
        await index.remove(alice.tenant, alice.owner, [point.id for point in many[:1000]])
        assert await ask(edge, {"op": "flush"}) == {"ok": None}
        assert await ask(edge, {"op": "compact"}) == {"ok": True}
        assert await ask(edge, {"op": "compact"}) == {"ok": False}
        assert await index.count(alice.tenant, alice.owner) == 200
        assert len(await index.search(alice.reach(), limit=300)) == 200


@pytest.fixture
def short_folder() -> Iterator[Path]:
    path = folder_in_memory()
    yield path
    shutil.rmtree(path)


class Impostor:
    """Serves `reply` to every request; with None it never answers."""

    def __init__(self, path: Path, reply: bytes | None) -> None:
        self.path, self._reply = path, reply
        self._serving: list[Any] = []

    async def __aenter__(self) -> EdgeIndex:
        self._server = await asyncio.start_unix_server(self._serve, self.path)
        self.index = EdgeIndex(self.path, timeout_seconds=0.1)
        return self.index

    async def __aexit__(self, *_: object) -> None:
        await self.index.aclose()
        self._server.close()
        await asyncio.gather(*self._serving)

    async def _serve(self, reader, writer) -> None:
        self._serving.append(asyncio.current_task())
        while await wire.read_frame(reader):
            if self._reply is not None:
                writer.write(self._reply)
        writer.close()
        await writer.wait_closed()


SOME_ID = "00000000-0000-4000-8000-000000000000"
NO_ANSWERS: list[wire.Frame] = [
    {},
    {"fault": "failed"},
    {"ok": None},
    {"ok": "x"},
    {"ok": [[]]},
    {"ok": [["not-a-uuid", "p", 0.5]]},
    {"ok": [[SOME_ID, 1, 0.5]]},
    {"ok": [[SOME_ID, "p", "high"]]},
    {"ok": [[SOME_ID, "p", True]]},
    {"ok": [[SOME_ID, "p"]]},
]


@pytest.mark.parametrize(
    "reply",
    [
        None,
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x01x",
        *(wire.pack_frame(frame) for frame in NO_ANSWERS),
    ],
)
async def test_an_answer_that_is_not_as_agreed_is_no_answer(short_folder, reply):
    async with Impostor(short_folder / "s", reply) as index:
        with pytest.raises(Unavailable):
            await index.search(PERSON.reach(), limit=1)


async def test_a_late_answer_never_answers_the_next_question(edge):
    alice, bob = Person(), Person()
    async with opened(edge) as index:
        await index.upsert(alice.tenant, [alice.point()])
        for _ in range(20):
            cut_short = asyncio.create_task(index.count(alice.tenant, alice.owner))
            for _ in range(3):
                await asyncio.sleep(0)
            cut_short.cancel()
            assert await index.count(bob.tenant, bob.owner) == 0


async def test_many_callers_share_the_process(edge):
    people = [Person() for _ in range(30)]
    async with opened(edge) as index:
        points = {person: person.point() for person in people}
        await asyncio.gather(*(index.upsert(p.tenant, [points[p]]) for p in people))
        found = await asyncio.gather(*(index.search(p.reach(), limit=5) for p in people))
        assert [[hit.id for hit in hits] for hits in found] == [[points[p].id] for p in people]
