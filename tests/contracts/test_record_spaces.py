"""How every record keeps what is shared: whose it is, what finds it, who is counted for it."""

from typing import Any

import pytest

from core.errors import NotFound
from core.ids import SpaceId, new_uuid
from core.model import Filter, Kept, Lookups
from core.ports import Audience, SpaceRow
from core.scope import Action, Scope, Spaces
from tests.record_values import Person, administrator, blind, event_of, kept, term_of

ALL = Filter()
AUTHOR = blind("author")


class Team:
    """Two people of a tenant, a space whose members they are, and another one."""

    def __init__(self, world: Any, alice: Person, bob: Person, spaces: list[SpaceId]) -> None:
        self.world, self.alice, self.bob = world, alice, bob
        self.space, self.other = spaces
        self.reach = Spaces(members=frozenset(spaces))

    def scope(self, person: Person, action: Action = Action.MEMORY_UPDATE) -> Scope:
        return person.scope(action, readable=self.reach, writable=self.reach)

    async def keep(self, person: Person, text: str, space: SpaceId | None, **others: Any) -> Kept:
        memory = kept(text, namespace=person.namespace, space=space, author=AUTHOR, **others)
        async with self.world.record.view(self.scope(person)) as view:
            inserted = await view.insert(memory)
            assert inserted.existing is None
            await view.record(event_of(self.scope(person), view.now))
        return memory

    async def lexical(self, person: Person, word: str, space: SpaceId | None) -> dict[Any, float]:
        async with self.world.record.view(self.scope(person, Action.MEMORY_RECALL)) as view:
            found = await view.lexical([term_of(word)], ALL, 50, space=space)
        return {one.id: one.score for one in found}

    async def counted(self) -> tuple[dict[Any, tuple[int, int]], list[int]]:
        """Texts and words by person and space, and memories by author."""
        named = {"tenant": self.alice.tenant}
        async with self.world.record.view(self.scope(self.bob)) as view:
            words = await view._transaction.rows(
                "SELECT user_id, space, sum(memories)::int, sum(words)::int FROM memory_counts"
                " WHERE tenant = %(tenant)s GROUP BY user_id, space",
                named,
            )
            authors = await view._transaction.rows(
                "SELECT memories::int FROM memory_authors WHERE tenant = %(tenant)s", named
            )
        return {(user, space): (texts, n) for user, space, texts, n in words}, [
            number for (number,) in authors
        ]


@pytest.fixture
async def team(world):
    tenant = await world.tenant()
    alice, bob = [await world.person(tenant, name=name) for name in ("alice", "bob")]
    spaces = [SpaceId(new_uuid()) for _ in range(2)]
    async with world.directory.admin(administrator(tenant, Action.SPACE_CREATE)) as view:
        for space in spaces:
            await view.insert_space(
                SpaceRow(
                    id=space,
                    key=space.bytes,
                    name=b"sealed",
                    audience=Audience.MEMBERS,
                    created_at=view.now,
                )
            )
    return Team(world, alice, bob, spaces)


@pytest.mark.requirement("C11")
async def test_words_of_a_space_are_weighed_by_its_own_texts_alone(team):
    tea = await team.keep(team.alice, "green tea", team.space)
    both = await team.keep(team.bob, "green grass", team.space)
    before = await team.lexical(team.alice, "green", team.space)
    assert before.keys() == {tea.id, both.id}
    for number in range(20):
        await team.keep(team.alice, f"green thing {number}", None)
        await team.keep(team.bob, f"green thing {number}", team.other)
    assert await team.lexical(team.alice, "green", team.space) == before
    own = await team.lexical(team.alice, "green", None)
    assert len(own) == 20
    assert not own.keys() & before.keys()


async def test_a_text_is_kept_once_a_place_and_a_person(team):
    memories = [
        await team.keep(person, "the same words", space)
        for person in (team.alice, team.bob)
        for space in (None, team.space, team.other)
    ]
    assert len({memory.id for memory in memories}) == 6
    again = kept("the same words", namespace=team.bob.namespace, space=team.space)
    async with team.world.record.view(team.scope(team.bob)) as view:
        inserted = await view.insert(again)
    assert inserted.existing is not None
    assert (inserted.existing.user, inserted.existing.space) == (team.bob.user, team.space)


