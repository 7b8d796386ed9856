"""Each tenant's own guard is read when somebody asks, and nothing else ever opens in its place."""

import asyncio
import logging
from typing import Any

import pytest

from core.errors import Outdated, Unavailable
from core.ids import KeyId, TenantId, new_uuid
from core.ports import PolicyRow
from core.scope import Principal, Role, Standing
from gateway.guard.in_force import Guards
from gateway.guard.overlay import PII, SECRETS, Shipped, version_of
from gateway.guard.pii import load_detector
from gateway.guard.policy import Action, parse_pii_policy
from gateway.guard.shipped import load_shipped
from tests.gateway.access.directory import FakeDirectory, make_keyring

TENANT, OTHER = TenantId(new_uuid()), TenantId(new_uuid())
MAIL = "rosa@harbour.example"
LETS_MAIL: dict[str, Any] = {
    "kinds": {"EMAIL_ADDRESS": {"action": "allow"}},
    "cases": [{"case": "stays", "text": MAIL, "kept": MAIL}],
}
BADGE: dict[str, Any] = {
    "rules": [
        {"id": "badge", "kind": "SECRET.TOKEN", "pattern": "badge-[0-9]{6}", "keywords": ["badge-"]}
    ],
    "cases": [{"case": "a badge", "text": "badge-483920", "rejected": "SECRET.TOKEN"}],
}
DOCUMENTS: dict[str, dict[str, Any]] = {PII: LETS_MAIL, SECRETS: BADGE}


@pytest.fixture(scope="module")
def shipped():
    return load_shipped(load_detector())


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT, OTHER)


@pytest.fixture
def directory():
    return FakeDirectory()


@pytest.fixture
def guards(shipped, directory, keyring):
    return Guards(shipped, directory, keyring, most=3)


def principal(pii="", secrets="", tenant=TENANT) -> Principal:
    return Principal(
        tenant=tenant,
        key_id=KeyId("abcdefgh234567zz"),
        roles=frozenset({Role.WRITER}),
        namespaces=None,
        users=None,
        standing=Standing(pii=pii, secrets=secrets),
    )


async def put(guards, keyring, directory, kind, tenant=TENANT):
    """Keep the sample document of a kind; returns its version."""
    document = DOCUMENTS[kind]
    version = version_of(document)
    keys = await keyring.tenant(tenant)
    directory.policies[tenant, kind] = guards.sealed(kind, document, version, keys)
    return version


async def test_without_a_policy_of_its_own_a_tenant_has_the_shipped_guard(guards, directory):
    for nobody in (principal(), principal(tenant=None), principal("v", "v", tenant=None)):
        assert await guards.of(nobody) is guards.shipped.guard
    assert directory.calls == 0


async def test_each_of_the_two_changes_its_own_part(guards, keyring, directory):
    pii = await put(guards, keyring, directory, PII)
    secrets = await put(guards, keyring, directory, SECRETS)
    for one, own_pii, own_secrets in (
        (principal(pii), True, False),
        (principal("", secrets), False, True),
        (principal(pii, secrets), True, True),
    ):
        guard = await guards.of(one)
        allows = guard.policy.of("EMAIL_ADDRESS").action is Action.ALLOW
        assert (allows, bool(guard.secrets_in("badge-483920"))) == (own_pii, own_secrets)
        assert guard.secrets_in("AKIAQ3EGR7HX2B5KZ4TW")


async def test_it_is_read_once_and_a_bounded_number_is_kept(guards, keyring, directory):
    pii = await put(guards, keyring, directory, PII)
    found = await asyncio.gather(*(guards.of(principal(pii)) for _ in range(8)))
    assert len({id(one) for one in found}) == 1
    assert directory.policies_read == 1
    for _ in range(8):
        tenant = TenantId(new_uuid())
        await keyring.create_tenant(tenant)
        await guards.of(
            principal(await put(guards, keyring, directory, PII, tenant), tenant=tenant)
        )
    assert len(guards) == 3


