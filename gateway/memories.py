"""Reading, changing and forgetting single memories, each path top to bottom.

Rules this module keeps:
- Missing, forgotten, expired, tampered with and foreign are one answer: NotFound.
- What can be read but not changed (a reader's, in a shared space) is Denied, and only that.
- Each memory opens under its own owner's keys; a space holds memories of several people.
- A change runs the whole guard again; deletion is over when the call returns, in every path.
- Each call leaves one audit event in the transaction that reads or changes.
"""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from uuid import UUID

from core import write as engine
from core.errors import Denied, Invalid, NotFound, Tampered
from core.ids import EventId, MemoryId, parse_memory_id
from core.model import (
    Change,
    Filter,
    Kind,
    Layer,
    Memory,
    Owner,
    Redaction,
    Row,
    State,
    Target,
)
from core.owners import across, keys_of, opened, searched
from core.ports import MemoryView, OwnerKeys
from core.recall import record_withheld
from core.scope import Action, Call, Scope
from gateway.access.names import open_namespace, open_space
from gateway.cursor import open_cursor, seal_cursor
from gateway.gate import Gate, Listed, Listing
from gateway.guard.guarded import guard_change, size_of
from gateway.guard.policy import NOWHERE, TextContext
from gateway.pseudonyms import settle_change
from gateway.recording import record
from gateway.refusing import refusing


async def get(gate: Gate, call: Call, target: Target, memory_id: str) -> Memory:
    """Return one memory. Raises: NotFound, Denied, Invalid, Unavailable."""
    action = Action.MEMORY_READ
    async with refusing(gate, call, action, target.user_id):
        await gate.budget.charge(call, action, user_id=target.user_id)
        scope = await gate.access.scope(call, target, action)
        memory = parse_memory_id(memory_id)
        await _own_keys(gate, scope)
        async with gate.store.view(scope) as view:
            found = await _open_or_withhold(gate, view, scope, [await view.get(memory)])
            if found:
                await record(view, scope, str(memory))
        if not found:  # withheld, and said so in the log by the transaction above
            raise NotFound
        return found[0]


async def versions(gate: Gate, call: Call, target: Target, memory_id: str) -> list[Memory]:
    """Return every kept version of one memory, newest first. Raises: as `get`."""
    action = Action.MEMORY_READ
    async with refusing(gate, call, action, target.user_id):
        await gate.budget.charge(call, action, user_id=target.user_id)
        scope = await gate.access.scope(call, target, action)
        memory = parse_memory_id(memory_id)
        await _own_keys(gate, scope)
        async with gate.store.view(scope) as view:
            found = await _open_or_withhold(gate, view, scope, await view.versions(memory))
            await record(view, scope, str(memory), count=len(found))
        if not found:
            raise NotFound
        return found


async def page(gate: Gate, call: Call, target: Target, listing: Listing) -> Listed[Memory]:
    """Return one page of a person's memories and of the shared spaces' in reach, newest first.

    Args:
        target: where it names a space, the page is of what is there, and of nothing else.

    Raises:
        Denied, Invalid (also a cursor of another list), NotFound (no such space), Unavailable.
    """
    action = Action.MEMORY_LIST
    async with refusing(gate, call, action, target.user_id):
        await gate.budget.charge(call, action, user_id=target.user_id)
        scope = await gate.access.scope(call, target, action)
        tenant = await gate.keyring.tenant(scope.tenant)
        question = _question(scope, target, listing)
        after = (
            None
            if listing.cursor is None
            else open_cursor(tenant, call.principal, question, listing.cursor)
        )
        where = await _filter(gate, scope, listing)
        async with gate.store.view(scope) as view:
            rows: Sequence[Row] = ()
            more = False
            if where is not None:
                shared = bool(target.spaces)
                one_page = await view.page(where, after, listing.limit, shared=shared)
                rows, more = one_page.rows, one_page.more
            found = await _open_or_withhold(gate, view, scope, rows)
            await record(view, scope, "memories", count=len(found))
        following = None
        if more and rows:
            last = (rows[-1].created_at, UUID(int=rows[-1].id.int))
            following = seal_cursor(tenant, call.principal, question, last)
        return Listed(items=found, next_cursor=following)


async def update(
    gate: Gate, call: Call, target: Target, memory_id: str, change: Change
) -> tuple[Memory, tuple[Redaction, ...], EventId]:
    """Give a memory a new version; returns it, what the guard did, and the audit event.

    Raises: NotFound, PreconditionFailed, Conflict, ContentRejected, Denied, Invalid, Unavailable.
    """
    action = Action.MEMORY_UPDATE
    async with refusing(gate, call, action, target.user_id):
        await gate.budget.charge(call, action, user_id=target.user_id)
        scope = await gate.access.scope(call, target, action)
        memory = parse_memory_id(memory_id)
        guard = await gate.guards.of(call.principal)
        context = NOWHERE
        if guard.asks_where:
            context = await _context(gate, call, scope, memory)
        guarded = await gate.lanes.run(
            scope.tenant, size_of(change), partial(guard_change, guard, change, context)
        )
        guarded = await settle_change(gate, scope, memory, guarded)
        try:
            after, event = await engine.revise(scope, memory, guarded, gate.write)
        except Denied:
            await _missing_unless_read(gate, call, target, memory)
            raise
        return after, guarded.redactions, event.event_id


async def _context(gate: Gate, call: Call, scope: Scope, memory: MemoryId) -> TextContext:
    """Return what the policy decides a change of a memory by: what never changes of it.

    Raises: NotFound, Unavailable.
    """
    async with gate.store.view(scope) as view:
        row = await view.get(memory)
    name = (await namespace_names(gate, call)).get(row.namespace)
    return TextContext(
        # A name that does not open: whatever comes out strictest of all of them.
        namespaces=None if name is None else frozenset({name}),
        source=row.source_kind,
        layer=row.layer,
    )


