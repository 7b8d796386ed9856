"""The sentence that says what a Scope sees, against a model of it, for every combination."""

from itertools import chain, combinations, product

import psycopg
import pytest

from core.adapters.postgres.walls import scope_settings
from core.ids import SpaceId, new_uuid
from core.model import Filter
from core.ports import Audience, SpaceRow
from core.scope import Action, Spaces
from tests.core.adapters.postgres.conftest import told
from tests.record_values import TOKEN, Person, administrator, term_of

pytestmark = [pytest.mark.requirement("C5"), pytest.mark.requirement("C1")]

HANGING = ("memory_uses", "memory_vectors", "memory_tokens", "memory_versions", "memory_links")
CHANGED = (*HANGING, "pseudonyms")
"""What a writer may remove; a value behind a pseudonym is seen by who writes or reveals alone."""


def subsets(values):
    return chain.from_iterable(combinations(values, size) for size in range(len(values) + 1))


def sees(scope, reach, where):
    """The sentence of core.scope.Scope, in Python."""
    user, namespace, space = where
    if space is None:
        return user == scope.user and namespace in scope.namespaces
    return space in reach.members or (space in reach.same_user and user == scope.user)


@pytest.fixture
async def kept(world, connect):
    """Two tenants with two people, two namespaces, four spaces: a memory for each combination."""
    tenants = []
    for _ in range(2):
        tenant = await world.tenant()
        people = [await world.person(tenant, name=name) for name in ("alice", "bob")]
        sales = await world.person(tenant, name="alice", namespace="sales")
        namespaces = [people[0].namespace, sales.namespace]
        same = [SpaceId(new_uuid()) for _ in range(2)]
        members = [SpaceId(new_uuid()) for _ in range(2)]
        spaces = Spaces(same_user=frozenset(same), members=frozenset(members))
        async with world.directory.admin(administrator(tenant, Action.SPACE_CREATE)) as view:
            for audience, made in ((Audience.SAME_USER, same), (Audience.MEMBERS, members)):
                for one in made:
                    await view.insert_space(
                        SpaceRow(
                            id=one,
                            key=one.bytes,
                            name=b"sealed",
                            audience=audience,
                            created_at=view.now,
                        )
                    )
        memories = {}
        for person, namespace, space in product(people, namespaces, [None, *same, *members]):
            here = Person(tenant=tenant, user=person.user, namespace=namespace)
            scope = here.scope(readable=spaces, writable=spaces)
            async with world.record.view(scope) as view:
                first = here.kept(f"tea {new_uuid()}", space=space)
                await view.insert(first)
                again = here.kept(f"tea {new_uuid()}", space=space, memory=first.id, version=2)
                await view.revise(again, expected_version=1)
            app = await connect()
            async with app.transaction():
                await told(app, scope_settings(scope))
                await app.execute(
                    "INSERT INTO memory_links"
                    " (tenant, user_id, namespace, space, memory, target, relation)"
                    " VALUES (%s, %s, %s, %s, %s, %s, 'relates')",
                    (tenant, here.user, namespace, space, first.id, new_uuid()),
                )
            await app.close()
            memories[first.id] = (person.user, namespace, space)
        tenants.append((tenant, people, namespaces, same, members, memories))
    return tenants


def scopes(kept, action):
    for tenant, people, namespaces, same, members, memories in kept:
        for person, some, one, other in product(
            people, subsets(namespaces), subsets(same), subsets(members)
        ):
            reach = Spaces(same_user=frozenset(one), members=frozenset(other))
            scope = person.scope(action, namespaces=some, readable=reach, writable=reach)
            expected = {memory for memory, where in memories.items() if sees(scope, reach, where)}
            yield tenant, scope, expected


async def test_both_walls_show_exactly_what_the_sentence_says(world, kept, connect):
    everything = [memory for *_, memories in kept for memory in memories]
    owned = {
        memory: (space, members)
        for *_, members, memories in kept
        for memory, (_, _, space) in memories.items()
        if space in members
    }
    app = await connect()
    for tenant, scope, expected in scopes(kept, Action.MEMORY_LIST):
        async with world.record.view(scope) as view:
            assert {row.id for row in await view.find(everything, Filter())} == expected
            assert {row.id for row in (await view.page(Filter(), None, 200)).rows} == expected
            assert {one.id for one in await view.recent(Filter(), 200)} == expected
            # Words are blinded under the owner's key, so a space that owns is searched by itself.
            words = {one.id for one in await view.lexical([term_of("tea")], Filter(), 200)}
            assert words == {memory for memory in expected if memory not in owned}
            for space in {space for space, _ in owned.values()}:
                found = await view.lexical([term_of("tea")], Filter(), 200, space=space)
                there = {memory for memory in expected if owned.get(memory, (None,))[0] == space}
                assert {one.id for one in found} == there
        async with app.transaction(force_rollback=True):  # the database alone, its queries naked
            await told(app, scope_settings(scope))
            cursor = await app.execute("SELECT id FROM memories")
            assert {row[0] for row in await cursor.fetchall()} == expected
            for table in HANGING:
                cursor = await app.execute(f"SELECT DISTINCT memory FROM {table}")
                assert {row[0] for row in await cursor.fetchall()} == expected, table
            cursor = await app.execute("SELECT DISTINCT memory FROM outbox")
            assert {row[0] for row in await cursor.fetchall()} == expected
            cursor = await app.execute("SELECT DISTINCT tenant FROM memory_counts")
            assert await cursor.fetchall() == ([(tenant,)] if expected else [])


