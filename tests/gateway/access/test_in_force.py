"""Each tenant's own policy is read when somebody asks, once, and kept as long as it is of use."""

import asyncio
import json
import logging
from typing import Any

import pytest

from core.errors import Denied, Outdated, Unavailable
from core.ids import KeyId, TenantId, new_uuid
from core.model import Target
from core.scope import Action, Call, Principal, Role, Standing
from gateway.access.enforcer import Enforcer
from gateway.access.in_force import KIND, Policies, _place
from gateway.access.loader import MODEL, _Faults, _parse_policy, load
from gateway.access.overlay import version_of
from gateway.access.rules import Rules
from gateway.resources import data_path
from gateway.version_cache import IDLE_SECONDS
from tests.gateway.access.directory import FakeDirectory, make_keyring

TENANT = TenantId(new_uuid())
OTHER = TenantId(new_uuid())
BASE = load(data_path("policies", "access"))
DOCUMENT: dict[str, Any] = {
    "rules": [
        {
            "subject": "role:reader",
            "in": "tenant",
            "object": "memory:item",
            "verb": "recall",
            "effect": "deny",
        }
    ],
    "cases": [
        {
            "case": "Readers recall nothing",
            "subject": {"roles": ["reader"]},
            "expect": {"memory:item:recall": "deny"},
        }
    ],
}
VERSION = version_of(BASE.version, DOCUMENT)


def principal(version=VERSION, tenant=TENANT) -> Principal:
    return Principal(
        tenant=tenant,
        key_id=KeyId("abcdefgh234567zz"),
        roles=frozenset({Role.READER}),
        namespaces=None,
        users=None,
        standing=Standing(policy=version),
    )


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT, OTHER)


@pytest.fixture
def directory():
    return FakeDirectory()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def policies(directory, keyring, clock):
    return Policies(BASE, directory, keyring, clock=clock, most=3)


async def put(policies, keyring, directory, tenant=TENANT, document=DOCUMENT, version=VERSION):
    keys = await keyring.tenant(tenant)
    directory.policies[tenant, KIND] = policies.sealed(document, version, keys)


async def test_without_a_policy_of_its_own_a_tenant_has_the_base_one(policies, directory):
    for nobody in (principal(version=""), principal(tenant=None)):
        policy = await policies.of(nobody)
        assert (policy.version, policy.is_own) == (BASE.version, False)
    assert directory.calls == 0


async def test_a_policy_is_read_once(policies, keyring, directory):
    await put(policies, keyring, directory)
    first = await policies.of(principal())
    assert (first.version, first.is_own) == (VERSION, True)
    assert await policies.of(principal()) is first
    assert directory.policies_read == 1


async def test_two_who_ask_at_once_wait_for_one_reading(policies, keyring, directory):
    await put(policies, keyring, directory)
    found = await asyncio.gather(*(policies.of(principal()) for _ in range(8)))
    assert len({id(one) for one in found}) == 1
    assert directory.policies_read == 1


async def test_one_who_hangs_up_takes_nothing_from_the_others(policies, keyring, directory):
    await put(policies, keyring, directory)
    first = asyncio.create_task(policies.of(principal()))
    await asyncio.sleep(0)
    second = asyncio.create_task(policies.of(principal()))
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).version == VERSION
    assert directory.policies_read == 1


@pytest.mark.requirement("C2")
async def test_a_policy_that_is_not_there_is_not_the_base_one(policies, caplog):
    with caplog.at_level(logging.ERROR), pytest.raises(Unavailable):
        await policies.of(principal())
    assert "does not load" in caplog.text
    assert str(TENANT) not in caplog.text


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "sealed",
    [
        lambda keys: b"",
        lambda keys: b"x" * 200,
        lambda keys: keys.seal(_place("other"), json.dumps(_put(DOCUMENT)).encode()),
        lambda keys: keys.seal(_place(VERSION), json.dumps(_put({"rules": []})).encode()),
        lambda keys: keys.seal(_place(VERSION), b"{}"),
        lambda keys: keys.seal(_place(VERSION), b"[]"),
        lambda keys: keys.seal(_place(VERSION), b"not json"),
        lambda keys: keys.seal(_place(VERSION), json.dumps(_put(None)).encode()),
    ],
)
async def test_a_policy_that_is_not_what_was_put_decides_nothing(
    policies, keyring, directory, sealed
):
    await put(policies, keyring, directory)
    row = directory.policies[TENANT, KIND]
    keys = await keyring.tenant(TENANT)
    directory.policies[TENANT, KIND] = type(row)(
        kind=row.kind, version=row.version, sealed=sealed(keys)
    )
    for _ in range(2):
        with pytest.raises(Unavailable):
            await policies.of(principal())
    assert len(policies) == 0


