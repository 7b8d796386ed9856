"""Showing again what the guard put pseudonyms for: one memory, for a purpose, on record.

Rules this module keeps:
- It is a right of its own (`memory:item:reveal`), asked of a person who is at hand, and it is about
  the person the call names: a memory about somebody else, in a shared space, is not found.
- Only what the record keeps with the live version of a live memory is put back. What was changed,
  moved or sealed for somebody else does not open, and then nothing is shown.
- The audit log has it before the caller has: which memory, how many values, and the purpose as a
  keyed hash, since the log holds no text. Equal purposes of a tenant have equal hashes, so that a
  purpose that is claimed later can be compared with the one that was given.
- A purpose is searched as a name is: a value that is found in it refuses the call.
"""

from dataclasses import dataclass

from core import pseudonyms
from core.errors import NotFound
from core.ids import EventId, parse_memory_id
from core.model import Memory, Target
from core.owners import opened, owner_of
from core.scope import Action, Call
from gateway.access.names import purpose_name
from gateway.gate import Gate
from gateway.recording import record
from gateway.refusing import refusing

PURPOSE = "memory:reveal:purpose"
"""The audit action whose object is the purpose of the reveal beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revealed:
    """A memory with its values back in place.

    Args:
        count: how many values were put back.
        purpose: as the audit log calls it, 32 hex digits.
    """

    memory: Memory
    count: int
    event_id: EventId
    purpose: str


async def reveal(gate: Gate, call: Call, target: Target, memory_id: str, purpose: str) -> Revealed:
    """Return one memory as it was written, pseudonyms undone.

    Args:
        purpose: why, 1 to 200 characters.

    Raises:
        NotFound: not live, not this person's, or not what was sealed.
        Denied, ScopeMissing, StepUpNeeded: it is not for this credential, or not now.
        ContentRejected: the purpose holds a secret or personal data.
        Throttled, Invalid, Unavailable.
    """
    action = Action.MEMORY_REVEAL
    async with refusing(gate, call, action, target.user_id):
        await gate.budget.charge(call, action, user_id=target.user_id)
        scope = await gate.access.scope(call, target, action)
        memory = parse_memory_id(memory_id)
        (await gate.guards.of(call.principal)).check({"purpose": purpose})
        reason = purpose_name(await gate.keyring.tenant(scope.tenant), purpose)
        async with gate.store.view(scope) as view:
            row = await view.get(memory)
        if row.user != scope.user:
            raise NotFound
        owner = owner_of(scope, row)
        keys = await gate.keyring.owner(owner)
        if keys is None:  # destroyed, and the memory with them
            raise NotFound
        async with gate.store.view(scope) as view:
            row = await view.get(memory, lock=False)
            found = opened(scope, row, {owner: keys})
            kept = pseudonyms.opened(await view.pseudonyms(memory), keys)
            content, details, count = pseudonyms.restored(
                found.content,
                found.details,
                pseudonyms.originals(found.content, found.details, kept),
            )
            event = await record(view, scope, str(memory), count=count)
            await record(view, scope, reason, action=PURPOSE)
        return Revealed(
            memory=Memory(row=row, content=content, details=details),
            count=count,
            event_id=event,
            purpose=reason,
        )
