"""The key database: wrapped keys in PostgreSQL, in a database of their own.

Rules this module keeps:
- The role that connects owns this database and nothing else; no other role may connect to it.
- Migrations are numbered, go forward only, may run again, and run one process at a time; one that
  changed after it was applied stops the start.
- Whatever the driver says becomes `Unavailable`; its words stay inside.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Self
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from core.errors import Unavailable
from core.ids import TenantId
from core.model import Owner
from core.ports.keys import NIL
from gateway.vault.labels import PEPPER
from gateway.vault.rows import KeyState, OwnerKeyRow, OwnerVersion, ServiceKeyRow, TenantKeyRow

_HERE = Path(__file__).parent
_LOCK = 0x6B657973  # "keys": one migrating process at a time
_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 5.0


def _statements(script: str) -> dict[str, str]:
    """Return the statements of a file by the name in the `-- name --` line above each."""
    parts = re.split(r"^-- (\w+) --$", script, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


_SQL = _statements((_HERE / "sql" / "keys.sql").read_text(encoding="utf-8"))


class PostgresKeyStore:
    """A `KeyStore` on PostgreSQL.

    Args:
        pool: open; closed by `close`.
    """

    def __init__(self, pool: AsyncConnectionPool[AsyncConnection[TupleRow]]) -> None:
        self._pool = pool

    @classmethod
    async def connect(cls, conninfo: str, *, connections: int = 4) -> Self:
        """Open a pool and see that the database answers.

        Args:
            conninfo: URL or keywords, as libpq takes them.
            connections: at most so many; one is kept.

        Raises:
            Unavailable: it does not answer within 5 seconds.
        """
        pool = AsyncConnectionPool(
            conninfo,
            kwargs={"autocommit": True, "prepare_threshold": None},
            min_size=1,
            max_size=connections,
            timeout=_CONNECT_SECONDS,
            open=False,
            name="keystore",
        )
        try:
            await pool.open(wait=True, timeout=_CONNECT_SECONDS)
        except (PoolTimeout, psycopg.Error) as err:
            await pool.close()
            raise Unavailable("The key store does not answer.") from err
        return cls(pool)

    async def close(self) -> None:
        """Close the pool."""
        await self._pool.close()

    async def tenant_keys(self, tenant: TenantId) -> list[TenantKeyRow]:
        """Return every version, oldest first."""
        async with self._connection() as connection:
            cursor = await connection.execute(_SQL["tenant_keys"], {"tenant": tenant})
            return [
                TenantKeyRow(
                    version=version,
                    wrapped=wrapped,
                    kek_id=kek_id,
                    epoch=epoch,
                    state=KeyState(state),
                )
                async for version, wrapped, kek_id, epoch, state in cursor
            ]

    async def add_tenant_key(self, tenant: TenantId, row: TenantKeyRow) -> bool:
        """Keep a version; False when it or a current one is there."""
        return await self._add("add_tenant_key", {"tenant": tenant, **asdict(row)})

    async def owner_keys(self, owner: Owner) -> list[OwnerKeyRow]:
        """Return every version, oldest first."""
        async with self._connection() as connection:
            cursor = await connection.execute(_SQL["owner_keys"], _named(owner))
            return [
                OwnerKeyRow(
                    version=version,
                    wrapped=wrapped,
                    tenant_version=tenant_version,
                    epoch=epoch,
                    op_count=op_count,
                    state=KeyState(state),
                )
                async for version, wrapped, tenant_version, epoch, op_count, state in cursor
            ]

    async def add_owner_key(self, owner: Owner, row: OwnerKeyRow) -> bool:
        """Keep a version; False when it or a current one is there."""
        return await self._add("add_owner_key", {**_named(owner), **asdict(row)})

    async def destroy_owner(self, owner: Owner) -> int:
        """Destroy every version that is not held; returns how many."""
        async with self._connection() as connection:
            return (await connection.execute(_SQL["destroy_owner"], _named(owner))).rowcount

    async def count_seals(self, counts: Mapping[OwnerVersion, int]) -> None:
        """Add to `op_count` of each, all or none."""
        # In one order everywhere, so that two processes cannot wait for each other.
        ordered = sorted(counts.items(), key=lambda item: _order(*item[0]))
        rows = [
            {**_named(owner), "version": version, "count": count}
            for (owner, version), count in ordered
        ]
        async with self._connection() as connection, connection.transaction():
            await connection.cursor().executemany(_SQL["count_seals"], rows)

    async def service_keys(self, name: str) -> list[ServiceKeyRow]:
        """Return every version, oldest first."""
        statement = _SQL["peppers" if name == PEPPER else "service_keys"]
        async with self._connection() as connection:
            cursor = await connection.execute(statement, {"name": name})
            return [
                ServiceKeyRow(version=version, wrapped=wrapped, kek_id=kek_id)
                async for version, wrapped, kek_id in cursor
            ]

    async def add_service_key(self, name: str, row: ServiceKeyRow) -> bool:
        """Keep a version; False when it is there."""
        statement = "add_pepper" if name == PEPPER else "add_service_key"
        return await self._add(statement, {"name": name, **asdict(row)})

    async def _add(self, statement: str, values: Mapping[str, object]) -> bool:
        async with self._connection() as connection:
            return (await connection.execute(_SQL[statement], values)).rowcount == 1

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[TupleRow]]:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS), self._pool.connection() as connection:
                yield connection
        except (TimeoutError, PoolTimeout, psycopg.Error) as err:
            raise Unavailable("The key store does not answer.") from err


def _order(owner: Owner, version: int) -> tuple[UUID, UUID, int]:
    return owner.id, owner.person or NIL, version


def _named(owner: Owner) -> dict[str, object]:
    return {
        "tenant": owner.tenant,
        "owner": owner.id,
        "is_space": owner.is_space,
        "person": owner.person or NIL,
    }


async def migrate(conninfo: str) -> int:
    """Apply the key database's migrations that are missing; return how many were.

    Args:
        conninfo: of the role that owns the database.

    Raises:
        Unavailable: it does not answer, or a migration differs from the one applied before.
    """
    try:
        async with await AsyncConnection.connect(
            conninfo, autocommit=True, connect_timeout=int(_CONNECT_SECONDS)
        ) as connection:
            await connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            return await _apply_missing(connection)
    except psycopg.Error as err:
        raise Unavailable("The key store cannot be migrated.") from err


async def _apply_missing(connection: AsyncConnection[TupleRow]) -> int:
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS vault_migrations (number integer PRIMARY KEY,"
        " name text NOT NULL, sha256 bytea NOT NULL, applied_at timestamptz DEFAULT now())"
    )
    cursor = await connection.execute("SELECT number, sha256 FROM vault_migrations")
    applied = {number: digest async for number, digest in cursor}
    count = 0
    for path in sorted((_HERE / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql")):
        script = path.read_bytes()
        number, digest = int(path.name[:4]), sha256(script).digest()
        if number in applied:
            if applied[number] != digest:
                raise Unavailable("A migration of the key store changed after it was applied.")
            continue
        async with connection.transaction():
            await connection.execute(script)
            await connection.execute(
                "INSERT INTO vault_migrations (number, name, sha256) VALUES (%s, %s, %s)",
                (number, path.name, digest),
            )
        count += 1
    return count