async def forget(gate: Gate, call: Call, target: Target, memory_id: str) -> int:
    """Forget one memory: unreadable everywhere when this returns. Returns how many went: 1.

    Raises: NotFound, Denied, Invalid, Unavailable.
    """
    action = Action.MEMORY_FORGET
    async with refusing(gate, call, action, target.user_id):
        await gate.budget.charge(call, action, user_id=target.user_id)
        scope = await gate.access.scope(call, target, action)
        memory = parse_memory_id(memory_id)
        try:
            gone = await _forget(gate, scope, memory)
        except NotFound:
            await _missing_unless_read(gate, call, target, memory)
            raise Denied(rule="space-reader") from None
        gate.write.wake_index()
        return gone


async def _forget(gate: Gate, scope: Scope, memory: MemoryId) -> int:
    """Forget what is live and may be changed. Raises: NotFound (then nothing went), Unavailable."""
    async with gate.store.view(scope) as view:
        gone = await view.forget([memory])
        if not gone:
            raise NotFound
        await record(view, scope, str(memory), count=len(gone))
    return len(gone)


async def _missing_unless_read(gate: Gate, call: Call, target: Target, memory: MemoryId) -> None:
    """Raise NotFound unless the caller may read the memory: that it may not be changed tells that
    it is there. A policy can deny to read where it does not deny to change.

    Raises: NotFound, Unavailable.
    """
    try:
        scope = await gate.access.scope(call, target, Action.MEMORY_READ)
    except Denied:
        raise NotFound from None
    async with gate.store.view(scope) as view:
        await view.get(memory)


async def namespace_names(gate: Gate, call: Call) -> Mapping[UUID, str]:
    """Return the name of each namespace of the caller's tenant, to show beside what is returned.

    Raises: NotFound (the operator has no namespaces), Unavailable.
    """
    tenant = call.principal.tenant
    if tenant is None:
        raise NotFound
    keys = await gate.keyring.tenant(tenant)
    sealed = await gate.directory.namespace_names(tenant)
    names: dict[UUID, str] = {}
    for namespace, envelope in sealed.items():
        # A name that somebody changed below the gateway is left out; its memories are still shown.
        with contextlib.suppress(Tampered):
            names[namespace] = open_namespace(keys, envelope)
    return names


async def names(gate: Gate, call: Call, shown: Iterable[Memory]) -> Mapping[UUID, str]:
    """Return the name of each namespace of the caller's tenant, and of each space if any of `shown`
    is in one; to show beside them.

    Raises: NotFound (the operator has no namespaces), Unavailable.
    """
    found: dict[UUID, str] = dict(await namespace_names(gate, call))
    tenant = call.principal.tenant
    if tenant is not None and any(memory.row.space is not None for memory in shown):
        keys = await gate.keyring.tenant(tenant)
        for space, envelope in (await gate.directory.space_names(tenant)).items():
            with contextlib.suppress(Tampered):  # as of a namespace
                found[space] = open_space(keys, envelope)
    return found


async def _own_keys(gate: Gate, scope: Scope) -> OwnerKeys | None:
    """Return the keys of the scope's person; asked before a connection is held, not while."""
    return await gate.keyring.owner(Owner.of(scope)) if scope.known else None


async def _open_or_withhold(
    gate: Gate, view: MemoryView, scope: Scope, rows: Sequence[Row]
) -> list[Memory]:
    """Return what opens; audit what does not, and leave it out for this caller and for others."""
    keys = await keys_of(scope, rows, gate.keyring)  # of at most as many people as there are rows
    found: list[Memory] = []
    withheld: list[MemoryId] = []
    for row in rows:
        try:
            found.append(opened(scope, row, keys))
        except Tampered:
            withheld.append(row.id)
    await record_withheld(view, scope, withheld)
    return found


def _question(scope: Scope, target: Target, listing: Listing) -> str:
    """Return everything that was asked of a page but its cursor.

    The namespaces stand as they were named: those that a credential may see grow with every first
    write to a new one, and a list must go on through that.
    """
    return json.dumps(
        [
            "memories",
            str(scope.user),
            None if target.namespaces is None else sorted(target.namespaces),
            None if target.spaces is None else sorted(target.spaces),
            listing.layer,
            listing.kind,
            listing.tag,
            listing.state,
        ]
    )


_LISTABLE = frozenset({State.ACTIVE, State.SUPERSEDED, State.ARCHIVED})


async def _filter(gate: Gate, scope: Scope, listing: Listing) -> Filter | None:
    """Return the conditions of a list; None when no owner has a key to look its tag up with."""
    own = await _own_keys(gate, scope)
    if listing.tag is None:
        return _conditions(listing, ())
    shared = await searched(scope, sorted(scope.readable.members), gate.keyring)
    owners = [*([] if own is None else [own]), *shared.values()]
    filters = [_conditions(listing, (keys.blind("tag", listing.tag),)) for keys in owners]
    return across(filters) if filters else None


def _conditions(listing: Listing, tags: tuple[bytes, ...]) -> Filter:
    try:
        return Filter(
            layers=frozenset() if listing.layer is None else frozenset({Layer(listing.layer)}),
            kinds=frozenset() if listing.kind is None else frozenset({Kind(listing.kind)}),
            tags=tags,
            states=_LISTABLE if listing.state is None else frozenset({State(listing.state)}),
        )
    except ValueError as err:
        raise Invalid from err
