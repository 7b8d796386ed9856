"""What is written of keys after they proved somebody, and peppers that change under them."""

import asyncio
from datetime import datetime, timedelta

import pytest
from typing_extensions import override

from core.errors import Conflict, Unauthenticated, Unavailable
from core.ids import KeyId
from gateway.auth import upkeep as module
from gateway.auth.authenticator import Authenticator
from gateway.auth.grants import Grants
from gateway.auth.keys import KeySmith
from gateway.auth.peppers import LivePeppers
from gateway.auth.presented import Presented
from gateway.auth.upkeep import Upkeep
from gateway.vault.inmemory import MemoryKeyStore, memory_keyring
from gateway.vault.keyring import KeyringService
from tests.gateway.access.directory import NOON, FakeDirectory, make_keyring
from tests.gateway.auth.rows import PEPPERS, TENANT, edited, issue, make_row

pytestmark = pytest.mark.requirement("B12")


class Directory(FakeDirectory):
    """Keeps what is written of keys."""

    def __init__(self) -> None:
        super().__init__()
        self.used: list[dict[KeyId, datetime]] = []

    @override
    async def key_used(self, keys):
        self._answer()
        self.used.append(dict(keys))

    @override
    async def rehash_key(self, key, old_mac, new_mac, pepper):
        self._answer()
        row = self.rows[key]
        if row.secret_mac != old_mac:
            return False
        self.rows[key] = edited(row, secret_mac=new_mac, pepper_version=pepper, previous_mac=None)
        return True


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0
        self.down = False

    def __call__(self) -> float:
        return self.seconds

    async def now(self):
        if self.down:
            raise Unavailable
        return NOON + timedelta(seconds=self.seconds - 1000)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def directory():
    return Directory()


@pytest.fixture
def peppers():
    return LivePeppers(memory_keyring(), PEPPERS)


@pytest.fixture
def care(directory, clock, peppers):
    return Upkeep(directory, clock.now, peppers, monotonic=clock)


A, B = KeyId("a" * 16), KeyId("b" * 16)


async def test_a_use_is_written_to_the_minute_by_the_databases_time(care, directory, clock):
    care.note(A, None)
    clock.seconds += 70
    care.note(B, None)
    assert directory.used == []  # nothing while a caller waits
    clock.seconds += 15
    await care.flush()
    assert directory.used == [{A: NOON, B: NOON + timedelta(minutes=1)}]
    await care.flush()
    assert len(directory.used) == 1


async def test_a_key_in_constant_use_is_written_once_a_minute(care, directory, clock):
    for _ in range(12):
        care.note(A, None)
        await care.flush()
        clock.seconds += 10
    assert [each[A] for each in directory.used] == [NOON, NOON + timedelta(minutes=1)]


async def test_what_could_not_be_written_waits_and_fails_no_call(care, directory, clock):
    care.note(A, None)
    directory.down = True
    with pytest.raises(Unavailable):
        await care.flush()
    care.note(A, None)
    care.note(B, None)
    directory.down = False
    clock.down = True
    with pytest.raises(Unavailable):
        await care.flush()
    clock.down = False
    await care.flush()
    assert directory.used == [{A: NOON, B: NOON}]


async def test_more_keys_than_can_be_noted_go_without_a_note(care, directory, monkeypatch):
    monkeypatch.setattr(module, "MOST_NOTES", 1)
    care.note(A, None)
    care.note(B, None)
    care.note(A, None)
    await care.flush()
    assert directory.used == [{A: NOON}]


async def test_the_last_uses_are_written_when_the_gateway_ends(care, directory):
    stop = asyncio.Event()
    running = asyncio.create_task(care.run(stop, seconds=3600))
    await asyncio.sleep(0)
    care.note(A, None)
    stop.set()
    await running
    assert directory.used == [{A: NOON}]


async def test_a_directory_that_is_away_does_not_end_the_upkeep(care, directory):
    stop, back = asyncio.Event(), asyncio.Event()

    async def fails_twice(keys):
        directory.calls += 1
        if directory.calls < 3:
            raise Unavailable
        directory.used.append(dict(keys))
        back.set()

    directory.key_used = fails_twice
    care.note(A, None)
    running = asyncio.create_task(care.run(stop, seconds=0.001))
    await back.wait()
    stop.set()
    await running
    assert directory.used == [{A: NOON}]


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT)


async def issued(keyring, directory, version: int, **changes):
    """A key hashed under one pepper, in use."""
    smith = KeySmith(PEPPERS.up_to(version))
    credential, row = await issue(keyring, Grants(name="a"), **changes)
    minted = smith.adopt(credential)
    row = edited(row, secret_mac=minted.secret_mac, pepper_version=version)
    directory.rows[row.id] = row
    return credential, row


async def test_a_used_key_is_hashed_again_under_the_newest_pepper(care, directory, keyring):
    credential, row = await issued(keyring, directory, 1)
    door = Authenticator(directory, KeySmith(PEPPERS), keyring, proofs=care)
    await door.authenticate(Presented(token=credential), "http")
    assert directory.rows[row.id] == row  # nothing while the caller waits
    await care.flush()
    after = directory.rows[row.id]
    assert after.pepper_version == 2
    assert after.secret_mac != row.secret_mac
    await door.authenticate(Presented(token=credential), "http")
    await care.flush()
    assert directory.rows[row.id] == after


