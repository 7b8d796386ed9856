"""What a process that shares the work knows of the part that others do.

Rules this module keeps:
- A gateway without an indexer says `degraded` while the index lacks old memories, as one that has
  an indexer does: both go by the outbox.
- Audit events that wait long mean that no worker seals: it is said, and nothing is stopped for it.
- What cannot be asked is not known, and taken for the worse.
"""

import asyncio
import contextlib
import logging
import time
from datetime import timedelta
from typing import Protocol

from core.errors import GatewayError, Unavailable
from core.indexer import BATCH
from core.ports import Index, Outbox
from core.ports.seal import SealStore
from gateway.audit.seal import Sealer

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
EMPTY_SECONDS = 5.0
"""How often it is asked whether the index still holds anything."""
MANY_TASKS = 512
"""So many waiting tasks are no burst of writes: the index is being filled again."""
SEAL_SECONDS = 60.0
"""A worker seals within a second; events that wait so long have none."""
TROUBLE_SECONDS = 2.0


class IndexWatch:
    """How far the index follows the record, for a gateway that does not make it follow.

    Args:
        outbox: counted once a second.
        index: asked now and then whether it lost everything.
    """

    def __init__(self, outbox: Outbox, index: Index) -> None:
        self._outbox = outbox
        self._index = index
        self._asked = float("-inf")
        self._empty = False
        self._counted = False
        self.pending = 1
        """How many tasks waited when last counted; not zero until they were counted once."""
        self.rebuilding = True
        """True while the index may lack old memories."""

    def wake(self) -> None:
        """Note that the outbox has something; a worker finds it by itself."""
        self.pending = max(1, self.pending)

    async def run(self, stop: asyncio.Event) -> None:
        """Look until `stop` is set."""
        while not stop.is_set():
            await self.look()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_SECONDS)

    async def look(self) -> None:
        """Count once. What does not answer leaves things as they were known."""
        with contextlib.suppress(GatewayError):
            self.pending = await self._outbox.pending()
            if self.pending >= MANY_TASKS or (self.pending and await self._lost()):
                self.rebuilding = True
            elif self.pending < BATCH or not self._counted:
                self.rebuilding = False  # what waits now was kept just now, or nearly all of it
            self._counted = True

    async def _lost(self) -> bool:
        now = time.monotonic()
        if now - self._asked >= EMPTY_SECONDS:
            self._asked = now
            self._empty = await self._index.empty()
        return self._empty


class SealWatch:
    """Whether somebody seals the audit log, for a process that does not.

    Args:
        store: the record's side of sealing.
    """

    def __init__(self, store: SealStore) -> None:
        self._store = store

    async def check(self) -> None:
        """Return when events are sealed. Raises: Unavailable."""
        waiting = await self._store.unsealed(1)
        if waiting and min(row.event.at for row in waiting) < await self._store.now() - timedelta(
            seconds=SEAL_SECONDS
        ):
            raise Unavailable


async def tell_breaks(sealer: Sealer, stop: asyncio.Event) -> None:
    """Log, once for each tenant, that somebody changed its chain below the gateway."""
    told: set[object] = set()
    while not stop.is_set():
        for tenant in sealer.broken.keys() - told:
            told.add(tenant)
            log.error("audit: the chain of tenant %s was changed below the gateway", tenant)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), LOOK_SECONDS)


class Preparable(Index, Protocol):
    """An index that has to be made on its server before it answers."""

    async def prepare(self) -> None:
        """Make what is missing. Raises: Unavailable."""
        ...


async def keep_prepared(index: Preparable, stop: asyncio.Event) -> None:
    """Make the collection when it is not there: at the start, and when somebody dropped it."""
    while not stop.is_set():
        seconds = EMPTY_SECONDS
        if not await index.ready():
            try:
                await index.prepare()
                log.info("index: prepared")
            except GatewayError:
                seconds = TROUBLE_SECONDS
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)
