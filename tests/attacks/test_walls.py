"""Several walls stand between two owners, and each alone is enough.

Asked for is another owner's nearest vector. One wall after the other is taken away, and with each
gone the others still stop it; what an engine without its walls proposes is not believed.
"""

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock
from uuid import UUID

import psycopg
import pytest

from core.adapters.postgres import queries
from core.adapters.qdrant.edge import EdgeIndex
from core.ids import MemoryId, TenantId
from core.model import Owner
from core.ports import IndexHit, Reach
from gateway.vault.tenant_keys import UnwrappedTenantKeys
from tests.house import House
from tests.live.gateways import Agent

QUESTION = "what does the tall neighbour drink at night"
FOREIGN = "the tall neighbour drinks zqforeign at night"


@pytest.fixture
def pair(house: House) -> tuple[Agent, list[tuple[Agent, str]]]:
    """Somebody with a memory, and others with one that fits the question better: of another person,
    of a namespace out of reach, and of another tenant.
    """
    admin = house.tenant()
    me = house.agent(admin, "alice", namespaces=["main"])
    me.write("I keep bees")
    others = [
        house.agent(admin, "bob"),
        house.agent(admin, "alice", namespaces=["closed"]),
        house.someone("alice"),
    ]
    planted = [(other, other.stored(FOREIGN)) for other in others]
    house.indexed()
    return me, planted


def nothing_foreign(house: House, me: Agent, planted: list[tuple[Agent, str]]) -> None:
    """What is recalled, listed, read, changed and forgotten is one's own."""
    foreign = [memory for _, memory in planted]
    body = me.about(query=QUESTION, limit=50, timeout_ms=5000, explain=True)
    recalled = me.call("POST", "/v1/recall", json=body)
    assert recalled.status_code == 200, recalled.text
    searched = str(house.tool(me, "memory_search", query=QUESTION, user_id="alice"))
    listed = me.call("GET", "/v1/memories", params=me.about()).text
    for said in (recalled.text, searched, listed):
        assert "zqforeign" not in said
        assert not any(memory in said for memory in foreign)
    for memory in foreign:
        path = f"/v1/memories/{memory}"
        replies = [
            me.get(memory),
            me.call("GET", f"{path}/versions", params=me.about()),
            me.call("PATCH", path, json=me.about(content="mine")),
            me.call("DELETE", path, params=me.about()),
        ]
        assert {reply.status_code for reply in replies} == {404}
    for other, memory in planted:  # and all of it is still there
        assert other.get(memory).json()["content"] == FOREIGN


@contextlib.contextmanager
def index_without_a_filter(house: House) -> Iterator[None]:
    """Everybody's points are searched, each owner's with the question turned as theirs are."""
    asked: list[int] = []
    search = EdgeIndex.search

    async def everywhere(
        self: EdgeIndex, reach: Reach, *, limit: int, also: Any = ()
    ) -> list[IndexHit]:
        found = await search(self, reach, limit=limit, also=also)
        for other in OWNERS:  # what a filter that is not there would let through
            keys, tenant = other
            whole = Reach(
                tenant=tenant.word("tenant", str(tenant.tenant)),
                owner=tenant.word("owner", str(keys.owner.id)),
                user=tenant.word("user", str(keys.owner.id)),
                namespaces=tuple(
                    tenant.word("namespace", str(one)) for one in NAMESPACES[tenant.tenant]
                ),
                space=None,
                vector=keys.rotate(house.embedder._vector(FOREIGN).reshape(1, -1))[0],
                terms=(),
                where=reach.where,
                now=reach.now,
            )
            hits = await search(self, whole, limit=limit)
            asked.append(len(hits))
            found += [IndexHit(id=hit.id, pointer=hit.pointer, score=0.999) for hit in hits]
        return found

    with mock.patch.object(EdgeIndex, "search", everywhere):
        yield
    assert sum(asked) > 0, "nothing foreign was proposed, so nothing was stopped"


OWNERS: list[tuple[Any, Any]] = []
NAMESPACES: dict[Any, list[UUID]] = {}


@contextlib.contextmanager
def pointers_unsealed(_house: House) -> Iterator[None]:
    """Every tenant's pointers open under every tenant's key."""
    opens = UnwrappedTenantKeys.open_pointer

    def open_any(self: UnwrappedTenantKeys, pointer: str) -> tuple[MemoryId, int]:
        for _, tenant in OWNERS:
            with contextlib.suppress(Exception):
                return opens(tenant, pointer)
        return opens(self, pointer)

    with mock.patch.object(UnwrappedTenantKeys, "open_pointer", open_any):
        yield


