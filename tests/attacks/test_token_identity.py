"""Who a token speaks for is in the token alone; and the token itself stays where it was used."""

import asyncio
import random
from collections import Counter
from typing import Any

import httpx
import pytest

from core.adapters.redis.seen import RedisSeenProofs
from core.errors import Unauthenticated, Unavailable
from gateway.auth.issuers import Issuer
from gateway.auth.presented import Presented
from gateway.auth.tokens import TokenVerifier, trusted
from gateway.clock import SystemClock
from tests.fixtures_identity import Signed
from tests.house import URL, rpc_headers
from tests.identity.forging import now
from tests.identity.issuer import new_key, proof
from tests.live.gateways import Agent

CANARY = "xylophone"
"""A word in the memories of others, and nowhere else."""
FAST, ALL = 1_000, 10_000


class Others:
    """People whom the token is not for, and what is kept of them: somebody of the same tenant, and
    the token's own name and another in a foreign one.
    """

    def __init__(self, signed: Signed) -> None:
        foreign = signed.house.tenant()
        self.agents = [
            signed.house.agent(signed.admin, "bob", namespaces=["*"]),
            signed.house.agent(foreign, "alice", namespaces=["*"]),
            signed.house.agent(foreign, "bob", namespaces=["*"]),
        ]
        self.tenant = foreign.tenant
        self.memories = [
            agent.stored(f"plays the {CANARY} in band {number}", tags=["music"])
            for agent in self.agents
            for number in range(3)
        ]
        self.cursors = [self._cursor(agent) for agent in self.agents]
        self.key_ids = [agent.key.split("_")[1] for agent in self.agents]

    def state(self) -> list[list[tuple[str, int, str]]]:
        """Everything of them that a request could have changed."""
        return [
            sorted((each["id"], each["version"], each["content"]) for each in agent.listed())
            for agent in self.agents
        ]

    @staticmethod
    def _cursor(agent: Agent) -> str:
        listed = agent.call("GET", "/v1/memories", params=agent.about(limit=1)).json()
        return str(listed["next_cursor"])


@pytest.fixture(scope="module")
def others(signed: Signed) -> Others:
    return Others(signed)


class Fuzzer:
    """Makes requests with a foreign id in one field or several; seeded, so that they replay."""

    def __init__(self, signed: Signed, others: Others, seed: int) -> None:
        self.signed, self.others = signed, others
        self.random = random.Random(seed)
        # Fresh: nothing stops at a step-up before it has been judged.
        self.token = signed.world.good(auth_time=now())

    def foreign(self) -> str:
        return self.random.choice(
            ["bob", "BOB", "bob ", "*", self.others.tenant, *self.others.key_ids,
             *self.others.memories, "00000000-0000-0000-0000-000000000000"]
        )  # fmt: skip

    def someone(self) -> str:
        return self.random.choice(["bob", "bob", "Alice", "*", self.others.tenant])

    def memory(self) -> str:
        return self.random.choice(self.others.memories)

    def headers(self) -> dict[str, str]:
        names = (
            "X-Tenant", "X-Tenant-Id", "X-User-Id", "X-Forwarded-User", "X-On-Behalf-Of",
            "X-Memwarden-Tenant", "X-Memwarden-User", "From", "X-Remote-User", "Mcp-Session-Id",
            "X-Original-User", "X-Amzn-Oidc-Identity", "X-Forwarded-For", "X-Namespace",
        )  # fmt: skip
        return {name: self.foreign().strip() for name in self.random.sample(names, 2)}

    def extra(self) -> dict[str, Any]:
        names = (
            "tenant", "tenant_id", "user", "owner", "on_behalf_of", "sub", "principal", "key_id",
            "author", "person", "scope", "roles",
        )  # fmt: skip
        return {self.random.choice(names): self.foreign()}

    def about(self) -> dict[str, Any]:
        """A foreign person, or the own one with something foreign beside."""
        if self.random.random() < 0.6:
            return {"user_id": self.someone()}
        return {"user_id": "alice"} | self.extra()

    def made(self) -> tuple[str, str, dict[str, Any]]:
        pick = self.random.randrange(12)
        about, memory = self.about(), self.memory()
        written = {"content": "fuzzed text"} | about
        query = {"query": f"{CANARY} band", "timeout_ms": 2000}
        spaces = {"user_id": "alice", "spaces": [self.foreign()]}
        cursor = {"user_id": "alice", "cursor": self.random.choice(self.others.cursors)}
        return [
            ("POST", "/v1/memories", {"json": written}),
            ("POST", "/v1/memories/batch", {"json": {"items": [written, written | self.about()]}}),
            ("POST", "/v1/recall", {"json": query | about}),
            (
                "POST",
                "/v1/recall",
                {"json": query | spaces},
            ),
            ("GET", "/v1/memories", {"params": about}),
            ("GET", "/v1/memories", {"params": cursor}),
            ("GET", f"/v1/memories/{memory}", {"params": {"user_id": self.someone()}}),
            ("GET", f"/v1/memories/{memory}/versions", {"params": {"user_id": "alice"}}),
            ("PATCH", f"/v1/memories/{memory}", {"json": {"content": "changed"} | about}),
            ("DELETE", f"/v1/memories/{memory}", {"params": about}),
            ("GET", "/v1/audit/events", {"params": {"user_id": self.someone()}}),
            ("POST", "/mcp", {"json": self.called(), "headers": rpc_headers()}),
        ][pick]

    def called(self) -> dict[str, Any]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("memory_write", {"content": "fuzzed text"}),
            ("memory_write_batch", {"items": [{"content": "fuzzed text"} | self.about()]}),
            ("memory_search", {"query": f"{CANARY} band"}),
            ("memory_get", {"memory_id": self.memory()}),
            ("memory_update", {"memory_id": self.memory(), "content": "changed"}),
            ("memory_forget", {"memory_id": self.memory()}),
        ]
        name, arguments = self.random.choice(calls)
        if name != "memory_write_batch" and self.random.random() < 0.7:
            arguments = arguments | self.about()
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        if self.random.random() < 0.5:
            params["_meta"] = self.extra() | {"user_id": self.someone()}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    async def send(self) -> httpx.Response:
        method, path, options = self.made()
        if self.random.random() < 0.4:
            options["headers"] = options.get("headers", {}) | self.headers()
        return await self.signed.send(self.token, method, path, **options)