async def test_a_value_is_revealed_of_what_the_sentence_says_and_of_the_person_alone(
    world, kept, connect
):
    app = await connect()
    about = {memory: where[0] for *_, memories in kept for memory, where in memories.items()}
    for _, scope, expected in scopes(kept, Action.MEMORY_REVEAL):
        async with app.transaction(force_rollback=True):
            await told(app, scope_settings(scope))
            cursor = await app.execute("SELECT DISTINCT memory FROM pseudonyms")
            assert {row[0] for row in await cursor.fetchall()} == expected
        async with world.record.view(scope) as view:
            for memory in expected:
                (one,) = await view.pseudonyms(memory)
                assert (one.memory, one.version, one.token) == (memory, 2, TOKEN)
            assert [
                row for gone in set(about) - expected for row in await view.pseudonyms(gone)
            ] == []
            named = await view.pseudonyms_of([TOKEN])
            mine = {memory for memory in expected if about[memory] == scope.user}
            assert {row.memory for row in named} <= mine
            assert bool(named) is bool(mine)
    for _, scope, _ in scopes(kept, Action.MEMORY_RECALL):
        async with world.record.view(scope) as view:
            assert await view.pseudonyms_of([TOKEN]) == []


async def test_what_may_be_written_is_what_the_writable_sets_say(kept, connect):
    app = await connect()
    for _, scope, expected in scopes(kept, Action.MEMORY_UPDATE):
        async with app.transaction(force_rollback=True):
            await told(app, scope_settings(scope))
            cursor = await app.execute("UPDATE memories SET confidence = 1 RETURNING id")
            assert {row[0] for row in await cursor.fetchall()} == expected
            for table in CHANGED:
                cursor = await app.execute(f"DELETE FROM {table} RETURNING memory")
                assert {row[0] for row in await cursor.fetchall()} == expected, table


async def test_a_reader_of_a_space_reads_it_and_removes_nothing_from_it(kept, connect):
    _, people, _, same, members, _ = kept[0]
    app = await connect()
    for space in (*same, *members):
        reach = Spaces(same_user=frozenset(same), members=frozenset(members))
        scope = people[0].scope(Action.MEMORY_UPDATE, namespaces=(), readable=reach)
        async with app.transaction(force_rollback=True):
            await told(app, scope_settings(scope))
            cursor = await app.execute("SELECT FROM memories WHERE space = %s", (space,))
            assert cursor.rowcount > 0
            for statement in (
                "DELETE FROM memories",
                *(f"DELETE FROM {table}" for table in CHANGED),
                "DELETE FROM memory_counts",
                "UPDATE memories SET confidence = 0",
                "UPDATE memories SET space = NULL",
                "UPDATE memory_vectors SET version = 9",
                "UPDATE memory_counts SET words = 0",
                "SELECT FROM memories FOR UPDATE",
            ):
                assert (await app.execute(statement)).rowcount == 0, statement
        async with app.transaction(force_rollback=True):
            await told(app, scope_settings(scope))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await app.execute(
                    "INSERT INTO memory_tokens"
                    " (tenant, user_id, namespace, space, token, memory, tf, length)"
                    " SELECT tenant, user_id, namespace, space, 1, id, 1, 1 FROM memories"
                )


@pytest.mark.parametrize("field", ["user_id", "namespace", "space", "tenant"])
async def test_a_writer_can_move_no_memory_out_of_its_scope(kept, connect, field):
    _, people, namespaces, _, members, _ = kept[0]
    other = {
        "user_id": people[1].user,
        "namespace": namespaces[1],
        "space": members[0],
        "tenant": kept[1][0],
    }
    app = await connect()
    async with app.transaction(force_rollback=True):
        await told(app, scope_settings(people[0].writing))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await app.execute(f"UPDATE memories SET {field} = %s", (other[field],))
