"""The single sealer: it gives committed events their place, signs the head, and anchors it outside.

Rules this module keeps:
- Events commit under no shared lock; their order is made here, afterwards, by whoever's batch finds
  the heads as it expected them. A batch goes in whole or not at all, so racing sealers and crashes
  leave one history.
- A row without a valid MAC was not written by us: it gets no place, is set aside, and an event says
  so.
- A hole in a writer's numbers is waited for, then sealed as a visible gap.
- No head is signed that does not extend the last one known here or in the anchor. A chain that was
  turned back, forked or signed by somebody else is left as it is, and said to be broken; the other
  tenants' chains go on.
- The anchor is written after the commit. What a crash leaves unanchored, the next start anchors.
"""

import asyncio
import contextlib
import hmac
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from core.errors import GatewayError, Unavailable
from core.event import AuditEvent
from core.ids import SYSTEM_TENANT, EventId, TenantId, new_uuid
from core.ports import SignedEvent
from core.ports.seal import Checkpoint, Placed, SealBatch, SealStore
from gateway.audit.arrivals import Arrivals, Arrived
from gateway.audit.chain import extend, genesis
from gateway.audit.checkpoint import AnchorFile, CheckpointSigner
from gateway.audit.event import digest
from gateway.audit.writer import MAX_NUMBER, MacKey, Writer, event_mac

GAP: Final = "audit:writer:gap"
"""Action of the event that says which numbers of a writer never came: `writer:first-last`."""
FORGED: Final = "audit:event:forge"
"""Action of the event that says which row had no valid MAC."""
BROKEN: Final = "audit:chain:break"
"""Action of the event that says which tenant's chain no longer extends what was signed."""

BATCH = 1000
"""Events of one writer that one run takes."""


@dataclass(slots=True)
class _Alarm:
    """One event of the sealer's own."""

    action: str
    object: str
    outcome: str
    count: int = 1


@dataclass(slots=True)
class _Run:
    """What one run is going to change."""

    now: datetime
    arrived: Arrived
    forged: Sequence[SignedEvent]
    alarms: list[_Alarm] = field(default_factory=list)
    added: list[SignedEvent] = field(default_factory=list)
    aside: list[EventId] = field(default_factory=list)
    expected: dict[TenantId, int] = field(default_factory=dict)
    placed: list[Placed] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)


