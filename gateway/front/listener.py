"""The socket's side: uvicorn with every wait bounded and nothing logged of a request.

Rules this module keeps:
- A connection that does not finish a request's head in its time is closed, on the first request and
  on every later one; so is one that dribbles a body nobody reads any more.
- Bytes that are not HTTP get one short answer, and never a traceback.
- No access log: a path may hold an id. No header of a proxy is believed, no server named.

Source: REQUIREMENTS F6, B14; CWE-400 (uncontrolled resource consumption).
"""

import asyncio
import socket
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.ids import new_uuid
from gateway.front.edge import encode
from gateway.front.errors import PROBLEM_MEDIA_TYPE, unreadable
from gateway.front.limits import KIB

HEAD_SECONDS = 10.0
"""From the first byte of a request until its last header, however it dribbles."""
IDLE_SECONDS = 30
"""A kept connection without a request."""
HEAD_BYTES = 16 * KIB
BACKLOG = 512


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, which itself waits for a head forever."""

    head_seconds = HEAD_SECONDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*args, **kwargs)
        self._patience: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        super().connection_made(transport)
        _send_at_once(transport)
        self._wait()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._judge(anything=True)

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        # Between two requests the keep-alive timer counts; not if something of one has come.
        self._judge(anything=self.conn.our_state is h11.DONE or bool(self.conn.trailing_data[0]))

    def _judge(self, *, anything: bool) -> None:
        """Wait for what must come: the rest of a head, or of a body that was answered already."""
        owed = self.conn.their_state is h11.IDLE or self.conn.our_state is h11.DONE
        if owed and anything:
            self._wait()
        else:
            self._stop_waiting()

    def _wait(self) -> None:
        if self._patience is None:  # more bytes buy no more time
            self._patience = self.loop.call_later(self.head_seconds, self._lose_patience)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self.transport.close()

    @override
    def send_400_response(self, msg: str) -> None:
        # An answer may be under way or over: a chunk of the body can be what is broken.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            request_id = str(new_uuid())
            body = encode(unreadable(request_id))
            headers = [
                ("content-type", PROBLEM_MEDIA_TYPE),
                ("content-length", str(len(body))),
                ("cache-control", "private, no-store"),
                ("x-request-id", request_id),
                ("connection", "close"),
            ]
            for event in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        cycle: Any = self.cycle  # None before the first request, whatever its type says
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True  # its application must not try to answer as well
            cycle.message_event.set()
        self.transport.close()


def _send_at_once(transport: asyncio.Transport) -> None:
    """Send a reply's head and body without waiting for the client to acknowledge the head.

    asyncio does this by itself only for sockets that it made: it looks at the socket's protocol
    number, which is 0 on one that was bound before and handed in. It costs such a reply 40 ms.
    """
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def listening(
    app: ASGIApp, *, host: str, port: int, drain_seconds: float, fd: int | None = None
) -> uvicorn.Config:
    """Return how uvicorn serves `app`.

    Args:
        host, port: to bind.
        drain_seconds: what is under way gets this long after the process was asked to stop.
        fd: an open listening socket to take instead of binding one.
    """
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        fd=fd,
        loop="asyncio",
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=max(1, round(drain_seconds)),
        h11_max_incomplete_event_size=HEAD_BYTES,
    )