TABLES = (
    "memories", "memory_versions", "memory_uses", "memory_vectors", "memory_tokens",
    "memory_counts", "outbox", "recalls", "pseudonyms",
)  # fmt: skip


@contextlib.contextmanager
def without_row_level_security(house: House) -> Iterator[None]:
    """The application may read and write every row, as far as the database is concerned."""
    url = house.engines.database_url("memwarden_owner")
    with psycopg.connect(url, autocommit=True) as connection:
        for table in TABLES:
            connection.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")
        try:
            yield
        finally:
            for table in TABLES:
                connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


CONDITIONS = (
    # The sentences of core.scope.Scope in the queries' own words (sql/memories.sql).
    "m.tenant = %(tenant)s",
    "m.user_id = %(user)s",
    "m.namespace = ANY (%(namespaces)s::uuid[])",
)


@contextlib.contextmanager
def queries_without_owners(_house: House) -> Iterator[None]:
    """The queries of memories name neither tenant nor person nor namespace."""
    whole = queries.query

    def open_query(name: str) -> Any:
        text: str = whole(name)
        if "memories m" in text or "memory_tokens m" in text or "memory_versions m" in text:
            for condition in CONDITIONS:
                text = text.replace(condition, "true")
        return text

    patches = [
        mock.patch(f"core.adapters.postgres.{module}.query", open_query)
        for module in ("memories", "search")
    ]
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield


WALLS = {
    "the index's filter": (index_without_a_filter,),
    "the index's filter and the pointers' seal": (index_without_a_filter, pointers_unsealed),
    "row-level security": (without_row_level_security,),
    "the queries' own conditions": (queries_without_owners,),
    "the index and row-level security": (
        index_without_a_filter, pointers_unsealed, without_row_level_security,
    ),
    "the index and the queries' conditions": (
        index_without_a_filter, pointers_unsealed, queries_without_owners,
    ),
}  # fmt: skip


async def know(house: House, planted: list[tuple[Agent, str]]) -> None:
    """Get hold of the keys of those whose points are to be proposed."""
    OWNERS.clear()
    NAMESPACES.clear()
    with house.below("memories") as connection:
        rows = connection.execute(
            "SELECT tenant, user_id, namespace FROM memories WHERE id = ANY (%s::uuid[])",
            [[memory for _, memory in planted]],
        ).fetchall()
    keyring = house.gateway.gate.keyring
    for tenant, user, namespace in rows:
        keys = await keyring.owner(Owner(tenant=tenant, id=user))
        OWNERS.append((keys, await keyring.tenant(tenant)))
        NAMESPACES.setdefault(tenant, []).append(namespace)


@pytest.mark.requirement("C6", "M1")
@pytest.mark.parametrize("gone", WALLS.values(), ids=WALLS)
def test_with_a_wall_gone_the_others_still_hold(
    house: House, pair: tuple[Agent, list[tuple[Agent, str]]], gone: tuple[Any, ...]
) -> None:
    me, planted = pair
    house.run(know(house, planted))
    nothing_foreign(house, me, planted)
    with contextlib.ExitStack() as stack:
        for wall in gone:
            stack.enter_context(wall(house))
        nothing_foreign(house, me, planted)
    assert [memory["content"] for memory in me.recall("bees")] == ["I keep bees"]


@pytest.mark.requirement("C6")
def test_with_every_wall_gone_it_would_be_seen(
    house: House, pair: tuple[Agent, list[tuple[Agent, str]]]
) -> None:
    """So that the tests above stop something: it gets as far as the last wall, the keys."""
    me, planted = pair
    house.run(know(house, planted))
    everything = (
        index_without_a_filter, pointers_unsealed, without_row_level_security,
        queries_without_owners,
    )  # fmt: skip
    with contextlib.ExitStack() as stack:
        for wall in everything:
            stack.enter_context(wall(house))
        body = me.about(query=QUESTION, limit=50, timeout_ms=5000)
        recalled = me.call("POST", "/v1/recall", json=body)
    # Another tenant's and another person's envelopes do not open under my keys; those of my own
    # other namespace are mine, and only the walls above kept them.
    shown = {memory["id"] for memory in recalled.json()["memories"]}
    closed = planted[1][1]
    assert closed in shown
    assert shown.isdisjoint({planted[0][1], planted[2][1]})
    events = {event["object"] for event in me.events() if event["outcome"] == "tampered"}
    assert {planted[0][1], planted[2][1]} <= events


