"""The walls leave the indexes usable: a list walks one, however much there is."""

import pytest

from core.adapters.postgres.queries import limited, limited_in_space, query
from core.adapters.postgres.search import NEWEST, _conditions
from core.ids import SpaceId, new_uuid
from core.model import Filter


async def plan_of(world, statement, **values):
    person = await world.person()
    async with world.record.view(person.reading) as view:
        search = view._search
        parameters = {**search._scope, **_conditions(Filter()), **values}
        await view._transaction.rows(query("in_order"), {})
        rows = await view._transaction.rows(f"EXPLAIN (COSTS OFF) {statement}", parameters)
    return "\n".join(line for (line,) in rows)


@pytest.mark.parametrize("name", ["newest_memories", "page_of_memories"])
async def test_a_list_walks_the_index_of_its_person_and_sorts_nothing(world, name):
    time, memory = NEWEST
    plan = await plan_of(world, limited(name, 24), after_time=time, after_id=memory, shared=False)
    assert "Index Scan using memories_of_user on memories" in plan
    assert "Sort" not in plan
    assert "Seq Scan" not in plan


async def test_words_are_counted_and_found_in_the_index_alone(world):
    plan = await plan_of(world, limited("lexical", 64), terms=[1, 2, 3])
    assert plan.count("Index Only Scan using memory_tokens_of_user") == 1
    assert plan.count("Index Only Scan Backward using memory_tokens_of_user") == 1
    assert "Seq Scan" not in plan


@pytest.mark.parametrize("name", ["newest_shared", "page_of_shared"])
async def test_a_list_walks_the_index_of_each_space_and_sorts_nothing(world, name):
    time, memory = NEWEST
    plan = await plan_of(world, limited(name, 24), after_time=time, after_id=memory)
    assert "Index Scan using memories_of_space on memories" in plan
    assert "Sort" not in plan
    assert "Seq Scan" not in plan


async def test_words_of_a_space_are_counted_and_found_in_its_index_alone(world):
    plan = await plan_of(
        world, limited_in_space("lexical", 64), terms=[1, 2, 3], space=SpaceId(new_uuid())
    )
    assert plan.count("Index Only Scan using memory_tokens_of_space") == 1
    assert plan.count("Index Only Scan Backward using memory_tokens_of_space") == 1
    assert "Seq Scan" not in plan


@pytest.mark.parametrize("name", ["newest_memories", "lexical", "find_memories"])
async def test_the_settings_are_read_once_a_query_and_not_once_a_row(world, name):
    plan = await plan_of(world, limited(name, 24), terms=[1], ids=[])
    assert "InitPlan" in plan
    assert "current_setting" not in plan