def fuzz(signed: Signed, others: Others, number: int, seed: int) -> None:
    before = others.state()
    own = signed.house.agent(signed.admin, "alice", namespaces=["*"])
    fuzzer = Fuzzer(signed, others, seed)
    statuses: Counter[int] = Counter()
    leaks: list[str] = []

    async def one() -> None:
        reply = await fuzzer.send()
        statuses[reply.status_code] += 1
        said = reply.text
        # An auditor sees the ids of its whole tenant; nobody sees another tenant's.
        audit = reply.request.url.path == "/v1/audit/events"
        hidden = others.memories[3:] if audit else others.memories
        if CANARY in said or any(memory in said for memory in hidden):
            leaks.append(f"{reply.request.method} {reply.request.url.path} {reply.status_code}")

    async def all_of_them() -> None:
        for _ in range(0, number, 20):
            await asyncio.gather(*(one() for _ in range(20)))

    signed.house.run(all_of_them(), seconds=900)
    assert leaks == []
    assert others.state() == before
    assert sum(statuses.values()) >= number
    assert statuses[401] == 0
    assert statuses[403] > number / 20
    # What was written under the token is the token's person's, whatever stood beside it.
    assert {memory["user_id"] for memory in own.listed()} <= {"alice"}


@pytest.mark.requirement("B2")
def test_foreign_ids_in_every_field_have_no_effect_and_are_audited(signed: Signed, others: Others):
    auditor = signed.house.agent(signed.admin)
    fuzz(signed, others, FAST, seed=1)
    denied = [event for event in auditor.events() if event["decision"] == "deny"]
    assert len(denied) > FAST / 20
    assert {"person-outside-credential"} <= {event["rule"] for event in denied}


