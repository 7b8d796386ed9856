"""Whether a Qdrant server answers those who show it no key. Its default is that it does."""

import httpx

_SECONDS = 3.0


async def admits_strangers(url: str) -> bool:
    """Return whether the server lists its collections without an API key.

    One that does not answer admits nobody: the index may be away when a gateway starts.
    """
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
            reply = await client.get(f"{url.rstrip('/')}/collections")
    except (httpx.HTTPError, OSError):
        return False
    return reply.is_success
