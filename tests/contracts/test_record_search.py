"""How every record finds memories: by conditions, by pages, by words."""

import math
import random
from typing import Any

import pytest

from core.ids import MemoryId
from core.model import Filter, Kind, Layer, State
from tests.record_values import blind, term_of

ALL = Filter()


FILTERS: dict[str, tuple[Filter, dict[str, Any]]] = {
    "layer": (Filter(layers=frozenset({Layer.EPISODIC})), {"layer": Layer.EPISODIC}),
    "kind": (Filter(kinds=frozenset({Kind.EVENT})), {"kind": Kind.EVENT}),
    "any tag": (Filter(tags=(blind("x"), blind("y"))), {"tags": (blind("x"),)}),
    "all tags": (
        Filter(tags=(blind("x"), blind("y")), tags_all=True),
        {"tags": (blind("y"), blind("x"), blind("z"))},
    ),
    "session": (Filter(session=blind("s")), {"session": blind("s")}),
    "confidence": (Filter(min_confidence=0.9), {"confidence": 0.95}),
    "state": (Filter(states=frozenset({State.ARCHIVED})), {"state": State.ARCHIVED}),
}


@pytest.mark.parametrize("name", FILTERS)
async def test_a_condition_holds_on_every_path(world, name):
    where, fitting = FILTERS[name]
    person = await world.person()
    others = [await world.keep(person, f"tea {number}") for number in range(5)]
    if name == "all tags":
        others.append(await world.keep(person, "tea with one tag", tags=(blind("x"),)))
    wanted = await world.keep(person, "tea that fits", **fitting)
    everything = [wanted.id, *(memory.id for memory in others)]
    async with world.record.view(person.reading) as view:
        found = {
            "find": [row.id for row in await view.find(everything, where)],
            "lexical": [one.id for one in await view.lexical([term_of("tea")], where, 3)],
            "recent": [one.id for one in await view.recent(where, 3)],
            "page": [row.id for row in (await view.page(where, None, 3)).rows],
        }
    assert found == {path: [wanted.id] for path in ("find", "lexical", "recent", "page")}


async def test_times_of_creation_are_half_open(world):
    person = await world.person()
    first = await world.keep(person, "one tea")
    second = await world.keep(person, "two tea")
    async with world.record.view(person.reading) as view:
        time = (await view.get(second.id)).created_at
        since = await view.recent(Filter(created_after=time), 5)
        before = await view.recent(Filter(created_before=time), 5)
    assert [one.id for one in since] == [second.id]
    assert [one.id for one in before] == [first.id]


async def test_pages_neither_repeat_nor_miss_while_others_write(world):
    person = await world.person()
    kept = [(await world.keep(person, f"memory {number}")).id for number in range(25)]
    seen, after = [], None
    for turn in range(10):
        async with world.record.view(person.reading) as view:
            page = await view.page(ALL, after, 4)
        seen += [row.id for row in page.rows]
        if not page.more:
            break
        after = (page.rows[-1].created_at, page.rows[-1].id)
        await world.keep(person, f"meanwhile {turn}")
    assert seen == kept[::-1]


async def test_words_weigh_more_the_rarer_they_are(world):
    person = await world.person()
    for number in range(20):
        await world.keep(person, f"tea number {number}")
    rare = await world.keep(person, "allergic to peanuts and tea")
    async with world.record.view(person.reading) as view:
        found = await view.lexical([term_of("tea"), term_of("peanuts")], ALL, 5)
        covering = await view.lexical([term_of("tea"), term_of("absent")], ALL, 30)
    assert found[0].id == rare.id
    assert found[0].score == pytest.approx(1.0)
    assert all(one.score < 0.5 for one in found[1:])
    assert len(covering) == 21
    assert all(0 < one.score < 0.5 for one in covering)


def bm25(texts, terms):
    """Return (score, covered) of each text, from the published formula and nothing else."""
    split = {name: text.split() for name, text in texts.items()}
    mean = sum(map(len, split.values())) / len(split)
    weight = {}
    for term in terms:
        have = sum(term in words for words in split.values())
        weight[term] = math.log(1 + (len(split) - have + 0.5) / (have + 0.5))
    found = {}
    for name, words in split.items():
        score = sum(
            weight[term]
            * 2.2
            * words.count(term)
            / (words.count(term) + 1.2 * (0.25 + 0.75 * len(words) / mean))
            for term in terms
        )
        covered = sum(weight[term] for term in terms if term in words) / sum(weight.values())
        if score:
            found[name] = (score, covered)
    return found


async def test_words_are_scored_as_the_formula_says_after_every_kind_of_change(world):
    person = await world.person()
    rng = random.Random(25)
    words = ["tea", "milk", "sugar", "cat", "dog", "rain", "sun"]

    def text():
        return " ".join(rng.choices(words, weights=range(1, 8), k=rng.randint(1, 12)))

    texts: dict[MemoryId, str] = {}
    for _ in range(60):
        said = text()
        if said not in texts.values():
            texts[(await world.keep(person, said)).id] = said
    for memory in list(texts)[:10]:
        async with world.record.view(person.writing) as view:
            await view.forget([memory])
        del texts[memory]
    for memory in list(texts)[:10]:
        if (said := text()) not in texts.values():
            async with world.record.view(person.writing) as view:
                kept = person.kept(said, memory=memory, version=2)
                await view.revise(kept, expected_version=1)
            texts[memory] = said
    for asked in (["tea"], ["sun", "tea"], ["cat", "absent"], words):
        expected = bm25(texts, asked)
        async with world.record.view(person.reading) as view:
            found = await view.lexical([term_of(word) for word in asked], ALL, 100)
        assert {one.id: one.score for one in found} == pytest.approx(
            {memory: covered for memory, (_, covered) in expected.items()}
        )
        scores = [expected[one.id][0] for one in found]
        assert scores == pytest.approx(sorted(scores, reverse=True))


async def test_a_word_said_more_often_in_a_shorter_text_comes_first(world):
    person = await world.person()
    long = await world.keep(person, "tea " + " ".join(f"word{number}" for number in range(30)))
    often = await world.keep(person, "tea tea tea please")
    once = await world.keep(person, "tea for two people")
    async with world.record.view(person.reading) as view:
        found = await view.lexical([term_of("tea")], ALL, 5)
    assert [one.id for one in found] == [often.id, once.id, long.id]


@pytest.mark.requirement("C11")
async def test_what_others_keep_moves_no_score(world):
    person = await world.person()
    texts = ["green tea with milk", "black tea", "coffee with milk", "milk"]
    for text in texts:
        await world.keep(person, text)
    terms = [term_of("tea"), term_of("milk")]

    async def scores():
        async with world.record.view(person.reading) as view:
            return await view.lexical(terms, ALL, 10)

    before = await scores()
    stranger = await world.person()
    neighbour = await world.person(person.tenant, name="bob")
    for other in (stranger, neighbour):
        async with world.record.view(other.writing) as view:
            for number in range(150):
                await view.insert(other.kept(f"tea milk {number}"))
    assert await scores() == before