@pytest.mark.long
@pytest.mark.requirement("B2")
@pytest.mark.parametrize("seed", [2, 3])
def test_ten_thousand_of_them(signed: Signed, others: Others, seed):
    fuzz(signed, others, ALL // 2, seed)


@pytest.mark.requirement("B2")
def test_a_token_of_one_tenant_is_nobody_in_another(signed: Signed, others: Others):
    theirs = signed.world.good(tenant=others.tenant, sub="alice")
    listed = signed.ask(theirs, "GET", "/v1/memories?user_id=alice").json()["items"]
    assert {memory["id"] for memory in listed} == set(others.memories[3:6])
    own = signed.ask(signed.world.good(), "GET", f"/v1/memories/{others.memories[3]}?user_id=alice")
    assert own.status_code == 404


@pytest.mark.requirement("B5")
def test_a_token_and_its_proof_are_in_no_log_span_metric_reply_file_or_request(signed: Signed):
    house, key = signed.house, new_key("ES256")
    good, refused = signed.world.good(), signed.world.good(exp=1)
    bound = signed.world.good(cnf={"jkt": key.thumbprint()})
    proven = proof(key, "ES256", bound, "GET", f"{URL}/v1/memories")
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    search = {"name": "memory_search", "arguments": {"query": good[:512]}}
    about = "/v1/memories?user_id=alice"
    replies = [
        signed.ask(good, "POST", "/v1/memories", json={"content": "keeps a blue cup"}),
        signed.ask(good, "POST", "/v1/memories", json={"content": f"my token is {good}"}),
        signed.ask(good, "POST", "/v1/memories", json={"content": 7, "nonsense": 1}),
        signed.ask(good, "GET", about),
        signed.ask(good, "GET", "/v1/nothing"),
        signed.ask(good, "GET", "/v1/audit/events"),
        signed.ask(good, "POST", "/mcp", json=rpc | {"params": search}, headers=rpc_headers()),
        signed.ask(refused, "GET", about),
        signed.ask(bound, "GET", about, headers={"Authorization": f"DPoP {bound}", "DPoP": proven}),
        house.http.get("/metrics"),
    ]
    assert [reply.status_code for reply in replies] == [
        201, 422, 422, 200, 404, 200, 200, 401, 200, 200
    ]  # fmt: skip
    # Header segments are public and alike; claims and signatures are a token's own.
    secrets = [part for text in (good, refused, bound, proven) for part in text.split(".")[1:]]
    said = "\n".join(
        [
            *(reply.text + str(reply.headers) for reply in replies),
            house.traces(),
            *house.log,
            *(asked.path + asked.headers for asked in signed.world.issuer.asked),
        ]
    )
    assert not [part for part in secrets if part in said]
    needles = [part.encode() for part in secrets]
    holders = [
        path
        for path in (house.folder / "data").rglob("*")
        if path.is_file() and not path.is_symlink()
        for data in [path.read_bytes()]
        if any(needle in data for needle in needles)
    ]
    assert holders == []


@pytest.mark.requirement("B13")
def test_a_proof_is_used_once_over_all_replicas(signed: Signed):
    house, issuer, key = signed.house, signed.world.issuer, new_key("ES256")
    gate = house.gateway.gate
    bound = signed.world.good(cnf={"jkt": key.thumbprint()})

    def presented() -> Presented:
        made = proof(key, "ES256", bound, "GET", f"{URL}/v1/memories")
        return Presented(
            token=bound, scheme="dpop", proof=made, method="GET", url=f"{URL}/v1/memories"
        )

    async def play(url: str, proofs: list[Presented]) -> Counter[str]:
        """Show each proof to four replicas at once; counts how it went."""
        places = [RedisSeenProofs(url, timeout_seconds=30) for _ in range(4)]
        settings = [Issuer.model_validate(issuer.settings())]
        replicas = [
            TokenVerifier(
                trusted(settings, URL),
                directory=gate.directory,
                keyring=gate.keyring,
                clock=SystemClock(),
                seen=place,
            )
            for place in places
        ]
        went: Counter[str] = Counter()

        async def show(replica: TokenVerifier, one: Presented) -> None:
            try:
                await replica.principal(one, "http")
            except (Unauthenticated, Unavailable) as err:
                went[type(err).__name__] += 1
            else:
                went["accepted"] += 1

        await asyncio.gather(*(show(replica, one) for one in proofs for replica in replicas))
        for place in places:
            await place.aclose()
        return went

    proofs = [presented() for _ in range(25)]
    went = house.run(play(house.engines.redis_url, proofs))
    assert went == {"accepted": 25, "Unauthenticated": 75}
    away = house.run(play("unix:///nowhere/valkey.sock?db=0", [presented()]))
    assert away == {"Unavailable": 4}
