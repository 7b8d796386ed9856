"""What every record does with one memory, whatever keeps it."""

import asyncio
from datetime import timedelta

import pytest

from core.errors import Conflict, NotFound, PreconditionFailed
from core.ids import MemoryId, new_uuid
from core.model import Filter, Kind, Layer
from tests.record_values import blind, event_of, term_of

ALL = Filter()


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
    first = await world.keep(person)
    async with world.record.view(person.writing) as view:
        second = await view.insert(person.kept())
    assert second.existing is not None
    assert second.existing.id == first.id


@pytest.mark.parametrize(
    "other", [{"layer": Layer.EPISODIC}, {"kind": Kind.EVENT}], ids=["layer", "kind"]
)
async def test_the_same_text_of_another_sort_is_another_memory(world, other):
    person = await world.person()
    await world.keep(person)
    await world.keep(person, **other)


async def test_the_same_text_of_another_person_or_namespace_is_another_memory(world):
    person = await world.person()
    await world.keep(person)
    await world.keep(await world.person(person.tenant, name="bob"))
    await world.keep(await world.person(person.tenant, namespace="sales"))
    await world.keep(await world.person())


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
    old = await world.keep(person)
    await world.expire(person, old.id)
    async with world.record.view(person.reading) as view:
        with pytest.raises(NotFound):
            await view.get(old.id)
        assert await view.find([old.id], ALL) == []
        assert await view.lexical([term_of("tea")], ALL, 5) == []
        assert await view.recent(ALL, 5) == []
    new = await world.keep(person)
    async with world.record.view(person.reading) as view:
        assert [row.id for row in await view.find([old.id, new.id], ALL)] == [new.id]


async def test_a_revision_replaces_the_text_and_keeps_the_old_one_in_history(world):
    person = await world.person()
    first = await world.keep(person, "likes tea")
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
    first = await world.keep(person)
    with pytest.raises(PreconditionFailed):
        async with world.record.view(person.writing) as view:
            await view.revise(person.kept("x", memory=first.id, version=3), expected_version=2)


async def test_a_revision_to_what_another_memory_says_conflicts(world):
    person = await world.person()
    await world.keep(person, "likes tea")
    other = await world.keep(person, "likes coffee")
    with pytest.raises(Conflict):
        async with world.record.view(person.writing) as view:
            await view.revise(
                person.kept("likes tea", memory=other.id, version=2), expected_version=1
            )


async def test_a_revision_may_say_what_an_expired_memory_said(world):
    person = await world.person()
    old = await world.keep(person, "likes tea")
    other = await world.keep(person, "likes coffee")
    await world.expire(person, old.id)
    async with world.record.view(person.writing) as view:
        await view.revise(person.kept("likes tea", memory=other.id, version=2), expected_version=1)


async def test_an_adjustment_changes_confidence_and_no_version(world):
    person = await world.person()
    first = await world.keep(person)
    async with world.record.view(person.writing) as view:
        row = await view.adjust(first.id, confidence=0.9)
        with pytest.raises(NotFound):
            await view.adjust(MemoryId(new_uuid()), confidence=0.9)
    assert (row.confidence, row.version, row.content) == (0.9, 1, first.content)


async def test_vectors_are_attached_to_the_live_version_only(world):
    person = await world.person()
    first = await world.keep(person, vectors=())
    async with world.record.view(person.writing) as view:
        assert not await view.attach(first.id, 2, [b"a"], "model")
        assert await view.attach(first.id, 1, [b"a", b"b"], "model")
        assert await view.attach(first.id, 1, [b"c", b"d"], "model")
        item = await view.indexable(first.id)
    assert (item.vectors, item.embedder, item.row.chunks) == ((b"c", b"d"), "model", 2)


async def test_what_is_forgotten_is_gone_with_its_history_and_can_be_said_again(world):
    person = await world.person()
    first = await world.keep(person)
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
    await world.keep(person, "tea")


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
