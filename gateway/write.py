"""The guarded write, top to bottom. The order of the steps is the security property, so it is
written once, here.

Rules this module keeps:
- A step that fails stops the write; none is skipped. What leaves this file is Guarded, and core
  takes nothing else.
- Whatever becomes a memory enters here: single writes, batches, and later what is distilled or
  imported.
- Before the guard has passed it, a text is in this process's memory only: it is not logged, queued,
  embedded, counted or put in an error.
"""

import time
from collections.abc import Sequence
from functools import partial
from hashlib import sha256

from core import write as engine
from core.errors import Conflict, GatewayError, Invalid, ScopeMissing
from core.event import AuditEvent
from core.ids import EventId, new_uuid
from core.model import Draft, Guarded, Receipt, Target
from core.owners import STAYS_OUT, admit, owner_into
from core.ports import Claim, Repeated
from core.scope import Action, Call, Scope
from gateway.gate import Gate, Once
from gateway.guard.guarded import guard_draft, size_of
from gateway.idempotency import claim_of, matching, receipt_bytes, replayed
from gateway.pseudonyms import settle_draft
from gateway.refusing import refusing


async def write(
    gate: Gate,
    call: Call,
    target: Target,
    draft: Draft,
    once: Once | None = None,
    *,
    embed_now: bool = True,
) -> Receipt:
    """Keep what `draft` says, guarded, about the person `target` names.

    Args:
        embed_now: False leaves the vectors to the indexer; it can be recalled at once all the same.

    Raises:
        Denied, Invalid, ContentRejected, Throttled, Conflict: nothing was kept; recorded.
        Unavailable: nothing was kept.
    """
    action = Action.MEMORY_WRITE
    async with refusing(gate, call, action, target.user_id):
        await gate.budget.charge(call, action, user_id=target.user_id)
        namespaces = await gate.access.permit(call, target, action)
        guard = await gate.guards.of(call.principal)
        async with gate.write.spans.step("guard"):
            guarded = await gate.lanes.run(
                call.principal.tenant,
                size_of(draft),
                partial(guard_draft, guard, draft, call.principal, target, namespaces),
            )
        if draft.expires_at is not None and draft.expires_at <= await gate.store.now():
            raise Invalid("This time has passed already.", field="expires_at")
        await _admit(gate, call, target, guarded)
        # Only now: minting the scope of a write makes the person and the namespace known, and what
        # was refused must leave no trace.
        scope = await gate.access.scope(call, target, action)
        claim = await _claim(gate, scope, once)
        if claim is not None:
            before = await _answered_before(gate, scope, claim)
            if before is not None:
                return before
        guarded = await settle_draft(gate, scope, guarded)
        promise = None
        if claim is not None:
            promise = engine.Promise(claim=claim, encode=receipt_bytes)
        try:
            return await engine.write(
                scope,
                guarded,
                gate.write,
                promise,
                person=target.user_id or call.principal.pinned_user,
                at_most=await gate.budget.stored(call.principal),
                embed_now=embed_now,
            )
        except Repeated:
            return await _raced(gate, scope, claim)


async def _admit(gate: Gate, call: Call, target: Target, guarded: Guarded) -> None:
    """Refuse what does not enter the space it is for, before anybody is made known by it.

    Raises: ContentRejected, and as minting a scope does.
    """
    if target.spaces and guarded.sensitivity in STAYS_OUT:
        scope = await gate.access.scope(call, target, Action.MEMORY_WRITE, make=False)
        admit(guarded.sensitivity, owner_into(scope))


async def _claim(gate: Gate, scope: Scope, once: Once | None) -> Claim | None:
    if once is None:
        return None
    return claim_of(once, scope.principal, await gate.keyring.tenant(scope.tenant))


async def _raced(gate: Gate, scope: Scope, claim: Claim | None) -> Receipt:
    """Answer a repeat that lost the race against its twin."""
    if claim is not None:
        before = await _answered_before(gate, scope, claim)
        if before is not None:
            return before
    raise Conflict("This Idempotency-Key is in use.")


async def _answered_before(gate: Gate, scope: Scope, claim: Claim) -> Receipt | None:
    """Return the receipt that `claim` was given before, or None when it is new.

    A repeat has no effect, but it reads what is kept: it is a call of its own in the audit log.
    """
    before = await replayed(scope, claim, gate.store, gate.keyring)
    if before is not None:
        await gate.store.append(
            AuditEvent.of(
                scope,
                event_id=EventId(new_uuid()),
                at=await gate.store.now(),
                object=str(before.outcomes[0].id) if len(before.outcomes) == 1 else "memories",
                outcome="repeated",
                count=0,
            )
        )
    return before


Item = tuple[Target, Draft]
"""One write of a batch."""

BATCH_EMBED_SECONDS = 5.0
"""A batch embeds for so long before it leaves the rest to the indexer: 256 texts of some length
would take minutes, and a request has `MEMWARDEN_REQUEST_SECONDS`."""


async def write_batch(
    gate: Gate, call: Call, items: Sequence[Item | GatewayError], once: Once | None = None
) -> list[Receipt | GatewayError]:
    """Write each item by itself, in order, and return what a single write would: a receipt or an
    error. One bad item harms no other.

    Args:
        items: at most 256; an item that could not be parsed comes as its error.

    Raises:
        ScopeMissing: the token lacks the scope of a write; nothing was written.
        Conflict: the idempotency key stands for another batch; nothing was written.
        Unavailable: an idempotency key could not be looked up; nothing was written.
    """
    deadline = time.monotonic() + BATCH_EMBED_SECONDS
    if once is not None:
        # Hashed here, since each item's claim hashes it again: 4 MiB, 256 times, twice.
        once = Once(key=once.key, request=sha256(once.request).digest())
        await _refuse_other_batch(gate, call, items, once)
    results: list[Receipt | GatewayError] = []
    for number, item in enumerate(items):
        try:
            if isinstance(item, GatewayError):
                await gate.refusals.record(call, Action.MEMORY_WRITE, item)
                results.append(item)
            else:
                target, draft = item
                part = None if once is None else _part(once, number)
                soon = time.monotonic() < deadline
                results.append(await write(gate, call, target, draft, part, embed_now=soon))
        except ScopeMissing:  # of the token, so of every item: the caller is told what to bring
            raise
        except GatewayError as err:
            results.append(err)
    return results


def _part(once: Once, number: int) -> Once:
    # A separator that no header can hold keeps "k" item 1 apart from a single write under "k\n1".
    return Once(key=f"{once.key}\n{number}", request=once.request)


async def _refuse_other_batch(
    gate: Gate, call: Call, items: Sequence[Item | GatewayError], once: Once
) -> None:
    """Raise Conflict if any item's claim stands for another request, before anything is written."""
    async with refusing(gate, call, Action.MEMORY_WRITE):
        for number, item in enumerate(items):
            if isinstance(item, GatewayError):
                continue
            try:
                scope = await gate.access.scope(call, item[0], Action.MEMORY_WRITE, make=False)
            except GatewayError:
                continue  # the item's own write will say so, in its place
            claim = await _claim(gate, scope, _part(once, number))
            if claim is not None:
                reply = await gate.store.replayed(scope, claim)
                if reply is not None:
                    matching(reply, claim)
