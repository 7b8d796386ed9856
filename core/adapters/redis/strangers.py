"""Whether a Redis or Valkey server answers those who show it no password. Its default is to."""

import asyncio

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import parse_url
from redis.exceptions import RedisError

_SECONDS = 3.0


async def admits_strangers(url: str) -> bool:
    """Return whether the server at `url` answers without the credential that the URL holds.

    One that does not answer admits nobody: the cache may be away when a gateway starts.
    """
    options = dict(parse_url(url))
    for credential in ("username", "password"):
        options.pop(credential, None)
    # `Any` of the driver's own: parse_url gives the arguments of the very class it names.
    redis = Redis.from_pool(ConnectionPool(**options))  # type: ignore[arg-type]
    try:
        async with asyncio.timeout(_SECONDS):
            return bool(await redis.ping())
    except (RedisError, OSError):
        return False
    finally:
        await redis.aclose()
