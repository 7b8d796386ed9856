"""Used proofs on a real Valkey: first once, for a while, and nothing while it is away."""

import asyncio

import pytest

from core.adapters.redis.keys import key
from core.adapters.redis.seen import RedisSeenProofs
from core.errors import Unavailable
from core.ids import TenantId, new_uuid

pytestmark = pytest.mark.requirement("B13")

PATIENT = 30.0  # a busy test machine is not a server that is away


async def test_of_many_who_show_one_proof_one_is_first(engines):
    replicas = [RedisSeenProofs(engines.redis_url, timeout_seconds=PATIENT) for _ in range(4)]
    tenant = TenantId(new_uuid())
    for number in range(10):
        proof = number.to_bytes(32)
        shown = [each.first_use(tenant, proof, seconds=60) for each in replicas for _ in range(5)]
        assert sum(await asyncio.gather(*shown)) == 1
    for replica in replicas:
        await replica.aclose()


async def test_one_proof_of_two_tenants_is_two(engines):
    seen = RedisSeenProofs(engines.redis_url, timeout_seconds=PATIENT)
    one, other, proof = TenantId(new_uuid()), TenantId(new_uuid()), bytes(32)
    assert await seen.first_use(one, proof, seconds=60)
    assert await seen.first_use(other, proof, seconds=60)
    assert not await seen.first_use(one, proof, seconds=60)
    await seen.aclose()


async def test_it_is_forgotten_after_its_time_and_holds_nothing(engines):
    seen = RedisSeenProofs(engines.redis_url, timeout_seconds=PATIENT)
    tenant, proof = TenantId(new_uuid()), bytes(range(32))
    await seen.first_use(tenant, proof, seconds=60)
    server = seen._server.redis
    name = key("dpop", tenant, proof)
    assert 0 < await server.ttl(name) <= 60
    assert await server.get(name) == b""
    await seen.aclose()


async def test_while_the_server_is_away_no_proof_is_first():
    seen = RedisSeenProofs("unix:///nowhere/valkey.sock?db=0")
    with pytest.raises(Unavailable):
        await seen.first_use(TenantId(new_uuid()), bytes(32), seconds=60)
    await seen.aclose()
