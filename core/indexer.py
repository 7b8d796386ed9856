"""Makes the index follow the record: takes tasks from the outbox, each under its own Scope.

Rules this module keeps:
- A task carries ids and versions only; text and vectors are read from the record when it is done.
- What is written is always the record's current version, so an old task that comes late never wins.
- What an earlier version had more of is removed: a shorter text, one that is sensitive by now, one
  that is forgotten or has no vectors yet leaves no point of the one before it.
- A text without vectors is embedded here: long ones, and those kept while the embedder was down.
- What is sensitive has no point: its vectors stay in the record, sealed.
- A task is removed only after the index has taken it; a crash between the two repeats it, and
  repeating it changes nothing.
"""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from core.errors import GatewayError, NotFound, Tampered, Unavailable
from core.keeping import sealed_vectors
from core.model import Owner, Sensitivity
from core.ports import (
    Embedder,
    Index,
    Indexable,
    IndexTask,
    Keyring,
    Outbox,
    OwnerKeys,
    Place,
    Point,
    RecordStore,
    TenantKeys,
)
from core.recall import record_withheld
from core.scope import Scope
from core.write import may_embed

log = logging.getLogger(__name__)

BATCH = 32
LEASE_SECONDS = 5
"""A dead worker gives its tasks back after this; a slow one repeats work, which is harmless."""
IDLE_SECONDS = 1.0
"""How often the outbox is looked at without being woken: another process may have filled it."""
TROUBLE_SECONDS = 0.5
EMBED_SECONDS = 60.0
"""The longest text takes a quarter of this on a slow core; an embedder that needs more hangs."""
LOOK_SECONDS = 5.0
"""How often an idle worker asks whether the index is still there."""

MintForTask = Callable[[IndexTask], Awaitable[Scope]]


@dataclass(slots=True)
class _Batch:
    """Points of one round, gathered by tenant so that each call names exactly one."""

    points: dict[str, list[Point]]
    stale: dict[tuple[str, str], list[UUID]]
    done: list[IndexTask]


