"""`memwarden mcp` over real stdio, with a gateway of its own, and with one that runs already."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from gateway.embedded.folder import DataFolder
from tests.live.gateways import Running, wait_until

CLI = [sys.executable, "-m", "gateway.cli"]


def server(folder: Path) -> StdioServerParameters:
    arguments = ["mcp", "--data", str(folder / "data"), "--keys", str(folder / "keys")]
    return StdioServerParameters(command=sys.executable, args=["-m", "gateway.cli", *arguments])


def text_of(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


async def test_it_starts_a_gateway_remembers_and_a_second_client_attaches(tmp_path: Path) -> None:
    async with Client(server(tmp_path)) as first:
        tools = await first.list_tools()
        assert "memory_write" in [tool.name for tool in tools.tools]
        assert all("user_id" not in json.dumps(tool.input_schema) for tool in tools.tools)
        wrote = await first.call_tool("memory_write", {"content": "I like jazz"})
        assert not wrote.is_error
        async with Client(server(tmp_path)) as second:
            found = await second.call_tool("memory_search", {"query": "jazz"})
            assert "I like jazz" in text_of(found)
            prompts = await second.list_prompts()
            assert [prompt.name for prompt in prompts.prompts] == ["use_memory"]
        refused = await first.call_tool("memory_write", {"content": "password is Tr0ub4dor&3!"})
        assert refused.is_error
        assert "password" in text_of(refused)
    wait_until(lambda: DataFolder.running(tmp_path / "data") is None, what="its gateway's end")
    async with Client(server(tmp_path)) as again:
        found = await again.call_tool("memory_search", {"query": "jazz"})
        assert "I like jazz" in text_of(found)
    # The operator's credential is used once and never by the bridge.
    assert (tmp_path / "keys" / "local-admin").exists()


async def test_a_start_that_died_halfway_does_not_lock_the_folder(tmp_path: Path) -> None:
    async with Client(server(tmp_path)) as first:
        await first.call_tool("memory_write", {"content": "I like jazz"})
    wait_until(lambda: DataFolder.running(tmp_path / "data") is None, what="its gateway's end")
    for kept in (tmp_path / "keys").glob("local-*"):  # the tenant was made, its key never kept
        kept.unlink()
    async with Client(server(tmp_path)) as again:
        assert not (await again.call_tool("memory_write", {"content": "still works"})).is_error


def test_its_gateway_ends_with_it_even_when_it_is_killed(tmp_path: Path) -> None:
    arguments = ["mcp", "--data", str(tmp_path / "data"), "--keys", str(tmp_path / "keys")]
    with subprocess.Popen(
        [*CLI, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as bridge:

        def serving() -> bool:
            running = DataFolder.running(tmp_path / "data")
            return running is not None and running.url is not None

        wait_until(serving, seconds=60, what="its gateway's start")
        running = DataFolder.running(tmp_path / "data")
        assert running is not None
        gateway = psutil.Process(running.pid)
        family = [gateway, *gateway.children(recursive=True)]
        bridge.kill()
    wait_until(
        lambda: not any(process.is_running() for process in family),
        seconds=30,
        what="the end of its gateway and engines",
    )


async def test_it_is_a_bridge_to_a_gateway_with_a_key(live: Running) -> None:
    agent = live.agent(live.tenant("bridged"), "alice")
    environment = {**os.environ, "MEMWARDEN_URL": live.url, "MEMWARDEN_KEY": agent.key}  # noqa: TID251 - a child's environment
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "gateway.cli", "mcp"], env=environment
    )
    async with Client(parameters) as client:
        wrote = await client.call_tool(
            "memory_write", {"content": "over the bridge", "user_id": "alice"}
        )
        assert not wrote.is_error
    assert [memory["content"] for memory in agent.listed()] == ["over the bridge"]


@pytest.mark.parametrize("variables", [{}, {"MEMWARDEN_URL": "http://127.0.0.1:9"}])
def test_without_a_folder_or_an_address_it_says_what_is_missing(variables: dict[str, str]) -> None:
    said = subprocess.run(
        [*CLI, "mcp"],
        env={**os.environ, **variables},  # noqa: TID251 - a child's environment
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 2
    assert said.stdout == ""
    assert "MEMWARDEN_KEY" in said.stderr


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:9", "nonsense"])
def test_a_gateway_that_is_away_or_refuses_is_one_sentence(live: Running, url: str) -> None:
    wrong = "mw_aaaaaaaaaaaaaaaa_" + "0" * 43
    told = {"MEMWARDEN_URL": url or live.url, "MEMWARDEN_KEY": wrong}
    ended = subprocess.run(
        [*CLI, "mcp"],
        env={**os.environ, **told},  # noqa: TID251 - a child's environment
        input=b"",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stdout == b""
    said = ended.stderr.decode()
    assert said.startswith("memwarden: the memory gateway ")
    assert len(said.splitlines()) == 1
    assert wrong not in said
