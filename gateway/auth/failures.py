"""Failed authentications, counted before they are written.

Rules this module keeps:
- A stranger cannot fill the disk: what failed is one count a source and minute, written at most
  twice (soon after the first failure, and when its minute has passed), and sources beyond a bound
  share one count.
- A stranger cannot fill the memory: the same bounds hold for what waits to be written.
- Counts are lost only with the process; when the record cannot take them, they wait.
- An address stands in the log as a keyed hash of its network (IPv4 whole, IPv6 its first 64 bits,
  since one stranger owns all of the rest). It belongs to no tenant, so to the system's chain.
"""

import asyncio
import contextlib
import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from core.errors import GatewayError, Unavailable
from core.event import AuditEvent
from core.ids import SYSTEM_TENANT, EventId, new_uuid
from core.ports import Keyring, RecordStore

ACTION = "auth:credential:refuse"
"""Name of the audit event."""
OTHERS = "others"
"""Stands for every source beyond the bound."""

_MINUTE = 60.0
_HOUR = 3600.0


@dataclass(slots=True)
class _Count:
    minute: int
    pending: int = 0
    written: bool = False


class Failures(Protocol):
    """What a front tells of a credential that proved nothing."""

    def note(self, source: str | None) -> None:
        """Count one failure from `source`, an address; never blocks, never fails."""
        ...


class FailureLog:
    """Counts failures and writes them as audit events.

    Args:
        keyring: the system tenant's keys hash the sources.
        store: takes the events.
        sources_per_minute, sources_per_hour: how many sources get a count of their own.
        monotonic: seconds; only differences are used.
    """

    def __init__(
        self,
        keyring: Keyring,
        store: RecordStore,
        *,
        sources_per_minute: int = 64,
        sources_per_hour: int = 512,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keyring = keyring
        self._store = store
        self._per_minute = sources_per_minute
        self._per_hour = sources_per_hour
        self._monotonic = monotonic
        self._counts: dict[tuple[str, int], _Count] = {}
        self._hour = 0
        self._this_hour = 0
        self._flushing = asyncio.Lock()

    def note(self, source: str | None) -> None:
        """Count one failure from `source`, an IP address or None when there is none."""
        now = self._monotonic()
        minute = int(now // _MINUTE)
        name = self._admit(_network(source), minute, int(now // _HOUR))
        self._counts.setdefault((name, minute), _Count(minute)).pending += 1

    async def flush(self, *, everything: bool = False) -> int:
        """Write what is due; returns how many events were written.

        Args:
            everything: also what would wait for its minute to pass; for the shutdown.

        Raises:
            Unavailable: the record or the keys did not answer; what was not written waits.
        """
        async with self._flushing:
            minute = int(self._monotonic() // _MINUTE)
            written = 0
            for key, count in list(self._counts.items()):
                over = count.minute < minute
                if count.pending and (over or everything or not count.written):
                    await self._write(key[0], count)
                    written += 1
                if over and not count.pending:
                    del self._counts[key]
            return written

    async def run(self, stop: asyncio.Event, *, seconds: float = 5.0) -> None:
        """Flush every `seconds` until `stop` is set, and everything once more at the end."""
        while True:
            stopping = stop.is_set()
            with contextlib.suppress(GatewayError):  # it waits in memory and is tried again
                await self.flush(everything=stopping)
            if stopping:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), seconds)

    def _admit(self, source: str, minute: int, hour: int) -> str:
        if (source, minute) in self._counts:
            return source
        if hour != self._hour:
            self._hour, self._this_hour = hour, 0
        of_minute = sum(1 for count in self._counts.values() if count.minute == minute)
        waiting = len(self._counts)
        if (
            of_minute >= self._per_minute
            or waiting >= 2 * self._per_minute  # the record has not answered for minutes
            or self._this_hour >= self._per_hour
        ):
            return OTHERS
        self._this_hour += 1
        return source

    async def _write(self, source: str, count: _Count) -> None:
        taken = count.pending
        try:
            keys = await self._keyring.tenant(SYSTEM_TENANT)
            await self._store.append(
                AuditEvent(
                    event_id=EventId(new_uuid()),
                    tenant=SYSTEM_TENANT,
                    at=await self._store.now(),
                    actor=keys.blind("actor", f"source:{source}").hex(),
                    on_behalf_of=None,
                    action=ACTION,
                    object="credentials",
                    decision="deny",
                    rule="authenticate",
                    policy_version="-",
                    outcome="unauthenticated",
                    count=taken,
                    request_id="-",
                    trace_id="",
                )
            )
        except GatewayError as err:
            raise Unavailable from err
        count.pending -= taken
        count.written = True


def _network(source: str | None) -> str:
    try:
        address = ipaddress.ip_address((source or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if address.version == 4:  # noqa: PLR2004 - the version's own name
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
