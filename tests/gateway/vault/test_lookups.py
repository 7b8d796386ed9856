"""Keyed look-up values: points, words, tokens and digests."""

import hashlib
import hmac

import numpy as np
import pytest

from core.errors import Tampered
from core.ids import MemoryId, TenantId, new_uuid
from core.model import Owner
from gateway.vault.inmemory import memory_keyring
from gateway.vault.owner_keys import UnwrappedOwnerKeys
from gateway.vault.tenant_keys import UnwrappedTenantKeys

WORDS = [f"word{n}" for n in range(5000)] + ["peanuts", "花生", "朝阳区", "", "\ud800"]


class World:
    """Two tenants; in each the same two people by id, and a space with the first one's id."""

    def __init__(self) -> None:
        self.keyring = memory_keyring()
        self.tenants: list[UnwrappedTenantKeys] = []
        self.owners: list[UnwrappedOwnerKeys] = []

    async def build(self) -> "World":
        ids = [new_uuid() for _ in range(2)]
        for _ in range(2):
            tenant = TenantId(new_uuid())
            self.tenants.append(await self.keyring.create_tenant(tenant))
            for owner in (
                Owner(tenant=tenant, id=ids[0]),
                Owner(tenant=tenant, id=ids[1]),
                Owner(tenant=tenant, id=ids[0], is_space=True),
            ):
                self.owners.append(await self.keyring.ensure_owner(owner))
        return self


@pytest.fixture
async def world() -> World:
    return await World().build()


@pytest.mark.requirement("E7")
async def test_one_word_of_two_owners_has_unlike_tokens(world):
    tokens = [owner.terms(WORDS) for owner in world.owners]
    assert len({token for some in tokens for token in some}) == len(WORDS) * len(tokens)
    assert all(-(2**63) <= token < 2**63 for some in tokens for token in some)
    assert min(min(some) for some in tokens) < 0 < max(max(some) for some in tokens)


@pytest.mark.requirement("E7")
async def test_one_word_of_one_owner_has_one_token_in_order(world):
    owner = world.owners[0]
    (a,), (b,) = owner.terms(["a"]), owner.terms(["b"])
    assert owner.terms(["a", "b", "a"]) == [a, b, a]
    assert owner.terms([]) == []


@pytest.mark.requirement("E7")
async def test_a_dictionary_without_the_key_finds_nothing(world):
    victim, others = world.owners[0], world.owners[1:]
    seen = set(victim.terms(WORDS))
    guesses: set[int] = set()
    for other in others:  # another owner's key is no help
        guesses.update(other.terms(WORDS))
    owner = victim.owner
    known = [
        b"",
        bytes(32),
        owner.id.bytes,
        owner.tenant.bytes,
        owner.tenant.bytes + owner.id.bytes,
    ]
    for word in WORDS:
        text = word.encode("utf-8", "surrogatepass")
        for key in known:  # and neither is anything that stands in the database
            guesses.add(_first_8(hmac.digest(key, text, "sha256")))
            guesses.add(_first_8(hashlib.sha256(key + text).digest()))
    assert seen & guesses == set()


@pytest.mark.requirement("E7")
async def test_one_text_under_two_labels_has_unlike_values(world):
    owner, tenant = world.owners[0], world.tenants[0]
    values = [
        owner.digest("content", "x")[:8],
        owner.blind("tag", "x")[:8],
        owner.blind("session", "x")[:8],
        owner.terms(["x"])[0].to_bytes(8, signed=True),
        *(
            tenant.blind(label, "x")[:8]
            for label in ("user", "namespace", "actor", "person", "idempotency", "tenant")
        ),
        *(
            bytes.fromhex(tenant.word(label, "x"))[:8]
            for label in ("tenant", "owner", "user", "namespace", "space")
        ),
    ]
    assert len(set(values)) == len(values)


