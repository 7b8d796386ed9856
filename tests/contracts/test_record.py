"""What every record does, whatever keeps it."""

import asyncio
import math
import random
from datetime import timedelta
from typing import Any

import pytest

from core.errors import Conflict, NotFound, PreconditionFailed
from core.ids import MemoryId, RecallId, new_uuid
from core.model import Filter, Kind, Layer, State
from core.ports import Claim, Repeated, Reply
from core.scope import Action
from tests.record_values import blind, event_of, term_of

ALL = Filter()


async def keep(world, person, text="likes tea", **others):
    memory = person.kept(text, **others)
    async with world.record.view(person.writing) as view:
        inserted = await view.insert(memory)
        assert inserted.existing is None
        await view.record(event_of(person.writing, view.now))
    return memory


async def emptied(world):
    """Return the outbox without what other tests left in it."""
    outbox = await world.outbox()
    await outbox.done(await outbox.lease(100_000, 5))
    return outbox


async def expire(world, person, memory):
    """Let a memory's time run out, as the database sees it."""
    async with world.record.view(person.writing) as view:
        await view._memories._transaction.rows(
            "UPDATE memories SET expires_at = now() - interval '1 second'"
            " WHERE tenant = %(tenant)s AND id = %(id)s",
            {"tenant": person.tenant, "id": memory},
        )


async def test_what_was_kept_is_read_back_field_for_field(world):
    person = await world.person()
    wanted = person.kept("likes green tea", tags=(blind("a"), blind("b")), session=blind("s"))
    async with world.record.view(person.writing) as view:
        inserted = await view.insert(wanted)
    async with world.record.view(person.reading) as view:
        row = await view.get(wanted.id)
        item = await view.indexable(wanted.id)
    assert (row.id, row.version, row.user) == (wanted.id, 1, person.user)
    assert (row.content, row.details, row.chunks) == (wanted.content, wanted.details, 1)
    assert (row.created_at, row.valid_from) == (inserted.created_at, inserted.created_at)
    assert row.created_at.utcoffset() == timedelta(0)
    assert (row.uses, row.last_used_at, row.valid_until) == (0, None, None)
    assert (item.session, set(item.tags)) == (wanted.session, set(wanted.tags))
    assert (item.terms, item.vectors, item.embedder) == (
        wanted.terms,
        wanted.vectors,
        wanted.embedder,
    )


async def test_the_same_text_is_kept_once_and_the_first_row_comes_back(world):
    person = await world.person()
    first = await keep(world, person)
    async with world.record.view(person.writing) as view:
        second = await view.insert(person.kept())
    assert second.existing is not None
    assert second.existing.id == first.id


@pytest.mark.parametrize(
    "other", [{"layer": Layer.EPISODIC}, {"kind": Kind.EVENT}], ids=["layer", "kind"]
)
async def test_the_same_text_of_another_sort_is_another_memory(world, other):
    person = await world.person()
    await keep(world, person)
    await keep(world, person, **other)


async def test_the_same_text_of_another_person_or_namespace_is_another_memory(world):
    person = await world.person()
    await keep(world, person)
    await keep(world, await world.person(person.tenant, name="bob"))
    await keep(world, await world.person(person.tenant, namespace="sales"))
    await keep(world, await world.person())


async def test_fifty_writers_of_one_text_leave_one_memory(world):
    person = await world.person()

    async def write():
        async with world.record.view(person.writing) as view:
            inserted = await view.insert(person.kept())
            if inserted.existing is not None:
                await view.adjust(inserted.existing.id, confidence=1.0)
            return inserted.existing

    results = await asyncio.gather(*(write() for _ in range(50)))
    assert sum(existing is None for existing in results) == 1
    assert len({existing.id for existing in results if existing is not None}) == 1


async def test_writers_and_forgetters_of_one_text_never_leave_two(world):
    person = await world.person()

    async def write():
        async with world.record.view(person.writing) as view:
            inserted = await view.insert(person.kept())
            memory = None if inserted.existing is None else inserted.existing.id
            if memory is not None:
                await view.forget([memory])

    await asyncio.gather(*(write() for _ in range(40)))
    async with world.record.view(person.reading) as view:
        page = await view.page(ALL, None, 10)
    assert len(page.rows) <= 1