@pytest.mark.requirement("C6")
def test_what_the_index_makes_up_is_lost(
    house: House, pair: tuple[Agent, list[tuple[Agent, str]]]
) -> None:
    """Phantoms, doubles, garbage: a recall answers with what the record has."""
    me, planted = pair
    house.run(know(house, planted))
    own = me.listed()[0]["id"]
    mine = house.run(house.gateway.gate.keyring.tenant(TenantId(UUID(me.tenant))))
    made_up = [
        mine.seal_pointer(MemoryId(UUID(planted[2][1])), 1),
        mine.seal_pointer(MemoryId(UUID(int=5)), 1),
        OWNERS[2][1].seal_pointer(MemoryId(UUID(own)), 1),
        "", "x", "A" * 64, "\N{SNOWMAN}", own, planted[0][1],
    ]  # fmt: skip

    async def garbage(_self: Any, _reach: Reach, *, limit: int, also: Any = ()) -> list[IndexHit]:
        hits = [IndexHit(id=UUID(int=n), pointer=p, score=9.0) for n, p in enumerate(made_up)]
        return hits * 2

    with mock.patch.object(EdgeIndex, "search", garbage):
        nothing_foreign(house, me, planted)
        assert [memory["id"] for memory in me.recall(QUESTION, timeout_ms=5000)] == [own]


@pytest.mark.requirement("C6")
def test_each_call_to_the_index_names_the_caller_and_nobody_else(
    house: House, pair: tuple[Agent, list[tuple[Agent, str]]]
) -> None:
    """A recorder in front of Qdrant Edge: every frame carries one tenant and one owner."""
    me, _ = pair
    frames: list[dict[str, Any]] = []
    asks = EdgeIndex._ask

    async def note(self: EdgeIndex, frame: Any, seconds: float) -> Any:
        frames.append(frame)
        return await asks(self, frame, seconds)

    with mock.patch.object(EdgeIndex, "_ask", note):
        memory = me.stored("I also keep hens")
        house.indexed()
        me.recall("hens", timeout_ms=5000)
        me.forget(memory)
        house.indexed()
    operations = {frame["op"] for frame in frames} - {"ping", "info"}
    assert {"upsert", "search", "remove"} <= operations
    for frame in frames:
        if frame["op"] in {"ping", "info"}:
            continue
        must = frame["filter"]["must"]
        keys = [condition["key"] for condition in must[:2]]
        assert keys == ["tenant", "owner"]
        assert all(condition["match"]["value"] for condition in must[:2])


@pytest.mark.requirement("C11")
def test_nothing_that_another_tenant_keeps_moves_a_score(house: House) -> None:
    """Hundreds of texts with the same words, elsewhere, change no score and no order here."""
    admin = house.tenant()
    me = house.agent(admin, "alice")
    for number in range(6):
        me.write(f"jasmine tea number {number} with {'honey' if number % 2 else 'lemon'}")
    house.indexed()

    def scores() -> list[tuple[str, float, dict[str, float]]]:
        body = {"limit": 10, "explain": True, "timeout_ms": 5000}
        found = [*me.recall("jasmine honey", **body), *me.recall("tea lemon number", **body)]
        return [
            (memory["id"], memory["explain"]["lexical"], memory["explain"].get("dense", 0.0))
            for memory in found
        ]

    before = scores()
    strangers = [house.someone("alice"), house.agent(admin, "bob")]
    for stranger in strangers:
        for start in range(0, 150, 50):
            items = [
                stranger.about(content=f"jasmine honey lemon tea {start + number}")
                for number in range(50)
            ]
            reply = stranger.call("POST", "/v1/memories/batch", json={"items": items})
            assert all("outcomes" in result for result in reply.json()["results"])
    house.indexed()
    assert scores() == before


@pytest.mark.requirement("C11")
def test_the_same_text_of_two_people_is_two_memories(house: House) -> None:
    admin = house.tenant()
    ids = {house.agent(admin, user).write("I drink tea")["outcomes"][0]["id"] for user in "abc"}
    ids.add(house.someone("a").write("I drink tea")["outcomes"][0]["id"])
    assert len(ids) == 4
