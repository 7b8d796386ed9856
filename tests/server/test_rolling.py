"""Gateways and workers come and go; what callers see of it, and what is lost (nothing)."""

import threading
from collections.abc import Iterator

import httpx
import pytest

from tests.live.gateways import wait_until
from tests.server.fleet import Fleet, Process, Replica

NOTICE_SECONDS = 1.0
LOOK_SECONDS = 0.1


class Balancer:
    """What stands in front: sends each request to the next gateway that says it is ready.

    A gateway that says `not ready` gets nothing new; what it has is left to finish. Nothing is sent
    twice, so a request that a gateway drops is a failed one.
    """

    def __init__(self, replicas: list[Replica]) -> None:
        self._ready: dict[str, bool] = {}
        self._urls = {replica.name: replica.url for replica in replicas}
        self._turn = 0
        self._lock = threading.Lock()
        self.over = threading.Event()
        self.look()

    def take(self, replica: Replica) -> None:
        """Send requests to a gateway that was started again."""
        with self._lock:
            self._urls[replica.name] = replica.url

    def look(self) -> None:
        """Ask every gateway whether it is ready."""
        with self._lock:
            urls = dict(self._urls)
        for name, url in urls.items():
            try:
                ready = httpx.get(f"{url}/readyz", timeout=5.0, trust_env=False).is_success
            except httpx.HTTPError:
                ready = False
            with self._lock:
                self._ready[name] = ready and self._urls[name] == url

    def watch(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            self.look()

    def next(self) -> str:
        """Return the URL of the gateway whose turn it is."""
        with self._lock:
            ready = sorted(name for name, is_ready in self._ready.items() if is_ready)
            assert ready, "no gateway is ready"
            self._turn += 1
            return self._urls[ready[self._turn % len(ready)]]


@pytest.fixture
def restarting(fleet: Fleet) -> Iterator[list[Replica]]:
    """Two gateways of the fleet's that give notice before their port closes."""
    spares = [
        fleet.replica(
            f"rolling-{n}", DRAIN_NOTICE_SECONDS=str(NOTICE_SECONDS), DATABASE_CONNECTIONS="3"
        )
        for n in (1, 2)
    ]
    for spare in spares:
        spare.start()
    for spare in spares:
        spare.wait()
    yield spares
    for spare in spares:
        spare.stop()


@pytest.mark.long
@pytest.mark.requirement("F9")
def test_a_rolling_restart_under_load_fails_no_request(fleet, tenant, restarting):
    agent = fleet.agent(tenant(), "alice")
    balancer = Balancer(restarting)
    watching = threading.Thread(target=balancer.watch, daemon=True)
    watching.start()
    kept: list[str] = []
    failed: list[str] = []
    enough = threading.Event()

    def write(who: int) -> None:
        number = 0
        while not enough.is_set():
            number += 1
            text = f"Alice counts to {number} in voice {who}"
            try:
                reply = httpx.post(
                    f"{balancer.next()}/v1/memories",
                    json={"content": text, "user_id": "alice", "kind": "event"},
                    headers={"X-API-Key": agent.key},
                    timeout=60.0,
                    trust_env=False,
                )
            except httpx.HTTPError as err:
                failed.append(type(err).__name__)
                continue
            if reply.status_code == 201:
                kept.append(reply.json()["outcomes"][0]["id"])
            else:
                failed.append(f"{reply.status_code} {reply.text}")

    writers = [threading.Thread(target=write, args=(who,)) for who in range(3)]
    for writer in writers:
        writer.start()
    for replica in restarting:
        before = len(kept)
        wait_until(lambda floor=before: len(kept) > floor + 5, seconds=60, what="load")
        assert replica.stop() == 0, replica.said()
        replica.start()
        replica.wait()
        balancer.take(replica)
    enough.set()
    for writer in writers:
        writer.join()
    balancer.over.set()
    watching.join()
    assert failed == []
    assert {item["id"] for item in agent.listed(limit=200)} == set(kept)


@pytest.mark.requirement("F9")
def test_a_gateway_says_not_ready_before_its_port_closes(fleet):
    replica = fleet.replica("leaving", DRAIN_NOTICE_SECONDS="3")
    replica.start()
    replica.wait()
    assert replica.http.get("/readyz").status_code == 200
    replica.terminate()
    wait_until(lambda: replica.http.get("/readyz").status_code == 503, what="the notice")
    assert replica.http.get("/healthz").status_code == 200  # it still answers what comes in
    assert replica.process.wait(60) == 0
    assert replica.stop() == 0


@pytest.mark.long
@pytest.mark.requirement("M3")
def test_a_killed_worker_loses_nothing_and_another_goes_on(fleet, tenant):
    admin = tenant()
    agent = fleet.agent(admin, "alice")
    second = Process("worker-2", fleet.folder, fleet.settings, "worker")
    second.start()
    second.wait()
    kept = [agent.stored(f"Alice met number {number}") for number in range(10)]
    fleet.worker.kill()
    kept += [agent.stored(f"Alice left number {number}") for number in range(10)]

    def sealed() -> bool:
        events = agent.events(action="memory:item:write")
        return len(events) == len(kept) and all(event["sequence"] for event in events)

    wait_until(sealed, seconds=60, what="the seal by the other worker")
    events = agent.events()
    numbers = sorted(event["sequence"] for event in events if event["sequence"])
    assert numbers == list(range(1, len(numbers) + 1))
    third = fleet.replicas[2].as_agent(agent)
    assert {item["id"] for item in third.listed(limit=200)} == set(kept)
    fleet.worker.start()
    fleet.worker.wait()
    assert second.stop() == 0


def test_a_dropped_collection_is_made_again_and_filled_from_the_record(fleet, tenant):
    agent = fleet.agent(tenant(), "alice")
    memory = agent.stored("Alice collects old maps of harbours")
    headers = {"api-key": fleet.settings["QDRANT_API_KEY"]}
    with httpx.Client(base_url=fleet.qdrant_url, headers=headers, trust_env=False) as index:
        (named,) = index.get("/aliases").json()["result"]["aliases"]
        assert index.delete(f"/collections/{named['collection_name']}").is_success
        wait_until(
            lambda: index.get("/collections/memories").is_success, seconds=60, what="the collection"
        )

    def recalled() -> bool:
        asked = agent.about(query="old maps", explain=True)
        found = agent.call("POST", "/v1/recall", json=asked).json()
        return not found["degraded"] and [
            item["id"] for item in found["memories"] if "dense" in str(item["explain"])
        ] == [memory]

    wait_until(recalled, seconds=60, what="the index")


@pytest.mark.requirement("M6")
def test_the_anchor_holds_the_heads_that_workers_signed(fleet, tenant):
    agent = fleet.agent(tenant(), "alice")
    agent.stored("Alice wrote a line")
    wait_until(
        lambda: agent.tenant in (fleet.folder / "anchor.jsonl").read_text(encoding="utf-8"),
        what="the anchor",
    )
