"""The audit event as a value: what was done or refused, by whom, for whom, and why.

Rules this module keeps:
- No content and no outside id: people and credentials stand as keyed hashes.
- The time is the database's, of the transaction that carries the event.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from core.ids import SYSTEM_TENANT, EventId, TenantId
from core.scope import AnyScope, OperatorScope


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One thing done or refused, named `area:object:verb`. No content; people as keyed hashes.

    Args:
        at: the database's time of the transaction that carries it.
        object: id of what was touched, or a class of things such as `memories`.
        decision: `allow` or `deny`.
        outcome: `ok`, or the code of what went wrong.
        count: how many things were touched or returned.
    """

    event_id: EventId
    tenant: TenantId
    at: datetime
    actor: str
    on_behalf_of: str | None
    action: str
    object: str
    decision: str
    rule: str
    policy_version: str
    outcome: str
    count: int
    request_id: str
    trace_id: str

    @classmethod
    def of(
        cls,
        scope: AnyScope,
        *,
        event_id: EventId,
        at: datetime,
        object: str,  # noqa: A002 - the contract's name for the field
        outcome: str = "ok",
        count: int = 1,
        action: str | None = None,
    ) -> Self:
        """Return the event of an allowed action under `scope`.

        Args:
            action: only where the event is not the scope's own action, such as a withheld memory.
        """
        return cls(
            event_id=event_id,
            tenant=SYSTEM_TENANT if isinstance(scope, OperatorScope) else scope.tenant,
            at=at,
            actor=scope.trail.actor,
            on_behalf_of=scope.trail.on_behalf_of,
            action=action or scope.action.value,
            object=object,
            decision="allow",
            rule=scope.decision.rule,
            policy_version=scope.decision.policy_version,
            outcome=outcome,
            count=count,
            request_id=scope.trail.request_id,
            trace_id=scope.trail.trace_id,
        )
