"""An application behind the real server on a free port of loopback."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override

from gateway.front.listener import listening


class _Server(uvicorn.Server):
    """Says when it is up."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, address: str = "127.0.0.1") -> AsyncIterator[int]:
    """Serve `app` while the block is open; gives the port."""
    listener = socket.create_server((address, 0))
    server = _Server(listening(app, host=address, port=0, drain_seconds=1))
    # serve() itself would take the process's signal handlers.
    task = asyncio.create_task(server._serve(sockets=[listener]))
    try:
        await server.up.wait()
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await task
