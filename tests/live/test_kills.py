"""A gateway that is killed at any moment loses no acknowledged write and doubles none."""

import random
import string
import threading
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest
from typing_extensions import override

from tests.live.gateways import Agent, Running, start

WRITERS = 8


class Writer(threading.Thread):
    """Writes texts until the gateway dies, and keeps a ledger of what was answered.

    Each text has a word of its own, so that asking for it can have only one best answer.
    """

    def __init__(self, agent: Agent, pick: random.Random) -> None:
        super().__init__(daemon=True)
        self.agent = agent
        self.pick = pick
        self.acknowledged: dict[str, str] = {}
        self.unknown: set[str] = set()

    @override
    def run(self) -> None:
        while True:
            word = "".join(self.pick.choices(string.ascii_lowercase, k=12))
            text = f"remembers the word {word}"
            try:
                reply = self.agent.try_write(text)
            except httpx.HTTPError:
                self.unknown.add(text)
                return
            if reply.status_code == 201:
                self.acknowledged[text] = reply.json()["outcomes"][0]["id"]
            else:
                self.unknown.add(text)
                if reply.status_code != 503:
                    raise AssertionError(reply.text)
                return


def check(agent: Agent, acknowledged: dict[str, str], unknown: set[str]) -> None:
    """Hold the ledger against what the gateway has."""
    there = Counter(memory["content"] for memory in agent.listed(limit=200))
    doubled = [text for text, times in there.items() if times > 1]
    assert not doubled
    missing = [text for text in acknowledged if text not in there]
    assert not missing
    invented = set(there) - set(acknowledged) - unknown
    assert not invented
    events = agent.events(action="memory:item:write")
    written = Counter(event["object"] for event in events if event["outcome"] == "ok")
    assert all(written[memory] == 1 for memory in acknowledged.values())
    assert len(written) == len(there)


def index_follows(gateway: Running, agent: Agent, texts: list[str]) -> None:
    """Wait until nothing is left for the index to follow, then find every text by its meaning."""
    deadline = time.monotonic() + 5.0
    while gateway.http.get("/metrics").text.find("memwarden_index_pending 0.0") < 0:
        assert time.monotonic() < deadline, "the index did not follow within 5 s"
        time.sleep(0.05)
    for text in texts:
        assert any(text == memory["content"] for memory in agent.recall(text, limit=5)), text


def rounds(folder: Path, kills: int, seed: int) -> None:
    gateway = start(folder)
    try:
        gateway = killed_again_and_again(gateway, kills, seed)
    finally:
        if gateway.process.poll() is None:
            gateway.stop()


def killed_again_and_again(gateway: Running, kills: int, seed: int) -> Running:
    """Kill it under writers so many times, and hold the ledger against what is left."""
    pick = random.Random(seed)
    folder = gateway.folder
    admin = gateway.tenant("kills")
    agent = gateway.agent(admin, "alice")
    acknowledged: dict[str, str] = {}
    unknown: set[str] = set()
    for number in range(kills):
        writers = [
            Writer(
                Agent(gateway.http, agent.key, agent.tenant, "alice"), random.Random(seed + each)
            )
            for each in range(number * WRITERS, (number + 1) * WRITERS)
        ]
        for writer in writers:
            writer.start()
        time.sleep(pick.uniform(0.05, 0.6))
        gateway.kill()
        for writer in writers:
            writer.join(30)
            acknowledged |= writer.acknowledged
            unknown |= writer.unknown
        gateway = start(folder)
        agent = Agent(gateway.http, agent.key, agent.tenant, "alice")
        sample = pick.sample(sorted(acknowledged), min(3, len(acknowledged)))
        index_follows(gateway, agent, sample)
    check(agent, acknowledged, unknown)
    assert acknowledged
    return gateway


@pytest.mark.requirement("M3")
def test_twenty_kills_under_eight_writers_lose_nothing(tmp_path: Path) -> None:
    rounds(tmp_path, kills=20, seed=20_260_101)
