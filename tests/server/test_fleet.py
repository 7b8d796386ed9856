"""Gateways that share a database: what one acknowledged, every other knows."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.live.gateways import wait_until
from tests.server.fleet import Replica


def test_what_one_gateway_keeps_another_recalls_at_once(fleet, tenant):
    agent = fleet.agent(tenant())
    first, second, third = (replica.as_agent(agent) for replica in fleet.replicas)
    memory = first.stored("Alice keeps bees behind the house")
    for other in (second, third):
        assert other.get(memory).json()["content"] == "Alice keeps bees behind the house"
        found = other.recall("who keeps bees?")
        assert [item["id"] for item in found] == [memory]


def test_the_worker_indexes_what_the_gateways_keep(fleet, tenant):
    agent = fleet.agent(tenant())
    words = ["apiary", "sailing", "pottery"]
    for replica, word in zip(fleet.replicas, words, strict=True):
        replica.as_agent(agent).stored(f"Alice spends her weekends on {word}")

    third = fleet.replicas[2].as_agent(agent)

    def recalled() -> dict[str, Any]:
        asked = agent.about(query="her weekends", explain=True)
        reply = third.call("POST", "/v1/recall", json=asked)
        assert reply.status_code == 200, reply.text
        found: dict[str, Any] = reply.json()
        return found

    def followed() -> bool:
        text = fleet.replicas[2].http.get("/metrics").text
        return "\nmemwarden_index_pending 0.0" in text and not recalled()["degraded"]

    wait_until(followed, seconds=30, what="the index")
    found = recalled()
    assert len(found["memories"]) == 3
    assert any("dense" in str(item["explain"]) for item in found["memories"])


def test_the_worker_seals_what_the_gateways_record(fleet, tenant):
    admin = tenant()
    agent = fleet.agent(admin)
    for replica in fleet.replicas:
        replica.as_agent(agent).stored("a note to seal")

    def sealed() -> bool:
        events = fleet.replicas[0].as_agent(agent).events(action="memory:item:write")
        return len(events) == 3 and all(event["sequence"] for event in events)

    wait_until(sealed, what="the seal")


@pytest.mark.requirement("F3")
def test_racing_duplicates_over_three_gateways_have_one_effect(fleet, tenant):
    agent = fleet.agent(tenant())
    spread = [replica.as_agent(agent) for replica in fleet.replicas] * 10

    def write(one):
        return one.try_write("Alice bought a boat", headers={"Idempotency-Key": "boat-1"})

    with ThreadPoolExecutor(len(spread)) as pool:
        replies = list(pool.map(write, spread))
    done = [reply for reply in replies if reply.status_code == 201]
    assert done
    assert {reply.status_code for reply in replies} <= {201, 409, 503}
    assert len({reply.json()["outcomes"][0]["id"] for reply in done}) == 1
    assert len(agent.listed()) == 1
    again = fleet.replicas[2].as_agent(agent)
    other = again.try_write("Alice sold a boat", headers={"Idempotency-Key": "boat-1"})
    assert other.status_code == 409


def test_every_gateway_is_ready_and_names_its_parts(fleet):
    for replica in fleet.replicas:
        wait_until(partial(is_ready, replica), what=f"{replica.name} being ready")


def is_ready(replica: Replica) -> bool:
    """Whether every part is up; a part that answers late on a busy machine counts as down."""
    told = replica.http.get("/readyz").json()
    parts = ("postgres", "keys", "audit", "index", "cache")
    assert told["dependencies"].keys() == set(parts)
    return told.get("status") == "ready" and set(told["dependencies"].values()) == {"up"}


def test_nothing_secret_is_in_what_the_processes_say(fleet):
    secrets = [
        fleet.operator_key,
        *(fleet.settings[name] for name in ("DATABASE_URL", "KEYSTORE_URL", "REDIS_URL")),
        fleet.settings["QDRANT_API_KEY"],
    ]
    for process in (*fleet.replicas, fleet.worker):
        said = process.said()
        assert "ENVIRONMENT IS development" in said
        assert not [secret for secret in secrets if secret in said]
