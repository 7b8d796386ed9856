"""Who gets through the door: names of the host, origins of pages."""

import pytest

from core.errors import Denied, Unauthenticated
from gateway.front.security import Doors, credential_of
from tests.gateway.front.test_refusals import check_problem

PUBLIC = Doors.of(
    "https://Memory.Example.com:8443/",
    hosts=["gw.internal:9000"],
    origins=["https://console.example.com"],
)

GOOD_HOSTS = [
    "localhost",
    "localhost:1",
    "LOCALHOST:8700",
    "127.0.0.1",
    "127.0.0.1:65535",
    "[::1]",
    "[::1]:8700",
    "memory.example.com",
    "Memory.Example.Com:443",
    "memory.example.com:8443",
    "gw.internal:9000",
    "10.1.2.3",  # where the connection came in
    "10.1.2.3:8700",
]
BAD_HOSTS = [
    "",
    "evil.example",
    "memory.example.com.evil.example",
    "evil-memory.example.com",
    "memory.example.com.",
    "memory.example.com@evil.example",
    "evil.example@localhost",
    "localhost.evil.example",
    "localhost:80:80",
    "localhost:",
    "localhost:123456",
    "localhost:8o",
    "localhost/",
    "localhost#",
    "localhost ",
    " localhost",
    "localhost,evil.example",
    "localhost\x00",
    "localhost\x7f",
    "http://localhost",
    "gw.internal",
    "gw.internal:9001",
    "0.0.0.0",  # noqa: S104 - a name to refuse, not an address to bind
    "127.0.0.2",
    "127.1",
    "2130706433",
    "0x7f.1",
    "[::]",
    "::1",
    "[::ffff:127.0.0.1]",
    "[::1",
    "10.1.2.4",
    "010.1.2.3",
    "10.1.2.3.nip.example",
    "*",
    "null",
]
GOOD_ORIGINS = [
    "http://localhost:8700",
    "https://localhost:8700",
    "https://memory.example.com:8443",
    "https://console.example.com",
    "HTTPS://Console.Example.com",
]
BAD_ORIGINS = [
    "",
    "null",
    "Null",
    "*",
    "https://evil.example",
    "http://localhost",
    "http://localhost:8701",
    "http://localhost:8700/",
    "http://localhost:8700@evil.example",
    "http://localhost:8700.evil.example",
    "https://console.example.com.evil.example",
    "https://console.example.com:8443",
    "http://console.example.com",
    "https://xconsole.example.com",
    "https://console.example.com, https://evil.example",
    "https://console.example.com https://evil.example",
    "file://",
    "chrome-extension://abc",
    "localhost:8700",
    "//localhost:8700",
    "https://memory.example.com",
]


def admitted(*headers):
    scope = {
        "headers": [(name, value.encode("latin-1")) for name, value in headers],
        "server": ("10.1.2.3", 8700),
    }
    try:
        PUBLIC.admit(scope)
    except Denied:
        return False
    return True


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_our_names_are_let_in(host):
    assert admitted((b"host", host))


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_other_names_are_not(host):
    assert not admitted((b"host", host))


@pytest.mark.parametrize("origin", GOOD_ORIGINS)
def test_our_pages_are_let_in(origin):
    assert admitted((b"host", "localhost:8700"), (b"origin", origin))


@pytest.mark.parametrize("origin", BAD_ORIGINS)
def test_other_pages_are_not(origin):
    assert not admitted((b"host", "localhost:8700"), (b"origin", origin))


def test_a_header_given_twice_or_not_at_all_is_not():
    assert not admitted()
    assert not admitted((b"host", "localhost"), (b"host", "localhost"))
    origin = (b"origin", "http://localhost")
    assert not admitted((b"host", "localhost"), origin, origin)


def test_without_a_socket_of_its_own_only_names_count():
    with pytest.raises(Denied):
        PUBLIC.admit({"headers": [(b"host", b"10.1.2.3")], "server": None})


def test_two_credentials_that_differ_prove_nothing_and_two_alike_are_one():
    bearer, key = (b"authorization", b"bearer  mw_a_b"), (b"x-api-key", b"mw_a_b")
    assert credential_of([bearer]) == credential_of([bearer, key]) == ("bearer", "mw_a_b")
    assert credential_of([key]) == ("key", "mw_a_b")
    assert credential_of([]) == ("bearer", None)
    with pytest.raises(Unauthenticated):
        credential_of([bearer, (b"x-api-key", b"mw_a_c")])


@pytest.mark.parametrize("path", ["/healthz", "/metrics", "/openapi.json", "/v1/recall", "/x"])
async def test_every_path_is_behind_the_door(client, house, path):
    reply = await client.get(path, headers={"Host": "evil.example"})
    check_problem(reply, "forbidden")
    assert reply.status_code == 403
    assert "evil" not in reply.text
    reply = await client.get(path, headers={"Origin": "null"})
    assert reply.status_code == 403
    assert house.keys.seen == []


@pytest.mark.parametrize(
    "path", ["/healthz", "/metrics", "/openapi.json", "/v1/admin/keys", "/v1/recall", "/x"]
)
async def test_every_reply_has_an_id_of_ours_and_the_security_headers(client, path):
    reply = await client.get(path, headers={"X-Request-Id": "mine", "traceparent": "00-1-1-00"})
    again = await client.get(path)
    assert len(reply.headers["x-request-id"]) == 36
    assert reply.headers["x-request-id"] != again.headers["x-request-id"]
    assert reply.headers.get_list("x-request-id", split_commas=False) == [
        reply.headers["x-request-id"]
    ]
    assert reply.headers["cache-control"] == "private, no-store"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "access-control-allow-origin" not in reply.headers
