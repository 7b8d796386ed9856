"""Who is let into which space, and as what."""

import pytest

from core.errors import Denied, Invalid, NotFound, Outdated
from core.ids import KeyId, TenantId, new_uuid
from core.model import Target
from core.ports import Audience, MemberRole
from core.scope import Action, Call, Principal, Role, Spaces, Standing
from gateway.access.enforcer import Enforcer
from gateway.access.loader import load
from gateway.resources import data_path
from tests.gateway.access.directory import FakeDirectory, make_keyring

TENANT = TenantId(new_uuid())
OTHER = TenantId(new_uuid())
KEY = "abcdefgh234567zz"
AGENT = frozenset({Role.READER, Role.WRITER, Role.CURATOR})
READER, WRITER = MemberRole.READER, MemberRole.WRITER
READING = [Action.MEMORY_READ, Action.MEMORY_LIST, Action.MEMORY_RECALL, Action.RECALL_READ]
CHANGING = [Action.MEMORY_UPDATE, Action.MEMORY_FORGET]
RULES = load(data_path("policies", "access"))


def call(
    roles=AGENT, *, tenant=TENANT, places=(), users=None, epoch=0, scopes=None, key=KEY
) -> Call:
    principal = Principal(
        tenant=tenant,
        key_id=KeyId(key),
        roles=frozenset(roles),
        namespaces=places,
        users=users,
        scopes=scopes,
        standing=Standing(epoch=epoch),
    )
    return Call(principal=principal, request_id="r-1")


def aim(spaces=None, user_id="alice", namespaces=None) -> Target:
    return Target(user_id=user_id, spaces=spaces, namespaces=namespaces)


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT, OTHER)


@pytest.fixture
async def keys(keyring):
    return await keyring.tenant(TENANT)


@pytest.fixture
def directory():
    return FakeDirectory()


@pytest.fixture
def access(directory, keyring):
    return Enforcer(RULES, directory, keyring)


@pytest.mark.parametrize("action", READING)
async def test_a_reader_of_spaces_sees_all_it_is_a_member_of_and_writes_to_none(
    access, directory, keys, action
):
    team = directory.share(keys, "team", key__abcdefgh234567zz=READER)
    about = directory.share(keys, "about", Audience.SAME_USER, user__alice=WRITER)
    directory.share(keys, "theirs", user__bob=WRITER, key__abcdefgh234567zy=WRITER)
    scope = await access.scope(call(), aim(), action)
    assert scope.readable == Spaces(same_user=frozenset({about}), members=frozenset({team}))
    assert (scope.writable, scope.into) == (Spaces(), None)


@pytest.mark.parametrize("action", CHANGING)
async def test_a_change_reaches_the_spaces_one_writes_to(access, directory, keys, action):
    read = directory.share(keys, "read", user__alice=READER)
    write = directory.share(keys, "write", user__alice=WRITER)
    scope = await access.scope(call(), aim(), action)
    assert scope.readable.members == {read, write}
    assert scope.writable == Spaces(members=frozenset({write}))
    assert scope.into is None


async def test_of_several_memberships_the_widest_counts(access, directory, keys):
    team = directory.share(keys, "team", user__alice=READER, key__abcdefgh234567zz=WRITER)
    scope = await access.scope(call(), aim(), Action.MEMORY_FORGET)
    assert scope.writable.members == {team}


@pytest.mark.parametrize("spaces", [(), ("team",), None])
async def test_spaces_named_are_the_only_ones_searched(access, directory, keys, spaces):
    team = directory.share(keys, "team", user__alice=READER)
    more = directory.share(keys, "more", user__alice=READER)
    scope = await access.scope(call(), aim(spaces), Action.MEMORY_RECALL)
    expected = {None: {team, more}, (): set(), ("team",): {team}}[spaces]
    assert scope.readable.members == expected


@pytest.mark.requirement("C9")
@pytest.mark.parametrize("action", [*READING, *CHANGING, Action.MEMORY_WRITE])
async def test_a_space_of_others_and_one_that_is_not_there_are_one_answer(
    access, directory, keyring, keys, action
):
    directory.share(keys, "mine", user__alice=WRITER)
    directory.share(keys, "theirs", user__bob=WRITER)
    directory.share(await keyring.tenant(OTHER), "elsewhere", user__alice=WRITER)
    who = call(places=("here",))
    assert await access.scope(who, aim(("mine",)), action)
    for name in ("theirs", "elsewhere", "nowhere", "Mine", "mine2"):
        with pytest.raises(NotFound):
            await access.scope(who, aim((name,)), action)
    if action is not Action.MEMORY_WRITE:
        with pytest.raises(NotFound):
            await access.scope(who, aim(("mine", "theirs")), action)