@pytest.mark.requirement("C2")
async def test_a_policy_that_is_missing_is_not_the_shipped_one(guards, caplog):
    with caplog.at_level(logging.ERROR), pytest.raises(Unavailable):
        await guards.of(principal("0123456789ab"))
    assert "does not load" in caplog.text
    assert str(TENANT) not in caplog.text


async def test_a_policy_replaced_meanwhile_is_outdated(guards, keyring, directory):
    await put(guards, keyring, directory, PII)
    with pytest.raises(Outdated):
        await guards.of(principal("0123456789ab"))


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("kind", [PII, SECRETS])
async def test_nothing_else_opens_in_the_place_of_a_policy(guards, keyring, directory, kind):
    version = await put(guards, keyring, directory, kind)
    good = directory.policies[TENANT, kind]
    await put(guards, keyring, directory, kind, OTHER)
    other_kind = SECRETS if kind == PII else PII
    keys = await keyring.tenant(TENANT)
    document = DOCUMENTS[kind]
    older = guards.sealed(kind, document | {"cases": []}, "0123456789ab", keys)
    flipped = bytes([*good.sealed[:-1], good.sealed[-1] ^ 1])
    for sealed in (
        directory.policies[OTHER, kind].sealed,
        guards.sealed(other_kind, document, version, keys).sealed,
        older.sealed,
        guards.sealed(kind, document, "0123456789ab", keys).sealed,
        guards.sealed(kind, document | {"cases": []}, version, keys).sealed,
        flipped,
        b"",
    ):
        directory.policies[TENANT, kind] = PolicyRow(kind=kind, version=version, sealed=sealed)
        with pytest.raises(Unavailable):
            await guards.of(principal(**{kind: version}))
    directory.policies[TENANT, kind] = good
    assert await guards.of(principal(**{kind: version})) is not guards.shipped.guard


async def test_a_tenant_never_gets_anothers_guard(guards, keyring, directory):
    pii = await put(guards, keyring, directory, PII)
    mine = await guards.of(principal(pii))
    with pytest.raises(Unavailable):
        await guards.of(principal(pii, tenant=OTHER))
    assert await guards.of(principal(tenant=OTHER)) is guards.shipped.guard
    await put(guards, keyring, directory, PII, OTHER)
    assert await guards.of(principal(pii, tenant=OTHER)) is not mine


async def test_the_next_release_tries_the_cases_again_and_says_how_many_fail(
    guards, keyring, directory, shipped, caplog
):
    secrets = await put(guards, keyring, directory, SECRETS)
    pii = await put(guards, keyring, directory, PII)
    strict = parse_pii_policy('{version: "next", defaults: {action: redact}, kinds: {}}')
    rejecting = parse_pii_policy('{version: "later", defaults: {action: reject}, kinds: {}}')
    for policy in (strict, rejecting):
        later = Shipped(guard=shipped.guard.under(policy=policy), profiles=shipped.profiles)
        with caplog.at_level(logging.ERROR):
            guard = await Guards(later, directory, keyring).of(principal(pii, secrets))
        assert guard.policy.of("EMAIL_ADDRESS").action is Action.ALLOW
        assert guard.policy.of("PHONE_NUMBER").action is policy.default.action
    assert "cases of a tenant's policy fail" not in caplog.text
    key = "AKIAQ3EGR7HX2B5KZ4TW"
    caplog.clear()
    keys = await keyring.tenant(TENANT)
    document = LETS_MAIL | {"cases": [{"case": "stays", "text": key, "kept": key}]}
    version = version_of(document)
    row = guards.sealed(PII, document, version, keys)
    directory.policies[TENANT, PII] = row
    later = Shipped(guard=shipped.guard.under(policy=strict), profiles=shipped.profiles)
    with caplog.at_level(logging.ERROR):
        await Guards(later, directory, keyring).of(principal(version))
    assert "cases of a tenant's policy fail over this release's: 1" in caplog.text
    assert key not in caplog.text