class Sealer:
    """Seals what has been committed.

    Args:
        store: the record's side of sealing.
        key: the audit writers' key; recognises rows of any process and MACs the sealer's own.
        signer: signs heads.
        anchor: where heads are kept outside the database.
        gap_seconds: how long a missing number is waited for.
        monotonic: seconds; only differences are used.
    """

    def __init__(
        self,
        store: SealStore,
        key: MacKey,
        signer: CheckpointSigner,
        anchor: AnchorFile,
        *,
        gap_seconds: float = 10.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._key = key
        self._signer = signer
        self._anchor = anchor
        self._arrivals = Arrivals(patience_seconds=gap_seconds, monotonic=monotonic)
        # A writer of its own: this loop alone uses its numbers, so none of them is ever in flight.
        self._writer = Writer(key)
        self._known: dict[TenantId, Checkpoint] = {}
        self._unanchored: dict[TenantId, Checkpoint] = {}
        self._broken: dict[TenantId, str] = {}
        self._told: set[TenantId] = set()
        self._checked = False
        self._running = asyncio.Lock()

    @property
    def broken(self) -> Mapping[TenantId, str]:
        """Tenants whose chain no longer extends what was signed, and in which way."""
        return dict(self._broken)

    async def run_once(self) -> int:
        """Seal what is there; returns how many events got their place.

        The first run compares every anchored head with the record before anything is signed.

        Raises:
            Unavailable: the record did not answer, or the anchor cannot be read or written; nothing
                is lost, the next run goes on.
        """
        async with self._running:
            if not self._checked:
                await self._check_all()
            await self._writer.flush(self._store)
            rows = await self._store.unsealed(BATCH)
            sealed = 0
            if rows or self._broken.keys() - self._told:
                sealed = await self._seal(rows)
            await self._anchor_heads()
            return sealed

    async def run(self, stop: asyncio.Event, *, seconds: float = 0.25) -> None:
        """Seal until `stop` is set, and once more then; looks for new events every `seconds`."""
        while True:
            stopping = stop.is_set()
            sealed = 0
            with contextlib.suppress(GatewayError):  # tried again; what waits is not lost
                sealed = await self.run_once()
            if stopping:
                return
            if sealed < BATCH:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), seconds)

    async def _seal(self, rows: Sequence[SignedEvent]) -> int:
        run = await self._judge(rows)
        by_tenant: dict[TenantId, list[SignedEvent]] = defaultdict(list)
        for row in run.arrived.ready:
            by_tenant[row.event.tenant].append(row)
        heads = await self._store.heads({*by_tenant, SYSTEM_TENANT})
        for tenant in {*by_tenant, SYSTEM_TENANT}:
            await self._check(tenant, heads.get(tenant))
        self._raise_alarms(run)
        by_tenant[SYSTEM_TENANT] += run.added
        for tenant, events in by_tenant.items():
            if tenant in self._broken:
                run.aside += [row.event.event_id for row in events]
            elif events:
                self._place(run, heads.get(tenant), events)
        return await self._commit(run)

    async def _judge(self, rows: Sequence[SignedEvent]) -> _Run:
        genuine: list[SignedEvent] = []
        forged: list[SignedEvent] = []
        for row in rows:
            (genuine if self._is_ours(row) else forged).append(row)
        cursors = await self._store.cursors({row.writer for row in genuine})
        arrived = self._arrivals.judge(genuine, cursors)
        return _Run(
            now=await self._store.now(),
            arrived=arrived,
            forged=forged,
            aside=[row.event.event_id for row in forged],
        )

    def _is_ours(self, row: SignedEvent) -> bool:
        if not 0 < row.number <= MAX_NUMBER:
            return False
        computed = digest(row.event)
        mac = event_mac(self._key, row.writer, row.number, computed)
        return computed == row.digest and hmac.compare_digest(mac, row.mac)

    def _raise_alarms(self, run: _Run) -> None:
        """Write the run's own events: at the head of its changes, so that they go in with them."""
        for gap in run.arrived.gaps:
            numbers = f"{gap.writer}:{gap.first}-{gap.last}"
            run.alarms.append(_Alarm(GAP, numbers, "gap", gap.last - gap.first + 1))
        run.alarms += [_Alarm(FORGED, str(row.event.event_id), "forged") for row in run.forged]
        for tenant in sorted(self._broken.keys() - self._told):
            run.alarms.append(_Alarm(BROKEN, str(tenant), self._broken[tenant]))
        for alarm in run.alarms:
            run.added.append(self._writer.sign(_event(alarm, run.now)))
            run.arrived.cursors[self._writer.id] = run.added[-1].number

    def _place(self, run: _Run, head: Checkpoint | None, events: Iterable[SignedEvent]) -> None:
        ordered = sorted(events, key=lambda row: (row.event.at, row.event.event_id))
        tenant = ordered[0].event.tenant
        size, last = (head.size, head.head) if head is not None else (0, genesis(tenant))
        placed = extend(size, last, ordered)
        run.expected[tenant] = size
        run.placed += placed
        run.checkpoints.append(
            self._signer.sign(tenant, placed[-1].sequence, placed[-1].hash, run.now)
        )

    async def _commit(self, run: _Run) -> int:
        if not (run.placed or run.aside or run.arrived.cursors):
            return 0
        done = False
        try:
            done = await self._store.commit(
                SealBatch(
                    expected=run.expected,
                    added=run.added,
                    placed=run.placed,
                    aside=run.aside,
                    checkpoints=run.checkpoints,
                    cursors=run.arrived.cursors,
                )
            )
        finally:
            if not done:  # somebody else was first, or nobody knows: the next run looks again
                for signed in run.added:
                    self._writer.lost(signed)
        if not done:
            return 0
        for checkpoint in run.checkpoints:
            self._known[checkpoint.tenant] = self._unanchored[checkpoint.tenant] = checkpoint
        self._told |= {TenantId(UUID(one.object)) for one in run.alarms if one.action == BROKEN}
        return len(run.placed)

    async def _check_all(self) -> None:
        try:
            anchored = await asyncio.to_thread(self._anchor.last)
        except OSError as err:
            raise Unavailable from err
        heads = await self._store.heads()
        for tenant, checkpoint in anchored.items():
            if self._signer.recognises(checkpoint):
                self._known[tenant] = checkpoint
            else:
                self._broken[tenant] = "signature"
        for tenant in anchored.keys() | heads.keys():
            head = heads.get(tenant)
            await self._check(tenant, head)
            if head is not None and tenant not in self._broken and anchored.get(tenant) != head:
                self._known[tenant] = self._unanchored[tenant] = head
        self._checked = True

    async def _check(self, tenant: TenantId, head: Checkpoint | None) -> None:
        fault = None if tenant in self._broken else await self._fault(tenant, head)
        if fault is not None:
            self._broken[tenant] = fault

    async def _fault(self, tenant: TenantId, head: Checkpoint | None) -> str | None:
        """Return in which way `head` does not extend the last known one, or None if it does."""
        if head is not None and not self._signer.recognises(head):
            return "signature"
        known = self._known.get(tenant)
        if known is None:
            return None
        if head is None or head.size < known.size:
            return "turned-back"
        if head.size == known.size:
            return None if head.head == known.head else "forked"
        async for logged in self._store.stream(tenant, after=known.size - 1, limit=1):
            if logged.sequence == known.size and logged.hash == known.head:
                return None
        return "forked"

    async def _anchor_heads(self) -> None:
        heads = list(self._unanchored.values())
        if not heads:
            return
        try:
            await asyncio.to_thread(self._anchor.append, heads)
        except OSError as err:
            raise Unavailable from err
        self._unanchored.clear()


def _event(alarm: _Alarm, now: datetime) -> AuditEvent:
    return AuditEvent(
        event_id=EventId(new_uuid()),
        tenant=SYSTEM_TENANT,
        at=now,
        actor="-",
        on_behalf_of=None,
        action=alarm.action,
        object=alarm.object,
        decision="allow",
        rule="audit:sealer",
        policy_version="-",
        outcome=alarm.outcome,
        count=alarm.count,
        request_id="-",
        trace_id="",
    )
