"""`memwarden up` serves through the listener whose waits are bounded."""

import socket

import httpx
import pytest

from gateway.front.listener import HEAD_SECONDS


@pytest.mark.requirement("F6")
def test_a_connection_that_never_finishes_its_request_is_closed(live):
    url = httpx.URL(live.url)
    with socket.create_connection((url.host, url.port)) as waiting:
        waiting.sendall(b"GET /healthz HTTP/1.1\r\nHost: local")
        waiting.settimeout(HEAD_SECONDS + 20)
        assert waiting.recv(1) == b""
    assert live.http.get("/healthz").json() == {"status": "ok"}
