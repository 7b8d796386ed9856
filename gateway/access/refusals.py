"""What was refused is recorded too, by itself, before the caller hears of it.

Rules this module keeps:
- A refusal is one audit event in a transaction of its own; the effect it refused had none.
- If the event cannot be written, the caller gets Unavailable instead of the refusal: no audit, no
  answer.
- `deny` is what the policy said no to. A call that it allowed, and that failed otherwise (rejected
  content, nothing there, malformed), is `allow` with the error's code as its outcome.
- A person whom the call named is logged as for a call that succeeded, if it is a name at all.
"""

from core.errors import ContentRejected, Denied, GatewayError, Invalid, Outdated
from core.event import AuditEvent
from core.ids import SYSTEM_TENANT, EventId, new_uuid
from core.ports import Keyring, RecordStore, TenantKeys
from core.scope import Action, Call
from gateway.access.enforcer import Enforcer, Judged
from gateway.access.names import actor_name, person_name
from gateway.guard.identifiers import check_identifier

_OBJECTS = {
    "memory:item": "memories",
    "memory:recall": "recalls",
    "admin:tenant": "tenants",
    "admin:key": "keys",
    "admin:space": "spaces",
    "admin:policy": "policies",
    "admin:guard": "guard",
    "admin:quota": "quotas",
    "audit:event": "events",
}


class AuditRefusals:
    """Implements `gateway.gate.Refusals` on the record.

    Args:
        store: takes the events.
        keyring: names in the log are keyed hashes.
        access: says which rule allowed what then failed otherwise.
    """

    def __init__(self, store: RecordStore, keyring: Keyring, access: Enforcer) -> None:
        self._store = store
        self._keyring = keyring
        self._access = access

    async def record(
        self,
        call: Call,
        action: Action,
        error: GatewayError,
        *,
        user_id: str | None = None,
        outcome: str | None = None,
    ) -> None:
        """Append the event of a refused call.

        Args:
            call: who asked.
            action: what for.
            error: what the caller is about to get.
            user_id: the person the call named, if it did; else the one its credential pins.
            outcome: what the log says, where that is more than the caller is told; by default the
                error's code.

        Raises:
            Unavailable: the event could not be written, or the policy it names does not load, so
                the caller gets this instead.
        """
        tenant = call.principal.tenant
        keys = await self._keyring.tenant(SYSTEM_TENANT if tenant is None else tenant)
        # A malformed call may end before the policy is asked, so it is asked now: what would have
        # been denied anyway is logged as denied.
        judged = await self._judged(call, action)
        denied = isinstance(error, Denied) or not judged.allowed
        await self._store.append(
            AuditEvent(
                event_id=EventId(new_uuid()),
                tenant=keys.tenant,
                at=await self._store.now(),
                actor=actor_name(keys, call.principal.key_id),
                on_behalf_of=_person(keys, call, user_id),
                action=action.value,
                object=_OBJECTS.get(action.object, action.object),
                decision="deny" if denied else "allow",
                rule=error.rule if isinstance(error, Denied) else judged.rule,
                policy_version=judged.policy_version,
                outcome=outcome or error.code,
                count=len(error.reasons) if isinstance(error, ContentRejected) else 0,
                request_id=call.request_id,
                trace_id=call.trace_id,
            )
        )

    async def _judged(self, call: Call, action: Action) -> Judged:
        try:
            return await self._access.ruling(call.principal, action)
        except Outdated:  # the policy it would be judged by is no longer there to read
            version = call.principal.standing.policy
            return Judged(allowed=False, rule="outdated", policy_version=version)


def _person(keys: TenantKeys, call: Call, user_id: str | None) -> str | None:
    if call.principal.tenant is None:
        return None
    name = call.principal.pinned_user if user_id is None else user_id
    if name is None:
        return None
    try:
        check_identifier("user_id", name)
    except Invalid:
        return None
    return person_name(keys, name)
