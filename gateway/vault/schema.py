"""Whether the key database has the shape that this release needs, for whoever may not change it."""

from pathlib import Path

import psycopg
from psycopg import AsyncConnection

from core.errors import Unavailable

_FOLDER = Path(__file__).parent / "migrations"
_CONNECT_SECONDS = 5


async def missing_migrations(conninfo: str) -> list[str]:
    """Return which of this release's migrations the key database lacks, by name.

    Args:
        conninfo: of the role that owns the database.

    Raises:
        Unavailable: it does not answer.
    """
    try:
        async with await AsyncConnection.connect(
            conninfo, autocommit=True, connect_timeout=_CONNECT_SECONDS
        ) as connection:
            cursor = await connection.execute("SELECT number FROM vault_migrations")
            applied = {number async for (number,) in cursor}
    except psycopg.errors.UndefinedTable:
        applied = set()
    except psycopg.Error as err:
        raise Unavailable("The key store does not answer.") from err
    known = sorted(_FOLDER.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    return [path.stem for path in known if int(path.name[:4]) not in applied]