async def test_what_another_revises_and_forgets_is_counted_where_it_is(team):
    memory = await team.keep(team.alice, "the launch is friday", team.space)
    newer = kept(
        "the launch is on monday",
        namespace=memory.namespace,
        space=team.space,
        memory=memory.id,
        version=2,
    )
    async with team.world.record.view(team.scope(team.bob)) as view:
        row = await view.revise(newer, expected_version=1)
    assert (row.user, row.space, row.version) == (team.alice.user, team.space, 2)
    assert await team.lexical(team.bob, "monday", team.space) == {memory.id: pytest.approx(1)}
    assert await team.lexical(team.bob, "friday", team.space) == {}
    counts, authors = await team.counted()
    place = (team.alice.user, team.space)
    assert (counts[place], authors) == ((1, newer.token_count), [1])
    async with team.world.record.view(team.scope(team.bob)) as view:
        assert await view.forget([memory.id]) == [memory.id]
    counts, authors = await team.counted()
    assert (counts[place], authors) == ((0, 0), [0])
    async with team.world.record.view(team.scope(team.alice)) as view:
        with pytest.raises(NotFound):
            await view.get(memory.id)


async def test_a_text_that_had_expired_leaves_its_author_too(team):
    first = await team.keep(team.alice, "gone soon", team.space)
    async with team.world.record.view(team.scope(team.alice)) as view:
        await view._transaction.rows(
            "UPDATE memories SET expires_at = now() - interval '1 second'"
            " WHERE tenant = %(tenant)s AND id = %(id)s",
            {"tenant": team.alice.tenant, "id": first.id},
        )
    await team.keep(team.alice, "gone soon", team.space)
    _, authors = await team.counted()
    assert authors == [1]


async def test_what_waits_for_the_index_in_a_space_is_recent_whoever_it_is_about(team):
    waiting = await team.keep(team.alice, "not indexed yet", team.space)
    for number in range(5):
        await team.keep(team.bob, f"later {number}", team.space)
    async with team.world.record.view(team.scope(team.bob, Action.MEMORY_RECALL)) as view:
        assert waiting.id in {one.id for one in await view.recent(ALL, 2)}


async def test_a_page_is_of_everything_or_of_what_is_shared(team):
    own = [await team.keep(team.bob, f"own {number}", None) for number in range(3)]
    shared = [
        await team.keep(person, f"shared {number}", space)
        for number in range(2)
        for person in (team.alice, team.bob)
        for space in (team.space, team.other)
    ]
    await team.keep(team.alice, "her own", None)
    scope = team.scope(team.bob, Action.MEMORY_LIST)
    async with team.world.record.view(scope) as view:
        first = await view.page(ALL, None, 6)
        last = first.rows[-1]
        second = await view.page(ALL, (last.created_at, last.id), 6)
        alone = await view.page(ALL, None, 50, shared=True)
    walked = [row.id for row in (*first.rows, *second.rows)]
    assert walked == [memory.id for memory in (*own, *shared)][::-1]
    assert (first.more, second.more) == (True, False)
    assert [row.id for row in alone.rows] == [memory.id for memory in shared][::-1]


async def test_look_ups_of_several_owners_find_what_each_has_all_of(team):
    mine, theirs = ([blind(f"{owner} {tag}") for tag in "xy"] for owner in ("mine", "theirs"))
    where = Filter(
        tags=tuple(mine),
        tags_all=True,
        session=blind("mine s"),
        elsewhere=(Lookups(tags=tuple(theirs), session=blind("theirs s")),),
    )
    own = await team.keep(team.bob, "own", None, tags=tuple(mine), session=blind("mine s"))
    shared = await team.keep(
        team.alice, "shared", team.space, tags=tuple(theirs), session=blind("theirs s")
    )
    some = [
        await team.keep(team.bob, "half", None, tags=(mine[0],), session=blind("mine s")),
        await team.keep(
            team.alice, "half", team.space, tags=(theirs[1],), session=blind("theirs s")
        ),
        await team.keep(team.bob, "other session", None, tags=tuple(mine)),
    ]
    everything = [memory.id for memory in (own, shared, *some)]
    async with team.world.record.view(team.scope(team.bob, Action.MEMORY_RECALL)) as view:
        found = {
            "find": [row.id for row in await view.find(everything, where)],
            "recent": [one.id for one in await view.recent(where, 10)],
            "page": [row.id for row in (await view.page(where, None, 10)).rows],
        }
    assert all(set(ids) == {own.id, shared.id} for ids in found.values()), found
