"""Memories over HTTP: write, read, list, change, forget."""

from core.errors import GatewayError
from core.model import Json
from core.scope import Action
from gateway import memories
from gateway import write as writing
from gateway.front.errors import problem
from gateway.front.limits import BATCH_BODY_BYTES
from gateway.front.operation import Answer, Ask, Nothing, Operation
from gateway.front.wire import read
from gateway.front.wire_memory import (
    ChangeBody,
    ChangedShown,
    DeletedShown,
    ListQuery,
    MemoriesShown,
    MemoryShown,
    PersonQuery,
    changed_reply,
    memories_reply,
    memory_reply,
    person_of,
)
from gateway.front.wire_write import (
    BatchBody,
    BatchShown,
    ReceiptShown,
    WriteBody,
    receipt_reply,
)


async def write_memory(ask: Ask[WriteBody, Nothing]) -> Answer:
    """Keep a memory."""
    body = ask.body
    receipt = await writing.write(ask.gate, ask.call, body.target(), body.draft(), ask.once)
    return Answer(body=receipt_reply(receipt))


async def write_batch(ask: Ask[BatchBody, Nothing]) -> Answer:
    """Keep many memories; each stands for itself."""
    items = [_item(item) for item in ask.body.items]
    results = await writing.write_batch(ask.gate, ask.call, items, ask.once)
    shown = [
        problem(result, ask.call.request_id)
        if isinstance(result, GatewayError)
        else receipt_reply(result)
        for result in results
    ]
    return Answer(body={"results": shown})


def _item(item: Json) -> writing.Item | GatewayError:
    try:
        body = read(WriteBody, item)
    except GatewayError as err:
        return err
    return body.target(), body.draft()


async def list_memories(ask: Ask[None, ListQuery]) -> Answer:
    """List memories, newest first."""
    target = ask.query.target()
    page = await memories.page(ask.gate, ask.call, target, ask.query.listing())
    names = await memories.names(ask.gate, ask.call, page.items)
    person = person_of(ask.call, target)
    return Answer(body=memories_reply(page.items, page.next_cursor, names, person))


async def get_memory(ask: Ask[None, PersonQuery]) -> Answer:
    """Show one memory."""
    target = ask.query.target()
    memory = await memories.get(ask.gate, ask.call, target, ask.names["id"])
    names = await memories.names(ask.gate, ask.call, [memory])
    return Answer(
        body=memory_reply(memory, names, person_of(ask.call, target)), version=memory.row.version
    )


async def get_versions(ask: Ask[None, PersonQuery]) -> Answer:
    """Show every kept version of a memory, newest first."""
    target = ask.query.target()
    found = await memories.versions(ask.gate, ask.call, target, ask.names["id"])
    names = await memories.names(ask.gate, ask.call, found)
    return Answer(body=memories_reply(found, None, names, person_of(ask.call, target)))


async def change_memory(ask: Ask[ChangeBody, Nothing]) -> Answer:
    """Change a memory; the whole guard runs again."""
    target = ask.body.target()
    memory, redactions, event_id = await memories.update(
        ask.gate, ask.call, target, ask.names["id"], ask.body.change(ask.version)
    )
    names = await memories.names(ask.gate, ask.call, [memory])
    shown = changed_reply(memory, names, person_of(ask.call, target), redactions, event_id)
    return Answer(body=shown, version=memory.row.version)


async def forget_memory(ask: Ask[None, PersonQuery]) -> Answer:
    """Forget a memory; it is unreadable at once, everywhere."""
    target = ask.query.target()
    deleted = await memories.forget(ask.gate, ask.call, target, ask.names["id"])
    return Answer(body={"deleted": deleted})


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/memories",
        action=Action.MEMORY_WRITE,
        handler=write_memory,
        name="write_memory",
        summary="Keep a memory",
        body=WriteBody,
        reply=ReceiptShown,
        status=201,
        refuses=frozenset({409}),
        once=True,
    ),
    Operation(
        method="POST",
        path="/v1/memories/batch",
        action=Action.MEMORY_WRITE,
        handler=write_batch,
        name="write_memories",
        summary="Keep many memories; each stands for itself",
        body=BatchBody,
        reply=BatchShown,
        refuses=frozenset({409}),
        once=True,
        body_bytes=BATCH_BODY_BYTES,
    ),
    Operation(
        method="GET",
        path="/v1/memories",
        action=Action.MEMORY_LIST,
        handler=list_memories,
        name="list_memories",
        summary="List memories, newest first",
        query=ListQuery,
        reply=MemoriesShown,
    ),
    Operation(
        method="GET",
        path="/v1/memories/{id}",
        action=Action.MEMORY_READ,
        handler=get_memory,
        name="get_memory",
        summary="Show one memory",
        query=PersonQuery,
        reply=MemoryShown,
    ),
    Operation(
        method="GET",
        path="/v1/memories/{id}/versions",
        action=Action.MEMORY_READ,
        handler=get_versions,
        name="get_versions",
        summary="Show every kept version of a memory, newest first",
        query=PersonQuery,
        reply=MemoriesShown,
    ),
    Operation(
        method="PATCH",
        path="/v1/memories/{id}",
        action=Action.MEMORY_UPDATE,
        handler=change_memory,
        name="change_memory",
        summary="Change a memory; the whole guard runs again",
        body=ChangeBody,
        reply=ChangedShown,
        refuses=frozenset({409, 412}),
        conditional=True,
    ),
    Operation(
        method="DELETE",
        path="/v1/memories/{id}",
        action=Action.MEMORY_FORGET,
        handler=forget_memory,
        name="forget_memory",
        summary="Forget a memory; it is unreadable at once, everywhere",
        query=PersonQuery,
        reply=DeletedShown,
    ),
)