async def test_look_up_values_have_their_sizes_and_differ_between_parents(world):
    assert {len(owner.digest("content", "x")) for owner in world.owners} == {32}
    assert {len(owner.blind("tag", "x")) for owner in world.owners} == {16}
    assert {len(tenant.word("owner", "x")) for tenant in world.tenants} == {32}
    assert len({owner.digest("content", "x") for owner in world.owners}) == len(world.owners)
    assert len({owner.blind("tag", "x") for owner in world.owners}) == len(world.owners)
    assert len({tenant.blind("user", "x") for tenant in world.tenants}) == 2
    assert len({tenant.word("user", "x") for tenant in world.tenants}) == 2


async def test_a_word_of_an_id_is_the_word_of_its_spelling(world):
    value = new_uuid()
    assert world.tenants[0].word("owner", value) == world.tenants[0].word("owner", str(value))


async def test_an_unknown_label_has_no_value(world):
    for ask in (world.owners[0].digest, world.owners[0].blind, world.tenants[0].blind):
        with pytest.raises(LookupError):
            ask("spare", "x")
    with pytest.raises(LookupError):
        world.tenants[0].word("spare", "x")


@pytest.mark.requirement("C7")
async def test_ten_thousand_crafted_ids_give_as_many_points(world):
    # Each id differs in the one place where a careless encoding would let it meet another.
    memories = [MemoryId(new_uuid()) for _ in range(50)]
    memories += [MemoryId(owner.owner.id) for owner in world.owners[:2]]
    memories += [MemoryId(tenant.tenant) for tenant in world.tenants]
    chunks = [*range(16), 255, 256, 65_535, 2**32 - 1]
    points = [
        tenant.point_id(owner.owner, memory, chunk)
        for tenant in world.tenants
        for owner in world.owners
        for memory in memories
        for chunk in chunks
    ]
    assert len(points) >= 10_000
    assert len(set(points)) == len(points)
    assert not set(points) & set(memories)
    assert {point.version for point in points} == {8}


@pytest.mark.requirement("C7")
async def test_a_point_keeps_its_id(world):
    memory, owner = MemoryId(new_uuid()), world.owners[0].owner
    tenant = world.tenants[0]
    assert tenant.point_id(owner, memory, 3) == tenant.point_id(owner, memory, 3)


async def test_a_pointer_opens_for_its_tenant_alone(world):
    memory = MemoryId(new_uuid())
    one, other = world.tenants
    pointer = one.seal_pointer(memory, 2**32 - 1)
    assert one.open_pointer(pointer) == (memory, 2**32 - 1)
    assert len(pointer) == 64
    assert memory.hex not in pointer
    assert one.seal_pointer(memory, 1) != one.seal_pointer(memory, 1)
    with pytest.raises(Tampered):
        other.open_pointer(pointer)


async def test_a_changed_pointer_does_not_open(world):
    tenant = world.tenants[0]
    pointer = tenant.seal_pointer(MemoryId(new_uuid()), 1)
    for at in range(len(pointer)):
        changed = "B" if pointer[at] != "B" else "C"
        with pytest.raises(Tampered):
            tenant.open_pointer(pointer[:at] + changed + pointer[at + 1 :])
    for odd in ("", "A", pointer[:-4], pointer + "AAAA", pointer[:-1] + "é", pointer[:-1] + "\n"):
        with pytest.raises(Tampered):
            tenant.open_pointer(odd)


async def test_each_owner_turns_vectors_in_its_own_way_and_keeps_their_products(world):
    vectors = np.random.default_rng(1).standard_normal((20, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    turned = [owner.rotate(vectors) for owner in world.owners]
    for mine in turned:
        assert np.abs(mine @ mine.T - vectors @ vectors.T).max() <= 1e-5
    assert np.array_equal(world.owners[0].rotate(vectors), turned[0])
    for other in turned[1:]:
        assert np.abs(np.sum(turned[0] * other, axis=1)).max() < 0.4


def _first_8(digest: bytes) -> int:
    return int.from_bytes(digest[:8], signed=True)
