"""Connections below the port, as the roles that the database itself knows."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import psycopg
import pytest
from psycopg.rows import TupleRow

Connection = psycopg.AsyncConnection[TupleRow]
Connect = Callable[..., Awaitable[Connection]]


@pytest.fixture
async def connect(database: Callable[[str], str]) -> AsyncIterator[Connect]:
    """Connect as a role, outside every rule of the adapter; closed when the test ends."""
    connections: list[Connection] = []

    async def make(role: str = "memwarden_app") -> Connection:
        connection = await psycopg.AsyncConnection.connect(database(role), autocommit=True)
        connections.append(connection)
        return connection

    yield make
    for connection in connections:
        await connection.close()


async def told(connection: Connection, settings: Mapping[str, str]) -> None:
    """Give `settings` to the open transaction of `connection`."""
    await connection.execute(
        "SELECT count(set_config(name, value, true)) FROM unnest(%s::text[], %s::text[])"
        " AS setting (name, value)",
        (list(settings), list(settings.values())),
    )
