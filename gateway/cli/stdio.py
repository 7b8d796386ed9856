"""`memwarden mcp`: MCP over stdio, as a bridge to a gateway over HTTP.

Rules this module keeps:
- Nothing but protocol goes to stdout; what there is to say goes to stderr.
- With a data folder it is the tenant `local`, with one pinned user, never the operator: the
  operator key is used once, to make that tenant and its key.
- A gateway that runs on the folder is used; otherwise one is started, and ends with this process,
  however this process ends.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from core.errors import Conflict, Unavailable
from gateway.cli.exits import USAGE, fail
from gateway.embedded.folder import DataFolder
from gateway.embedded.keys import KeysFolder
from gateway.front.mcp import INSTRUCTIONS
from gateway.settings import load

_START_SECONDS = 60.0
_POLL_SECONDS = 0.02
_STOP_SECONDS = 30.0
_CREATED = 201
_CONFLICT = 409
_UNAUTHENTICATED, _FORBIDDEN = 401, 403


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A gateway and the credential to use there."""

    url: str
    key: str = field(repr=False)


def run(*, data: Path | None, keys: Path | None, user: str) -> None:
    """Serve stdio until it closes. Raises: SettingsInvalid, Unavailable, FolderUnusable."""
    settings = load()
    if data is None:
        if settings.url is None or settings.key is None:
            fail("name --data DIR, or set MEMWARDEN_URL and MEMWARDEN_KEY", code=USAGE)
        address = Address(url=settings.url, key=settings.key.get_secret_value())
        asyncio.run(_bridge(address))
    else:
        asyncio.run(_local(data, keys, user))


async def _local(data: Path, keys: Path | None, user: str) -> None:
    async with _gateway(data, keys) as (url, keys_folder):
        await _bridge(Address(url=url, key=await _local_key(url, keys_folder, user)))


@contextlib.asynccontextmanager
async def _gateway(data: Path, keys: Path | None) -> AsyncIterator[tuple[str, KeysFolder]]:
    """Give the URL and keys folder of the gateway on `data`, started here if none runs."""
    running = await _running(data)
    if running is not None:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="memwarden-") as folder:
        ready = Path(folder) / "ready.json"
        arguments = ["up", "--data", str(data), "--port", "0", "--ready-file", str(ready)]
        if keys is not None:
            arguments += ["--keys", str(keys)]
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway.cli", *arguments, "--until-eof"),
            stdin=asyncio.subprocess.PIPE,  # its end, however it comes, drains the gateway
            stdout=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(_START_SECONDS):
                while not ready.exists():
                    if child.returncode is not None:
                        raise Unavailable("the embedded gateway did not start")
                    await asyncio.sleep(_POLL_SECONDS)
            started = await _running(data)
            if started is None:
                raise Unavailable("the embedded gateway did not start")
            yield started
        except TimeoutError as err:
            raise Unavailable("the embedded gateway did not start in time") from err
        finally:
            if child.stdin is not None:
                child.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), _STOP_SECONDS)


async def _running(data: Path) -> tuple[str, KeysFolder] | None:
    """Return what serves on the folder; waits for one that is starting."""
    async with asyncio.timeout(_START_SECONDS):
        while True:
            found = DataFolder.running(data)
            if found is None:
                return None
            if found.url is not None and found.keys is not None:
                return found.url, KeysFolder(found.keys)
            await asyncio.sleep(_POLL_SECONDS)


async def _local_key(url: str, keys: KeysFolder, user: str) -> str:
    """Return the credential of the local tenant for `user`, made on first use.

    Raises: Unavailable.
    """
    with _alone(keys):
        kept = keys.read(_file_of(user))
        return kept.decode() if kept is not None else await _make_local_key(url, keys, user)


@contextlib.contextmanager
def _alone(keys: KeysFolder) -> Iterator[None]:
    """Let one process at a time make local credentials; waits for the other."""
    lock = os.open(keys.path / "local-lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


async def _make_local_key(url: str, keys: KeysFolder, user: str) -> str:
    operator = keys.read("operator")
    if operator is None:
        raise Unavailable("the keys folder holds no operator key")
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        admin = keys.read("local-admin")
        if admin is None:
            made = await _made_tenant(http, operator.decode())
            admin = keys.read_or_create("local-admin", made["admin_key"].encode)
        spec = {
            "name": "stdio",
            "roles": ["reader", "writer", "curator"],
            "namespaces": ["default"],
            "users": [user],
        }
        made = await _made(http, admin.decode(), "/v1/admin/keys", spec)
    return keys.read_or_create(_file_of(user), made["key"].encode).decode()


def _file_of(user: str) -> str:
    # A digest, because a file's name is short and a user's name may be anything.
    return f"local-user-{hashlib.sha256(user.encode()).hexdigest()[:32]}"


async def _made_tenant(http: httpx.AsyncClient, operator: str) -> dict[str, Any]:
    """Make the tenant `local`; another name if a start that died made that one and lost its key."""
    try:
        return await _made(http, operator, "/v1/admin/tenants", {"name": "local"})
    except Conflict:
        name = f"local-{secrets.token_hex(4)}"
        return await _made(http, operator, "/v1/admin/tenants", {"name": name})


async def _made(
    http: httpx.AsyncClient, key: str, path: str, body: dict[str, Any]
) -> dict[str, Any]:
    reply = await http.post(path, json=body, headers={"Authorization": f"Bearer {key}"})
    if reply.status_code == _CONFLICT:
        raise Conflict
    if reply.status_code != _CREATED:
        raise Unavailable(f"the gateway refused to make the local credential ({reply.status_code})")
    made: dict[str, Any] = json.loads(reply.content)
    return made


async def _bridge(address: Address) -> None:
    headers = {"Authorization": f"Bearer {address.key}"}
    await _knock(address, headers)
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60.0) as http:
        transport = streamable_http_client(address.url.rstrip("/") + "/mcp", http_client=http)
        async with Client(transport, cache=None) as upstream:
            server = _relay(upstream)
            async with stdio_server() as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())


async def _knock(address: Address, headers: dict[str, str]) -> None:
    """Ask once whether the gateway is there and takes the credential. Raises: Unavailable.

    The client that follows would end in a traceback. The gateway judges a credential before it
    says that its MCP endpoint has no GET.
    """
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=30.0) as http:
            reply = await http.get(address.url.rstrip("/") + "/mcp", headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as err:
        raise Unavailable("the memory gateway cannot be reached") from err
    if reply.status_code in (_UNAUTHENTICATED, _FORBIDDEN):
        raise Unavailable("the memory gateway refuses this credential")


def _relay(upstream: Client) -> Server[Any]:
    """Return a server that hands every request on and every answer back, unchanged."""

    async def list_tools(
        _ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return await upstream.list_tools(cursor=None if params is None else params.cursor)

    async def on_call_tool(
        _ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult:
        try:
            return await upstream.session.call_tool(params.name, params.arguments or {})
        except (httpx2.HTTPError, OSError):
            sorry = TextContent(text="The memory gateway cannot be reached just now; try again.")
            return CallToolResult(content=[sorry], is_error=True)

    async def list_prompts(
        _ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return await upstream.list_prompts(cursor=None if params is None else params.cursor)

    async def get_prompt(
        _ctx: ServerRequestContext[Any, Any], params: GetPromptRequestParams
    ) -> GetPromptResult:
        return await upstream.get_prompt(params.name, params.arguments or {})

    server: Server[Any] = Server(
        "memwarden",
        version=version("memwarden"),
        title="Memwarden",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=on_call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    server.middleware.clear()
    return server
