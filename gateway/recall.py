"""The guarded recall, top to bottom.

Rules this module keeps:
- Only the guarded query goes on: it alone is embedded, tokenised, cached and recorded.
- The answer leaves after its audit event is durable.
"""

from functools import partial

from core import recall as engine
from core.model import Query, Recall, Target
from core.scope import Action, Call
from gateway.gate import Gate
from gateway.guard.guarded import guard_query, size_of
from gateway.refusing import refusing


async def recall(gate: Gate, call: Call, target: Target, query: Query) -> Recall:
    """Answer `query` from what is kept about the person `target` names.

    Raises:
        Denied, NotFound, Invalid, ContentRejected, Throttled: recorded.
        Unavailable: the record, the keys or the audit log did not answer.
    """
    action = Action.MEMORY_RECALL
    async with refusing(gate, call, action, target.user_id):
        await gate.budget.charge(call, action, user_id=target.user_id)
        scope = await gate.access.scope(call, target, action)
        guard = await gate.guards.of(call.principal)
        async with gate.recall.spans.step("guard"):
            guarded = await gate.lanes.run(
                call.principal.tenant,
                size_of(query),
                partial(guard_query, guard, query, call.principal, target),
            )
        return await engine.recall(scope, guarded, gate.recall)
