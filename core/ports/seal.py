"""The sealing side of the audit log: where rows get their place in a tenant's chain.

Rules this port keeps:
- Rows are appended by many writers and placed by one sealer; a row without a sequence waits for it.
- Everything of one run goes in by one transaction that compares heads first, or not at all: two
  sealers that race leave one history.
- What is read back here is not believed: the sealer checks MACs and signatures, the verifier all.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.ids import EventId, TenantId, WriterId
from core.ports.audit import LoggedEvent, SignedEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A signed head of one tenant's chain.

    Args:
        size: number of events up to here, which is the sequence of the last one; at least 1.
        head: hash of that event, 32 bytes.
        at: the database's time at which it was signed.
        key_id: first 8 bytes, as 16 hex digits, of SHA-256 of the raw public key.
        signature: Ed25519 over the checkpoint's text form, 64 bytes.
    """

    tenant: TenantId
    size: int
    head: bytes
    at: datetime
    key_id: str
    signature: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The place that one event gets: `sequence` from 1 in its tenant; `prev`, `hash` 32 bytes."""

    event_id: EventId
    tenant: TenantId
    sequence: int
    prev: bytes
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SealBatch:
    """All that one run of the sealer changes, for one transaction.

    Args:
        expected: size of each touched tenant's last checkpoint, 0 where there is none.
        added: the sealer's own new events (gaps, alarms); inserted first, without a sequence.
        placed: rows that get a sequence, those of `added` among them; they have none yet.
        aside: rows that shall not be returned by `unsealed` again, and keep no sequence.
        checkpoints: one a touched tenant.
        cursors: number of each writer up to which nothing is awaited any more; never goes back.
    """

    expected: Mapping[TenantId, int]
    added: Sequence[SignedEvent] = ()
    placed: Sequence[Placed] = ()
    aside: Sequence[EventId] = ()
    checkpoints: Sequence[Checkpoint] = ()
    cursors: Mapping[WriterId, int] = field(default_factory=dict)


class SealStore(Protocol):
    """What the sealer and the verifier need of the record. Every method raises Unavailable."""

    async def now(self) -> datetime:
        """Return the database's time."""
        ...

    async def unsealed(self, limit: int) -> list[SignedEvent]:
        """Return rows of any tenant without a sequence and not set aside, by writer and number.

        Args:
            limit: at most so many of each writer, its lowest numbers first, so that a writer that
                waits for a number starves no other and never hides that number behind later ones.
        """
        ...

    async def cursors(self, writers: Collection[WriterId]) -> dict[WriterId, int]:
        """Return the cursor of each of `writers` that has one."""
        ...

    async def heads(
        self, tenants: Collection[TenantId] | None = None
    ) -> dict[TenantId, Checkpoint]:
        """Return the last checkpoint (largest size) of each tenant that has one; None asks all."""
        ...

    async def commit(self, batch: SealBatch) -> bool:
        """Apply `batch` in one transaction, or nothing of it and return False.

        False when the last checkpoint of a tenant is not of the expected size, or when one of the
        rows already has a sequence or is not there. Only one run commits at a time.
        """
        ...

    async def add_voids(self, events: Sequence[SignedEvent]) -> None:
        """Insert events that fill lost numbers of a writer.

        One whose (writer, number) is there already is left out: then the transaction that looked
        lost did commit, and its own event stands.
        """
        ...

    async def tenants(self) -> list[TenantId]:
        """Return every tenant that has an audit event or a checkpoint, the system's included."""
        ...

    def stream(
        self, tenant: TenantId, *, after: int = 0, limit: int | None = None
    ) -> AsyncIterator[LoggedEvent]:
        """Yield the tenant's sealed events with a sequence above `after`, in that order.

        Nothing is left out and nothing is merged, so that the verifier sees what is stored.

        Args:
            limit: stop after so many; None for all.
        """
        ...

    def checkpoints(self, tenant: TenantId) -> AsyncIterator[Checkpoint]:
        """Yield the tenant's checkpoints, smallest size first."""
        ...
