"""An `Idempotency-Key` and its one effect.

Rules this module keeps:
- The key belongs to its principal; the same key with another request is a conflict, and the reply
  that is kept is sealed and read again only after the caller was authorised again.
- Claim, effect and reply commit together (core.write.settle), so that a repeat never half exists.
- Errors are not kept: a request that failed may be tried again under its key.
"""

import json
from datetime import datetime

from core.errors import Conflict, NotFound
from core.ids import EventId, parse_memory_id, parse_uuid
from core.model import Outcome, Receipt, Redaction, Sensitivity, Status
from core.owners import owner_into
from core.ports import Claim, Keyring, Place, RecordStore, Reply, TenantKeys
from core.scope import Principal, Scope
from gateway.gate import Once


def claim_of(once: Once, principal: Principal, keys: TenantKeys) -> Claim:
    """Return the claim that `once` stands for, under the tenant's keys."""
    return Claim(
        key=keys.blind("idempotency", f"key\x00{principal.key_id}\x00{once.key}"),
        body=keys.blind("idempotency", "body\x00" + once.request.hex()),
    )


def matching(reply: Reply, claim: Claim) -> Reply:
    """Return `reply` if it answers the same request. Raises: Conflict."""
    if reply.body != claim.body:
        raise Conflict("This Idempotency-Key was used for another request.")
    return reply


async def replayed(
    scope: Scope, claim: Claim, store: RecordStore, keyring: Keyring
) -> Receipt | None:
    """Return the receipt that was given before, or None when the claim is new.

    Raises:
        Conflict: the key stands for another request.
        NotFound: its person was erased since.
        Tampered: the reply is not what was sealed.
    """
    reply = await store.replayed(scope, claim)
    if reply is None:
        return None
    matching(reply, claim)
    keys = await keyring.owner(owner_into(scope))
    if keys is None:
        raise NotFound
    return receipt_from(keys.open(Place(record=reply.id, version=1, field="reply"), reply.sealed))


def receipt_bytes(receipt: Receipt) -> bytes:
    """Return the JSON under which a receipt is sealed; `receipt_from` undoes it."""
    return json.dumps(
        {
            "outcomes": [
                {
                    "id": str(outcome.id),
                    "status": outcome.status.value,
                    "version": outcome.version,
                    "supersedes": None if outcome.supersedes is None else str(outcome.supersedes),
                    "expires_at": (
                        None if outcome.expires_at is None else outcome.expires_at.isoformat()
                    ),
                    "sensitivity": outcome.sensitivity.value,
                }
                for outcome in receipt.outcomes
            ],
            "redactions": [
                [item.kind, item.action, item.field, item.count] for item in receipt.redactions
            ],
            "event_id": str(receipt.event_id),
        }
    ).encode()


def receipt_from(data: bytes) -> Receipt:
    """Return the receipt that `receipt_bytes` wrote."""
    values = json.loads(data)
    return Receipt(
        outcomes=tuple(
            Outcome(
                id=parse_memory_id(item["id"]),
                status=Status(item["status"]),
                version=item["version"],
                supersedes=item["supersedes"] and parse_memory_id(item["supersedes"]),
                expires_at=item["expires_at"] and datetime.fromisoformat(item["expires_at"]),
                sensitivity=Sensitivity(item["sensitivity"]),
            )
            for item in values["outcomes"]
        ),
        redactions=tuple(
            Redaction(kind=kind, action=action, field=field, count=count)
            for kind, action, field, count in values["redactions"]
        ),
        event_id=EventId(parse_uuid(values["event_id"])),
    )