async def test_what_has_expired_is_not_there_and_makes_room_for_the_same_text(world):
    person = await world.person()
    old = await keep(world, person)
    await expire(world, person, old.id)
    async with world.record.view(person.reading) as view:
        with pytest.raises(NotFound):
            await view.get(old.id)
        assert await view.find([old.id], ALL) == []
        assert await view.lexical([term_of("tea")], ALL, 5) == []
        assert await view.recent(ALL, 5) == []
    new = await keep(world, person)
    async with world.record.view(person.reading) as view:
        assert [row.id for row in await view.find([old.id, new.id], ALL)] == [new.id]


async def test_a_revision_replaces_the_text_and_keeps_the_old_one_in_history(world):
    person = await world.person()
    first = await keep(world, person, "likes tea")
    second = person.kept("likes coffee", memory=first.id, version=2, vectors=(b"1", b"2"))
    async with world.record.view(person.writing) as view:
        row = await view.revise(second, expected_version=1)
    assert (row.version, row.content, row.chunks) == (2, b"likes coffee", 2)
    async with world.record.view(person.reading) as view:
        history = await view.versions(first.id)
        found = await view.lexical([term_of("tea")], ALL, 5)
        now_found = await view.lexical([term_of("coffee")], ALL, 5)
        item = await view.indexable(first.id)
    assert [(row.version, row.content) for row in history] == [
        (2, b"likes coffee"),
        (1, b"likes tea"),
    ]
    assert history[1].valid_until == history[0].updated_at
    assert (found, [one.id for one in now_found]) == ([], [first.id])
    assert item.vectors == (b"1", b"2")


async def test_a_revision_of_another_version_is_refused(world):
    person = await world.person()
    first = await keep(world, person)
    with pytest.raises(PreconditionFailed):
        async with world.record.view(person.writing) as view:
            await view.revise(person.kept("x", memory=first.id, version=3), expected_version=2)


async def test_a_revision_to_what_another_memory_says_conflicts(world):
    person = await world.person()
    await keep(world, person, "likes tea")
    other = await keep(world, person, "likes coffee")
    with pytest.raises(Conflict):
        async with world.record.view(person.writing) as view:
            await view.revise(
                person.kept("likes tea", memory=other.id, version=2), expected_version=1
            )


async def test_a_revision_may_say_what_an_expired_memory_said(world):
    person = await world.person()
    old = await keep(world, person, "likes tea")
    other = await keep(world, person, "likes coffee")
    await expire(world, person, old.id)
    async with world.record.view(person.writing) as view:
        await view.revise(person.kept("likes tea", memory=other.id, version=2), expected_version=1)


async def test_an_adjustment_changes_confidence_and_no_version(world):
    person = await world.person()
    first = await keep(world, person)
    async with world.record.view(person.writing) as view:
        row = await view.adjust(first.id, confidence=0.9)
        with pytest.raises(NotFound):
            await view.adjust(MemoryId(new_uuid()), confidence=0.9)
    assert (row.confidence, row.version, row.content) == (0.9, 1, first.content)


async def test_vectors_are_attached_to_the_live_version_only(world):
    person = await world.person()
    first = await keep(world, person, vectors=())
    async with world.record.view(person.writing) as view:
        assert not await view.attach(first.id, 2, [b"a"], "model")
        assert await view.attach(first.id, 1, [b"a", b"b"], "model")
        assert await view.attach(first.id, 1, [b"c", b"d"], "model")
        item = await view.indexable(first.id)
    assert (item.vectors, item.embedder, item.row.chunks) == ((b"c", b"d"), "model", 2)


async def test_what_is_forgotten_is_gone_with_its_history_and_can_be_said_again(world):
    person = await world.person()
    first = await keep(world, person)
    async with world.record.view(person.writing) as view:
        await view.revise(person.kept("tea", memory=first.id, version=2), expected_version=1)
    async with world.record.view(person.writing) as view:
        assert await view.forget([first.id, MemoryId(new_uuid())]) == [first.id]
        assert await view.forget([first.id]) == []
    async with world.record.view(person.reading) as view:
        for read in (view.get, view.versions, view.indexable):
            with pytest.raises(NotFound):
                await read(first.id)
        assert await view.lexical([term_of("tea")], ALL, 5) == []
        assert await view.recent(ALL, 5) == []
    await keep(world, person, "tea")


