"""No version of a text leaves a point in the index that the record does not account for."""

from unittest import mock

import pytest

from tests.house import House
from tests.live.gateways import Agent

LONG = "the long report said much about gardens and little about boats. " * 70
MIDDLING = "the middling report said a little about each of them. " * 45
SHORT = "the short report said nothing"


def points(house: House, agent: Agent, memory: str) -> int:
    """How many points the owner of `memory` has, once the index follows."""
    house.indexed()
    with house.below("memories") as connection:
        found = connection.execute("SELECT tenant, user_id FROM memories WHERE id = %s", [memory])
        ((tenant, user),) = found.fetchall()
    assert str(tenant) == agent.tenant
    gate = house.gateway.gate
    keys = house.run(gate.keyring.tenant(tenant))
    place = keys.word("tenant", str(tenant)), keys.word("owner", str(user))
    return house.run(gate.recall.index.count(*place))


def change(agent: Agent, memory: str, text: str) -> None:
    reply = agent.call("PATCH", f"/v1/memories/{memory}", json=agent.about(content=text))
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("text", [MIDDLING, SHORT])
def test_a_shorter_text_leaves_no_chunk_of_the_longer_one(house: House, text: str) -> None:
    agent = house.someone()
    memory = agent.stored(LONG)
    assert points(house, agent, memory) == len(house.embedder.chunks(LONG))
    change(agent, memory, text)
    assert points(house, agent, memory) == len(house.embedder.chunks(text))
    agent.forget(memory)
    assert points(house, agent, memory) == 0


def test_a_text_cut_short_and_forgotten_at_once_leaves_no_chunk(house: House) -> None:
    agent = house.someone()
    memory = agent.stored(LONG)
    assert points(house, agent, memory) > 1
    indexer = house.gateway.indexer
    with mock.patch.object(type(indexer._outbox), "lease", mock.AsyncMock(return_value=[])):
        change(agent, memory, SHORT)
        agent.forget(memory)
    house.loop.call_soon_threadsafe(indexer.wake)
    assert points(house, agent, memory) == 0
