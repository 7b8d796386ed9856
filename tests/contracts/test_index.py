"""What every index keeps to: the fake, Qdrant Edge in its process, and Qdrant's REST interface.

Edge always runs for real. The REST transport runs against a double of the server, and against a
real one where QDRANT_URL names it.
"""

import os
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest

from core.adapters.inmemory.index import InMemoryIndex
from core.adapters.qdrant.edge import EdgeIndex
from core.adapters.qdrant.server import ServerIndex
from core.adapters.qdrant.strangers import admits_strangers
from core.errors import Invalid, Unavailable
from core.model import Filter, Kind, Layer
from core.ports import Index, IndexHit
from tests.core.adapters.qdrant.edge_process import EdgeProcess
from tests.core.adapters.qdrant.points import NOW, Person, direction, towards, word
from tests.core.adapters.qdrant.rest_double import RestDouble
from tests.qdrant_double import listening

# The driver warns of a key over plain HTTP; production refuses that, and loopback is not a network.
pytestmark = pytest.mark.filterwarnings("ignore:Api key is used")
KEY = "a key of the double"
QDRANT_URL = os.environ.get("QDRANT_URL")  # noqa: TID251 - the test run's own switch


@pytest.fixture(scope="module")
def edge() -> Iterator[EdgeProcess]:
    with EdgeProcess() as process:
        yield process


@pytest.fixture(scope="module")
def loopback() -> Iterator[str]:
    with listening(KEY) as url:
        yield url


KINDS = ["memory", "edge", "double", "loopback", *(["server"] if QDRANT_URL else [])]


@pytest.fixture(params=KINDS)
async def index(
    request: pytest.FixtureRequest, edge: EdgeProcess, loopback: str
) -> AsyncIterator[Index]:
    made: InMemoryIndex | EdgeIndex | ServerIndex
    if request.param == "memory":
        yield InMemoryIndex()
        return
    if request.param == "edge":
        made = EdgeIndex(edge.socket)
    elif request.param == "double":
        transport = RestDouble().transport
        made = ServerIndex("http://qdrant.test:6333", api_key=None, model="m", transport=transport)
        await made.prepare()
    elif request.param == "loopback":
        made = ServerIndex(loopback, api_key=KEY, model="contract")
        await made.prepare()
    else:
        made = ServerIndex(str(QDRANT_URL), api_key=None, model="contract")
        await made.prepare()
    yield made
    await made.aclose()


def ids(hits: list[IndexHit]) -> list[UUID]:
    return [hit.id for hit in hits]


async def test_the_nearest_come_first_with_their_cosines_and_pointers(index):
    alice = Person()
    points = [alice.point(towards(1, cosine)) for cosine in (0.2, 0.9, 0.5)]
    await index.upsert(alice.tenant, points)
    hits = await index.search(alice.reach(), limit=2)
    assert ids(hits) == [points[1].id, points[2].id]
    assert [hit.score for hit in hits] == pytest.approx([0.9, 0.5], abs=1e-4)
    assert hits[0].pointer == points[1].payload["pointer"]


async def test_those_asked_for_besides_are_scored_however_far(index):
    alice = Person()
    near = [alice.point(towards(1, 0.9 - i / 100)) for i in range(5)]
    far = [alice.point(towards(1, -0.5)), alice.point(towards(1, -0.7))]
    await index.upsert(alice.tenant, [*near, *far])
    hits = await index.search(alice.reach(), limit=2, also=[far[0].id, near[0].id])
    assert ids(hits) == [near[0].id, near[1].id, far[0].id]
    assert hits[2].score == pytest.approx(-0.5, abs=1e-4)


@pytest.mark.requirement("C6")
async def test_a_point_of_another_is_never_proposed_whatever_is_asked_besides(index):
    alice = Person()
    foreign = [
        Person().point(),
        Person(alice.tenant).point(),
        alice.point(namespace=word()),
        alice.point(user=word()),
        alice.point(space=word()),
    ]
    for point in foreign:
        await index.upsert(point.payload["tenant"], [point])
    own = alice.point(towards(1, 0.1))
    await index.upsert(alice.tenant, [own])
    everything = [point.id for point in foreign]
    assert ids(await index.search(alice.reach(), limit=10, also=everything)) == [own.id]


async def test_no_namespaces_is_nothing_and_not_everything(index):
    alice = Person()
    point = alice.point()
    await index.upsert(alice.tenant, [point])
    assert await index.search(alice.reach(namespaces=()), limit=10, also=[point.id]) == []


