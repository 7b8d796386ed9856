"""One way to reach the server, for everything here.

Rules this module keeps:
- What does not answer within a fraction of a second did not answer: nothing here is worth more.
- No retries: a caller that can do without does without. Nobody fails for want of a connection while
  others use them; it waits its turn.
- After a fault the server is left alone for a second, so that each call does not wait in turn.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

T = TypeVar("T")
_CONNECTIONS = 16
_LEAVE_ALONE_SECONDS = 1.0


class Away(Exception):
    """The server did not answer, or is left alone after it did not."""


class Connection:
    """A pool of connections to one server. Belongs to one event loop.

    Args:
        url: `unix://user:password@/path?db=0`, `redis://…` or `rediss://…`.
        timeout_seconds: for one call, waiting for a connection included.
    """

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=timeout_seconds,
            socket_timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            retry=Retry(NoBackoff(), 0),
        )
        self.redis = Redis.from_pool(pool)
        self._timeout = timeout_seconds
        self._alone_until = 0.0

    async def ask(self, call: Awaitable[T]) -> T:
        """Return what `call` returns. Raises: Away."""
        if time.monotonic() < self._alone_until:
            if asyncio.iscoroutine(call):
                call.close()
            raise Away
        try:
            async with asyncio.timeout(self._timeout):
                return await call
        except (RedisError, OSError, ValueError) as err:  # TimeoutError is an OSError
            self._alone_until = time.monotonic() + _LEAVE_ALONE_SECONDS
            raise Away from err

    async def ping(self) -> None:
        """Ask the server whether it is there, also while it is left alone. Raises: Away."""
        self._alone_until = 0.0
        await self.ask(self.redis.ping())

    async def aclose(self) -> None:
        """Close the connections."""
        await self.redis.aclose()