class Indexer:
    """Follows the outbox until told to stop.

    Args:
        mint: gives one ordinary Scope for a task; access enforcement provides it.
    """

    def __init__(
        self,
        *,
        outbox: Outbox,
        store: RecordStore,
        index: Index,
        keyring: Keyring,
        embedder: Embedder,
        mint: MintForTask,
    ) -> None:
        self._outbox = outbox
        self._store = store
        self._index = index
        self._keyring = keyring
        self._embedder = embedder
        self._mint = mint
        self._woken = asyncio.Event()
        self._stopped = False
        self._looked = time.monotonic()
        self.pending = 1
        """How many tasks waited when last counted; not zero until they were counted once."""
        self.rebuilding = True
        """True while the index may lack old memories: not looked at yet, or being filled again."""

    def wake(self) -> None:
        """Say that the outbox has something; never blocks."""
        self.pending = max(1, self.pending)
        self._woken.set()

    def stop(self) -> None:
        """Let `run` return after the task at hand."""
        self._stopped = True
        self._woken.set()

    async def run(self) -> None:
        """Follow the outbox. A part that is down is tried again; no task is dropped."""
        await self._rebuild_if_empty()
        while not self._stopped:
            # Cleared before the look, so that what comes in during it is looked for again.
            self._woken.clear()
            try:
                taken = await self.drain_once()
            except GatewayError as err:
                log.warning("index: a round failed (%s)", type(err).__name__)
                await self._rest(TROUBLE_SECONDS)
                continue
            if taken < BATCH:
                await self._refill_if_lost()
                self.pending = await self._count()
                if self.pending == 0:
                    self.rebuilding = False
                await self._rest(IDLE_SECONDS)

    async def _count(self) -> int:
        try:
            return await self._outbox.pending()
        except GatewayError:
            return max(1, self.pending)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            return

    async def _rebuild_if_empty(self) -> None:
        """Queue every live memory when the index is empty: it is new, or its folder was lost."""
        while not self._stopped:
            try:
                queued = 0
                if await self._index.empty():
                    queued = await self._outbox.requeue_all()
                    if queued:
                        log.warning("index: empty; rebuilding %d memories", queued)
                self.rebuilding = queued > 0
            except GatewayError as err:
                log.warning("index: not reachable yet (%s)", type(err).__name__)
                await self._rest(TROUBLE_SECONDS)
            else:
                return

    async def _refill_if_lost(self) -> None:
        """Look now and then whether the index lost everything while we run, and fill it again."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        try:
            if await self._index.empty():
                queued = await self._outbox.requeue_all()
                if queued:
                    self.rebuilding = True
                    log.warning("index: lost; rebuilding %d memories", queued)
                    self.wake()
        except GatewayError as err:
            log.warning("index: not reachable (%s)", type(err).__name__)

    async def drain_once(self) -> int:
        """Do one batch of tasks, and return how many were taken.

        Raises:
            Unavailable: the record or the index did not answer; the tasks come back by themselves.
        """
        tasks = await self._outbox.lease(BATCH, LEASE_SECONDS)
        if not tasks:
            return 0
        batch = _Batch(points=defaultdict(list), stale=defaultdict(list), done=[])
        for task in tasks:
            await self._prepare(task, batch)
        for tenant, points in batch.points.items():
            if points:
                await self._index.upsert(tenant, points)
        for (tenant, owner), ids in batch.stale.items():
            if ids:
                await self._index.remove(tenant, owner, ids)
        await self._outbox.done(batch.done)
        return len(tasks)

    async def _prepare(self, task: IndexTask, batch: _Batch) -> None:
        try:
            tenant = await self._keyring.tenant(task.tenant)
        except NotFound:  # the tenant is gone, and its points with its shard
            batch.done.append(task)
            return
        owner = _owner(task)
        place = (tenant.word("tenant", str(task.tenant)), tenant.word("owner", str(owner.id)))
        if task.delete:
            batch.stale[place].extend(_points_of(tenant, owner, task, range(task.chunks)))
            batch.done.append(task)
            return
        points: list[Point] = []
        try:
            item = await self._read(task, owner)
            points = [] if item is None else self._points(*item, tenant, task)
        except NotFound:  # forgotten meanwhile; its own task need not know of all chunks before
            pass
        except Tampered:
            await self._withhold(task)
        batch.points[place[0]].extend(points)
        # What this version does not have was left by one before it.
        left = range(len(points), task.chunks)
        batch.stale[place].extend(_points_of(tenant, owner, task, left))
        batch.done.append(task)

    async def _read(self, task: IndexTask, owner: Owner) -> tuple[Indexable, OwnerKeys] | None:
        """Return what to index, or None when there is nothing to index (yet).

        Raises: NotFound, Tampered, Unavailable.
        """
        scope = await self._mint(task)
        keys = await self._keyring.owner(owner)
        if keys is None:
            raise NotFound
        async with self._store.view(scope) as view:
            item = await view.indexable(task.memory)
        sensitive = item.row.sensitivity is Sensitivity.SENSITIVE
        if item.vectors and item.embedder == self._embedder.name:
            return None if sensitive else (item, keys)
        if may_embed(item.row.sensitivity, self._embedder):
            await self._embed(scope, item, keys)
        return None  # attaching the vectors queued the memory again

    async def _withhold(self, task: IndexTask) -> None:
        """Leave a memory out whose envelopes do not open, and say so in the audit log."""
        log.warning("index: a stored envelope does not open; its memory is left out")
        scope = await self._mint(task)
        async with self._store.view(scope) as view:
            await record_withheld(view, scope, [task.memory])

    async def _embed(self, scope: Scope, item: Indexable, keys: OwnerKeys) -> None:
        row = item.row

        def place(field: str) -> Place:
            return Place(record=row.id, version=row.version, field=field, namespace=row.namespace)

        text = keys.open(place("content"), row.content).decode()
        pieces = await asyncio.to_thread(self._embedder.chunks, text)
        try:
            async with asyncio.timeout(EMBED_SECONDS):
                vectors = await self._embedder.passages(pieces)
        except TimeoutError as err:
            raise Unavailable from err
        sealed = sealed_vectors(vectors, keys, place)
        async with self._store.view(scope) as view:
            await view.attach(row.id, row.version, sealed, self._embedder.name)

    def _points(
        self, item: Indexable, keys: OwnerKeys, tenant: TenantKeys, task: IndexTask
    ) -> list[Point]:
        row = item.row
        vectors = np.stack(
            [
                np.frombuffer(
                    keys.open(
                        Place(
                            record=row.id,
                            version=row.version,
                            field=f"vector.{chunk}",
                            namespace=row.namespace,
                        ),
                        envelope,
                    ),
                    dtype="<f4",
                )
                for chunk, envelope in enumerate(item.vectors)
            ]
        )
        payload = {
            "tenant": tenant.word("tenant", str(task.tenant)),
            "owner": tenant.word("owner", str(keys.owner.id)),
            "user": tenant.word("user", str(row.user)),
            "namespace": tenant.word("namespace", str(row.namespace)),
            "space": "" if row.space is None else tenant.word("space", str(row.space)),
            "session": "" if item.session is None else item.session.hex(),
            "tags": [tag.hex() for tag in item.tags],
            "layer": row.layer.value,
            "kind": row.kind.value,
            "created": row.created_at.timestamp(),
            "expires": 0.0 if row.expires_at is None else row.expires_at.timestamp(),
            "confidence": row.confidence,
            "version": row.version,
            "pointer": tenant.seal_pointer(row.id, row.version),
        }
        terms = {term: float(count) for term, count in item.terms.items()}
        return [
            Point(
                id=tenant.point_id(keys.owner, row.id, chunk),
                vector=vector,
                terms=terms if chunk == 0 else {},
                payload=payload,
            )
            for chunk, vector in enumerate(keys.rotate(vectors))
        ]


def _owner(task: IndexTask) -> Owner:
    if task.space is not None and task.space_is_owner:
        return Owner(tenant=task.tenant, id=task.space, is_space=True, person=task.user)
    return Owner(tenant=task.tenant, id=task.user)


def _points_of(
    tenant: TenantKeys, owner: Owner, task: IndexTask, chunks: Sequence[int]
) -> list[UUID]:
    return [tenant.point_id(owner, task.memory, chunk) for chunk in chunks]
