"""Where a path's refusals meet the audit log, the same way for every path.

Rules this module keeps:
- What ends a call after authentication is recorded once, before the caller hears of it. If it
  cannot be recorded, the caller gets `Unavailable` instead.
- What is tampered with looks missing from outside and says so in the log.
- `Unavailable` itself is not recorded: the record that would keep it is what did not answer. But
  `Outdated` is: the record answers, and took back what the call had done, its event included.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.errors import GatewayError, NotFound, Outdated, Tampered, Unavailable
from core.scope import Action, Call
from gateway.gate import Gate


@asynccontextmanager
async def refusing(
    gate: Gate, call: Call, action: Action, user_id: str | None = None
) -> AsyncIterator[None]:
    """Record whatever refuses the call inside this block, then let it through.

    Args:
        user_id: the person the call named, if it did.

    Raises:
        GatewayError: what was raised inside; NotFound for Tampered.
        Unavailable: the refusal could not be recorded.
    """
    try:
        yield
    except Outdated as err:  # nothing of the call stands; that it was made is on record
        await gate.refusals.record(call, action, err, user_id=user_id, outcome="outdated")
        raise
    except Unavailable:
        raise
    except GatewayError as err:
        await gate.refusals.record(call, action, err, user_id=user_id)
        raise
    except Tampered as err:
        hidden = NotFound()
        await gate.refusals.record(call, action, hidden, user_id=user_id, outcome="tampered")
        raise hidden from err
