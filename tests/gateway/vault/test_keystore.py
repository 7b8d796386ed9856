"""What is particular to the key store on PostgreSQL: migrations, outages, who may connect."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from core.errors import Unavailable
from core.ids import TenantId, new_uuid
from gateway.embedded.engines import EmbeddedEngines
from gateway.vault import keystore
from gateway.vault.keystore import PostgresKeyStore, migrate
from tests.gateway.vault.key_schema import key_schema

COUNT = len(list(Path(keystore.__file__).parent.glob("migrations/*.sql")))


async def test_migrations_run_once_and_one_process_at_a_time(engines: EmbeddedEngines):
    async with key_schema(engines.keystore_url) as conninfo:
        applied = await asyncio.gather(*(migrate(conninfo) for _ in range(4)))
        assert sorted(applied) == [0, 0, 0, COUNT]
        assert await migrate(conninfo) == 0


async def test_every_migration_may_run_again(engines: EmbeddedEngines):
    async with key_schema(engines.keystore_url) as conninfo:
        await migrate(conninfo)
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connection.execute("DELETE FROM vault_migrations")
        assert await migrate(conninfo) == COUNT


async def test_a_migration_that_changed_after_it_was_applied_stops_the_start(
    engines: EmbeddedEngines,
):
    async with key_schema(engines.keystore_url) as conninfo:
        await migrate(conninfo)
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connection.execute("UPDATE vault_migrations SET sha256 = '' WHERE number = 1")
        with pytest.raises(Unavailable):
            await migrate(conninfo)


async def test_a_store_without_its_tables_or_its_server_is_unavailable(engines: EmbeddedEngines):
    async with key_schema(engines.keystore_url) as conninfo:
        store = await PostgresKeyStore.connect(conninfo)
        with pytest.raises(Unavailable) as caught:
            await store.tenant_keys(TenantId(new_uuid()))
        assert isinstance(caught.value.__cause__, psycopg.Error)
        assert "tenant_keys" not in caught.value.detail
        await store.close()
        with pytest.raises(Unavailable):
            await store.tenant_keys(TenantId(new_uuid()))


async def test_a_server_that_is_not_there_is_unavailable(monkeypatch, tmp_path):
    monkeypatch.setattr(keystore, "_CONNECT_SECONDS", 0.2)
    nowhere = make_conninfo(host=str(tmp_path), dbname="memwarden_keys")
    with pytest.raises(Unavailable):
        await PostgresKeyStore.connect(nowhere)
    with pytest.raises(Unavailable):
        await migrate(nowhere)


async def test_a_store_that_does_not_answer_in_time_is_unavailable(
    engines: EmbeddedEngines, monkeypatch
):
    async with key_schema(engines.keystore_url) as conninfo:
        await migrate(conninfo)
        store = await PostgresKeyStore.connect(conninfo)
        monkeypatch.setattr(keystore, "_ANSWER_SECONDS", 0.1)
        async with await AsyncConnection.connect(conninfo) as blocker:
            await blocker.execute("LOCK TABLE tenant_keys IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(Unavailable):
                await store.tenant_keys(TenantId(new_uuid()))
        assert await store.tenant_keys(TenantId(new_uuid())) == []
        await store.close()


@pytest.mark.parametrize(
    "row",
    [
        "('active', NULL)",
        "('destroyed', 'bytes')",
        "('spare', 'bytes')",
    ],
)
async def test_the_database_refuses_a_state_that_contradicts_its_key(
    row: str, engines: EmbeddedEngines
):
    async with key_schema(engines.keystore_url) as conninfo:
        await migrate(conninfo)
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            for table, more in (("tenant_keys", "kek_id"), ("owner_keys", "tenant_version")):
                owner = "" if table == "tenant_keys" else "owner, is_space, "
                ids = "" if table == "tenant_keys" else "gen_random_uuid(), false, "
                with pytest.raises(psycopg.errors.CheckViolation):
                    await connection.execute(
                        f"INSERT INTO {table} (tenant, {owner}version, {more}, epoch_id, state,"
                        f" wrapped) SELECT gen_random_uuid(), {ids}1, 1, 1, s, w::bytea"
                        f" FROM (VALUES {row}) AS given (s, w)"
                    )
