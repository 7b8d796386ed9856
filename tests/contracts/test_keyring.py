"""One contract, two key stores: dictionaries, and PostgreSQL itself."""

import asyncio
import secrets
from collections.abc import AsyncIterator

import numpy as np
import pytest

from core.errors import Conflict, NotFound, Tampered, Unavailable
from core.ids import MemoryId, TenantId, UserId, new_uuid
from core.model import Owner
from core.ports import Keyring, Place
from gateway.vault.epochs import EpochKeys
from gateway.vault.inmemory import MemoryKeyStore
from gateway.vault.kek import StaticKek
from gateway.vault.keyring import KeyringService, _service_context
from gateway.vault.keystore import PostgresKeyStore, migrate
from gateway.vault.rows import KeyState, KeyStore, OwnerKeyRow, ServiceKeyRow, TenantKeyRow
from tests.gateway.vault.key_schema import key_schema

ROOT, EPOCHS = secrets.token_bytes(32), EpochKeys.random()


@pytest.fixture(params=["memory", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[KeyStore]:
    if request.param == "memory":
        yield MemoryKeyStore()
        return
    async with key_schema(request.getfixturevalue("engines").keystore_url) as conninfo:
        await migrate(conninfo)
        kept = await PostgresKeyStore.connect(conninfo)
        yield kept
        await kept.close()


@pytest.fixture
def keyring(store: KeyStore) -> KeyringService:
    return KeyringService(store, StaticKek(ROOT), EPOCHS)


@pytest.fixture
def another(store: KeyStore) -> KeyringService:
    """A second process over the same store."""
    return KeyringService(store, StaticKek(ROOT), EPOCHS)


async def new_owner(keyring: Keyring, *, is_space: bool = False) -> Owner:
    tenant = TenantId(new_uuid())
    await keyring.create_tenant(tenant)
    return Owner(tenant=tenant, id=new_uuid(), is_space=is_space)


def somewhere() -> Place:
    return Place(record=new_uuid(), version=1, field="content", namespace=new_uuid())


async def test_a_tenant_without_keys_is_not_found(keyring):
    with pytest.raises(NotFound):
        await keyring.tenant(TenantId(new_uuid()))


async def test_a_tenants_keys_are_made_once(keyring, another):
    tenant = TenantId(new_uuid())
    made = await asyncio.gather(
        *(which.create_tenant(tenant) for which in (keyring, another)), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in made) == ["Conflict", "UnwrappedTenantKeys"]
    with pytest.raises(Conflict):
        await keyring.create_tenant(tenant)


async def test_what_one_process_sealed_another_opens(keyring, another):
    owner, place = await new_owner(keyring), somewhere()
    sealed = (await keyring.ensure_owner(owner)).seal(place, b"text")
    theirs = await another.owner(owner)
    assert theirs is not None
    assert theirs.open(place, sealed) == b"text"
    tenant = await another.tenant(owner.tenant)
    assert tenant.open(place, (await keyring.tenant(owner.tenant)).seal(place, b"name")) == b"name"


async def test_processes_agree_on_every_look_up_value(keyring, another):
    owner, memory = await new_owner(keyring), MemoryId(new_uuid())
    mine, theirs = await keyring.ensure_owner(owner), await another.ensure_owner(owner)
    assert mine.digest("content", "x") == theirs.digest("content", "x")
    assert mine.blind("tag", "x") == theirs.blind("tag", "x")
    assert mine.terms(["x", "猫"]) == theirs.terms(["x", "猫"])
    ours, others = await keyring.tenant(owner.tenant), await another.tenant(owner.tenant)
    assert ours.blind("user", "x") == others.blind("user", "x")
    assert ours.word("owner", "x") == others.word("owner", "x")
    assert ours.point_id(owner, memory, 1) == others.point_id(owner, memory, 1)
    assert others.open_pointer(ours.seal_pointer(memory, 7)) == (memory, 7)


async def test_an_owner_without_keys_has_none_until_they_are_made(keyring):
    owner = await new_owner(keyring)
    assert await keyring.owner(owner) is None
    await keyring.ensure_owner(owner)
    assert await keyring.owner(owner) is not None


async def test_an_owner_of_no_tenant_gets_no_keys(keyring):
    nowhere = Owner(tenant=TenantId(new_uuid()), id=new_uuid())
    assert await keyring.owner(nowhere) is None
    with pytest.raises(NotFound):
        await keyring.ensure_owner(nowhere)


async def test_many_first_writes_at_once_make_one_key(store, keyring, another):
    owner = await new_owner(keyring)
    third = KeyringService(store, StaticKek(ROOT), EPOCHS)
    asked = [which.ensure_owner(owner) for which in (keyring, another, third) for _ in range(20)]
    looked = [which.owner(owner) for which in (keyring, another, third)]
    made = (await asyncio.gather(*looked, *asked))[len(looked) :]
    assert len({keys.digest("content", "x") for keys in made}) == 1
    assert [row.version for row in await store.owner_keys(owner)] == [1]


async def test_a_person_and_a_space_of_one_id_have_unlike_keys(keyring):
    person = await new_owner(keyring)
    space = Owner(tenant=person.tenant, id=person.id, is_space=True)
    one, other = await keyring.ensure_owner(person), await keyring.ensure_owner(space)
    assert one.digest("content", "x") != other.digest("content", "x")
    place = somewhere()
    with pytest.raises(Tampered):
        other.open(place, one.seal(place, b"text"))


async def test_a_destroyed_key_opens_nothing_and_its_number_stays_taken(store, keyring):
    owner = await new_owner(keyring)
    gone = OwnerKeyRow(
        version=1, wrapped=b"", tenant_version=1, epoch=1, op_count=0, state=KeyState.DESTROYED
    )
    if isinstance(store, PostgresKeyStore):
        async with store._pool.connection() as connection:
            await connection.execute(
                "INSERT INTO owner_keys (tenant, owner, is_space, version, tenant_version,"
                " epoch_id, state) VALUES (%s, %s, false, 1, 1, 1, 'destroyed')",
                (owner.tenant, owner.id),
            )
    else:
        await store.add_owner_key(owner, gone)
    assert await store.owner_keys(owner) == [gone]
    assert await keyring.owner(owner) is None
    await keyring.ensure_owner(owner)
    assert [(row.version, row.state) for row in await store.owner_keys(owner)] == [
        (1, KeyState.DESTROYED),
        (2, KeyState.ACTIVE),
    ]


async def test_a_wrapped_key_copied_to_another_owner_does_not_unwrap(store, keyring):
    victim = await new_owner(keyring)
    thief = Owner(tenant=victim.tenant, id=new_uuid())
    await keyring.ensure_owner(victim)
    assert await store.add_owner_key(thief, (await store.owner_keys(victim))[0])
    with pytest.raises(Unavailable):
        await keyring.owner(thief)


async def test_a_wrapped_key_copied_to_another_tenant_does_not_unwrap(store, keyring):
    victim = await new_owner(keyring)
    thief = TenantId(new_uuid())
    assert await store.add_tenant_key(thief, (await store.tenant_keys(victim.tenant))[0])
    with pytest.raises(Unavailable):
        await keyring.tenant(thief)


async def test_without_the_root_kek_or_the_epoch_key_nothing_unwraps(store, keyring):
    owner = await new_owner(keyring)
    await keyring.ensure_owner(owner)
    other_root = KeyringService(store, StaticKek(secrets.token_bytes(32)), EPOCHS)
    other_epoch = KeyringService(store, StaticKek(ROOT), EpochKeys.random())
    later_epoch = KeyringService(store, StaticKek(ROOT), EpochKeys({2: secrets.token_bytes(32)}))
    for stranger in (other_root, other_epoch, later_epoch):
        with pytest.raises(Unavailable):
            await stranger.tenant(owner.tenant)
        with pytest.raises(Unavailable):
            await stranger.owner(owner)


async def test_a_row_is_added_once(store):
    tenant = TenantId(new_uuid())
    owner = Owner(tenant=tenant, id=new_uuid())
    for version in (1, 1, 2):  # the same version, then a second one that would seal as well
        key = TenantKeyRow(
            version=version, wrapped=b"w", kek_id="k", epoch=1, state=KeyState.ACTIVE
        )
        await store.add_tenant_key(tenant, key)
        mine = OwnerKeyRow(
            version=version,
            wrapped=b"w",
            tenant_version=1,
            epoch=1,
            op_count=0,
            state=KeyState.HELD,
        )
        await store.add_owner_key(owner, mine)
    assert [row.version for row in await store.tenant_keys(tenant)] == [1]
    assert [(row.version, row.state) for row in await store.owner_keys(owner)] == [
        (1, KeyState.HELD)
    ]


async def test_seals_of_all_processes_add_up(store, keyring, another):
    owner = await new_owner(keyring)
    for which, times in ((keyring, 3), (another, 4)):
        keys = await which.ensure_owner(owner)
        for _ in range(times):
            keys.seal(somewhere(), b"x")
        await which.flush()
        await which.flush()  # nothing is written down twice
    assert [row.op_count for row in await store.owner_keys(owner)] == [7]


async def test_service_secrets_are_made_once_and_shared(store, keyring, another):
    names = ("audit-writer", "audit-checkpoint")
    made = [
        await asyncio.gather(*(which.service_key(name) for which in (keyring, another)))
        for name in names
    ]
    assert all(mine == theirs for mine, theirs in made)
    assert len({mine for mine, _ in made}) == len(names)
    with pytest.raises(ValueError, match="not a valid ServiceKey"):
        await keyring.service_key("spare")


async def test_peppers_keep_their_versions(store, keyring, another):
    first, pepper = await keyring.pepper()
    assert (first, pepper) == await another.pepper(first)
    assert len(pepper) == 32
    with pytest.raises(Unavailable):
        await keyring.pepper(first + 1)
    newer = await _next_pepper(store, first + 1)
    assert await keyring.pepper(first + 1) == (first + 1, newer)
    assert await keyring.pepper() == (first + 1, newer)
    assert await another.pepper(first) == (first, pepper)
    loaded = await keyring.peppers()
    assert loaded.pepper(first) == (first, pepper)
    assert loaded.pepper() == (first + 1, newer)


async def _next_pepper(store: KeyStore, version: int) -> bytes:
    pepper = secrets.token_bytes(32)
    wrapped = await StaticKek(ROOT).wrap(pepper, _service_context("pepper", version))
    row = ServiceKeyRow(version=version, wrapped=wrapped, kek_id=StaticKek(ROOT).id)
    assert await store.add_service_key("pepper", row)
    assert not await store.add_service_key("pepper", row)
    return pepper


@pytest.fixture
async def team(keyring):
    """A space whose members are people, without a person, and with either of two."""
    space = await new_owner(keyring, is_space=True)
    alice, bob = (
        Owner(tenant=space.tenant, id=space.id, is_space=True, person=UserId(new_uuid()))
        for _ in range(2)
    )
    return space, alice, bob


async def test_a_space_without_a_person_looks_up_and_seals_nothing(keyring, team):
    space, alice, _ = team
    sealed = (await keyring.ensure_owner(alice)).seal(place := somewhere(), b"text")
    keys = await keyring.owner(space)
    with pytest.raises(Unavailable):
        keys.seal(place, b"text")
    with pytest.raises(Tampered):
        keys.open(place, sealed)
    assert keys.terms(["tea"]) == keys.terms(["tea"])


async def test_people_of_a_space_share_its_look_ups_and_no_key(keyring, another, team):
    space, alice, bob = team
    first, second = await keyring.ensure_owner(alice), await another.ensure_owner(bob)
    alone = await another.owner(space)
    for ask in (
        lambda keys: keys.terms(["tea"]),
        lambda keys: keys.digest("content", "tea"),
        lambda keys: keys.blind("tag", "tea"),
        lambda keys: keys.rotate(np.eye(8, dtype=np.float32)).tolist(),
    ):
        assert ask(first) == ask(second) == ask(alone)
    place = somewhere()
    with pytest.raises(Tampered):
        second.open(place, first.seal(place, b"text"))


@pytest.mark.requirement("E1")
async def test_destroying_one_persons_key_of_a_space_leaves_the_others(keyring, another, team):
    space, alice, bob = team
    place = somewhere()
    sealed = {
        owner: (await keyring.ensure_owner(owner)).seal(place, b"text") for owner in (alice, bob)
    }
    assert await keyring.destroy_owner(alice) == 1
    assert await keyring.destroy_owner(alice) == 0
    for one in (keyring, another):
        assert await one.owner(alice) is None
        assert (await one.owner(bob)).open(place, sealed[bob]) == b"text"
        assert await one.owner(space) is not None
    again = await keyring.ensure_owner(alice)  # who comes back shares nothing with who was there
    with pytest.raises(Tampered):
        again.open(place, sealed[alice])


async def test_a_destroyed_key_leaves_no_byte_and_a_held_one_stays(store, keyring, team):
    _, alice, bob = team
    await keyring.ensure_owner(alice)
    await keyring.ensure_owner(bob)
    await store.destroy_owner(alice)
    (gone,) = await store.owner_keys(alice)
    assert (gone.state, gone.wrapped, gone.version) == (KeyState.DESTROYED, b"", 1)
    (kept,) = await store.owner_keys(bob)
    assert kept.state is KeyState.ACTIVE
    held = Owner(tenant=alice.tenant, id=new_uuid())
    row = OwnerKeyRow(
        version=1, wrapped=b"w", tenant_version=1, epoch=1, op_count=0, state=KeyState.HELD
    )
    assert await store.add_owner_key(held, row)
    assert await store.destroy_owner(held) == 0
    assert await store.owner_keys(held) == [row]


def test_only_what_is_in_a_space_is_about_somebody_beside_its_owner():
    with pytest.raises(ValueError, match="in a space"):
        Owner(tenant=TenantId(new_uuid()), id=new_uuid(), person=UserId(new_uuid()))


async def test_a_space_takes_the_keys_of_everybody_in_it_along(keyring, another, team):
    space, alice, bob = team
    other = Owner(tenant=space.tenant, id=new_uuid(), is_space=True, person=alice.person)
    for owner in (alice, bob, other):
        await keyring.ensure_owner(owner)
    assert await keyring.destroy_owner(space) == 3
    for one in (keyring, another):
        assert [await one.owner(owner) for owner in team] == [None] * 3
        assert await one.owner(other) is not None
