"""The index in its own process, reached over a private unix socket.

Rules this module keeps:
- A call of the port that touches points is made of an `OwnedFilter`, so it names tenant and owner.
- Each call has a deadline of its own, reconnecting included; what does not answer in time, or not
  as agreed, is Unavailable. A connection whose call was cut short is closed, never used again.
- Every call may be made twice (points replace themselves, removal of nothing removes nothing), so
  one whose connection broke is made once more.
- What comes back is checked for shape; whether it is true is for the record to say.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np

from core.adapters.qdrant import wire
from core.adapters.qdrant.fields import sparse
from core.adapters.qdrant.filters import OwnedFilter, owned, payload_of, within
from core.errors import Invalid, Unavailable
from core.model import Json
from core.ports import IndexHit, Point, Reach

_FIRST_PAUSE_SECONDS = 0.01
_LONGEST_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 3.0
"""How long the process may be away, over all calls, before they stop waiting for it."""
_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def exchange(self, request: bytes) -> wire.Frame:
        """Send one request and return its reply. Raises: ConnectionError, Malformed."""
        self.writer.write(request)
        await self.writer.drain()
        reply = await wire.read_frame(self.reader)
        if reply is None:
            raise ConnectionResetError
        return reply


class EdgeIndex:
    """`core.ports.Index` over the index's own process. Belongs to one event loop.

    Args:
        socket: where `edge_child` serves.
        dimension: of every vector.
        timeout_seconds, write_timeout_seconds: how long a call may take, waiting for the process to
            come back included; writes may have to wait while the process compacts.
        connections: calls in flight at once; the process answers one after the other anyway.
    """

    def __init__(
        self,
        socket: Path,
        *,
        dimension: int = 384,
        timeout_seconds: float = 2.0,
        write_timeout_seconds: float = 20.0,
        connections: int = 4,
    ) -> None:
        self._socket = socket
        self._dimension = dimension
        self._timeout = timeout_seconds
        self._write_timeout = write_timeout_seconds
        self._slots = asyncio.Semaphore(connections)
        self._idle: list[_Connection] = []
        self._away_since: float | None = None

    async def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        """Write points of one tenant. Raises: Invalid, Unavailable (some may be written)."""
        by_owner: dict[str, list[Json]] = {}
        for point in points:
            payload = payload_of(tenant, point)
            by_owner.setdefault(payload["owner"], []).append(
                {
                    "id": str(point.id),
                    "vector": wire.pack_vector(self._checked(point.vector)),
                    "terms": list(sparse(point.terms)) if point.terms else [],
                    "payload": payload,
                }
            )
        for owner, packed in by_owner.items():
            for start in range(0, len(packed), wire.MAX_POINTS):
                batch = packed[start : start + wire.MAX_POINTS]
                await self._call("upsert", owned(tenant, owner), self._write_timeout, points=batch)

    async def remove(self, tenant: str, owner: str, ids: Sequence[UUID]) -> None:
        """Remove those of `ids` that are this owner's. Raises: Unavailable."""
        for start in range(0, len(ids), wire.MAX_IDS):
            chosen = owned(tenant, owner).among(ids[start : start + wire.MAX_IDS])
            await self._call("remove", chosen, self._write_timeout)

    async def search(
        self, reach: Reach, *, limit: int, also: Sequence[UUID] = ()
    ) -> list[IndexHit]:
        """Return the nearest `limit` within `reach`, and those of `also` within it, best first.

        Raises: Invalid (nothing or too much is asked for), Unavailable.
        """
        if not 0 < limit <= wire.MAX_LIMIT or len(also) > wire.MAX_IDS:
            raise Invalid("A search asks for too many points, or for none.")
        found = await self._call(
            "search",
            within(reach),
            self._timeout,
            vector=wire.pack_vector(self._checked(reach.vector)),
            limit=limit,
            also=[str(id_) for id_ in also],
        )
        try:
            return [_hit(*row) for row in found]
        except (TypeError, ValueError, wire.Malformed) as err:
            raise Unavailable from err

    async def count(self, tenant: str, owner: str) -> int:
        """Return how many points one owner has. Raises: Unavailable."""
        found = await self._call("count", owned(tenant, owner), self._timeout)
        if not isinstance(found, int):
            raise Unavailable
        return found

    async def empty(self) -> bool:
        """Return True when the index holds no point at all. Raises: Unavailable."""
        info = await self._ask({"op": "info"}, self._timeout)
        if not isinstance(info, dict) or not isinstance(info.get("empty"), bool):
            raise Unavailable
        return bool(info["empty"])

    async def ready(self) -> bool:
        """Return True when the index answers."""
        try:
            return await self._ask({"op": "ping"}, self._timeout) is True
        except Unavailable:
            return False

    async def aclose(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            await _close(self._idle.pop())

    def _checked(self, vector: np.ndarray) -> np.ndarray:
        if vector.shape != (self._dimension,) or not np.isfinite(vector).all():
            raise Invalid("A vector of the index has another dimension, or is not finite.")
        return vector

    async def _call(
        self, operation: str, where: OwnedFilter, seconds: float, **parts: Json
    ) -> Json:
        return await self._ask({"op": operation, "filter": where.to_rest(), **parts}, seconds)

    async def _ask(self, frame: wire.Frame, seconds: float) -> Json:
        try:
            request = wire.pack_frame(frame)
            async with asyncio.timeout(seconds), self._slots:
                reply = await self._exchange(request)
        except (OSError, wire.Malformed) as err:  # TimeoutError is an OSError
            raise Unavailable from err
        if "ok" not in reply:
            raise Unavailable
        return reply["ok"]

    async def _exchange(self, request: bytes) -> wire.Frame:
        for attempt in range(1, _ATTEMPTS + 1):
            connection = self._idle.pop() if self._idle else await self._connect()
            try:
                reply = await connection.exchange(request)
            except OSError:
                # The process was started anew: what else is idle is as dead as this one.
                await self.aclose()
                connection.writer.close()
                if attempt == _ATTEMPTS:
                    raise
            except BaseException:  # cut short: a late reply must not answer the next request
                connection.writer.close()
                raise
            else:
                self._idle.append(connection)
                return reply
        raise ConnectionError

    async def _connect(self) -> _Connection:
        """Return a new connection, waiting a little for a process that is being started anew.

        Once that has been waited for in vain, calls fail at once until the process is back.
        """
        clock = asyncio.get_running_loop()
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                connection = _Connection(*await asyncio.open_unix_connection(self._socket))
            except OSError:
                if self._away_since is None:
                    self._away_since = clock.time()
                if clock.time() - self._away_since > _PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            else:
                self._away_since = None
                return connection


def _hit(id_: object, pointer: object, score: object) -> IndexHit:
    """Return one row of a search. Raises: TypeError, ValueError, Malformed."""
    if not isinstance(id_, str) or not isinstance(pointer, str):
        raise TypeError
    return IndexHit(id=UUID(id_), pointer=pointer, score=wire.finite(score))


async def _close(connection: _Connection) -> None:
    connection.writer.close()
    with contextlib.suppress(OSError):
        await connection.writer.wait_closed()
