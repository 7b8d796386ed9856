"""Kept replies of idempotency keys.

Rules this module keeps:
- A key has one effect: who comes second waits for the first, and then finds its reply.
- A reply counts for 24 hours by the database's time; then its key is free.
"""

from core.adapters.postgres.pool import Transaction
from core.adapters.postgres.queries import query
from core.ids import TenantId
from core.ports import Claim, Repeated, Reply


async def settle(transaction: Transaction, tenant: TenantId, claim: Claim, reply: Reply) -> None:
    """Keep `reply` under `claim`. Raises: Repeated, Unavailable."""
    taken = await transaction.rows(
        query("settle"),
        {
            "tenant": tenant,
            "key": claim.key,
            "body": reply.body,
            "reply": reply.sealed,
            "reply_id": reply.id,
        },
    )
    if not taken:
        raise Repeated


async def replayed(transaction: Transaction, tenant: TenantId, claim: Claim) -> Reply | None:
    """Return the reply that still counts, or None. Raises: Unavailable."""
    found = await transaction.rows(query("replayed"), {"tenant": tenant, "key": claim.key})
    if not found:
        return None
    ((body, sealed, reply),) = found
    return Reply(body=body, sealed=sealed, id=reply)
