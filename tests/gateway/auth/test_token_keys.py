"""Where an issuer's keys come from, and what happens when they do not come."""

import asyncio
import json
import socket
from ipaddress import ip_address

import httpcore
import pytest

from core.errors import Unavailable
from gateway.auth import fetch
from gateway.auth.fetch import Fetcher, FetchFailed
from gateway.auth.issuers import Issuer
from gateway.auth.jwks import (
    FRESH_SECONDS,
    RETRY_SECONDS,
    STALE_SECONDS,
    UNKNOWN_SECONDS,
    IssuerKeys,
)
from gateway.auth.jws import Refused
from tests.identity.issuer import answer, new_key, public, running_issuer

pytestmark = pytest.mark.requirement("B6")


class Seconds:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer():
    with running_issuer("ES256") as opened:
        yield opened


@pytest.fixture
def clock():
    return Seconds()


def keys_of(issuer, clock, **changes):
    settings = Issuer.model_validate(issuer.settings(**changes))
    return IssuerKeys(settings, Fetcher(settings).get, monotonic=clock)


@pytest.fixture
def keys(issuer, clock):
    return keys_of(issuer, clock)


def failing(handler):
    answer(handler, b"{}", status=500)


async def test_keys_are_fetched_once_in_ten_minutes(issuer, keys, clock):
    for _ in range(5):
        assert (await keys.key("ES256")).algorithms == {"ES256"}
    clock.now += FRESH_SECONDS - 1
    await keys.key("ES256")
    assert issuer.paths() == 1
    clock.now += 1
    await keys.key("ES256")
    assert issuer.paths() == 2


async def test_a_thousand_unknown_ids_at_once_and_in_a_row_make_two_fetches(issuer, keys):
    async def unknown(number):
        with pytest.raises(Refused):
            await keys.key(f"nobody-{number}")

    await asyncio.gather(*(unknown(number) for number in range(500)))
    for number in range(500, 1000):
        await unknown(number)
    assert issuer.paths() == 2


async def test_an_unknown_id_is_looked_for_again_after_half_a_minute(issuer, keys, clock):
    await keys.key("ES256")
    with pytest.raises(Refused):
        await keys.key("later")
    issuer.add_key("later", "ES256")
    with pytest.raises(Refused):
        await keys.key("later")
    clock.now += UNKNOWN_SECONDS
    await keys.key("later")
    assert issuer.paths() == 3


async def test_a_key_that_was_rotated_in_serves_at_once_and_one_rotated_out_no_more(issuer, keys):
    await keys.key("ES256")
    issuer.retire("ES256")
    issuer.add_key("new", "ES256")
    await keys.key("new")
    with pytest.raises(Refused):
        await keys.key("ES256")


async def test_old_keys_serve_an_hour_while_the_issuer_is_away_and_then_nothing_does(
    issuer, keys, clock
):
    await keys.key("ES256")
    issuer.fault = failing
    clock.now += FRESH_SECONDS
    await keys.key("ES256")
    clock.now += STALE_SECONDS - 1
    await keys.key("ES256")
    clock.now += 1
    with pytest.raises(Unavailable):
        await keys.key("ES256")
    issuer.fault = None
    clock.now += RETRY_SECONDS
    await keys.key("ES256")


async def test_without_any_keys_there_is_no_answer_and_the_issuer_is_left_alone(
    issuer, keys, clock
):
    issuer.fault = failing
    for _ in range(20):
        with pytest.raises(Unavailable):
            await keys.key("ES256")
    asked = len(issuer.asked)
    assert asked <= 2
    clock.now += RETRY_SECONDS
    issuer.fault = None
    await keys.key("ES256")


def redirecting(handler):
    handler.send_response(302)
    handler.send_header("Location", "http://127.0.0.1:1/keys")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def dripping(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b'{"keys":')  # and nothing more, for as long as the client waits
    handler.wfile.flush()
    handler.rfile.read(1)


