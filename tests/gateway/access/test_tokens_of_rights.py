"""What a token must carry, what needs its person at hand, and how late a call is judged."""

import pytest

from core.errors import Denied, Invalid, ScopeMissing, StepUpNeeded, Unavailable
from core.ids import KeyId, TenantId, new_uuid
from core.model import Target
from core.scope import Action, Call, Principal, Role, Standing
from gateway.access.enforcer import Enforcer
from gateway.access.loader import load
from gateway.access.scopes import SCOPE_OF, SCOPES, STEP_UP, scopes_of
from gateway.access.version_token import HEADER, mint_version, open_version
from gateway.resources import data_path
from tests.gateway.access.directory import FakeDirectory, make_keyring

TENANT = TenantId(new_uuid())
OTHER = TenantId(new_uuid())
RULES = load(data_path("policies", "access"))
EVERYTHING = frozenset(Role) - {Role.OPERATOR}
TENANTS = [action for action in Action if action.object != "admin:tenant"]


def call(
    roles=EVERYTHING, *, tenant=TENANT, scopes=None, fresh=True, confirmed=False, epoch=0, late=None
):
    principal = Principal(
        tenant=tenant,
        key_id=KeyId("abcdefgh234567zz"),
        roles=frozenset(roles),
        namespaces=None,
        users=None,
        scopes=scopes,
        fresh=fresh,
        standing=Standing(epoch=epoch),
    )
    return Call(principal=principal, request_id="r", not_before=late, confirmed=confirmed)


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT, OTHER)


@pytest.fixture
def directory():
    return FakeDirectory()


@pytest.fixture
def access(directory, keyring):
    return Enforcer(RULES, directory, keyring)


async def ask(access, who: Call, action: Action):
    if action.object.startswith("memory:"):
        return await access.scope(who, Target(user_id="alice"), action)
    if action.object == "admin:tenant":
        return await access.operator_scope(who, action)
    return await access.tenant_scope(who, action)


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("action", TENANTS)
async def test_a_token_does_what_its_scope_says_and_no_other_scope_will_do(access, action):
    needed = SCOPE_OF[action]
    assert await ask(access, call(scopes=frozenset({needed})), action)
    assert await ask(access, call(scopes=SCOPES), action)
    assert await ask(access, call(scopes=None), action)  # a key's roles are its scopes
    near = {f"{needed}s", needed[:-1], needed.upper(), f"{needed} ", f" {needed}", "*", ""}
    for scopes in (frozenset(), SCOPES - {needed}, frozenset(near), frozenset({" ".join(SCOPES)})):
        with pytest.raises(ScopeMissing) as caught:
            await ask(access, call(scopes=scopes), action)
        assert caught.value.needed == {needed}
        judged = await access.ruling(call(scopes=scopes).principal, action)
        assert (judged.allowed, judged.rule) == (False, "scope-missing")


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("action", TENANTS)
async def test_a_scope_without_the_role_is_nothing(access, action):
    with pytest.raises(Denied) as caught:
        await ask(access, call((), scopes=SCOPES), action)
    assert not isinstance(caught.value, ScopeMissing)  # more scopes would not help


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("action", [a for a in Action if a.object == "admin:tenant"])
async def test_no_token_is_an_operators(access, action):
    assert scopes_of(action) == frozenset()
    for scopes in (frozenset(), SCOPES, frozenset({action.value, "operator"})):
        with pytest.raises(Denied) as caught:
            await ask(access, call({Role.OPERATOR}, tenant=None, scopes=scopes), action)
        assert caught.value.rule == "not-for-tokens"
    assert await ask(access, call({Role.OPERATOR}, tenant=None), action)


def test_every_action_of_a_tenant_has_a_scope():
    assert SCOPE_OF.keys() == set(TENANTS)
    assert set(SCOPE_OF.values()) <= SCOPES


@pytest.mark.requirement("B11")
@pytest.mark.parametrize("action", TENANTS)
async def test_what_cannot_be_undone_needs_a_fresh_proof_or_a_confirmation(access, action):
    stale = {"scopes": SCOPES, "fresh": False}
    assert await ask(access, call(scopes=SCOPES), action)
    assert await ask(access, call(**stale, confirmed=True), action)
    if action not in STEP_UP:
        assert await ask(access, call(**stale), action)
        return
    with pytest.raises(StepUpNeeded):
        await ask(access, call(**stale), action)
    with pytest.raises(ScopeMissing):  # a step up would not help
        await ask(access, call(scopes=frozenset(), fresh=False), action)
    with pytest.raises(Denied) as caught:
        await ask(access, call((), **stale), action)
    assert not isinstance(caught.value, StepUpNeeded)


@pytest.mark.requirement("B11")
def test_what_lets_others_in_shows_or_ends_something_needs_a_step_up():
    assert {
        Action.MEMORY_FORGET,
        Action.MEMORY_REVEAL,
        Action.SPACE_SHARE,
        Action.SPACE_DELETE,
        Action.POLICY_WRITE,
        Action.KEY_CREATE,
        Action.KEY_ROTATE,
        Action.TENANT_ERASE,
    } <= STEP_UP


@pytest.mark.requirement("C4")
@pytest.mark.parametrize("action", TENANTS)
async def test_a_call_is_judged_at_its_version_token_or_later(access, directory, keyring, action):
    token = mint_version(await keyring.tenant(TENANT), 5)
    for epoch in (5, 6):
        directory.standings[TENANT] = Standing(epoch=epoch)
        assert await ask(access, call(epoch=epoch, late=token), action)
    for epoch in (0, 4):
        directory.standings[TENANT] = Standing(epoch=epoch)
        with pytest.raises(Unavailable):
            await ask(access, call(epoch=epoch, late=token), action)


@pytest.mark.requirement("C4")
async def test_a_token_that_is_not_of_this_tenant_is_malformed(access, keyring):
    token = mint_version(await keyring.tenant(TENANT), 5)
    theirs = mint_version(await keyring.tenant(OTHER), 5)
    flipped = token[:20] + ("A" if token[20] != "A" else "B") + token[21:]
    for wrong in (theirs, flipped, token[:-4], token + "AAAA", "", " ", "5", "é", "A" * 513):
        with pytest.raises(Invalid) as caught:
            await ask(access, call(epoch=9, late=wrong), Action.MEMORY_RECALL)
        assert caught.value.faults[0].field == HEADER
        assert caught.value.__cause__ is caught.value.__context__ is None
    with pytest.raises(Invalid):
        await ask(access, call({Role.OPERATOR}, tenant=None, late=token), Action.TENANT_LIST)


@pytest.mark.requirement("C4")
async def test_a_write_is_judged_late_enough_before_it_makes_anything(access, directory, keyring):
    token = mint_version(await keyring.tenant(TENANT), 1)
    with pytest.raises(Unavailable):
        await access.permit(call(late=token), Target(user_id="a"), Action.MEMORY_WRITE)
    with pytest.raises(Unavailable):
        await ask(access, call(late=token), Action.MEMORY_WRITE)
    assert directory.calls == 0


@pytest.mark.parametrize("epoch", [0, 1, 255, 2**40])
async def test_what_is_minted_opens(keyring, epoch):
    keys = await keyring.tenant(TENANT)
    assert open_version(keys, mint_version(keys, epoch)) == epoch
    assert mint_version(keys, epoch) != mint_version(keys, epoch)
