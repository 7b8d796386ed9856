"""Texts that were written, forgotten or refused are nowhere under the data folder."""

import asyncio
import secrets
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.live.gateways import Agent, Running, running

CHINESE = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥"


def canaries(number: int) -> list[str]:
    """Return made-up words that stand nowhere else, half of them Chinese.

    They begin alike, so that one pass over a file looks for all of them.
    """
    words = [f"zq{secrets.token_hex(7)}" for _ in range(number // 2)]
    pick = secrets.SystemRandom().choice
    words += [
        CHINESE[0] * 2 + "".join(pick(CHINESE) for _ in range(11))
        for _ in range(number - len(words))
    ]
    return words


ENCODINGS = ("utf-8", "utf-16-le", "gb18030")


def found_on_disk(folder: Path, words: list[str]) -> list[str]:
    """Return those of `words` that some file holds, in any of the encodings a store might use.

    Fast when the words begin with the same letters.
    """
    by_beginning: dict[bytes, list[tuple[bytes, str]]] = {}
    for word in words:
        for encoding in ENCODINGS:
            spelled = word.encode(encoding)
            by_beginning.setdefault(word[:2].encode(encoding), []).append((spelled, word))
    found = set()
    for path in folder.rglob("*"):
        if not path.is_file() or path.is_symlink():
            continue
        try:
            data = path.read_bytes()
        except FileNotFoundError:  # a file of a running database may go at any time
            continue
        for beginning, spellings in by_beginning.items():
            at = data.find(beginning)
            while at >= 0:
                found |= {word for spelled, word in spellings if data.startswith(spelled, at)}
                at = data.find(beginning, at + 1)
    return sorted(found)


async def write_over_mcp(gateway: Running, agent: Agent, words: list[str]) -> list[str]:
    headers = {"Authorization": f"Bearer {agent.key}"}
    ids = []
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60.0, trust_env=False) as http,
        Client(streamable_http_client(gateway.mcp_url, http_client=http)) as client,
    ):
        for word in words:
            result = await client.call_tool(
                "memory_write",
                {"content": f"she says {word} often", "user_id": "alice", "tags": [word]},
            )
            assert not result.is_error, result
            ids.append((result.structured_content or {})["outcomes"][0]["id"])
            await client.call_tool("memory_search", {"query": word, "user_id": "alice"})
    return ids


@pytest.mark.requirement("M2")
def test_no_text_is_readable_on_disk_while_it_runs_and_after_it_stops() -> None:
    with running() as gateway:
        agent = gateway.agent(gateway.tenant("canaries"), "alice")
        over_http, over_mcp, refused, kept = (canaries(number) for number in (12, 8, 6, 4))
        ids = [
            agent.stored(
                f"note {word}",
                tags=[word],
                metadata={word: [word]},
                session_id=f"s-{word}" if word.isascii() else None,
                source={"ref": word},
                task=word,
                entities=[word],
            )
            for word in over_http
        ]
        for word in over_http:
            agent.recall(word)
        ids += asyncio.run(write_over_mcp(gateway, agent, over_mcp))
        for word in refused:
            secret = f"my password is {word}Tz9!, remember it"
            reply = agent.try_write(secret, tags=[word])
            assert reply.status_code == 422, reply.text
            assert word not in reply.text
        for memory in ids:
            assert agent.forget(memory).json() == {"deleted": 1}
        for word in kept:
            agent.write(f"kept {word}")
            agent.try_write(f"kept {word}", user_id=f"user-{word}")  # a person's name is a text too
        words = [*over_http, *over_mcp, *refused, *kept]
        assert len(words) == 30
        assert found_on_disk(gateway.data, words) == []
        gateway.stop()
        assert found_on_disk(gateway.data, words) == []
        assert [word for word in words if word in gateway.said()] == []


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    words = [*canaries(6), "absent"]
    for number, word in enumerate(words[:-1]):
        spelled = word.encode(ENCODINGS[number % 3])
        (tmp_path / "deep" / str(number)).write_bytes(b"\x00" * 101 + spelled + b"zq\xff" * 10)
    assert found_on_disk(tmp_path, words) == sorted(words[:-1])
