"""The cache of embedded queries on a real Valkey: sealed, per person, and never needed."""

import numpy as np
import pytest
from redis.asyncio import Redis

from core.adapters.redis.cache import RedisQueryCache, _digest, _key
from core.errors import Unavailable
from core.ids import TenantId, new_uuid
from core.model import Owner
from core.ports import OwnerKeys
from gateway.vault.inmemory import memory_keyring

VECTOR = np.linspace(-1, 1, 384, dtype=np.float32)
TEXT = "where does she live? 她住在哪里?"


@pytest.fixture
async def keys() -> list[OwnerKeys]:
    """Keys of two people of one tenant, and of one of another."""
    keyring = memory_keyring()
    tenants = [TenantId(new_uuid()) for _ in range(2)]
    for tenant in tenants:
        await keyring.create_tenant(tenant)
    of = (tenants[0], tenants[0], tenants[1])
    return [await keyring.ensure_owner(Owner(tenant=one, id=new_uuid())) for one in of]


@pytest.fixture
async def cache(engines):
    made = RedisQueryCache(engines.redis_url, timeout_seconds=30)
    yield made
    await made.aclose()


@pytest.fixture
async def raw(engines):
    made = Redis.from_url(engines.redis_url)
    yield made
    await made.aclose()


async def test_what_was_put_comes_back_to_the_same_person_text_and_model(cache, keys):
    alice, bob, stranger = keys
    await cache.put(alice, "m", TEXT, VECTOR)
    found = await cache.get(alice, "m", TEXT)
    assert found is not None
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, VECTOR)
    for who, model, text in [
        (bob, "m", TEXT),
        (stranger, "m", TEXT),
        (alice, "n", TEXT),
        (alice, "m", TEXT + " "),
        (alice, "m" + TEXT[0], TEXT[1:]),
    ]:
        assert await cache.get(who, model, text) is None
    assert cache.faults == 0


async def test_the_server_holds_neither_text_nor_vector_and_forgets(cache, keys, raw):
    alice = keys[0]
    await cache.put(alice, "m", TEXT, VECTOR)
    name = _key(alice, _digest(alice, "m", TEXT))
    kept = await raw.get(name)
    assert kept
    for clear in (TEXT.encode(), b"where", VECTOR.tobytes(), VECTOR.tobytes()[:16]):
        assert clear not in kept
        assert clear not in name
    assert 0 < await raw.ttl(name) <= 300


@pytest.mark.requirement("C8")
async def test_an_entry_moved_to_another_key_does_not_open(cache, keys, raw):
    alice, bob, _ = keys
    await cache.put(alice, "m", TEXT, VECTOR)
    entry = await raw.get(_key(alice, _digest(alice, "m", TEXT)))
    for who, text in ((bob, TEXT), (alice, "another question")):
        await raw.set(_key(who, _digest(who, "m", text)), entry)
        assert await cache.get(who, "m", text) is None
    assert cache.faults == 2


async def test_a_spoiled_entry_is_a_fault_and_no_answer(cache, keys, raw):
    alice = keys[0]
    await raw.set(_key(alice, _digest(alice, "m", TEXT)), b"spoiled")
    assert await cache.get(alice, "m", TEXT) is None
    assert cache.faults == 1


async def test_without_a_server_there_is_no_answer_and_no_error(keys):
    cache = RedisQueryCache("unix:///nowhere/valkey.sock?db=0")
    await cache.put(keys[0], "m", TEXT, VECTOR)
    assert await cache.get(keys[0], "m", TEXT) is None
    assert cache.faults == 2
    with pytest.raises(Unavailable):
        await cache.ping()
    await cache.aclose()


async def test_it_says_whether_the_server_is_there(cache):
    await cache.ping()