async def test_a_wrong_secret_is_never_what_is_hashed_again(care, directory, keyring):
    _, row = await issued(keyring, directory, 1)
    other = KeySmith(PEPPERS).mint().credential
    door = Authenticator(directory, KeySmith(PEPPERS), keyring, proofs=care)
    wrong = f"mw_{row.id}_{other.rpartition('_')[2]}"
    with pytest.raises(Unauthenticated):
        await door.authenticate(Presented(token=wrong), "http")
    await care.flush()
    assert directory.rows[row.id] == row
    assert directory.used == []


async def test_a_key_whose_former_secret_still_works_is_left_until_that_is_over(
    care, directory, keyring
):
    former, row = await issued(keyring, directory, 1)
    new = KeySmith(PEPPERS).remint(row)
    overlap = edited(row, secret_mac=new.secret_mac, previous_mac=row.secret_mac)
    directory.rows[row.id] = overlap
    door = Authenticator(directory, KeySmith(PEPPERS), keyring, proofs=care)
    for credential in (former, new.credential):
        await door.authenticate(Presented(token=credential), "http")
    await care.flush()
    assert directory.rows[row.id] == overlap
    directory.rows[row.id] = edited(overlap, previous_mac=None)
    await door.authenticate(Presented(token=new.credential), "http")
    await care.flush()
    assert directory.rows[row.id].pepper_version == 2


async def test_a_key_rotated_meanwhile_keeps_its_new_secret(care, directory, keyring):
    credential, row = await issued(keyring, directory, 1)
    door = Authenticator(directory, KeySmith(PEPPERS), keyring, proofs=care)
    await door.authenticate(Presented(token=credential), "http")
    new = KeySmith(PEPPERS).remint(row)
    directory.rows[row.id] = edited(row, secret_mac=new.secret_mac)
    await care.flush()
    assert directory.rows[row.id].secret_mac == new.secret_mac


def test_what_is_to_be_hashed_again_shows_no_mac():
    smith = KeySmith(PEPPERS)
    minted = KeySmith(PEPPERS.up_to(1)).mint()
    renewed = smith.renewed(minted.credential, make_row(minted))
    assert renewed is not None
    assert renewed.new_mac.hex() not in repr(renewed)
    assert str(renewed.new_mac) not in repr(renewed)


async def test_a_pepper_rotates_under_running_gateways_and_the_old_one_can_go(directory, keyring):
    """Two processes over one key store: the one rotates, the other hears of it when it must."""
    store = MemoryKeyStore()
    first = KeyringService(store, keyring._kek, keyring._epochs)
    second = KeyringService(store, keyring._kek, keyring._epochs)
    known, behind = await LivePeppers.open(first), await LivePeppers.open(second)
    smith, other = KeySmith(known), KeySmith(behind)
    old_credential, old = await issue(keyring, Grants(name="old"))
    old = edited(old, secret_mac=smith.adopt(old_credential).secret_mac, pepper_version=1)
    directory.rows[old.id] = old

    assert await first.rotate_pepper() == 2
    await known.refresh()
    credential, new = await issue(keyring, Grants(name="new"))
    minted = smith.adopt(credential)
    assert minted.pepper_version == 2
    new = edited(new, secret_mac=minted.secret_mac, pepper_version=2)
    directory.rows[new.id] = new

    with pytest.raises(Unavailable):
        behind.pepper(2)
    care = Upkeep(directory, Clock().now, behind)
    door = Authenticator(directory, other, keyring, proofs=care)
    await door.authenticate(Presented(token=credential), "http")  # learns of it here
    await door.authenticate(Presented(token=old_credential), "http")
    await care.flush()
    assert {row.pepper_version for row in directory.rows.values()} == {2}

    store._services["pepper"].pop(1)  # no row uses it any more
    alone = await LivePeppers.open(KeyringService(store, keyring._kek, keyring._epochs))
    with pytest.raises(Unavailable):
        alone.pepper(1)
    door = Authenticator(directory, KeySmith(alone), keyring)
    for token in (old_credential, credential):
        principal = await door.authenticate(Presented(token=token), "http")
        assert principal.tenant is not None


async def test_two_rotations_at_one_moment_make_one_pepper(keyring, monkeypatch):
    store = MemoryKeyStore()
    one = KeyringService(store, keyring._kek, keyring._epochs)
    two = KeyringService(store, keyring._kek, keyring._epochs)
    await one.peppers()
    results = await asyncio.gather(one.rotate_pepper(), two.rotate_pepper(), return_exceptions=True)
    made = [each for each in results if isinstance(each, int)]
    lost = [each for each in results if not isinstance(each, int)]
    assert all(isinstance(each, Conflict) for each in lost)
    assert len(store._services["pepper"]) == 1 + len(made)


async def test_a_revoked_key_under_a_pepper_that_is_gone_looks_like_an_unknown_one(
    directory, keyring
):
    credential, row = await issued(keyring, directory, 1)
    smith = KeySmith(LivePeppers(memory_keyring(), PEPPERS.up_to(1)))
    directory.rows[row.id] = edited(row, usable=False, revoked_at=NOON, pepper_version=9)
    with pytest.raises(Unauthenticated):
        await Authenticator(directory, smith, keyring).authenticate(
            Presented(token=credential), "http"
        )
