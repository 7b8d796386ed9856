"""What a decision costs with a thousand rules in a tenant, and what it costs to keep them.

    .venv/bin/python benchmarks/access.py [--tenants 1000] [--rules 1000] [--decisions 20000]

Each tenant has a policy of its own: rules about roles, keys and people in the tenant, in its
namespaces and in its spaces, over the deployment's. It is sealed as it would be put, then read,
opened, checked and kept when somebody first asks, as in a request; the database's round trip is not
part of it. A decision is *cold* when Casbin has not been asked about its rules yet, which happens
once a rule, and *cached* afterwards. Memory is what the process grew by. Printed as Markdown.
"""

import argparse
import asyncio
import contextlib
import gc
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any, Final

import psutil

from core.errors import GatewayError
from core.ids import SYSTEM_TENANT, KeyId, TenantId, new_uuid
from core.model import Json, Target
from core.ports import Directory, PolicyRow, TenantKeys
from core.scope import Action, Call, Principal, Role, Standing
from gateway.access.enforcer import Enforcer
from gateway.access.in_force import Policies
from gateway.access.loader import load
from gateway.access.overlay import keyed, version_of
from gateway.access.policy import Asker, Policy
from gateway.resources import data_path
from gateway.vault.epochs import EpochKeys
from gateway.vault.inmemory import MemoryKeyStore
from gateway.vault.kek import StaticKek
from gateway.vault.keyring import KeyringService

ACTIONS: Final = [action for action in Action if action.object.startswith("memory:")]
ROLES: Final = ("reader", "writer", "curator")
NAMESPACES: Final = tuple(f"namespace-{number}" for number in range(20))
SPACES: Final = tuple(f"space-{number}" for number in range(10))
PEOPLE: Final = tuple(f"person-{number}" for number in range(200))
KEYS: Final = tuple("k" * 14 + a + b for a in "abcdefgh" for b in "abcdefgh")
PLACES: Final = (
    "tenant",
    *(f"namespace:{name}" for name in NAMESPACES),
    *(f"space:{name}" for name in SPACES),
)
SUBJECTS: Final = (
    *(f"role:{role}" for role in ROLES),
    *(f"key:{key}" for key in KEYS),
    *(f"user:{name}" for name in PEOPLE),
)


class Shelf:
    """Answers with the sealed policy of a tenant, and with nothing else."""

    def __init__(self) -> None:
        self.rows: dict[TenantId, PolicyRow] = {}

    async def policy(self, tenant: TenantId, _kind: str) -> PolicyRow | None:
        """Return what lies there for `tenant`."""
        return self.rows.get(tenant)


def document(draw: random.Random, rules: int) -> dict[str, Json]:
    """Return a policy of so many rules, each with the case that it decides."""
    found: dict[tuple[str, str, Action], str] = {}
    while len(found) < rules:
        about = (draw.choice(SUBJECTS), draw.choice(PLACES), draw.choice(ACTIONS))
        found.setdefault(about, draw.choice(["allow", "deny"]))
    lines, cases = [], []
    for (subject, place, action), effect in found.items():
        kind, _, name = subject.partition(":")
        line = {"subject": subject, "in": place, "object": action.object, "verb": action.verb}
        lines.append(line | {"effect": effect})
        who: dict[str, Json] = {"roles": [name] if kind == "role" else []}
        if kind != "role":
            who["key" if kind == "key" else "user_id"] = name
        cases.append(
            {"case": "It holds", "subject": who, "in": place, "expect": {action.value: effect}}
        )
    return {"rules": lines, "people": [], "cases": cases}


def principal(tenant: TenantId, version: str, key: str) -> Principal:
    """Return a credential of a tenant whose policy is of that version."""
    return Principal(
        tenant=tenant,
        key_id=KeyId(key),
        roles=frozenset({Role.READER, Role.WRITER, Role.CURATOR}),
        namespaces=None,
        users=None,
        standing=Standing(policy=version),
    )


def row(name: str, seconds: Sequence[float], bound: str = "") -> None:
    """Print p50 and p95 of what was measured, in microseconds."""
    cut = statistics.quantiles(seconds, n=20)
    median = statistics.median(seconds)
    print(f"| {name} | {median * 1e6:,.1f} | {cut[18] * 1e6:,.1f} | {bound} |", flush=True)


