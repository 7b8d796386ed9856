"""The index can be lost: what is recalled comes back from the record, without embedding anew."""

import shutil
from pathlib import Path

import pytest

from tests.house import open_house
from tests.live.gateways import Agent, wait_until

QUESTIONS = ("green tea", "which cat", "where does she live", "茶", "honey and lemon")


def answers(agent: Agent) -> list[list[tuple[str, float, float]]]:
    return [
        [
            (found["id"], found["explain"]["dense"], found["explain"]["lexical"])
            for found in agent.recall(question, limit=10, explain=True, timeout_ms=5000)
        ]
        for question in QUESTIONS
    ]


@pytest.mark.requirement("M5")
def test_an_index_that_was_removed_is_rebuilt_and_recall_is_what_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "house"
    folder.mkdir()
    with open_house(folder) as house:
        admin = house.tenant()
        agents = [house.agent(admin, "alice"), house.agent(admin, "bob"), house.someone()]
        for number, agent in enumerate(agents):
            for text in ("green tea", "a cat called Mimi", "她喜欢喝茶", "lemon without honey"):
                agent.write(f"{text}, says person {number}")
            agent.write("long. " * 900 + f"the end of person {number}")
            agent.forget(agent.stored("forgotten green tea"))
        house.indexed()
        before = [answers(agent) for agent in agents]
        keys = [(agent.key, agent.tenant, agent.user) for agent in agents]
    assert all(dense > 0 and lexical > 0 for _, dense, lexical in before[0][0][:1])

    shutil.rmtree(folder / "data" / "edge")
    with open_house(folder) as house:
        wait_until(lambda: house.gateway.indexer.pending == 0, what="the rebuild")
        agents = [Agent(house.http, key, tenant, user) for key, tenant, user in keys]
        assert [answers(agent) for agent in agents] == before
        embedded = [text for text in house.embedder.seen if text not in (*QUESTIONS, "warm")]
        assert embedded == []
        assert any("rebuilding" in line for line in house.log)
        assert not any("says person" in line for line in house.log)
