"""How an audit event is written down: the bytes that are hashed, and the JSON that is shown.

Rules this module keeps:
- One event, one sequence of bytes: fields in a fixed order, each with its number, its type and its
  length, so that no two events share a form and no field can run into the next.
- The JSON holds everything that the bytes hold, so that anybody can make the bytes from the JSON.
- Times are UTC with six decimals and a `Z`, in both.

`docs/audit.md` describes both for somebody who writes a verifier.
"""

import hashlib
from datetime import UTC, datetime
from typing import Final

from core.event import AuditEvent
from core.ports import LoggedEvent, SignedEvent

_DOMAIN: Final = b"memwarden/audit/event/1\0"
_NULL, _TEXT, _NUMBER = b"\0", b"\1", b"\2"

Wire = dict[str, str | int | None]
"""The JSON form of an event."""


def spell_time(at: datetime) -> str:
    """Return `at` as RFC 3339 in UTC, always with six decimals: `2026-01-02T03:04:05.000006Z`."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def canonical(event: AuditEvent) -> bytes:
    """Return the bytes of `event`: the domain, then number, type, 4-byte length, value a field."""
    fields: tuple[str | int | None, ...] = (
        str(event.event_id),
        spell_time(event.at),
        str(event.tenant),
        event.actor,
        event.on_behalf_of,
        event.action,
        event.object,
        event.decision,
        event.rule,
        event.policy_version,
        event.outcome,
        event.count,
        event.request_id,
        event.trace_id,
    )
    return _DOMAIN + b"".join(_field(number, value) for number, value in enumerate(fields, 1))


def digest(event: AuditEvent) -> bytes:
    """Return the SHA-256 of the canonical form, 32 bytes."""
    return hashlib.sha256(canonical(event)).digest()


def to_wire(logged: LoggedEvent) -> Wire:
    """Return the event as CONTRACT shows it; `sequence`, `prev`, `hash` are None until sealed."""
    event = logged.signed.event
    return {
        "event_id": str(event.event_id),
        "sequence": logged.sequence,
        "at": spell_time(event.at),
        "tenant": str(event.tenant),
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
        "prev": _hex(logged.prev),
        "hash": _hex(logged.hash),
    }


def to_record(logged: LoggedEvent) -> Wire:
    """Return `to_wire` and what a verifier needs beside it: `writer`, `number` and `mac`."""
    return to_wire(logged) | to_proof(logged.signed)


def to_proof(signed: SignedEvent) -> Wire:
    """Return the writer, its running number and its MAC, as a verifier reads them."""
    return {"writer": str(signed.writer), "number": signed.number, "mac": signed.mac.hex()}


def _field(number: int, value: str | int | None) -> bytes:
    if value is None:
        kind, data = _NULL, b""
    elif isinstance(value, int):
        kind, data = _NUMBER, str(value).encode()
    else:
        kind, data = _TEXT, value.encode()
    return bytes([number]) + kind + len(data).to_bytes(4, "big") + data


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
