"""The writing side of the audit log, as the record sees it."""

from dataclasses import dataclass
from typing import Protocol

from core.event import AuditEvent
from core.ids import WriterId


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedEvent:
    """An audit event with its place among its writer's own and a MAC the database cannot make.

    Args:
        number: running number of this writer, from 1, no gaps but voided ones.
        digest: SHA-256 of the event's canonical form, 32 bytes.
        mac: HMAC over (writer, number, digest), 32 bytes.
    """

    event: AuditEvent
    writer: WriterId
    number: int
    digest: bytes
    mac: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent:
    """An audit event as read from the log; `sequence`, `prev`, `hash` are None until sealed."""

    signed: SignedEvent
    sequence: int | None
    prev: bytes | None
    hash: bytes | None


class AuditWriter(Protocol):
    """Numbers and MACs audit events for one process. Pure memory; the record keeps them."""

    def sign(self, event: AuditEvent) -> SignedEvent:
        """Return `event` with the next number."""
        ...

    def committed(self, signed: SignedEvent) -> None:
        """Its transaction committed."""
        ...

    def lost(self, signed: SignedEvent) -> None:
        """Its transaction did not commit: the number will be voided, so that no gap stays."""
        ...