FAULTS = {
    "an error": failing,
    "a redirect": redirecting,
    "too much": lambda handler: answer(handler, b" " * (fetch.MAX_BYTES + 1)),
    "no JSON": lambda handler: answer(handler, b"<html>"),
    "no object": lambda handler: answer(handler, b"[]"),
    "no list of keys": lambda handler: answer(handler, b'{"keys": {}}'),
    "a member twice": lambda handler: answer(handler, b'{"keys": [], "keys": []}'),
    "too many keys": lambda handler: answer(handler, json.dumps({"keys": [{}] * 101}).encode()),
    "another coding": lambda handler: answer(handler, b'{"keys": []}', Content_Encoding="gzip"),
    "an empty reply": lambda handler: answer(handler, b""),
    "no reply": lambda handler: handler.connection.shutdown(socket.SHUT_RDWR),
    "half a reply": dripping,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_what_is_no_key_set_gives_no_key(issuer, clock, monkeypatch, fault):
    monkeypatch.setattr(fetch, "MAX_SECONDS", 0.3)
    issuer.fault = fault
    keys = keys_of(issuer, clock, jwks_uri=f"{issuer.url}/keys")
    with pytest.raises(Unavailable):
        await keys.key("ES256")


@pytest.mark.parametrize(("more", "good"), [(0, True), (1, False)])
async def test_a_good_set_is_read_up_to_its_bound_and_no_further(issuer, clock, more, good):
    whole = json.dumps(issuer.published).encode()
    issuer.fault = lambda handler: answer(handler, whole.ljust(fetch.MAX_BYTES + more))
    keys = keys_of(issuer, clock, jwks_uri=f"{issuer.url}/keys")
    if good:
        assert await keys.key("ES256")
    else:
        with pytest.raises(Unavailable):
            await keys.key("ES256")


def without(key, *names):
    return {name: value for name, value in key.items() if name not in names}


GOOD = public(new_key("ES256"), "k")
RSA = public(new_key("RS256"), "k")
WEAK = RSA | {"n": RSA["n"][:172]}  # 1,032 bits; what it signs does not matter, it is not used
UNUSABLE = {
    "a secret": {"kty": "oct", "k": "c2VjcmV0", "kid": "k"},
    "for encryption": GOOD | {"use": "enc"},
    "not to verify with": GOOD | {"key_ops": ["sign"]},
    "of another algorithm": GOOD | {"alg": "ES384"},
    "of an algorithm that is not accepted": public(new_key("ES384"), "k"),
    "of another curve": GOOD | {"crv": "P-384"},
    "of an unknown curve": GOOD | {"crv": "secp256k1"},
    "not on its curve": GOOD | {"y": GOOD["x"]},
    "without a coordinate": without(GOOD, "y"),
    "with a private part": new_key("ES256").as_dict(private=True) | {"kid": "k"},
    "without an id": without(GOOD, "kid"),
    "with a number for an id": GOOD | {"kid": 7},
    "with an endless id": GOOD | {"kid": "k" * 257},
    "too short": WEAK,
    "too long": RSA | {"n": RSA["n"] * 5},
    "with a huge exponent": RSA | {"e": RSA["n"]},
    "of a kind that is a list": GOOD | {"kty": ["EC"]},
    "no object": "k",
    "empty": {},
}


@pytest.mark.parametrize("key", UNUSABLE.values(), ids=UNUSABLE)
async def test_a_published_key_that_is(issuer, keys, key):
    issuer.published["keys"].append(key)
    with pytest.raises(Refused):
        await keys.key("k")
    assert await keys.key("ES256")


async def test_two_keys_of_one_id_are_both_not_used(issuer, keys):
    issuer.published["keys"] += [GOOD, public(new_key("ES256"), "k")]
    with pytest.raises(Refused):
        await keys.key("k")


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "http://127.0.0.1:1"},
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "http://169.254.169.254/keys"},
        {"jwks_uri": "https://user@127.0.0.1/keys"},
    ],
)
async def test_metadata_of_another_issuer_or_with_another_kind_of_address_is_no_metadata(
    issuer, keys, metadata
):
    issuer.metadata |= metadata
    with pytest.raises(Unavailable):
        await keys.key("ES256")
    assert issuer.paths() == 0


