"""A person signs in at a certified provider, and two independent clients work with what they get.

Everything is real: the authorization-code flow with PKCE and resource indicators at the provider
(npm `oidc-provider`), a gateway in a process of its own that trusts it, the Python SDK's client and
the TypeScript SDK's.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.interop.npm import FOLDER, node
from tests.live.gateways import Agent, Running, start

pytestmark = pytest.mark.interop

CALLBACK = "http://127.0.0.1:9/callback"
FORM = re.compile(r'<form[^>]*action="([^"]+)"')
PROMPT = re.compile(r'name="prompt" value="([^"]+)"')


@dataclass
class World:
    """A gateway, the provider that it trusts, and the tenant of both."""

    gateway: Running
    issuer: str
    admin: Agent = field(repr=False)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    trusted = {
        "name": "interop",
        "issuer": issuer,
        "tenant_claim": "tenant",
        "default_roles": ["reader", "writer", "curator"],
        "allow_http_loopback": True,
    }
    gateway = start(tmp_path_factory.mktemp("gateway"), MEMWARDEN_ISSUERS=json.dumps([trusted]))
    with contextlib.ExitStack() as stack:
        stack.callback(gateway.stop)
        admin = gateway.tenant("interop")
        environment = {
            **os.environ,  # noqa: TID251 - a child's environment
            "PORT": str(port), "RESOURCE": gateway.mcp_url, "TENANT": admin.tenant,
        }  # fmt: skip
        provider = stack.enter_context(
            subprocess.Popen(
                [node(), "provider.mjs"], cwd=FOLDER, env=environment, stdout=subprocess.PIPE
            )
        )
        stack.callback(provider.kill)
        assert provider.stdout is not None
        while (line := provider.stdout.readline()) != b"ready\n":
            assert line, "the provider did not start"
        yield World(gateway, issuer, admin)


@dataclass
class Person:
    """What a client keeps, and somebody at a browser.

    Args:
        asked: the parameters of each authorization request.
    """

    name: str
    tokens: OAuthToken | None = field(default=None, repr=False)
    client: OAuthClientInformationFull | None = None
    asked: list[dict[str, str]] = field(default_factory=list)
    returned: dict[str, str] = field(default_factory=dict, repr=False)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    async def browse(self, url: str) -> None:
        """Sign in, agree, and come back."""
        self.asked.append({k: v[0] for k, v in parse_qs(urlsplit(url).query).items()})
        async with httpx.AsyncClient(trust_env=False) as browser:
            reply = await browser.get(url)
            while True:
                location = reply.headers.get("location")
                if location is not None:
                    url = urljoin(str(reply.url), location)
                    if url.startswith(CALLBACK):
                        break
                    reply = await browser.get(url)
                    continue
                prompt, action = PROMPT.search(reply.text), FORM.search(reply.text)
                assert prompt is not None, reply.text
                assert action is not None, reply.text
                said = {"prompt": prompt[1], "login": self.name, "password": "any"}
                reply = await browser.post(urljoin(str(reply.url), action[1]), data=said)
        self.returned = {k: v[0] for k, v in parse_qs(urlsplit(url).query).items()}

    async def answer(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            code=self.returned["code"],
            state=self.returned.get("state"),
            iss=self.returned.get("iss"),
        )


def registered(world: World) -> OAuthClientInformationFull:
    """A client that the provider knows before it comes."""
    known = {
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    reply = httpx.post(f"{world.issuer}/reg", json=known, trust_env=False)
    assert reply.status_code == 201, reply.text
    return OAuthClientInformationFull.model_validate(reply.json() | {"issuer": world.issuer})


@contextlib.asynccontextmanager
async def connected(world: World, person: Person, **options: Any) -> AsyncIterator[Client]:
    """The SDK's client at the gateway, as `person`."""
    auth = OAuthClientProvider(
        server_url=world.gateway.mcp_url,
        client_metadata=OAuthClientMetadata(
            client_name="interop",
            redirect_uris=[AnyUrl(CALLBACK)],
            grant_types=["authorization_code"],
            token_endpoint_auth_method="none",
        ),
        storage=person,
        redirect_handler=person.browse,
        callback_handler=person.answer,
    )
    async with httpx2.AsyncClient(auth=auth, trust_env=False, timeout=30) as http:
        transport = streamable_http_client(world.gateway.mcp_url, http_client=http)
        async with Client(transport, cache=None, **options) as client:
            yield client