def questions(draw: random.Random, keys: TenantKeys, many: int) -> list[tuple[Asker, Action, str]]:
    """Return what callers ask: a key with roles, acting for somebody, in a namespace or space."""
    hexes = {name: keyed(keys, f"user:{name}").partition(":")[2] for name in PEOPLE}
    places = [keyed(keys, place) for place in PLACES[1:]]
    sets = [frozenset(map(Role, draw.sample(ROLES, draw.randint(1, 3)))) for _ in range(8)]
    return [
        (
            Asker(
                roles=draw.choice(sets), key=draw.choice(KEYS), person=hexes[draw.choice(PEOPLE)]
            ),
            draw.choice(ACTIONS),
            draw.choice(places),
        )
        for _ in range(many)
    ]


def decide(policy: Policy, asked: list[tuple[Asker, Action, str]]) -> list[float]:
    """Return how many seconds each decision takes."""
    taken = []
    for asker, action, place in asked:
        started = time.perf_counter()
        policy.judge(asker, action, place)
        taken.append(time.perf_counter() - started)
    return taken


async def run(tenants: int, rules: int, decisions: int) -> None:
    """Measure decisions of one tenant, then load many."""
    draw = random.Random(20260728)
    base = load(data_path("policies", "access"))
    shelf: Any = Shelf()
    directory: Directory = shelf
    keyring = KeyringService(MemoryKeyStore(), StaticKek(bytes(range(32))), EpochKeys.random())
    await keyring.create_tenant(SYSTEM_TENANT)
    access = Enforcer(base, directory, keyring)
    policies = access.policies

    put = document(draw, rules)
    version = version_of(base.version, put)
    everybody = [TenantId(new_uuid()) for _ in range(tenants)]
    for tenant in everybody:
        keys = await keyring.create_tenant(tenant)
        shelf.rows[tenant] = policies.sealed(put, version, keys)

    print(f"| {rules:,} rules in a tenant | p50 µs | p95 µs | bound, p50 |\n|---|---|---|---|")
    first = everybody[0]
    keys = await keyring.tenant(first)
    asked = questions(draw, keys, decisions)
    who = principal(first, version, KEYS[0])
    cold: list[float] = []
    for start in range(0, min(decisions, 2_000), 20):  # each policy is asked twenty things, once
        policy = await Policies(load(data_path("policies", "access")), directory, keyring).of(who)
        cold += decide(policy, asked[start : start + 20])
    row("decision, cold", cold, "100")
    policy = await policies.of(who)
    decide(policy, asked)
    row("decision, cached", decide(policy, asked), "100")
    calls = [
        (
            Call(principal=principal(first, version, draw.choice(KEYS)), request_id="bench"),
            Target(user_id=draw.choice(PEOPLE), namespaces=(draw.choice(NAMESPACES),)),
            draw.choice(ACTIONS),
        )
        for _ in range(decisions // 4)
    ]
    taken = []
    for call, target, action in calls:
        started = time.perf_counter()
        with contextlib.suppress(GatewayError):  # to be denied is to be judged
            await access.permit(call, target, action)
        taken.append(time.perf_counter() - started)
    row("whole judgement of a call (policy, token, person, namespace)", taken)

    loads = []
    loaded = Policies(base, directory, keyring, most=tenants)
    gc.collect()
    before = psutil.Process().memory_info().rss
    for tenant in everybody:
        started = time.perf_counter()
        await loaded.of(principal(tenant, version, KEYS[0]))
        loads.append(time.perf_counter() - started)
    row("first decision of a tenant: read, open, check, keep", loads)
    gc.collect()
    grown = (psutil.Process().memory_info().rss - before) / len(loaded) / 1024
    print(f"\n{len(loaded):,} tenants loaded lazily; {grown:,.0f} KB each (bound: 200 KB).")


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--rules", type=int, default=1_000)
    parser.add_argument("--decisions", type=int, default=20_000)
    options = parser.parse_args()
    asyncio.run(run(options.tenants, options.rules, options.decisions))


if __name__ == "__main__":
    main()
