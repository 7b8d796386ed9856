"""Rows of the database as values of the engine.

Rules this module keeps:
- The order of the columns is that of the fragments `row`, `event` and `key_columns`; nothing else
  knows it.
- A word that the engine does not know is a fault of the record, not of the caller.
"""

from collections.abc import Sequence
from typing import Any

from core.event import AuditEvent
from core.ids import EventId, KeyId, SpaceId, TenantId, WriterId
from core.model import Kind, Layer, Persistence, Row, Sensitivity, State, Trust
from core.ports import (
    Audience,
    KeyRow,
    LoggedEvent,
    MemberKind,
    MemberRole,
    MemberRow,
    Membership,
    PolicyRow,
    SealedPseudonym,
    SignedEvent,
    SpaceRow,
)
from core.ports.seal import Checkpoint
from core.scope import Role, SourceKind, Standing

EVENT_COLUMNS = 18

# Looked up, since calling the class costs ten times as much and a recall reads hundreds.
_LAYERS = {member.value: member for member in Layer}
_KINDS = {member.value: member for member in Kind}
_STATES = {member.value: member for member in State}
_PERSISTENCES = {member.value: member for member in Persistence}
_SENSITIVITIES = {member.value: member for member in Sensitivity}
_TRUSTS = {member.value: member for member in Trust}
_SOURCES = {member.value: member for member in SourceKind}


def memory_row(values: Sequence[Any]) -> Row:
    """Return the memory in the columns of the fragment `row`."""
    (
        memory,
        version,
        user,
        namespace,
        space,
        layer,
        kind,
        state,
        importance,
        confidence,
        persistence,
        sensitivity,
        trust,
        source_kind,
        *rest,
    ) = values
    (
        outcome,
        occurred_at,
        valid_from,
        valid_until,
        expires_at,
        until_session_end,
        ends_by,
        created_at,
        updated_at,
        last_used_at,
        uses,
        chunks,
        content,
        details,
    ) = rest
    return Row(
        id=memory,
        version=version,
        user=user,
        namespace=namespace,
        space=space,
        layer=_LAYERS[layer],
        kind=_KINDS[kind],
        state=_STATES[state],
        importance=importance,
        confidence=confidence,
        persistence=_PERSISTENCES[persistence],
        sensitivity=_SENSITIVITIES[sensitivity],
        trust=_TRUSTS[trust],
        source_kind=_SOURCES[source_kind],
        outcome=outcome,
        occurred_at=occurred_at,
        valid_from=valid_from,
        valid_until=valid_until,
        expires_at=expires_at,
        until_session_end=until_session_end,
        ends_by=ends_by,
        created_at=created_at,
        updated_at=updated_at,
        last_used_at=last_used_at,
        uses=uses,
        chunks=chunks,
        content=content,
        details=details,
    )


def pseudonym_row(values: Sequence[Any]) -> SealedPseudonym:
    """Return what is kept of one word, as `pseudonyms_of_memory` and its like select it."""
    memory, version, namespace, space, user, token, sealed = values
    return SealedPseudonym(
        memory=memory,
        version=version,
        namespace=namespace,
        space=space,
        user=user,
        token=token,
        sealed=sealed,
    )


def key_row(values: Sequence[Any]) -> KeyRow:
    """Return the API key in the columns of the fragment `key_columns`, and how its tenant stands if
    that was read with it.
    """
    tenant = TenantId(values[1])
    return KeyRow(
        id=KeyId(values[0]),
        tenant=tenant if tenant.int else None,
        roles=frozenset(Role(role) for role in values[2]),
        ceiling=SourceKind(values[3]),
        grants=values[4],
        secret_mac=values[5],
        previous_mac=values[6],
        pepper_version=values[7],
        created_at=values[8],
        expires_at=values[9],
        revoked_at=values[10],
        usable=values[11],
        last_used_at=values[12],
        standing=standing(values[13:]) if values[13:] else Standing(),
    )


def standing(values: Sequence[Any]) -> Standing:
    """Return how a tenant's rights stand, in epoch, policy, quotas, pii, secrets."""
    epoch, policy, quotas, pii, secrets = values
    return Standing(epoch=epoch, policy=policy, quotas=quotas, pii=pii, secrets=secrets)


def space_row(values: Sequence[Any]) -> SpaceRow:
    """Return the space in the columns of the fragment `space_columns`."""
    space, key, name, audience, created_at = values
    return SpaceRow(
        id=SpaceId(space),
        key=key,
        name=name,
        audience=Audience(audience),
        created_at=created_at,
    )


def member_row(values: Sequence[Any]) -> MemberRow:
    """Return the member in space, kind, member, name, role, created_at."""
    space, kind, key, name, role, created_at = values
    return MemberRow(
        space=SpaceId(space),
        kind=MemberKind(kind),
        key=key,
        name=name,
        role=MemberRole(role),
        created_at=created_at,
    )


def policy_row(values: Sequence[Any]) -> PolicyRow:
    """Return the policy in kind, version, sealed."""
    kind, version, sealed = values
    return PolicyRow(kind=kind, version=version, sealed=sealed)


def membership(values: Sequence[Any]) -> Membership:
    """Return the membership in space, its look-up, audience, role."""
    space, key, audience, role = values
    return Membership(
        space=SpaceId(space), key=key, audience=Audience(audience), role=MemberRole(role)
    )


def signed_event(values: Sequence[Any]) -> SignedEvent:
    """Return the audit event in the columns of the fragment `event`."""
    return SignedEvent(
        event=AuditEvent(
            tenant=TenantId(values[0]),
            event_id=EventId(values[1]),
            at=values[2],
            actor=values[3],
            on_behalf_of=values[4],
            action=values[5],
            object=values[6],
            decision=values[7],
            rule=values[8],
            policy_version=values[9],
            outcome=values[10],
            count=values[11],
            request_id=values[12],
            trace_id=values[13],
        ),
        writer=WriterId(values[14]),
        number=values[15],
        digest=values[16],
        mac=values[17],
    )


def logged_event(values: Sequence[Any]) -> LoggedEvent:
    """Return the event in `event`, `sequence`, `prev`, `hash`."""
    sequence, prev, hash_ = values[EVENT_COLUMNS:]
    return LoggedEvent(signed=signed_event(values), sequence=sequence, prev=prev, hash=hash_)


def event_parameters(signed: SignedEvent) -> dict[str, Any]:
    """Return the parameters of `append_event`."""
    event = signed.event
    return {
        "tenant": event.tenant,
        "event_id": event.event_id,
        "at": event.at,
        "actor": event.actor,
        "on_behalf_of": event.on_behalf_of,
        "action": event.action,
        "object": event.object,
        "decision": event.decision,
        "rule": event.rule,
        "policy_version": event.policy_version,
        "outcome": event.outcome,
        "count": event.count,
        "request_id": event.request_id,
        "trace_id": event.trace_id,
        "writer": signed.writer,
        "number": signed.number,
        "digest": signed.digest,
        "mac": signed.mac,
    }


def checkpoint(values: Sequence[Any]) -> Checkpoint:
    """Return the checkpoint in tenant, size, head, at, key_id, signature."""
    tenant, size, head, at, key_id, signature = values
    return Checkpoint(
        tenant=TenantId(tenant), size=size, head=head, at=at, key_id=key_id, signature=signature
    )
