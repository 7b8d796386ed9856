"""Edge finds exactly what an exact search over the same filters finds, whatever is asked."""

import random
from datetime import UTC, datetime

import pytest

from core.adapters.inmemory.index import InMemoryIndex
from core.adapters.qdrant.edge import EdgeIndex
from core.model import Filter, Kind, Layer
from core.ports import Point, Reach
from tests.core.adapters.qdrant.edge_process import EdgeProcess
from tests.core.adapters.qdrant.points import NOW, Person, direction, word

SEED = 20
POINTS = 400
SEARCHES = 80


class World:
    """A few people of two tenants with few namespaces, spaces, tags and sessions between them."""

    def __init__(self, seeded: random.Random) -> None:
        self._random = seeded
        tenants = [word(), word()]
        self._people = [Person(seeded.choice(tenants)) for _ in range(4)]
        self._namespaces = [word() for _ in range(3)]
        self._spaces = [None, None, word(), word()]
        self._tags = [bytes.fromhex(word()) for _ in range(4)]
        self._sessions = [None, bytes.fromhex(word()), bytes.fromhex(word())]

    def point(self) -> Point:
        pick = self._random
        session = pick.choice(self._sessions)
        return pick.choice(self._people).point(
            direction(pick.randrange(10_000)),
            namespace=pick.choice(self._namespaces),
            space=pick.choice(self._spaces),
            session=None if session is None else session.hex(),
            tags=[tag.hex() for tag in pick.sample(self._tags, pick.randrange(4))],
            layer=pick.choice(list(Layer)).value,
            kind=pick.choice(list(Kind)[:3]).value,
            created=NOW + pick.randrange(-5, 5),
            expires=pick.choice([0, 0, NOW - 1, NOW, NOW + 1]),
            confidence=pick.choice([0.2, 0.5, 0.9]),
        )

    def reach(self) -> Reach:
        pick = self._random
        space = pick.choice(self._spaces)
        return pick.choice(self._people).reach(
            direction(pick.randrange(10_000)),
            namespaces=pick.sample(self._namespaces, pick.randrange(4)),
            space=space,
            user=None if space is not None and pick.random() < 0.5 else "",
            where=self._where(),
        )

    def _where(self) -> Filter:
        pick = self._random
        return Filter(
            layers=frozenset(pick.sample(list(Layer), pick.choice([0, 0, 2]))),
            kinds=frozenset(pick.sample(list(Kind)[:3], pick.choice([0, 0, 2]))),
            tags=tuple(pick.sample(self._tags, pick.choice([0, 0, 1, 2]))),
            tags_all=pick.random() < 0.5,
            session=pick.choice(self._sessions),
            created_after=pick.choice([None, datetime.fromtimestamp(NOW - 3, UTC)]),
            created_before=pick.choice([None, datetime.fromtimestamp(NOW + 3, UTC)]),
            min_confidence=pick.choice([0.0, 0.0, 0.5]),
        )


async def test_edge_and_an_exact_search_agree():
    seeded = random.Random(SEED)
    world = World(seeded)
    points = [world.point() for _ in range(POINTS)]
    exact, found = InMemoryIndex(), 0
    with EdgeProcess() as process:
        edge = EdgeIndex(process.socket)
        for point in points:
            await exact.upsert(point.payload["tenant"], [point])
            await edge.upsert(point.payload["tenant"], [point])
        for _ in range(SEARCHES):
            reach = world.reach()
            also = [point.id for point in seeded.sample(points, 30)]
            wanted = await exact.search(reach, limit=5, also=also)
            hits = await edge.search(reach, limit=5, also=also)
            assert [(hit.id, hit.pointer) for hit in hits] == [(w.id, w.pointer) for w in wanted]
            scores = [hit.score for hit in wanted]
            assert [hit.score for hit in hits] == pytest.approx(scores, abs=1e-5)
            found += len(hits)
        await edge.aclose()
    assert found > SEARCHES, "the searches found too little to mean anything"