async def test_the_issuer_must_be_spelled_in_its_metadata_as_in_the_settings(issuer, keys):
    issuer.metadata["issuer"] += "/"
    with pytest.raises(Unavailable):
        await keys.key("ES256")


@pytest.mark.parametrize(
    ("address", "loopback", "private"),
    [
        ("127.0.0.1", True, False),
        ("::1", True, False),
        ("10.1.2.3", False, True),
        ("192.168.1.1", False, True),
        ("100.64.0.1", False, True),
        ("fd00::1", False, True),
        ("169.254.169.254", False, False),
        ("fe80::1", False, False),
        ("::ffff:169.254.169.254", False, False),
        ("64:ff9b::a9fe:a9fe", False, False),
        ("2002:a9fe:a9fe::1", False, False),
        ("::ffff:10.1.2.3", False, True),
        ("64:ff9b::a01:203", False, True),
        ("0.0.0.0", False, False),  # noqa: S104 - not bound to, dialled
        ("224.0.0.1", False, False),
        ("240.0.0.1", False, False),
        ("255.255.255.255", False, False),
    ],
)
async def test_an_address_of_ours_is_dialled_only_for_a_host_that_may_stand_there(
    issuer, monkeypatch, address, loopback, private
):
    """Whatever a name answers, the address that was judged is the one that is dialled."""
    dialled = []

    async def addresses(self, host, port):
        return [ip_address(address)]

    async def connect(self, host, port, *others):
        dialled.append(host)
        raise httpcore.ConnectError

    monkeypatch.setattr(fetch._Dialer, "_addresses", addresses)
    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    for flags, wanted in (
        ({}, False),
        ({"allow_http_loopback": True}, loopback),
        ({"allow_private_addresses": True}, private),
    ):
        dialled.clear()
        settings = issuer.settings(issuer="https://id.example", allow_http_loopback=False)
        fetcher = Fetcher(Issuer.model_validate(settings | flags))
        for url, named in (("https://id.example/k", True), ("https://other.example/k", False)):
            with pytest.raises(FetchFailed):
                await fetcher.get(url)
            assert dialled == ([str(ip_address(address))] if wanted and named else [])
            dialled.clear()


async def test_one_address_of_ours_among_public_ones_is_a_name_being_rebound(issuer, monkeypatch):
    async def addresses(self, host, port):
        return [ip_address(each) for each in ("93.184.216.34", "10.0.0.1")]

    async def connect(self, *others):
        raise AssertionError("dialled")

    monkeypatch.setattr(fetch._Dialer, "_addresses", addresses)
    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    settings = issuer.settings(issuer="https://id.example", allow_http_loopback=False)
    with pytest.raises(FetchFailed):
        await Fetcher(Issuer.model_validate(settings)).get("https://id.example/keys")


async def test_a_public_address_is_dialled(issuer, monkeypatch):
    dialled = []

    async def addresses(self, host, port):
        return [ip_address("93.184.216.34")]

    async def connect(self, host, port, *others):
        dialled.append((host, port))
        raise httpcore.ConnectError

    monkeypatch.setattr(fetch._Dialer, "_addresses", addresses)
    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect)
    settings = issuer.settings(issuer="https://id.example", allow_http_loopback=False)
    with pytest.raises(FetchFailed):
        await Fetcher(Issuer.model_validate(settings)).get("https://id.example/keys")
    assert dialled == [("93.184.216.34", 443)]


async def test_a_caller_who_leaves_does_not_end_the_fetch_of_the_others(issuer, keys):
    first = asyncio.create_task(keys.key("ES256"))
    second = asyncio.create_task(keys.key("ES256"))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).algorithms == {"ES256"}
    assert issuer.paths() == 1