async def test_a_block_that_fails_leaves_nothing(world):
    person = await world.person()
    memory = person.kept()

    async def fail():
        async with world.record.view(person.writing) as view:
            await view.insert(memory)
            await view.record(event_of(person.writing, view.now))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with world.record.view(person.reading) as view:
        with pytest.raises(NotFound):
            await view.get(memory.id)
    assert world.writer.missing
    assert set(world.writer.kept).isdisjoint(world.writer.missing)


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
    others = [await keep(world, person, f"tea {number}") for number in range(5)]
    if name == "all tags":
        others.append(await keep(world, person, "tea with one tag", tags=(blind("x"),)))
    wanted = await keep(world, person, "tea that fits", **fitting)
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
    first = await keep(world, person, "one tea")
    second = await keep(world, person, "two tea")
    async with world.record.view(person.reading) as view:
        time = (await view.get(second.id)).created_at
        since = await view.recent(Filter(created_after=time), 5)
        before = await view.recent(Filter(created_before=time), 5)
    assert [one.id for one in since] == [second.id]
    assert [one.id for one in before] == [first.id]


async def test_pages_neither_repeat_nor_miss_while_others_write(world):
    person = await world.person()
    kept = [(await keep(world, person, f"memory {number}")).id for number in range(25)]
    seen, after = [], None
    for turn in range(10):
        async with world.record.view(person.reading) as view:
            page = await view.page(ALL, after, 4)
        seen += [row.id for row in page.rows]
        if not page.more:
            break
        after = (page.rows[-1].created_at, page.rows[-1].id)
        await keep(world, person, f"meanwhile {turn}")
    assert seen == kept[::-1]


async def test_words_weigh_more_the_rarer_they_are(world):
    person = await world.person()
    for number in range(20):
        await keep(world, person, f"tea number {number}")
    rare = await keep(world, person, "allergic to peanuts and tea")
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
            texts[(await keep(world, person, said)).id] = said
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
    long = await keep(world, person, "tea " + " ".join(f"word{number}" for number in range(30)))
    often = await keep(world, person, "tea tea tea please")
    once = await keep(world, person, "tea for two people")
    async with world.record.view(person.reading) as view:
        found = await view.lexical([term_of("tea")], ALL, 5)
    assert [one.id for one in found] == [often.id, once.id, long.id]


@pytest.mark.requirement("C11")
async def test_what_others_keep_moves_no_score(world):
    person = await world.person()
    texts = ["green tea with milk", "black tea", "coffee with milk", "milk"]
    for text in texts:
        await keep(world, person, text)
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


async def test_a_memory_read_under_lock_is_changed_by_nobody_meanwhile(world):
    person = await world.person()
    first = await keep(world, person)
    order = []

    async def change():
        async with world.record.view(person.writing) as view:
            await view.adjust(first.id, confidence=0.9)
            order.append("changed")

    async with world.record.view(person.writing) as view:
        await view.get(first.id, lock=True)
        other = asyncio.create_task(change())
        await world.record.now()
        await world.record.now()
        order.append("released")
    await other
    assert order == ["released", "changed"]
    await expire(world, person, first.id)
    async with world.record.view(person.writing) as view:
        with pytest.raises(NotFound):
            await view.get(first.id, lock=True)


async def test_every_number_of_the_audit_writer_ends_as_kept_or_missing(world):
    person = await world.person()
    await keep(world, person)
    await world.record.append(event_of(person.reading, await world.record.now()))
    assert (world.writer.kept, world.writer.missing) == ([1, 2], [])


async def test_uses_are_counted_and_a_locked_row_is_not_waited_for(world):
    person = await world.person()
    first = await keep(world, person, "one")
    second = await keep(world, person, "two")
    async with world.record.view(person.reading) as holder:
        await holder._memories._transaction.rows(
            "SELECT FROM memory_uses WHERE memory = %(id)s FOR UPDATE", {"id": first.id}
        )
        async with asyncio.timeout(2), world.record.view(person.reading) as view:
            await view.used([first.id, second.id])
    async with world.record.view(person.reading) as view:
        rows = {row.id: row for row in await view.find([first.id, second.id], ALL)}
    assert (rows[first.id].uses, rows[second.id].uses) == (0, 1)
    assert rows[second.id].last_used_at is not None


