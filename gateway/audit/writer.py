"""Numbers and MACs the audit events of one process.

Rules this module keeps:
- A process is one writer with an id of its own; its numbers start at 1 and skip none. So a row that
  vanishes before it is sealed leaves a hole that the sealer sees.
- The MAC is made under a key that the database does not hold, so a row cannot be made there either.
- A number whose transaction did not commit is filled with an event that says so, under the same
  writer and number. If the transaction did commit after all, the record refuses the filler, since
  the number is taken.
"""

import asyncio
import contextlib
import threading
from typing import Final, Protocol

from core.errors import GatewayError
from core.event import AuditEvent
from core.ids import SYSTEM_TENANT, EventId, WriterId, new_uuid
from core.ports import SignedEvent
from core.ports.seal import SealStore
from gateway.audit.event import digest

VOID: Final = "audit:writer:void"
"""Action of the event that fills a lost number."""

MAX_NUMBER: Final = 2**63 - 1
"""Highest number that a writer may use; a column of 8 bytes holds it."""

_DOMAIN: Final = b"memwarden/audit/mac/1\0"


class MacKey(Protocol):
    """The audit writers' key, shared by every process of a deployment."""

    def mac(self, message: bytes) -> bytes:
        """Return the 32-byte HMAC-SHA-256 of `message`."""
        ...


def event_mac(key: MacKey, writer: WriterId, number: int, event_digest: bytes) -> bytes:
    """Return the MAC of one numbered event, 32 bytes.

    Args:
        key: the audit writers' key.
        writer, number: where it stands.
        event_digest: SHA-256 of its canonical form.
    """
    return key.mac(_DOMAIN + writer.bytes + number.to_bytes(8, "big") + event_digest)


class Writer:
    """Implements `core.ports.AuditWriter` for one process.

    Args:
        key: the audit writers' key.
    """

    def __init__(self, key: MacKey) -> None:
        self.id = WriterId(new_uuid())
        self._key = key
        self._lock = threading.Lock()
        self._last = 0
        self._lost: set[int] = set()

    def sign(self, event: AuditEvent) -> SignedEvent:
        """Return `event` with the next number of this writer."""
        with self._lock:
            self._last += 1
            number = self._last
        return self._signed(event, number)

    def committed(self, signed: SignedEvent) -> None:
        """Its transaction committed: nothing is left to do for this number."""

    def lost(self, signed: SignedEvent) -> None:
        """Its transaction did not commit, or nobody knows: the number is to be filled."""
        if signed.writer == self.id:
            with self._lock:
                self._lost.add(signed.number)

    async def flush(self, store: SealStore) -> int:
        """Fill the lost numbers in `store`; returns how many there were.

        Raises:
            Unavailable: the store did not answer; they are tried again with the next call.
        """
        with self._lock:
            numbers = sorted(self._lost)
        if not numbers:
            return 0
        now = await store.now()
        voids = [
            self._signed(
                AuditEvent(
                    event_id=EventId(new_uuid()),
                    tenant=SYSTEM_TENANT,
                    at=now,
                    actor="-",
                    on_behalf_of=None,
                    action=VOID,
                    object=f"{self.id}:{number}",
                    decision="allow",
                    rule="audit:writer",
                    policy_version="-",
                    outcome="void",
                    count=0,
                    request_id="-",
                    trace_id="",
                ),
                number,
            )
            for number in numbers
        ]
        await store.add_voids(voids)
        with self._lock:
            self._lost.difference_update(numbers)
        return len(numbers)

    async def run(self, store: SealStore, stop: asyncio.Event, *, seconds: float = 1.0) -> None:
        """Fill lost numbers every `seconds` until `stop` is set, and once more then."""
        while True:
            stopping = stop.is_set()
            with contextlib.suppress(GatewayError):  # they stay in memory and are tried again
                await self.flush(store)
            if stopping:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), seconds)

    def _signed(self, event: AuditEvent, number: int) -> SignedEvent:
        event_digest = digest(event)
        mac = event_mac(self._key, self.id, number, event_digest)
        return SignedEvent(event=event, writer=self.id, number=number, digest=event_digest, mac=mac)
