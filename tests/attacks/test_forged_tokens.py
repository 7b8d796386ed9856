"""A forged token gets nobody in: over HTTP, over MCP in every revision, over the stdio bridge."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.fixtures_identity import Signed
from tests.fronts.test_mcp_protocol import SERVED, body_for, headers_for
from tests.house import URL, rpc_headers
from tests.identity.forged_claims import CLAIMS
from tests.identity.forged_forms import FORMS
from tests.identity.forging import World
from tests.identity.issuer import new_key, proof, running_issuer
from tests.live.gateways import Running, running

pytestmark = pytest.mark.requirement("B1")

FORGERIES = FORMS | CLAIMS
KIDS = ("RS256", "ES256", "EdDSA")
CALL = {"name": "memory_search", "arguments": {"query": "tea"}}


def not_refused(signed: Signed, ask) -> list[tuple[str, int]]:
    """Send every forgery; returns those that got another answer than 401."""
    made = {name: forgery.make(signed.world) for name, forgery in FORGERIES.items()}

    async def all_of_them() -> list[tuple[str, int]]:
        answers = [(name, (await ask(token)).status_code) for name, token in made.items()]
        return [(name, status) for name, status in answers if status != 401]

    return signed.house.run(all_of_them())


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("GET", "/v1/memories?user_id=alice", {}),
        ("POST", "/v1/memories", {"json": {"content": "forged", "user_id": "alice"}}),
        ("GET", "/v1/audit/events", {}),
    ],
    ids=["read", "write", "audit"],
)
def test_over_http(signed: Signed, method, path, options):
    assert not_refused(signed, lambda token: signed.send(token, method, path, **options)) == []
    for kid in KIDS:
        reply = signed.ask(signed.world.good(kid), method, path, **options)
        assert reply.status_code in {200, 201}, reply.text


@pytest.mark.requirement("B8")
@pytest.mark.parametrize("revision", SERVED)
def test_over_mcp(signed: Signed, revision):
    body = body_for(revision, "tools/call", CALL)
    headers = headers_for(revision, "tools/call", CALL)

    def ask(token):
        return signed.send(token, "POST", "/mcp", json=body, headers=headers)

    assert not_refused(signed, ask) == []
    for kid in KIDS:
        reply = signed.house.run(ask(signed.world.good(kid)))
        assert reply.status_code == 200, reply.text
        assert not reply.json()["result"].get("isError"), reply.text


def test_a_refusal_says_nothing_of_the_token(signed: Signed):
    told = set()
    for forgery in FORGERIES.values():
        reply = signed.ask(forgery.make(signed.world), "GET", "/v1/memories?user_id=alice")
        body = reply.json()
        body.pop("request_id")
        told.add((json.dumps(body, sort_keys=True), reply.headers["www-authenticate"]))
    assert len(told) == 1


@pytest.mark.parametrize(
    "headers",
    [
        [(b"authorization", b"Bearer %b\xff")],
        [(b"authorization", b"Bearer \xc3\xa9%b")],
        [(b"authorization", b"Bearer %b%b")],
        [(b"authorization", b"Bearer %b x")],
        [(b"authorization", b"Bearer %b,x")],
        [(b"authorization", b"Basic %b")],
        [(b"authorization", b"Token %b")],
        [(b"authorization", b"DPoP %b")],
        [(b"authorization", b"%b")],
        [(b"authorization", b"Bearer %b"), (b"authorization", b"Bearer %b")],
        [(b"authorization", b"Bearer %b"), (b"x-api-key", b"mw_aaaaaaaaaaaaaaaa_x")],
        [(b"x-api-key", b"%b")],
        [(b"cookie", b"access_token=%b")],
        [(b"x-forwarded-access-token", b"%b")],
        [(b"proxy-authorization", b"Bearer %b")],
    ],
)
def test_a_good_token_in_a_bad_place(signed: Signed, headers):
    token = signed.world.good().encode()
    sent = [(name, value.replace(b"%b", token)) for name, value in headers]
    for method, path, more in (
        ("GET", "/v1/memories?user_id=alice", []),
        ("POST", "/mcp", [(k.encode(), v.encode()) for k, v in rpc_headers().items()]),
    ):
        request = httpx.Request(method, URL + path, headers=[*sent, *more])
        assert signed.house.run(signed.house.client.send(request)).status_code == 401


@pytest.mark.parametrize(
    "path", ["/v1/memories?user_id=alice&access_token=", "/v1/memories?token="]
)
def test_a_token_in_an_address_is_no_credential(signed: Signed, path):
    reply = signed.house.http.get(path + signed.world.good())
    assert reply.status_code == 401


@pytest.mark.requirement("B13")
@pytest.mark.parametrize("path", ["/v1/recall", "/mcp"])
def test_a_bound_token_needs_its_proof_over_every_front(signed: Signed, path):
    key = new_key("ES256")
    token = signed.world.good(cnf={"jkt": key.thumbprint()})
    recall = {"query": "tea", "user_id": "alice"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    body = recall if path == "/v1/recall" else call

    def ask(scheme, *proofs):
        headers = rpc_headers() | {"Authorization": f"{scheme} {token}"}
        sent = [*headers.items(), *(("DPoP", text) for text in proofs)]
        work = signed.house.client.request("POST", path, json=body, headers=sent)
        return signed.house.run(work).status_code

    def proven(**changes):
        return proof(key, "ES256", token, "POST", f"{URL}{path}", **changes)

    assert ask("Bearer") == ask("Bearer", proven()) == ask("DPoP") == 401
    assert ask("DPoP", proven(htu=f"{URL}/v1/memories")) == 401
    assert ask("DPoP", proven(), proven()) == 401
    used = proven()
    assert ask("DPoP", used) == 200
    assert ask("DPoP", used) == 401
    assert ask("dpop", proven()) == 200


@pytest.fixture(scope="module")
def bridged() -> Iterator[tuple[Running, World]]:
    """A gateway as a person runs it, that trusts an issuer."""
    with running_issuer("RS256", "ES256", "EdDSA") as issuer, running_issuer() as hostile:
        hostile.add_key("ES256", "ES256")
        hostile.add_key("EdDSA", "EdDSA")
        issuer.add_key("retired")
        issuer.retire("retired")
        with running(MEMWARDEN_ISSUERS=json.dumps([issuer.settings()])) as gateway:
            yield gateway, World(issuer, hostile, gateway.tenant("bridged").tenant)


CLI = ["-m", "gateway.cli", "mcp"]
SPOKEN = "".join(
    json.dumps({"jsonrpc": "2.0"} | message) + "\n"
    for message in (
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
         "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": CALL},
    )
)  # fmt: skip


def environment(gateway: Running, token: str) -> dict[str, str]:
    return {**os.environ, "MEMWARDEN_URL": gateway.url, "MEMWARDEN_KEY": token}  # noqa: TID251 - a child's environment


async def test_over_the_bridge_a_good_token_writes_and_searches(bridged):
    gateway, world = bridged
    parameters = StdioServerParameters(
        command=sys.executable, args=CLI, env=environment(gateway, world.good())
    )
    async with Client(parameters) as client:
        wrote = await client.call_tool("memory_write", {"content": "likes the token"})
        assert not wrote.is_error
        found = await client.call_tool("memory_search", {"query": "token"})
        assert "likes the token" in str(found.content)


def test_over_the_bridge_a_forged_one_gets_no_answer(bridged):
    gateway, world = bridged
    bridges = {}
    for name in (
        "none, unsigned",
        "HS256 with the public key as its secret",
        "a key of its own",
        "a hostile issuer's key with our id RS256",
        "an audience that is another",
        "an end that is 61 seconds ago",
        "a tenant that never was",
    ):
        token = FORGERIES[name].make(world)
        bridges[token] = subprocess.Popen(
            [sys.executable, *CLI], env=environment(gateway, token), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    for token, process in bridges.items():
        with process:
            answered, told = process.communicate(SPOKEN, timeout=60)
        assert process.returncode != 0
        assert answered == ""
        assert not [part for part in token.split(".") if len(part) > 8 and part in told]
