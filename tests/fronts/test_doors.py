"""Host and Origin on a socket that is bound to every address, as bytes on the wire."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.fronts.serving import serving
from tests.house import House

EVERYWHERE = "0.0.0.0"  # noqa: S104 - the bind that this is about
IN, OUT = 401, (400, 403)
"""Let in to where a credential is asked for; turned away before."""


@pytest.fixture(scope="module")
def port(house: House) -> Iterator[int]:
    up: asyncio.Queue[int] = asyncio.Queue()
    over = asyncio.Event()

    async def hold() -> None:
        async with serving(house.gateway.http, address=EVERYWHERE) as port:
            await up.put(port)
            await over.wait()

    holding = asyncio.run_coroutine_threadsafe(hold(), house.loop)
    yield house.run(up.get())
    house.loop.call_soon_threadsafe(over.set)
    holding.result(30)


LET_IN: list[list[str]] = [
    ["Host: 127.0.0.1:{port}"],
    ["Host: 127.0.0.1"],
    ["Host: localhost:{port}"],
    ["Host: LOCALHOST:{port}"],
    ["Host: localhost"],
    ["Host: [::1]:{port}"],
    ["Host: localhost:{port}", "Origin: http://localhost:{port}"],
    ["Host: localhost:{port}", "Origin: https://localhost:{port}"],
    ["Host: localhost:{port}", "Origin: HTTP://LOCALHOST:{port}"],
    ["Host: 127.0.0.1:{port}", "Origin: http://127.0.0.1:{port}"],
]
HOSTS = [
    EVERYWHERE, f"{EVERYWHERE}:{{port}}", "evil.example", "evil.example:{port}", "127.0.0.2:{port}",
    "127.1:{port}", "2130706433", "0x7f000001", "017700000001", "localhost.evil.example",
    "localhost.", "localhost.localdomain", "evil-localhost", "localhost@evil.example",
    "user:word@localhost", "localhost:80:80", "localhost:", "localhost:99999999",
    "localhost:-1", "localhost:8o", "localhost/evil", "localhost#", "localhost?x",
    "localhost\\evil", "localhost%00", "localhost%2eevil.example", "localhost,evil.example",
    "localhost evil.example", "[::]:{port}", "[::1", "::1", "[::ffff:127.0.0.1]",
    "[::1%25lo]", "http://localhost", "null", "*", "", "xn--lcalhost-2rb", "local\u00adhost",
]  # fmt: skip
ORIGINS = [
    "null", "Null", "*", "", "https://evil.example", "http://localhost", "http://localhost:1",
    "http://localhost:{port}/", "http://localhost:{port}@evil.example",
    "http://evil.example@localhost:{port}", "http://localhost:{port}.evil.example",
    "http://localhost.evil.example:{port}", "http://127.0.0.1:{port}", "localhost:{port}",
    "//localhost:{port}", "file://", "chrome-extension://abc", "data:text/html,x",
    "http://localhost:{port}, https://evil.example", "http://localhost:{port} null",
    "ws://localhost:{port}", "javascript://localhost:{port}", "http://localhost:0{port}",
]  # fmt: skip
TURNED_AWAY: list[list[str]] = [
    *([f"Host: {host}"] for host in HOSTS),
    *(["Host: localhost:{port}", f"Origin: {origin}"] for origin in ORIGINS),
    [],
    ["Host: localhost", "Host: localhost"],
    ["Host: localhost", "Host: evil.example"],
    ["Host: evil.example", "X-Forwarded-Host: localhost"],
    ["Host: evil.example", "Forwarded: host=localhost"],
    ["Host: evil.example:{port}", "Origin: http://evil.example:{port}"],
    ["Host: localhost:{port}", "Origin: http://localhost:{port}",
     "Origin: http://localhost:{port}"],
    ["Host: localhost:{port}", "Origin: http://localhost:{port}", "Origin: null"],
]  # fmt: skip


def status_of(port: int, lines: list[str], path: str = "/mcp") -> int:
    """Send one request as bytes; returns its status."""

    async def exchange() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        said = "\r\n".join([f"POST {path} HTTP/1.1", *lines, "Content-Length: 0", "", ""])
        writer.write(said.replace("{port}", str(port)).encode())
        line = await reader.readline()
        writer.close()
        return int(line.split()[1])

    return asyncio.run(exchange())


@pytest.mark.requirement("B7")
def test_there_are_sixty_cases() -> None:
    assert len(LET_IN) + len(TURNED_AWAY) >= 60


@pytest.mark.requirement("B7")
@pytest.mark.parametrize("lines", LET_IN, ids=" | ".join)
def test_our_own_names_are_let_in(port: int, lines: list[str]) -> None:
    assert status_of(port, lines) == IN


@pytest.mark.requirement("B7")
@pytest.mark.parametrize("lines", TURNED_AWAY, ids=[ascii(" | ".join(x)) for x in TURNED_AWAY])
def test_nobody_elses_are(port: int, lines: list[str]) -> None:
    for path in ("/mcp", "/v1/recall", "/.well-known/oauth-protected-resource/mcp"):
        assert status_of(port, lines, path) in OUT, path