def _put(document):
    return {"base": BASE.version, "document": document}


@pytest.mark.requirement("C2")
async def test_a_policy_whose_words_are_no_longer_known_decides_nothing(
    policies, keyring, directory
):
    gone = {"rules": [DOCUMENT["rules"][0] | {"verb": "dream"}], "cases": DOCUMENT["cases"]}
    version = version_of(BASE.version, gone)
    await put(policies, keyring, directory, document=gone, version=version)
    with pytest.raises(Unavailable):
        await policies.of(principal(version))


async def test_another_tenants_policy_does_not_open(policies, keyring, directory):
    await put(policies, keyring, directory, OTHER)
    directory.policies[TENANT, KIND] = directory.policies[OTHER, KIND]
    with pytest.raises(Unavailable):
        await policies.of(principal())


async def test_a_policy_replaced_meanwhile_is_outdated(policies, keyring, directory):
    await put(policies, keyring, directory, version="0" * 12)
    with pytest.raises(Outdated):
        await policies.of(principal())


async def test_the_next_version_takes_the_place_of_the_one_before(policies, keyring, directory):
    await put(policies, keyring, directory)
    first = await policies.of(principal())
    other = DOCUMENT | {"people": [{"user_id": "alice", "roles": [], "namespaces": []}]}
    version = version_of(BASE.version, other)
    await put(policies, keyring, directory, document=other, version=version)
    second = await policies.of(principal(version))
    assert (first.version, second.version, len(policies)) == (VERSION, version, 1)
    with pytest.raises(Outdated):
        await policies.of(principal())


async def test_a_bounded_number_is_kept_the_least_used_going_first(policies, directory, keyring):
    tenants = [TenantId(new_uuid()) for _ in range(5)]
    for tenant in tenants:
        await keyring.create_tenant(tenant)
        await put(policies, keyring, directory, tenant)
    for tenant in (*tenants[:3], tenants[0], *tenants[3:]):
        await policies.of(principal(tenant=tenant))
    assert (len(policies), directory.policies_read) == (3, 5)
    await policies.of(principal(tenant=tenants[0]))  # was used, so it is still there
    assert directory.policies_read == 5
    await policies.of(principal(tenant=tenants[1]))
    assert directory.policies_read == 6


async def test_what_nobody_asks_about_is_dropped(policies, directory, keyring, clock):
    await put(policies, keyring, directory)
    await put(policies, keyring, directory, OTHER)
    await policies.of(principal())
    clock.now += IDLE_SECONDS + 1
    await policies.of(principal(tenant=OTHER))
    assert len(policies) == 1
    await policies.of(principal())
    assert directory.policies_read == 3


@pytest.mark.requirement("C12")
async def test_over_another_base_policy_a_tenants_own_still_decides(
    keyring, directory, policies, caplog
):
    text = (data_path("policies", "access") / "policy.csv").read_text()
    later = Rules(MODEL, _parse_policy(text, _Faults()), version="later")
    await put(policies, keyring, directory)
    caplog.set_level(logging.ERROR)
    policy = await Policies(later, directory, keyring).of(principal())
    assert policy.version == version_of("later", DOCUMENT)
    assert not caplog.records
    allowing = DOCUMENT | {
        "rules": [],
        "people": [{"user_id": "alice", "roles": [], "namespaces": []}],
        "cases": [DOCUMENT["cases"][0] | {"expect": {"memory:item:read": "allow"}}],
    }
    version = version_of(BASE.version, allowing)
    await put(policies, keyring, directory, document=allowing, version=version)
    lesser = Rules(
        MODEL,
        _parse_policy(text.replace("item, read, allow", "item, read, deny"), _Faults()),
        version="lesser",
    )
    assert (await Policies(lesser, directory, keyring).of(principal(version))).is_own
    assert [record.getMessage() for record in caplog.records] == [
        "cases of a tenant's access policy fail over this release's: 1"
    ]


@pytest.mark.requirement("C12")
async def test_the_enforcer_decides_by_the_version_that_came_with_the_credential(
    policies, directory, keyring
):
    await put(policies, keyring, directory)
    access = Enforcer(BASE, directory, keyring)
    target = Target(user_id="alice")

    async def asked(version):
        call = Call(principal=principal(version), request_id="r")
        return await access.scope(call, target, Action.MEMORY_RECALL)

    assert (await asked("")).decision.policy_version == BASE.version
    with pytest.raises(Denied) as caught:
        await asked(VERSION)
    assert caught.value.rule == "rules[0]"
    judged = await access.ruling(principal(), Action.MEMORY_RECALL)
    assert (judged.allowed, judged.rule, judged.policy_version) == (False, "rules[0]", VERSION)
