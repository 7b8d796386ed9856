"""A right that was taken away on one gateway is gone on every other, and never comes back.

The new enemy is the reader who lost a right and asks, under what it remembers, for what was written
after that (Zanzibar, USENIX ATC 2019, 2.2). Readers hammer all three gateways while rights go; what
began after the revoke's reply must not succeed, and what was written after it must not be seen by
anything, begun before or not.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from tests.live.gateways import Agent
from tests.server.fleet import Fleet, Replica

pytestmark = pytest.mark.requirement("C4")

VERSION = "X-Access-Version"
ROUNDS = [20, pytest.param(200, marks=pytest.mark.long)]
READS_AFTER = 2
"""So many reads of each reader begin after the right is gone, in every round."""
USER = "alice"


@dataclass
class Read:
    """One answer, and when its question was asked."""

    began: float
    status: int
    text: str


@dataclass
class Readers:
    """A credential that asks every gateway again and again."""

    replicas: list[Replica]
    key: str
    ask: Callable[[httpx.Client, str], httpx.Response]
    reads: list[Read] = field(default_factory=list)
    enough: threading.Event = field(default_factory=threading.Event)

    def run(self, replica: Replica) -> None:
        while not self.enough.is_set():
            self.read(replica)

    def read(self, replica: Replica) -> Read:
        began = time.monotonic()
        reply = self.ask(replica.http, self.key)
        read = Read(began, reply.status_code, reply.text)
        self.reads.append(read)
        return read

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Ask all gateways side by side for the length of the block, and some times after it."""
        with ThreadPoolExecutor(len(self.replicas)) as pool:
            running = [pool.submit(self.run, replica) for replica in self.replicas]
            try:
                while len(self.reads) < 2 * len(self.replicas):  # they are under way
                    assert not any(one.done() for one in running)
                    time.sleep(0.001)
                yield
            finally:
                self.enough.set()
            for one in running:
                one.result()
        for _ in range(READS_AFTER):
            for replica in self.replicas:
                self.read(replica)


def listing(http: httpx.Client, key: str) -> httpx.Response:
    return http.get("/v1/memories", params={"user_id": USER}, headers={"X-API-Key": key})


def recalling(http: httpx.Client, key: str) -> httpx.Response:
    asked = {"query": "what is the plan", "user_id": USER, "timeout_ms": 2000}
    return http.post("/v1/recall", json=asked, headers={"X-API-Key": key})


def revoke(admin: Agent, replica: Replica, key_id: str) -> str:
    """Revoke a key at one gateway; returns the version token."""
    done = replica.as_agent(admin).call("DELETE", f"/v1/admin/keys/{key_id}")
    assert done.status_code == 204, done.text
    return done.headers[VERSION]


@pytest.mark.requirement("B12")
def test_a_revoked_key_is_refused_everywhere_at_once(fleet, tenant):
    admin = tenant()
    key_id, agent = fleet.key(admin, USER)
    agent.stored("Alice plays chess")
    assert [listing(replica.http, agent.key).status_code for replica in fleet.replicas] == [200] * 3
    revoke(admin, fleet.replicas[0], key_id)
    assert [listing(replica.http, agent.key).status_code for replica in fleet.replicas] == [401] * 3
    write = fleet.replicas[2].as_agent(agent).try_write("Alice plays go")
    assert write.status_code == 401


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("ask", [listing, recalling])
def test_no_read_begun_after_a_revoke_succeeds(fleet: Fleet, tenant, rounds, ask):
    if ask is recalling:
        rounds //= 2  # a recall embeds its query: half of them cost more than all of the others
    admin = tenant()
    writer = fleet.agent(admin, USER)
    writer.stored("the plan of before")
    for number in range(rounds):
        first, second, third = (fleet.replicas[(number + shift) % 3] for shift in range(3))
        key_id, victim = fleet.key(admin, USER)
        readers = Readers(fleet.replicas, victim.key, ask)
        with readers.reading():
            token = revoke(admin, first, key_id)
            gone = time.monotonic()
            second.as_agent(writer).stored(f"the plan of after {number}")
        late = [read for read in readers.reads if read.began > gone]
        assert {read.status for read in late} == {401}
        assert not [read for read in readers.reads if f"of after {number}" in read.text]
        assert any(read.status == 200 for read in readers.reads)
        with_token = third.http.get(
            "/v1/memories",
            params={"user_id": USER},
            headers={"X-API-Key": victim.key, VERSION: token},
        )
        assert with_token.status_code == 401


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("audience", ["members", "same_user"])
def test_no_read_begun_after_leaving_a_space_sees_it(fleet: Fleet, tenant, rounds, audience):
    admin = tenant()
    owner_id, owner = fleet.key(admin, USER)
    guest_id, guest = fleet.key(admin, USER, namespaces=["guest"])
    made = admin.call("POST", "/v1/admin/spaces", json={"name": "team", "audience": audience})
    assert made.status_code == 201, made.text
    share(admin, f"key:{owner_id}", "writer")
    share(admin, f"key:{guest_id}", "reader")
    shared = owner.stored("the plan of before", space="team")

    def reading_it(http: httpx.Client, key: str) -> httpx.Response:
        return http.get(
            f"/v1/memories/{shared}", params={"user_id": USER}, headers={"X-API-Key": key}
        )

    for number in range(rounds):
        first, second, third = (fleet.replicas[(number + shift) % 3] for shift in range(3))
        share(admin, f"key:{guest_id}", "reader")
        readers = Readers(fleet.replicas, guest.key, reading_it)
        with readers.reading():
            left = first.as_agent(admin).call(
                "DELETE", f"/v1/admin/spaces/team/members/key:{guest_id}"
            )
            assert left.status_code == 204, left.text
            gone = time.monotonic()
            second.as_agent(owner).stored(f"the plan of after {number}", space="team")
        late = [read for read in readers.reads if read.began > gone]
        assert {read.status for read in late} == {404}
        assert any(read.status == 200 for read in readers.reads)
        everywhere = [read.text for read in readers.reads]
        for ask in (listing, recalling):
            everywhere += [ask(replica.http, guest.key).text for replica in fleet.replicas]
        with_token = third.http.post(
            "/v1/recall",
            json={"query": "what is the plan", "user_id": USER},
            headers={"X-API-Key": guest.key, VERSION: left.headers[VERSION]},
        )
        assert (with_token.status_code, with_token.json().get("memories")) == (200, [])
        assert not [text for text in everywhere if f"of after {number}" in text]


def share(admin: Agent, member: str, role: str) -> None:
    made = admin.call("PUT", f"/v1/admin/spaces/team/members/{member}", json={"role": role})
    assert made.status_code == 200, made.text


def test_a_version_token_of_another_tenant_is_refused_on_every_gateway(fleet, tenant):
    ours, theirs = tenant(), tenant()
    key_id, _ = fleet.key(ours, USER)
    token = revoke(ours, fleet.replicas[0], key_id)
    agent = fleet.agent(theirs, USER)
    for replica in fleet.replicas:
        reply = replica.http.get(
            "/v1/memories",
            params={"user_id": USER},
            headers={"X-API-Key": agent.key, VERSION: token},
        )
        assert reply.status_code == 422