@pytest.mark.parametrize("name", ["", "*", " team", "team\n", "x" * 129], ids=ascii)
async def test_a_malformed_name_of_a_space_looks_nothing_up(access, directory, name):
    for action in (Action.MEMORY_RECALL, Action.MEMORY_WRITE):
        with pytest.raises(Invalid):
            await access.scope(call(places=None), aim((name,)), action)
    assert directory.calls == 0


async def test_a_write_into_a_space_names_it_alone(access, directory, keys):
    team = directory.share(keys, "team", user__alice=WRITER)
    directory.share(keys, "more", user__alice=WRITER)
    only = Spaces(members=frozenset({team}))
    for make in (False, True, True):
        scope = await access.scope(
            call(places=None), aim(("team",)), Action.MEMORY_WRITE, make=make
        )
        assert (scope.readable, scope.writable, scope.into) == (only, only, team)
        assert scope.known is make
    assert len(directory.users) == len(directory.namespaces) == 1


@pytest.mark.parametrize("spaces", [None, ()])
async def test_a_write_that_names_no_space_goes_into_none(access, directory, keys, spaces):
    directory.share(keys, "team", user__alice=WRITER)
    scope = await access.scope(call(places=None), aim(spaces), Action.MEMORY_WRITE)
    assert (scope.readable, scope.writable, scope.into) == (Spaces(), Spaces(), None)


async def test_a_reader_of_a_space_cannot_write_into_it_and_leaves_no_trace(
    access, directory, keys
):
    directory.share(keys, "team", user__alice=READER)
    for make in (False, True):
        with pytest.raises(Denied) as caught:
            await access.scope(call(places=None), aim(("team",)), Action.MEMORY_WRITE, make=make)
        assert caught.value.rule == "space-reader"
    assert not directory.users
    assert not directory.namespaces


async def test_a_write_goes_to_one_space(access):
    with pytest.raises(Invalid):
        await access.scope(call(places=None), aim(("a", "b")), Action.MEMORY_WRITE)


async def test_membership_does_not_replace_the_policy(access, directory, keys):
    directory.share(keys, "team", key__abcdefgh234567zz=WRITER)
    for action in [*CHANGING, Action.MEMORY_WRITE]:
        with pytest.raises(Denied):
            await access.scope(call({Role.READER}, places=None), aim(), action)


async def test_a_namespace_is_a_member_through_those_in_use(access, directory, keys):
    team = directory.share(keys, "team", namespace__support=READER)

    async def reached(places, named=None):
        scope = await access.scope(call(places=places), aim(namespaces=named), Action.MEMORY_RECALL)
        return scope.readable.members

    assert await reached(("sales", "support")) == {team}
    assert await reached(("sales", "support"), ("support",)) == {team}
    assert await reached(("sales", "support"), ("sales",)) == set()
    assert await reached(("sales",)) == set()
    assert await reached(()) == set()
    assert await reached(None) == {team}
    assert await reached(None, ("support",)) == {team}
    assert await reached(None, ("sales",)) == set()


async def test_a_member_of_one_kind_is_none_of_another_of_that_name(access, directory, keys):
    directory.share(keys, "a", key__alice=READER, namespace__alice=READER)
    directory.share(keys, "b", user__support=READER, key__support=READER)
    directory.share(keys, "c", user__abcdefgh234567zz=READER, namespace__abcdefgh234567zz=READER)
    scope = await access.scope(call(places=("support",)), aim(), Action.MEMORY_RECALL)
    assert scope.readable == Spaces()


@pytest.mark.parametrize("scopes", [frozenset({"memory:read"}), None])
async def test_a_token_is_no_key(access, directory, keys, scopes):
    directory.share(keys, "team", **{"key__token-0f": READER})
    token = call(scopes=scopes, key="token-0f")
    assert (await access.scope(token, aim(), Action.MEMORY_RECALL)).readable == Spaces()


@pytest.mark.requirement("C4")
@pytest.mark.parametrize("action", [*READING, *CHANGING])
async def test_rights_that_were_taken_away_meanwhile_end_the_call(access, directory, action):
    directory.standings[TENANT] = Standing(epoch=8)
    assert (await access.scope(call(epoch=8), aim(), action)).epoch == 8
    for stale in (7, 9, 0):
        with pytest.raises(Outdated):
            await access.scope(call(epoch=stale), aim(), action)
    with pytest.raises(Outdated):
        await access.scope(call(epoch=7, places=None), aim(("team",)), Action.MEMORY_WRITE)