@pytest.mark.requirement("B1", "B3")
async def test_the_python_client_signs_in_and_works(world: World) -> None:
    person = Person("alice")
    async with connected(world, person) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        wrote = await client.call_tool("memory_write", {"content": "Alice keeps bees"})
        found = await client.call_tool("memory_search", {"query": "bees"})
    # What the 401 said is what was asked for: our resource, and the scopes of reading and writing.
    (asked,) = person.asked
    assert asked["resource"] == world.gateway.mcp_url
    assert set(asked["scope"].split()) >= {"memory:read", "memory:write"}
    assert asked["code_challenge_method"] == "S256"
    assert person.returned["iss"] == world.issuer
    assert tools == ["memory_write", "memory_write_batch", "memory_search", "memory_get"]
    assert not wrote.is_error
    assert "Alice keeps bees" in str(found.structured_content)
    auditor = world.gateway.agent(world.admin, roles=["auditor"])
    mine = auditor.events(user_id="alice", action="memory:item:write")
    assert [event["outcome"] for event in mine] == ["ok"]


@pytest.mark.requirement("B3", "B11")
async def test_a_scope_that_is_missing_is_asked_for_when_it_is_needed(world: World) -> None:
    # A client that registers itself is bound to the scopes it named then; this one named none.
    person = Person("carol", client=registered(world))
    async with connected(world, person) as client:
        wrote = await client.call_tool("memory_write", {"content": "Carol collects stamps"})
        assert wrote.structured_content is not None
        memory = wrote.structured_content["outcomes"][0]["id"]
        gone = await client.call_tool("memory_forget", {"memory_id": memory})
        assert gone.structured_content == {"deleted": 1}
        assert "memory_forget" in [tool.name for tool in (await client.list_tools()).tools]
    before, after = (set(asked["scope"].split()) for asked in person.asked)
    assert "memory:forget" in after - before


@pytest.mark.requirement("B2")
async def test_two_people_of_one_client_do_not_see_each_other(world: World) -> None:
    anna, boris = Person("anna"), Person("boris")
    async with connected(world, anna) as client:
        await client.call_tool("memory_write", {"content": "Anna sings in a choir"})
    boris.client = anna.client  # the same registered client
    async with connected(world, boris) as client:
        found = await client.call_tool("memory_search", {"query": "choir"})
        other = await client.call_tool("memory_search", {"query": "choir", "user_id": "anna"})
    assert found.structured_content is not None
    assert found.structured_content["memories"] == []
    assert other.is_error


@pytest.mark.parametrize("package", ["sdk", "client"])
@pytest.mark.requirement("B1", "B3")
def test_the_typescript_client_signs_in_and_works(world: World, package: str) -> None:
    ended = subprocess.run(
        [node(), "client.mjs", package, world.gateway.mcp_url],
        cwd=FOLDER, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["asked"]["resource"] == world.gateway.mcp_url
    assert told["asked"]["code_challenge_method"] == "S256"
    assert set(told["scope"].split()) >= {"memory:read", "memory:write"}
    assert told["tools"] == ["memory_write", "memory_write_batch", "memory_search", "memory_get"]
    assert not told["wrote"].get("isError")
    assert "Bob plays the cello" in json.dumps(told["found"]["structuredContent"])


def test_nothing_of_a_token_is_kept(world: World) -> None:
    kept = [path for path in Path(world.gateway.folder).rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        assert b"eyJhbGciOi" not in path.read_bytes(), path.name