async def test_a_space_shows_its_own_and_nothing_else(index):
    alice, space, other = Person(), word(), word()
    points = {name: alice.point(space=name) for name in (space, other, None)}
    of_bob = alice.point(space=space, user=word())
    await index.upsert(alice.tenant, [*points.values(), of_bob])
    same_user = await index.search(alice.reach(space=space, namespaces=()), limit=10)
    assert ids(same_user) == [points[space].id]
    members = await index.search(alice.reach(space=space, namespaces=(), user=None), limit=10)
    assert set(ids(members)) == {points[space].id, of_bob.id}


async def test_a_search_for_everybody_outside_a_space_is_refused(index):
    with pytest.raises(Invalid):
        await index.search(Person().reach(user=None), limit=1)


@pytest.mark.parametrize("blank", ["tenant", "owner"])
async def test_a_call_without_tenant_or_owner_cannot_be_made(index, blank):
    nobody = Person()
    setattr(nobody, blank, "")
    with pytest.raises(Invalid):
        await index.search(nobody.reach(), limit=1)
    with pytest.raises(Invalid):
        await index.count(nobody.tenant, nobody.owner)
    with pytest.raises(Invalid):
        await index.remove(nobody.tenant, nobody.owner, [nobody.point().id])
    with pytest.raises(Invalid):
        await index.upsert(nobody.tenant, [nobody.point()])


async def test_what_has_expired_is_not_proposed(index):
    alice = Person()
    gone, later = alice.point(expires=NOW), alice.point(expires=NOW + 0.5)
    never = alice.point(expires=0)
    await index.upsert(alice.tenant, [gone, later, never])
    seen = await index.search(alice.reach(), limit=10, also=[gone.id])
    assert set(ids(seen)) == {later.id, never.id}
    afterwards = await index.search(alice.reach(now=NOW + 1), limit=10)
    assert ids(afterwards) == [never.id]


async def test_tags_are_any_or_all(index):
    alice = Person()
    red, blue = bytes.fromhex(word()), bytes.fromhex(word())
    both = alice.point(tags=[red.hex(), blue.hex()])
    one = alice.point(tags=[red.hex()])
    await index.upsert(alice.tenant, [both, one, alice.point()])
    some = alice.reach(where=Filter(tags=(red, blue)))
    assert set(ids(await index.search(some, limit=10))) == {both.id, one.id}
    every = alice.reach(where=Filter(tags=(red, blue), tags_all=True))
    assert ids(await index.search(every, limit=10)) == [both.id]


async def test_layer_kind_session_and_confidence_are_conditions(index):
    alice, session = Person(), bytes.fromhex(word())
    wanted = alice.point(
        layer="episodic", kind="event", session=session.hex(), confidence=0.5, expires=0
    )
    others = [
        alice.point(kind="event", session=session.hex()),
        alice.point(layer="episodic", session=session.hex()),
        alice.point(layer="episodic", kind="event"),
        alice.point(layer="episodic", kind="event", session=session.hex(), confidence=0.4),
    ]
    await index.upsert(alice.tenant, [wanted, *others])
    where = Filter(
        layers=frozenset({Layer.EPISODIC, Layer.PROCEDURAL}),
        kinds=frozenset({Kind.EVENT, Kind.RELATION}),
        session=session,
        min_confidence=0.5,
    )
    assert ids(await index.search(alice.reach(where=where), limit=10)) == [wanted.id]


async def test_a_range_of_time_takes_its_start_and_not_its_end(index):
    alice = Person()
    times = [NOW - 1e-6, NOW, NOW + 60 - 1e-6, NOW + 60]
    points = [alice.point(created=time) for time in times]
    await index.upsert(alice.tenant, points)
    where = Filter(
        created_after=datetime.fromtimestamp(NOW, UTC),
        created_before=datetime.fromtimestamp(NOW + 60, UTC),
    )
    seen = await index.search(alice.reach(where=where), limit=10)
    assert set(ids(seen)) == {points[1].id, points[2].id}


async def test_a_range_of_time_is_part_of_the_search_and_not_of_its_result(index):
    alice = Person()
    nearer = [alice.point(towards(1, 0.95 - i / 1000), created=NOW - 9) for i in range(300)]
    inside = [alice.point(towards(1, -0.3)), alice.point(towards(1, -0.4))]
    inside = [alice.point(point.vector, created=NOW) for point in inside]
    await index.upsert(alice.tenant, [*nearer, *inside])
    where = Filter(created_after=datetime.fromtimestamp(NOW, UTC))
    seen = await index.search(alice.reach(where=where), limit=5)
    assert ids(seen) == [inside[0].id, inside[1].id]


