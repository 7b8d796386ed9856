"""The keyring's own rules: how long keys stay, what an outage does, what a key never shows in."""

import asyncio
import gc
import io
import logging
import pickle
import secrets
from collections.abc import Mapping
from copy import copy, deepcopy

import pytest
from typing_extensions import override

from core.errors import Unavailable
from core.ids import TenantId, new_uuid
from core.model import Owner
from core.ports import Place
from gateway.vault.epochs import EpochKeys
from gateway.vault.inmemory import MemoryKeyStore
from gateway.vault.kek import StaticKek
from gateway.vault.keyring import KeyringService, _owner_context, _tenant_context
from gateway.vault.owner_keys import MOST_SEALS
from gateway.vault.rows import KeyState, OwnerKeyRow, OwnerVersion, ServiceKeyRow, TenantKeyRow
from gateway.vault.secret import Secret

PLACE = Place(record=new_uuid(), version=1, field="content")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Switched(MemoryKeyStore):
    """A store that can be down, and counts what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.asked = 0

    def _ask(self) -> None:
        self.asked += 1
        if self.down:
            raise Unavailable

    @override
    async def tenant_keys(self, tenant: TenantId) -> list[TenantKeyRow]:
        self._ask()
        return await super().tenant_keys(tenant)

    @override
    async def add_tenant_key(self, tenant: TenantId, row: TenantKeyRow) -> bool:
        self._ask()
        return await super().add_tenant_key(tenant, row)

    @override
    async def owner_keys(self, owner: Owner) -> list[OwnerKeyRow]:
        self._ask()
        return await super().owner_keys(owner)

    @override
    async def add_owner_key(self, owner: Owner, row: OwnerKeyRow) -> bool:
        self._ask()
        return await super().add_owner_key(owner, row)

    @override
    async def count_seals(self, counts: Mapping[OwnerVersion, int]) -> None:
        self._ask()
        await super().count_seals(counts)

    @override
    async def service_keys(self, name: str) -> list[ServiceKeyRow]:
        self._ask()
        return await super().service_keys(name)


class SwitchedKek(StaticKek):
    """A root KEK in a device that can be unplugged."""

    down = False

    @override
    async def wrap(self, key: bytes, context: bytes) -> bytes:
        if self.down:
            raise Unavailable
        return await super().wrap(key, context)

    @override
    async def unwrap(self, wrapped: bytes, context: bytes) -> bytes:
        if self.down:
            raise Unavailable
        return await super().unwrap(wrapped, context)


class Rig:
    def __init__(self) -> None:
        self.clock = Clock()
        self.store = Switched()
        self.root = secrets.token_bytes(32)
        self.epoch = secrets.token_bytes(32)
        self.kek = SwitchedKek(self.root)
        self.epochs = EpochKeys({1: self.epoch})
        self.keyring = self.start()

    def start(self, **options: object) -> KeyringService:
        made: KeyringService = KeyringService(
            self.store,
            self.kek,
            self.epochs,
            monotonic=self.clock,
            **options,  # type: ignore[arg-type]
        )
        return made

    async def owner(self) -> Owner:
        tenant = TenantId(new_uuid())
        await self.keyring.create_tenant(tenant)
        return Owner(tenant=tenant, id=new_uuid())


@pytest.fixture
def rig() -> Rig:
    return Rig()


# --- how long -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [0, -1, 300.1, float("inf"), float("nan")])
def test_keys_are_never_cached_over_five_minutes(rig, seconds):
    with pytest.raises(ValueError, match="300 seconds"):
        rig.start(cache_seconds=seconds)


async def test_a_cached_key_asks_nobody(rig):
    owner = await rig.owner()
    keys = await rig.keyring.ensure_owner(owner)
    asked = rig.store.asked
    assert await rig.keyring.owner(owner) is keys
    assert await rig.keyring.ensure_owner(owner) is keys
    await rig.keyring.tenant(owner.tenant)
    assert rig.store.asked == asked


@pytest.mark.parametrize("down", ["store", "kek", "both"])
async def test_in_an_outage_cached_keys_serve_for_five_minutes_and_then_nothing_does(rig, down):
    owner = await rig.owner()
    keys = await rig.keyring.ensure_owner(owner)
    sealed = keys.seal(PLACE, b"text")
    pepper = await rig.keyring.pepper()
    rig.store.down, rig.kek.down = down != "kek", down != "store"
    rig.clock.now = 299
    kept = await rig.keyring.owner(owner)
    assert kept is not None
    assert kept.open(PLACE, sealed) == b"text"
    assert await rig.keyring.pepper() == pepper
    rig.clock.now = 301
    for ask in (
        rig.keyring.owner(owner),
        rig.keyring.ensure_owner(owner),
        rig.keyring.tenant(owner.tenant),
        rig.keyring.create_tenant(TenantId(new_uuid())),
        rig.keyring.pepper(),
        rig.keyring.service_key("audit-writer"),
    ):
        with pytest.raises(Unavailable):
            await ask
    rig.store.down = rig.kek.down = False
    again = await rig.keyring.owner(owner)
    assert again is not None
    assert again.open(PLACE, sealed) == b"text"


async def test_no_more_owners_stay_unwrapped_than_allowed(rig):
    rig.keyring = rig.start(max_owners=3, max_tenants=2)
    for _ in range(10):
        await rig.keyring.ensure_owner(await rig.owner())
    assert len(rig.keyring._owners) == 3
    assert len(rig.keyring._tenants) == 2


async def test_closing_forgets_every_key(rig):
    await rig.keyring.ensure_owner(await rig.owner())
    await rig.keyring.pepper()
    await rig.keyring.close()
    kept = rig.keyring
    assert [len(kept._owners), len(kept._tenants), len(kept._services)] == [0, 0, 0]


async def test_ensuring_while_a_look_up_is_under_way_still_makes_keys(rig):
    owner = await rig.owner()
    looked, made = await asyncio.gather(rig.keyring.owner(owner), rig.keyring.ensure_owner(owner))
    assert made is not None
    assert looked in (None, made)


async def test_keys_that_cannot_be_kept_are_unavailable_and_not_tried_for_ever(rig, monkeypatch):
    async def lose(owner: Owner, row: OwnerKeyRow) -> bool:
        return False

    owner = await rig.owner()
    monkeypatch.setattr(rig.store, "add_owner_key", lose)
    with pytest.raises(Unavailable):
        await rig.keyring.ensure_owner(owner)


# --- versions -----------------------------------------------------------------------------------


async def add_version(rig: Rig, owner: Owner, before: KeyState) -> None:
    """Rotate by hand: a new DEK, the same look-up secret."""
    tenant = await rig.keyring.tenant(owner.tenant)
    old = (await rig.store.owner_keys(owner))[0]
    context = _owner_context(owner, 1)
    both = tenant.unwrap(1, rig.epochs.unwrap(1, old.wrapped, context), context)
    context = _owner_context(owner, 2)
    fresh = tenant.wrap(secrets.token_bytes(32) + both[32:], context)
    del rig.store._owners[owner][1]
    new = OwnerKeyRow(
        version=2,
        wrapped=rig.epochs.wrap(1, fresh, context),
        tenant_version=1,
        epoch=1,
        op_count=0,
        state=KeyState.ACTIVE,
    )
    assert await rig.store.add_owner_key(owner, new)
    rig.store._owners[owner][1] = OwnerKeyRow(
        version=1, wrapped=old.wrapped, tenant_version=1, epoch=1, op_count=0, state=before
    )


async def test_after_a_rotation_the_old_version_opens_and_the_new_one_seals(rig):
    owner = await rig.owner()
    keys = await rig.keyring.ensure_owner(owner)
    old, token = keys.seal(PLACE, b"old"), keys.terms(["word"])
    await add_version(rig, owner, KeyState.DECRYPT_ONLY)
    again = await rig.start().owner(owner)
    assert again is not None
    assert again.open(PLACE, old) == b"old"
    new = again.seal(PLACE, b"new")
    assert again.open(PLACE, new) == b"new"
    assert (old[10:14], new[10:14]) == ((1).to_bytes(4), (2).to_bytes(4))
    assert again.terms(["word"]) == token


async def test_after_a_tenants_rotation_what_stood_under_the_old_version_opens(rig):
    owner = await rig.owner()
    tenant = await rig.keyring.tenant(owner.tenant)
    sealed = (await rig.keyring.ensure_owner(owner)).seal(PLACE, b"text")
    name, word = tenant.seal(PLACE, b"name"), tenant.word("owner", "x")
    rows, context = rig.store._tenants[owner.tenant], _tenant_context(owner.tenant, 1)
    old = rows[1]
    both = await rig.kek.unwrap(rig.epochs.unwrap(1, old.wrapped, context), context)
    context = _tenant_context(owner.tenant, 2)
    fresh = await rig.kek.wrap(secrets.token_bytes(32) + both[32:], context)
    for version, wrapped, state in (
        (1, old.wrapped, KeyState.DECRYPT_ONLY),
        (2, rig.epochs.wrap(1, fresh, context), KeyState.ACTIVE),
    ):
        rows[version] = TenantKeyRow(
            version=version, wrapped=wrapped, kek_id=rig.kek.id, epoch=1, state=state
        )
    again = rig.start()
    keys, turned = await again.ensure_owner(owner), await again.tenant(owner.tenant)
    assert keys.open(PLACE, sealed) == b"text"
    assert turned.open(PLACE, name) == b"name"
    assert turned.word("owner", "x") == word
    assert turned.version == 2
    someone = Owner(tenant=owner.tenant, id=new_uuid())
    await again.ensure_owner(someone)
    assert (await rig.store.owner_keys(someone))[0].tenant_version == 2
    # One that has not heard of the new version cannot unwrap what stands under it.
    with pytest.raises(Unavailable):
        await rig.keyring.owner(someone)


async def test_a_service_secret_under_another_root_kek_is_unavailable(rig):
    await rig.keyring.pepper()
    rig.kek = SwitchedKek(secrets.token_bytes(32))
    with pytest.raises(Unavailable):
        await rig.start().pepper()


async def test_keys_that_only_open_do_not_seal(rig):
    owner = await rig.owner()
    sealed = (await rig.keyring.ensure_owner(owner)).seal(PLACE, b"old")
    row = (await rig.store.owner_keys(owner))[0]
    rig.store._owners[owner][1] = OwnerKeyRow(
        version=1,
        wrapped=row.wrapped,
        tenant_version=1,
        epoch=1,
        op_count=0,
        state=KeyState.DECRYPT_ONLY,
    )
    keys = await rig.start().ensure_owner(owner)
    assert keys.open(PLACE, sealed) == b"old"
    with pytest.raises(Unavailable):
        keys.seal(PLACE, b"new")


async def test_an_owner_of_a_tenant_whose_keys_are_destroyed_is_unavailable(rig):
    owner = await rig.owner()
    await rig.keyring.ensure_owner(owner)
    rig.store._tenants[owner.tenant][1] = TenantKeyRow(
        version=1, wrapped=b"", kek_id="k", epoch=1, state=KeyState.DESTROYED
    )
    with pytest.raises(Unavailable):
        await rig.start().owner(owner)


# --- counting -----------------------------------------------------------------------------------


async def test_a_worn_out_key_seals_no_more_and_still_opens(rig):
    owner = await rig.owner()
    keys = await rig.keyring.ensure_owner(owner)
    sealed = keys.seal(PLACE, b"text")
    await rig.store.count_seals({(owner, 1): MOST_SEALS - 2})
    await rig.keyring.flush()
    worn = await rig.start().owner(owner)
    assert worn is not None
    worn.seal(PLACE, b"last")
    with pytest.raises(Unavailable):
        worn.seal(PLACE, b"one more")
    assert worn.open(PLACE, sealed) == b"text"


async def test_counts_are_written_down_now_and_then_and_on_closing(rig):
    owner = await rig.owner()
    keys = await rig.keyring.ensure_owner(owner)
    keys.seal(PLACE, b"1")
    rig.clock.now = 31
    await rig.keyring.owner(await rig.owner())  # a look-up that goes to the store
    assert (await rig.store.owner_keys(owner))[0].op_count == 1
    keys.seal(PLACE, b"2")
    await rig.keyring.close()
    keys.seal(PLACE, b"3")  # a call still holds the keys
    await rig.keyring.flush()
    assert (await rig.store.owner_keys(owner))[0].op_count == 3


async def test_a_count_that_could_not_be_written_down_is_kept(rig):
    owner = await rig.owner()
    keys = await rig.keyring.ensure_owner(owner)
    keys.seal(PLACE, b"1")
    rig.store.down = True
    with pytest.raises(Unavailable):
        await rig.keyring.flush()
    rig.store.down = False
    keys.seal(PLACE, b"2")
    await rig.keyring.flush()
    assert (await rig.store.owner_keys(owner))[0].op_count == 2


async def test_evicted_keys_count_in_the_same_place(rig):
    owner = await rig.owner()
    before = await rig.keyring.ensure_owner(owner)
    before.seal(PLACE, b"1")
    rig.clock.now = 301
    after = await rig.keyring.owner(owner)
    assert after is not None
    assert after is not before
    before.seal(PLACE, b"2")
    after.seal(PLACE, b"3")
    await rig.keyring.flush()
    assert (await rig.store.owner_keys(owner))[0].op_count == 3


# --- what a key never shows in ------------------------------------------------------------------


def reachable(root: object) -> list[object]:
    """Return every object of ours and every container under `root`."""
    seen: dict[int, object] = {}
    ahead = [root]
    while ahead:
        thing = ahead.pop()
        named = type(thing).__module__.startswith(("gateway.vault", "core."))
        if id(thing) in seen or not (named or isinstance(thing, (dict, list, tuple, set))):
            continue
        seen[id(thing)] = thing
        ahead.extend(gc.get_referents(thing))
    return list(seen.values())


async def test_no_key_byte_shows_in_a_repr_a_log_an_error_or_a_pickle(rig, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    drawn: list[bytes] = [rig.root, rig.epoch]
    draw = secrets.token_bytes

    def noted(size: int) -> bytes:
        drawn.append(draw(size))
        return drawn[-1]

    monkeypatch.setattr("gateway.vault.keyring.secrets.token_bytes", noted)
    owner = await rig.owner()
    keys = await rig.keyring.ensure_owner(owner)
    keys.seal(PLACE, b"text")
    keys.terms(["word"])
    await rig.keyring.pepper()
    await rig.keyring.service_secret("audit-writer")
    assert len(drawn) == 6  # root, epoch, tenant, owner, pepper, audit writer

    told = [caplog.text]
    told += [f"{thing!r} {thing!s} {thing:}" for thing in reachable(rig.keyring) if _ours(thing)]
    stranger = KeyringService(rig.store, StaticKek(bytes(32)), rig.epochs)
    with pytest.raises(Unavailable) as caught:
        await stranger.tenant(owner.tenant)
    told += [repr(caught.value), str(caught.value), repr(caught.value.__cause__), caplog.text]
    shown = "\n".join(told)
    for key in drawn:
        for part in (key[:8], key[-8:]):
            assert part.hex() not in shown
            assert repr(part)[2:-1] not in shown
    assert "UnwrappedOwnerKeys" in shown
    assert "a stored tenant key does not unwrap" in caplog.text

    for thing in (keys, await rig.keyring.tenant(owner.tenant), rig.kek, rig.epochs, rig.keyring):
        with pytest.raises(TypeError):
            pickle.dump(thing, io.BytesIO())
        with pytest.raises(TypeError):
            deepcopy(thing)


def _ours(thing: object) -> bool:
    return type(thing).__module__.startswith("gateway.vault")


def test_a_secret_is_neither_shown_nor_copied_and_is_overwritten_at_its_end():
    secret = Secret(b"canary-canary-canary-canary-1234")
    for shown in (repr(secret), str(secret), f"{secret}", f"{secret!a}"):
        assert "canary" not in shown
    for copying in (copy, deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            copying(secret)
    held = secret.value
    assert held == b"canary-canary-canary-canary-1234"
    del secret
    gc.collect()
    assert held == bytes(32)


def test_a_short_secret_is_refused():
    with pytest.raises(ValueError, match="16 bytes"):
        Secret(b"short")
