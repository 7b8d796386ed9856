"""A corner of the key database for one test: service secrets there are unique to a root KEK."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo


@asynccontextmanager
async def key_schema(conninfo: str) -> AsyncIterator[str]:
    """Yield connection details whose tables are nobody else's; they are gone afterwards."""
    name = f"test_{secrets.token_hex(8)}"
    schema = sql.Identifier(name)
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await connection.execute(sql.SQL("CREATE SCHEMA {}").format(schema))
        try:
            yield make_conninfo(conninfo, options=f"-csearch_path={name}")
        finally:
            await connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(schema))