async def test_the_same_id_is_replaced(index):
    alice = Person()
    old = alice.point(towards(1, 0.9), pointer="old")
    new = alice.point(towards(1, 0.3), id_=old.id, pointer="new", tags=["aa"])
    await index.upsert(alice.tenant, [old])
    await index.upsert(alice.tenant, [new])
    (hit,) = await index.search(alice.reach(), limit=10)
    assert (hit.pointer, hit.score) == ("new", pytest.approx(0.3, abs=1e-4))
    assert await index.count(alice.tenant, alice.owner) == 1


@pytest.mark.requirement("C7")
async def test_an_id_of_another_owner_is_never_replaced_or_removed(index):
    alice = Person()
    point = alice.point(towards(1, 0.9), pointer="hers")
    await index.upsert(alice.tenant, [point])
    for mallory in (Person(alice.tenant), Person()):
        await index.upsert(mallory.tenant, [mallory.point(id_=point.id, pointer="mine")])
        await index.remove(mallory.tenant, mallory.owner, [point.id])
    (hit,) = await index.search(alice.reach(), limit=10, also=[point.id])
    assert (hit.id, hit.pointer) == (point.id, "hers")


async def test_removal_takes_the_ids_named_and_no_more(index):
    alice, bob = Person(), Person()
    bob.tenant = alice.tenant
    hers, his = [alice.point() for _ in range(3)], bob.point()
    await index.upsert(alice.tenant, [*hers, his])
    await index.remove(alice.tenant, alice.owner, [hers[0].id, his.id])
    await index.remove(alice.tenant, alice.owner, [])
    assert await index.count(alice.tenant, alice.owner) == 2
    assert await index.count(bob.tenant, bob.owner) == 1
    await index.remove(alice.tenant, alice.owner, [point.id for point in hers])
    assert await index.count(alice.tenant, alice.owner) == 0


@pytest.mark.requirement("C11")
async def test_another_tenants_corpus_changes_no_score_and_no_order(index):
    alice, bob = Person(), Person()
    await index.upsert(alice.tenant, [alice.point(direction(100 + i)) for i in range(50)])
    before = await index.search(alice.reach(), limit=20)
    for start in range(0, 1500, 500):
        much = [bob.point(direction(1000 + start + i)) for i in range(500)]
        await index.upsert(bob.tenant, much)
    assert await index.search(alice.reach(), limit=20) == before


async def test_a_payload_with_a_field_of_its_own_is_refused(index):
    alice = Person()
    with pytest.raises(Invalid):
        await index.upsert(alice.tenant, [alice.point(content="a secret")])


async def test_a_point_of_another_tenant_than_the_writers_is_refused(index):
    alice = Person()
    with pytest.raises(Invalid):
        await index.upsert(word(), [alice.point()])
    assert await index.count(alice.tenant, alice.owner) == 0


@pytest.mark.parametrize("limit", [0, -1, 100_000])
async def test_a_search_is_bounded(index, limit):
    with pytest.raises(Invalid):
        await index.search(Person().reach(), limit=limit)


@pytest.mark.parametrize(
    "vector", [np.zeros(3, np.float32), np.full(384, np.nan, np.float32)], ids=["short", "nan"]
)
async def test_a_vector_of_another_shape_is_refused(index, vector):
    alice = Person()
    with pytest.raises(Invalid):
        await index.upsert(alice.tenant, [alice.point(vector)])
    with pytest.raises(Invalid):
        await index.search(alice.reach(vector), limit=1)


async def test_it_answers_and_knows_that_it_holds_points(index):
    alice = Person()
    assert await index.ready()
    await index.upsert(alice.tenant, [alice.point()])
    assert not await index.empty()


async def test_a_new_index_is_empty():
    assert await InMemoryIndex().empty()
    with EdgeProcess() as process:
        edge = EdgeIndex(process.socket)
        assert await edge.empty()
        await edge.aclose()


@pytest.mark.parametrize("key", [None, "another key"])
async def test_a_server_that_refuses_the_key_is_unavailable(loopback, key):
    stranger = ServerIndex(loopback, api_key=key, model="contract")
    assert not await stranger.ready()
    with pytest.raises(Unavailable):
        await stranger.prepare()
    with pytest.raises(Unavailable):
        await stranger.search(Person().reach(), limit=1)
    await stranger.aclose()
    assert not await admits_strangers(loopback)


async def test_a_server_without_a_key_is_known_to_admit_strangers():
    with listening("") as url:
        assert await admits_strangers(url)
