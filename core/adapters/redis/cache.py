"""Embedded queries, kept for minutes: embedding is most of a recall.

Rules this module keeps:
- A vector gives its text away, so it is sealed under the person's own key, and so is the way to
  find it: the server holds a keyed digest and an envelope, and can join two people in neither.
- The envelope is bound to that digest, which covers the embedder and the text: one that was moved
  to another key does not open.
- A fault costs time only: it is counted, and the answer is None.
"""

from uuid import UUID

import numpy as np

from core.adapters.redis.connection import Away, Connection
from core.adapters.redis.keys import key
from core.errors import Tampered, Unavailable
from core.ports import OwnerKeys, Place, Vector

TTL_SECONDS = 300


class RedisQueryCache:
    """`core.ports.QueryCache` over Redis. Belongs to one event loop.

    Args:
        url: of the server, see `Connection`.
        ttl_seconds: how long a query is kept.
        timeout_seconds: for one call; a recall waits for it.
    """

    def __init__(
        self, url: str, *, ttl_seconds: int = TTL_SECONDS, timeout_seconds: float = 0.05
    ) -> None:
        self._server = Connection(url, timeout_seconds=timeout_seconds)
        self._ttl = ttl_seconds
        self.faults = 0
        """How often the server failed or gave something back that was not sealed here."""

    async def get(self, keys: OwnerKeys, embedder: str, text: str) -> Vector | None:
        """Return the cached vector, or None."""
        digest = _digest(keys, embedder, text)
        try:
            envelope = await self._server.ask(self._server.redis.get(_key(keys, digest)))
            if not isinstance(envelope, bytes):
                return None
            opened = keys.open(_place(digest), envelope)
            return np.frombuffer(opened, dtype="<f4").astype(np.float32)
        except (Away, Tampered, Unavailable, ValueError):
            self.faults += 1
            return None

    async def put(self, keys: OwnerKeys, embedder: str, text: str, vector: Vector) -> None:
        """Keep `vector` for some minutes."""
        digest = _digest(keys, embedder, text)
        try:
            envelope = keys.seal(_place(digest), vector.astype("<f4").tobytes())
            setting = self._server.redis.set(_key(keys, digest), envelope, ex=self._ttl)
            await self._server.ask(setting)
        except (Away, Unavailable):
            self.faults += 1

    async def ping(self) -> None:
        """Ask the server whether it is there. Raises: Unavailable."""
        try:
            await self._server.ping()
        except Away as err:
            raise Unavailable from err

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()


def _digest(keys: OwnerKeys, embedder: str, text: str) -> bytes:
    # The length keeps a name from running into a text.
    return keys.digest("query", f"{len(embedder)}:{embedder}{text}")


def _key(keys: OwnerKeys, digest: bytes) -> bytes:
    return key("query", keys.owner.tenant, keys.owner.id, digest)


def _place(digest: bytes) -> Place:
    return Place(record=UUID(bytes=digest[:16]), version=1, field="query-embedding")
