"""An audit log in lists, as a database that somebody else may write could hold it."""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import Unavailable
from core.event import AuditEvent
from core.ids import SYSTEM_TENANT, EventId, TenantId, WriterId, new_uuid
from core.ports import LoggedEvent, SignedEvent
from core.ports.seal import Checkpoint, SealBatch
from gateway.audit.writer import Writer
from gateway.vault.secret import Secret

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEY = Secret(b"k" * 32)
SEED = b"s" * 32


@dataclass
class Row:
    """One row of the table, as anybody with the database may change it."""

    signed: SignedEvent
    sequence: int | None = None
    prev: bytes | None = None
    hash: bytes | None = None
    aside: bool = False


class FakeSealStore:
    """Implements `core.ports.seal.SealStore`."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.signed: list[Checkpoint] = []
        self.at: dict[WriterId, int] = {}
        self.time = NOON
        self.down = False

    def add(self, *events: SignedEvent) -> None:
        """Commit events, as a gateway's transaction does."""
        taken = {(row.signed.writer, row.signed.number) for row in self.rows}
        for event in events:
            assert (event.writer, event.number) not in taken
            self.rows.append(Row(event))

    def of(self, tenant: TenantId) -> list[Row]:
        """Return the sealed rows of a tenant, in order."""
        rows = [row for row in self.rows if row.signed.event.tenant == tenant and row.sequence]
        return sorted(rows, key=lambda row: row.sequence or 0)

    async def now(self) -> datetime:
        self._answer()
        self.time += timedelta(milliseconds=1)
        return self.time

    async def unsealed(self, limit: int) -> list[SignedEvent]:
        self._answer()
        waiting = [row.signed for row in self.rows if row.sequence is None and not row.aside]
        waiting.sort(key=lambda signed: (signed.writer, signed.number))
        counts: dict[WriterId, int] = {}
        found = []
        for signed in waiting:
            counts[signed.writer] = counts.get(signed.writer, 0) + 1
            if counts[signed.writer] <= limit:
                found.append(signed)
        return found

    async def cursors(self, writers: Collection[WriterId]) -> dict[WriterId, int]:
        self._answer()
        return {writer: self.at[writer] for writer in writers if writer in self.at}

    async def heads(
        self, tenants: Collection[TenantId] | None = None
    ) -> dict[TenantId, Checkpoint]:
        self._answer()
        found: dict[TenantId, Checkpoint] = {}
        for one in sorted(self.signed, key=lambda checkpoint: checkpoint.size):
            if tenants is None or one.tenant in tenants:
                found[one.tenant] = one
        return found

    async def commit(self, batch: SealBatch) -> bool:
        self._answer()
        heads = await self.heads(list(batch.expected))
        rows = {row.signed.event.event_id: row for row in self.rows}
        rows |= {signed.event.event_id: Row(signed) for signed in batch.added}
        for tenant, size in batch.expected.items():
            if (heads[tenant].size if tenant in heads else 0) != size:
                return False
        for place in batch.placed:
            if place.event_id not in rows or rows[place.event_id].sequence is not None:
                return False
        for place in batch.placed:
            row = rows[place.event_id]
            assert row.signed.event.tenant == place.tenant
            row.sequence, row.prev, row.hash = place.sequence, place.prev, place.hash
        for event_id in batch.aside:
            rows[event_id].aside = True
        self.rows = list(rows.values())
        self.signed += batch.checkpoints
        for writer, number in batch.cursors.items():
            self.at[writer] = max(number, self.at.get(writer, 0))
        return True

    async def add_voids(self, events: Sequence[SignedEvent]) -> None:
        self._answer()
        taken = {(row.signed.writer, row.signed.number) for row in self.rows}
        self.add(*(event for event in events if (event.writer, event.number) not in taken))

    async def tenants(self) -> list[TenantId]:
        self._answer()
        return sorted(
            {row.signed.event.tenant for row in self.rows} | {one.tenant for one in self.signed}
        )

    async def stream(
        self, tenant: TenantId, *, after: int = 0, limit: int | None = None
    ) -> AsyncIterator[LoggedEvent]:
        self._answer()
        rows = [row for row in self.of(tenant) if (row.sequence or 0) > after]
        for row in rows[:limit]:
            yield LoggedEvent(
                signed=row.signed, sequence=row.sequence, prev=row.prev, hash=row.hash
            )

    async def checkpoints(self, tenant: TenantId) -> AsyncIterator[Checkpoint]:
        self._answer()
        for one in sorted(self.signed, key=lambda checkpoint: checkpoint.size):
            if one.tenant == tenant:
                yield one

    def _answer(self) -> None:
        if self.down:
            raise Unavailable


def make_event(tenant: TenantId, **changes) -> AuditEvent:
    """Return an event such as a recall leaves."""
    values: dict[str, Any] = {
        "event_id": EventId(new_uuid()),
        "tenant": tenant,
        "at": NOON,
        "actor": "a" * 32,
        "on_behalf_of": "b" * 32,
        "action": "memory:item:recall",
        "object": "memories",
        "decision": "allow",
        "rule": "p:role:reader,memory:item,recall",
        "policy_version": "0123456789ab",
        "outcome": "ok",
        "count": 3,
        "request_id": "r-1",
        "trace_id": "",
    }
    return AuditEvent(**(values | changes))


def committed(writer: Writer, store: FakeSealStore, tenant: TenantId, count: int = 1) -> None:
    """Sign and commit `count` events."""
    for number in range(count):
        at = NOON + timedelta(seconds=len(store.rows))
        signed = writer.sign(make_event(tenant, count=number, at=at))
        store.add(signed)
        writer.committed(signed)


def actions(store: FakeSealStore, tenant: TenantId = SYSTEM_TENANT) -> list[str]:
    """Return the actions of a tenant's sealed events, in order."""
    return [row.signed.event.action for row in store.of(tenant)]
