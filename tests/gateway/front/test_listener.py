"""The real server on a real socket: slow, broken and smuggled requests."""

import asyncio
import contextlib
import json
import logging
import resource
import socket

import pytest

from gateway.front.limits import Limits
from gateway.front.listener import PatientProtocol
from tests.fronts.serving import serving
from tests.gateway.front.conftest import KEY

HEAD = f"Host: localhost\r\nX-API-Key: {KEY}\r\n"


@pytest.fixture
def head_seconds(monkeypatch):
    monkeypatch.setattr(PatientProtocol, "head_seconds", 0.2)


async def exchange(port, data, *, close=True, seconds=5):
    """Send `data`, and return all that comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        await writer.drain()
        if close:
            writer.write_eof()
        async with asyncio.timeout(seconds):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def parts(raw):
    """Return status, headers and body of one reply."""
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    return int(lines[0].split(" ")[1]), headers, body


async def test_a_request_is_answered_and_no_server_is_named(house, caplog):
    caplog.set_level(logging.DEBUG)
    async with serving(house.app) as port:
        raw = await exchange(
            port, f"GET /v1/admin/keys HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n".encode()
        )
    status, headers, body = parts(raw)
    assert status == 200
    assert json.loads(body)["items"]
    assert "server" not in headers
    assert "/v1/admin/keys" not in "".join(r.getMessage() for r in caplog.records)


async def test_head_has_the_headers_of_get_and_no_body(house):
    async with serving(house.app) as port:
        raw = await exchange(
            port, f"HEAD /v1/admin/keys HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n".encode()
        )
    status, headers, body = parts(raw)
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 0


async def test_a_reply_does_not_wait_for_the_client_to_acknowledge_its_head(house, monkeypatch):
    made = []
    plain = PatientProtocol.connection_made

    def watched(self, transport):
        plain(self, transport)
        connection = transport.get_extra_info("socket")
        made.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    monkeypatch.setattr(PatientProtocol, "connection_made", watched)
    async with serving(house.app) as port:
        await exchange(port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert made == [1]


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"POST /v1/recall HT",
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nX-A: ",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea",
        b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ],
)
async def test_a_connection_that_waits_for_ever_is_closed(house, head_seconds, start):
    async with serving(house.app) as port:
        # It returns because the server hangs up; the client never does.
        await exchange(port, start, close=False)


@pytest.mark.requirement("F6")
async def test_dribbling_a_head_buys_no_time(house, head_seconds):
    async with serving(house.app) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        loop = asyncio.get_running_loop()
        started = loop.time()
        writer.write(b"GET /healthz HTTP/1.1\r\n")
        ended = asyncio.ensure_future(reader.read())
        while not ended.done() and loop.time() - started < 5:
            with contextlib.suppress(ConnectionError):
                writer.write(b"X-A: b\r\n")
            await asyncio.wait([ended], timeout=0.01)
        assert await ended == b""
        assert loop.time() - started < 2
        writer.close()


async def test_a_slow_answer_is_not_a_slow_head(house, paths, head_seconds):
    async def slow(*_arguments):
        await asyncio.wait([asyncio.ensure_future(asyncio.Event().wait())], timeout=0.5)
        return []

    paths.answers["admin.keys"] = slow
    async with serving(house.app) as port:
        request = f"GET /v1/admin/keys HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n"
        raw = await exchange(port, request.encode(), close=False)
    assert parts(raw)[0] == 200


CHUNKED = f"POST /v1/recall HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n"
BROKEN = [
    b"\x00\x01\x02\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xff" * 200,
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX A: b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
    b"GET / HTTP/1.1\nHost: localhost\n\n ",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: a\r\n" * 20_000 + b"\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    f"POST /v1/recall HTTP/1.1\r\n{HEAD}Content-Length: -1\r\n\r\n".encode(),
    f"POST /v1/recall HTTP/1.1\r\n{HEAD}Content-Length: 1e3\r\n\r\n".encode(),
    f"POST / HTTP/1.1\r\n{HEAD}Content-Length: 3\r\nContent-Length: 4\r\n\r\n{{}}".encode(),
    f"{CHUNKED}Content-Length: 3\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n".encode(),
    f"{CHUNKED}\r\nzz\r\n{{}}\r\n0\r\n\r\n".encode(),
    f"{CHUNKED}\r\n2\r\n{{}}garbage".encode(),
    f"{CHUNKED}\r\nffffffffffffffffffff\r\n".encode(),
    f"{CHUNKED.replace('chunked', 'gzip, chunked')}\r\n0\r\n\r\n".encode(),
    b"POST /v1/recall HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n\x00garbage\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
]


@pytest.mark.requirement("F6")
@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
async def test_what_is_not_http_gets_no_5xx_and_no_traceback(house, caplog, data):
    async with serving(house.app) as port:
        raw = await exchange(port, data)
        well = await exchange(port, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert parts(well)[0] == 200
    statuses = [int(line[9:12]) for line in raw.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    assert all(200 <= status < 500 for status in statuses)
    assert house.paths.calls == []
    assert [r for r in caplog.records if r.exc_info or r.levelno >= logging.ERROR] == []


@pytest.mark.requirement("F6")
async def test_a_body_with_two_lengths_is_refused_and_nothing_after_it_is_read(house):
    smuggled = f"GET /v1/admin/keys HTTP/1.1\r\n{HEAD}\r\n"
    request = f"{CHUNKED}Content-Length: 5\r\n\r\n0\r\n\r\n{smuggled}"
    async with serving(house.app) as port:
        raw = await exchange(port, request.encode())
    assert parts(raw)[0] == 422
    assert raw.count(b"HTTP/1.1 ") == 1
    assert house.paths.calls == []


async def test_what_cannot_be_read_gets_a_problem_with_an_id(house):
    async with serving(house.app) as port:
        status, headers, body = parts(await exchange(port, b"\x00\r\n\r\n"))
    shown = json.loads(body)
    assert (status, shown["status"], shown["code"]) == (400, 400, "invalid")
    assert headers["content-type"] == "application/problem+json"
    assert headers["x-request-id"] == shown["request_id"]


@pytest.mark.requirement("F6")
async def test_a_body_that_stops_midway_is_answered_and_hung_up_on(build):
    house = build(limits=Limits(body_seconds=0.1))
    async with serving(house.app) as port:
        request = f"POST /v1/recall HTTP/1.1\r\n{HEAD}Content-Length: 9\r\n\r\n{{"
        raw = await exchange(port, request.encode(), close=False)
    status, headers, body = parts(raw)
    assert (status, headers["connection"]) == (422, "close")
    assert json.loads(body)["code"] == "invalid"


async def test_a_body_somewhat_over_its_bound_still_gets_to_read_its_answer(house):
    size = 3 << 20
    async with serving(house.app) as port:
        head = f"POST /v1/recall HTTP/1.1\r\n{HEAD}Content-Length: {size}\r\n\r\n"
        raw = await exchange(port, head.encode() + b"x" * size)
    assert parts(raw)[0] == 413


@pytest.mark.requirement("F6")
async def test_large_refused_bodies_do_not_pile_up_in_memory(house):
    size = 8 << 20
    head = f"POST /v1/recall HTTP/1.1\r\n{HEAD}Content-Length: {size}\r\n\r\n"
    async with serving(house.app) as port:
        await exchange(port, head.encode() + b"x" * size)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(20):
            await exchange(port, head.encode() + b"x" * size)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 64 * 1024  # KiB; what was sent is 160 MiB