async def test_a_recall_is_kept_for_its_person_alone(world):
    person = await world.person()
    other = await world.person(person.tenant, name="bob")
    recall = RecallId(new_uuid())
    async with world.record.view(person.reading) as view:
        await view.keep_recall(recall, b"sealed", days=7)
    async with world.record.view(person.scope(Action.RECALL_READ)) as view:
        assert await view.recall_record(recall) == b"sealed"
    async with world.record.view(other.scope(Action.RECALL_READ)) as view:
        with pytest.raises(NotFound):
            await view.recall_record(recall)


@pytest.mark.requirement("F3")
async def test_a_claim_is_settled_once_and_its_reply_comes_back(world):
    person = await world.person()
    claim = Claim(key=b"k" * 16, body=b"b" * 16)
    assert await world.record.replayed(person.writing, claim) is None

    async def once():
        reply = Reply(body=claim.body, sealed=b"sealed", id=new_uuid())
        async with world.record.view(person.writing) as view:
            await view.insert(person.kept(str(reply.id)))
            await view.settle(claim, reply)
        return reply

    results = await asyncio.gather(*(once() for _ in range(8)), return_exceptions=True)
    replies = [result for result in results if isinstance(result, Reply)]
    assert len(replies) == 1
    assert sum(isinstance(result, Repeated) for result in results) == 7
    assert await world.record.replayed(person.writing, claim) == replies[0]
    stranger = await world.person()
    assert await world.record.replayed(stranger.writing, claim) is None
    async with world.record.view(person.reading) as view:
        assert len((await view.page(ALL, None, 20)).rows) == 1


async def test_each_change_leaves_a_task_for_the_index_and_only_ids(world):
    outbox = await emptied(world)
    person = await world.person()
    first = await keep(world, person)
    async with world.record.view(person.writing) as view:
        await view.revise(
            person.kept("two", memory=first.id, version=2, vectors=(b"a", b"b")),
            expected_version=1,
        )
    async with world.record.view(person.writing) as view:
        await view.forget([first.id])
    tasks = [task for task in await outbox.lease(1000, 30) if task.tenant == person.tenant]
    assert [(task.version, task.delete, task.chunks) for task in tasks] == [
        (1, False, 1),
        (2, False, 2),
        (2, True, 2),
    ]
    assert {task.memory for task in tasks} == {first.id}
    assert {(task.user, task.namespace, task.space) for task in tasks} == {
        (person.user, person.namespace, None)
    }
    again = [task for task in await outbox.lease(1000, 30) if task.tenant == person.tenant]
    assert again == []
    waiting = await outbox.pending()
    await outbox.done(tasks)
    assert await outbox.pending() <= waiting - 3


async def test_a_lease_that_ran_out_gives_its_task_to_another(world):
    outbox = await emptied(world)
    person = await world.person()
    await keep(world, person)
    mine = [task for task in await outbox.lease(1000, 0) if task.tenant == person.tenant]
    again = [task for task in await outbox.lease(1000, 0) if task.tenant == person.tenant]
    assert mine == again
    assert len(mine) == 1


async def test_every_live_memory_is_queued_again_and_nothing_else(world):
    outbox = await world.outbox()
    person = await world.person()
    live = await keep(world, person, "live")
    gone = await keep(world, person, "gone")
    over = await keep(world, person, "over")
    await keep(world, person, "held back", state=State.QUARANTINED)
    async with world.record.view(person.writing) as view:
        await view.forget([gone.id])
    await expire(world, person, over.id)
    await outbox.done(await outbox.lease(100_000, 5))
    assert await outbox.requeue_all() >= 1
    tasks = [task for task in await outbox.lease(100_000, 5) if task.tenant == person.tenant]
    assert [(task.memory, task.delete) for task in tasks] == [(live.id, False)]


async def test_what_the_index_does_not_have_yet_is_always_proposed(world):
    outbox = await emptied(world)
    person = await world.person()
    old = await keep(world, person, "old")
    for number in range(5):
        await keep(world, person, f"newer {number}")
    await outbox.done(await outbox.lease(100_000, 5))
    async with world.record.view(person.reading) as view:
        assert old.id not in [one.id for one in await view.recent(ALL, 3)]
    async with world.record.view(person.writing) as view:
        await view.attach(old.id, 1, [b"v"], "model")
    async with world.record.view(person.reading) as view:
        found = [one.id for one in await view.recent(ALL, 3)]
    assert len(found) == 4
    assert found[-1] == old.id
