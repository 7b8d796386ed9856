import psycopg
import redis.asyncio

from gateway.embedded.engines import EmbeddedEngines


async def test_record_key_store_and_cache_answer(engines: EmbeddedEngines) -> None:
    async with await psycopg.AsyncConnection.connect(
        engines.database_url("memwarden_app")
    ) as record:
        cursor = await record.execute("SELECT current_user, current_database()")
        assert await cursor.fetchone() == ("memwarden_app", "memwarden")
    async with await psycopg.AsyncConnection.connect(engines.keystore_url) as keys:
        cursor = await keys.execute("SELECT current_user, current_database()")
        assert await cursor.fetchone() == ("memwarden_keys", "memwarden_keys")
    async with redis.asyncio.Redis.from_url(engines.redis_url) as cache:
        assert await cache.set("k", "v")
        assert await cache.get("k") == b"v"
