"""What else a record does in a transaction: locks, uses, replies, index tasks, audit."""

import asyncio

import pytest

from core.errors import NotFound
from core.ids import RecallId, new_uuid
from core.model import Filter, State
from core.ports import Claim, Repeated, Reply
from core.scope import Action
from tests.record_values import event_of

ALL = Filter()


async def test_a_memory_read_under_lock_is_changed_by_nobody_meanwhile(world):
    person = await world.person()
    first = await world.keep(person)
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
    await world.expire(person, first.id)
    async with world.record.view(person.writing) as view:
        with pytest.raises(NotFound):
            await view.get(first.id, lock=True)


async def test_every_number_of_the_audit_writer_ends_as_kept_or_missing(world):
    person = await world.person()
    await world.keep(person)
    await world.record.append(event_of(person.reading, await world.record.now()))
    assert (world.writer.kept, world.writer.missing) == ([1, 2], [])


async def test_uses_are_counted_and_a_locked_row_is_not_waited_for(world):
    person = await world.person()
    first = await world.keep(person, "one")
    second = await world.keep(person, "two")
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
    outbox = await world.emptied()
    person = await world.person()
    first = await world.keep(person)
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
    outbox = await world.emptied()
    person = await world.person()
    await world.keep(person)
    mine = [task for task in await outbox.lease(1000, 0) if task.tenant == person.tenant]
    again = [task for task in await outbox.lease(1000, 0) if task.tenant == person.tenant]
    assert mine == again
    assert len(mine) == 1


async def test_every_live_memory_is_queued_again_and_nothing_else(world):
    outbox = await world.outbox()
    person = await world.person()
    live = await world.keep(person, "live")
    gone = await world.keep(person, "gone")
    over = await world.keep(person, "over")
    await world.keep(person, "held back", state=State.QUARANTINED)
    async with world.record.view(person.writing) as view:
        await view.forget([gone.id])
    await world.expire(person, over.id)
    await outbox.done(await outbox.lease(100_000, 5))
    assert await outbox.requeue_all() >= 1
    tasks = [task for task in await outbox.lease(100_000, 5) if task.tenant == person.tenant]
    assert [(task.memory, task.delete) for task in tasks] == [(live.id, False)]


async def test_what_the_index_does_not_have_yet_is_always_proposed(world):
    outbox = await world.emptied()
    person = await world.person()
    old = await world.keep(person, "old")
    for number in range(5):
        await world.keep(person, f"newer {number}")
    await outbox.done(await outbox.lease(100_000, 5))
    async with world.record.view(person.reading) as view:
        assert old.id not in [one.id for one in await view.recent(ALL, 3)]
    async with world.record.view(person.writing) as view:
        await view.attach(old.id, 1, [b"v"], "model")
    async with world.record.view(person.reading) as view:
        found = [one.id for one in await view.recent(ALL, 3)]
    assert len(found) == 4
    assert found[-1] == old.id
