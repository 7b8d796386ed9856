"""A local proxy that adds a credential to every request, for clients that cannot carry one.

It changes nothing else: Host, Origin and all headers of the protocol go through as they came.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from threading import Thread

import httpx
from starlette.types import Receive, Scope, Send

from tests.fronts.serving import serving

HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"transfer-encoding", b"content-length"})


@dataclass(frozen=True)
class Answered:
    path: str
    status: int
    challenge: str


class Proxy:
    """ASGI application that notes what was answered. Belongs to one event loop.

    Args:
        target: URL of the gateway, without a path.
        credential: added to each request; None adds nothing.
    """

    def __init__(self, target: str, credential: str | None) -> None:
        self._http = httpx.AsyncClient(base_url=target, timeout=60, trust_env=False)
        self._credential = credential
        self.answered: list[Answered] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        sent = [pair for pair in scope["headers"] if pair[0] not in HOP_BY_HOP]
        if self._credential is not None:
            sent.append((b"authorization", f"Bearer {self._credential}".encode()))
        url = scope["raw_path"].decode() + (
            f"?{q.decode()}" if (q := scope["query_string"]) else ""
        )
        reply = await self._http.request(scope["method"], url, headers=sent, content=bytes(body))
        challenge = reply.headers.get("WWW-Authenticate", "")
        self.answered.append(Answered(scope["path"], reply.status_code, challenge))
        told = [(k, v) for k, v in reply.headers.raw if k.lower() not in HOP_BY_HOP]
        told.append((b"content-length", str(len(reply.content)).encode()))
        await send({"type": "http.response.start", "status": reply.status_code, "headers": told})
        await send({"type": "http.response.body", "body": reply.content})

    async def aclose(self) -> None:
        await self._http.aclose()


@contextlib.asynccontextmanager
async def _open(proxy: Proxy) -> AsyncIterator[int]:
    async with serving(proxy) as port:
        yield port
    await proxy.aclose()


@contextlib.contextmanager
def proxying(proxy: Proxy) -> Iterator[str]:
    """Run the proxy in a thread of its own; gives its URL."""
    ready: list[str] = []
    loop = asyncio.new_event_loop()
    over = asyncio.Event()
    up = asyncio.Event()

    async def hold() -> None:
        async with _open(proxy) as port:
            ready.append(f"http://127.0.0.1:{port}")
            up.set()
            await over.wait()

    thread = Thread(target=loop.run_until_complete, args=(hold(),), daemon=True)
    thread.start()
    asyncio.run_coroutine_threadsafe(up.wait(), loop).result(30)
    try:
        yield ready[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
        loop.close()
