"""Nothing that is kept between requests is kept under a key that two callers could share.

Redis' keys are tuples of (purpose, tenant, …) with their lengths, as its own tests show; here are
those who make them, and what is kept in memory by tenant and version.
"""

import random
import re
import string
from typing import Any, get_args

import pytest

from core.adapters.redis import budget, cache
from core.adapters.redis.keys import Purpose, key
from core.ids import KeyId, TenantId, new_uuid
from core.model import Owner
from core.ports import OwnerKeys
from core.ports.budgets import Charge
from core.scope import Principal
from gateway.gate import Once
from gateway.idempotency import claim_of
from gateway.vault.inmemory import memory_keyring
from tests.architecture.source import modules
from tests.house import House
from tests.live.gateways import Agent

pytestmark = pytest.mark.requirement("C8")

PIECES = ["", ":", ",", "s1:", "mw:", "1:a,", "s0:,", "/", "a", "b16:", "，", "|", "requests", "7"]
PRINTABLE = [*string.digits, *"abc", " ", ":", ",", "1:", "|", "key", "body", "\\x00", "%00"]
PAIRS = 100_000


def cut(pick: random.Random, pieces: list[str]) -> tuple[str, str]:
    """Two parts of one text, cut anywhere: what runs into each other without lengths."""
    text = "".join(pick.choices(pieces, k=pick.randrange(1, 6)))
    at = pick.randrange(len(text) + 1)
    return text[:at], text[at:]


def test_each_budget_has_a_key_of_its_own() -> None:
    pick, tenants = random.Random(8), [TenantId(new_uuid()) for _ in range(3)]
    made: dict[bytes, tuple[Any, ...]] = {}
    for _ in range(PAIRS):
        first, second = cut(pick, PIECES)
        charge = Charge(
            tenant=pick.choice(tenants),
            of=pick.choice(("key", "user")),
            subject=pick.choice((first or "x", (second or "y").encode())),
            kind=pick.choice(("requests", "writes")),
            limit=pick.randrange(1, 9),
            units=1,
        )
        whose = (charge.tenant, charge.of, charge.subject, charge.kind)
        assert made.setdefault(budget._name(charge), whose) == whose
    assert len(made) == len(set(made.values())) > 1_000


async def owners() -> list[OwnerKeys]:
    """Keys of three people of two tenants."""
    keyring = memory_keyring()
    tenants = [TenantId(new_uuid()) for _ in range(2)]
    for tenant in tenants:
        await keyring.create_tenant(tenant)
    of = (tenants[0], tenants[0], tenants[1])
    return [await keyring.ensure_owner(Owner(tenant=one, id=new_uuid())) for one in of]


async def test_each_query_of_each_person_has_a_key_of_its_own() -> None:
    pick, people = random.Random(9), await owners()
    made: dict[bytes, tuple[Any, ...]] = {}
    for _ in range(PAIRS // 4):
        keys = pick.choice(people)
        embedder, text = cut(pick, PIECES)
        name = cache._key(keys, cache._digest(keys, embedder, text))
        asked = (keys.owner, embedder, text)
        assert made.setdefault(name, asked) == asked
    assert len(made) == len(set(made.values())) > 1_000


async def test_one_digest_of_two_people_is_two_keys() -> None:
    """The digest is keyed by the person too; neither wall leans on the other."""
    digest = new_uuid().bytes * 2
    assert len({cache._key(keys, digest) for keys in await owners()}) == 3


async def test_each_idempotency_key_of_each_principal_is_its_own() -> None:
    """A key of a caller is printable, an id of a credential holds no separator."""
    pick, keyring = random.Random(10), memory_keyring()
    tenants = [TenantId(new_uuid()) for _ in range(2)]
    keys = []
    for tenant in tenants:
        await keyring.create_tenant(tenant)
        keys.append(await keyring.tenant(tenant))
    made: dict[bytes, tuple[Any, ...]] = {}
    ids = ["a" * 16, "a" * 15, "token-" + "a" * 32, "a", "key", "body"]
    for _ in range(PAIRS // 4):
        under = pick.choice(keys)
        key_id, text = KeyId(pick.choice(ids)), "".join(pick.choices(PRINTABLE, k=4))
        principal = Principal(
            tenant=under.tenant, key_id=key_id, roles=frozenset(), namespaces=(), users=frozenset()
        )
        claim = claim_of(Once(key=text, request=b"r"), principal, under)
        whose = (under.tenant, key_id, text)
        assert made.setdefault(claim.key, whose) == whose
        assert claim.key != claim.body
    assert len(made) == len(set(made.values())) > 1_000


def test_every_key_in_redis_is_made_in_one_place() -> None:
    """Whatever is written to Redis takes its name from `key`, and each purpose is tried here."""
    writing = re.compile(r"\bredis\.(set|get|incr|hset|expire|delete)\(\s*([^,)]+)")
    made = re.compile(r"_key\(|_name\b|^name$")
    for module in modules("core/adapters/redis"):
        for call in writing.finditer(module.text):
            assert made.search(call[2]), (module.path, call[0])
    tenant = TenantId(new_uuid())
    purposes = get_args(Purpose)
    assert len({key(purpose, tenant, "a") for purpose in purposes}) == len(purposes) >= 3


def deny(user: str) -> dict[str, Any]:
    return {
        "rules": [
            {"subject": f"user:{user}", "in": "tenant", "object": "memory:item", "verb": "recall",
             "effect": "deny"}
        ],
        "people": [],
        "cases": [
            {"case": "one", "subject": {"roles": ["reader"], "user_id": user},
             "expect": {"memory:item:recall": "deny"}}
        ],
    }  # fmt: skip


def recalls(agent: Agent) -> int:
    return agent.call("POST", "/v1/recall", json=agent.about(query="tea")).status_code


def test_two_tenants_with_one_policy_are_judged_each_by_its_own(house: House) -> None:
    """The versions of two equal documents are equal; what they say of people is not."""
    tenants = [house.tenant() for _ in range(2)]
    people = [house.agent(admin, "alice") for admin in tenants]
    path = "/v1/admin/policies/access"
    versions = [admin.call("PUT", path, json=deny("alice")).json()["version"] for admin in tenants]
    assert len(set(versions)) == 1
    assert [recalls(agent) for agent in (*people, *people)] == [403] * 4
    assert tenants[0].call("PUT", path, json=deny("bob")).status_code == 200
    assert [recalls(agent) for agent in (*people, *people)] == [200, 403, 200, 403]
    assert tenants[1].call("PUT", path, json={"rules": []}).status_code == 200
    assert [recalls(agent) for agent in people] == [200, 200]


def test_two_tenants_with_quotas_spend_each_its_own(house: House) -> None:
    tenants = [house.tenant() for _ in range(2)]
    people = [house.agent(admin, "alice") for admin in tenants]
    quotas = {"tenant": {"requests_per_minute": 6}}
    for admin in tenants:
        assert admin.call("PUT", "/v1/admin/quotas", json=quotas).status_code == 200
    spent = [recalls(people[0]) for _ in range(6)]
    assert spent[0] == 200
    assert spent[-1] == 429
    assert recalls(people[1]) == 200
    assert tenants[0].call("PUT", "/v1/admin/quotas", json={}).status_code == 200
    assert recalls(people[0]) == 200
