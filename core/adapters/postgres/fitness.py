"""Whether a role and a database are what a server may be run on, asked of the server itself.

Rules this module keeps:
- The walls of the database hold for roles that cannot step over them. One that may become a
  superuser, bypass row-level security or own a table is refused, however it is called.
- What is told names no value: not the role, not the server.
"""

from pathlib import Path

import psycopg
from psycopg import AsyncConnection

from core.adapters.postgres.faults import quiet

_FOLDER = Path(__file__).parent / "migrations"
_CONNECT_SECONDS = 5
_UNFIT = """
SELECT bool_or(r.rolsuper), bool_or(r.rolbypassrls),
       EXISTS (SELECT FROM pg_class c
                WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
                  AND pg_has_role(current_user, c.relowner, 'MEMBER')),
       coalesce(%(role)s::text IS NULL OR bool_or(r.rolname = %(role)s::text), false)
  FROM pg_roles r WHERE pg_has_role(current_user, r.oid, 'MEMBER')"""


async def unfit(conninfo: str, role: str | None) -> list[str]:
    """Return what makes the role that connects unsafe to serve with; nothing when it is fit.

    Args:
        conninfo: URL or keywords, as libpq takes them.
        role: which of ours it must be or belong to; None for the key store's, which owns its
            database and no wall of the record.

    Raises:
        Unavailable: the server does not answer, or refuses the role.
    """
    with quiet():
        async with await AsyncConnection.connect(
            conninfo, autocommit=True, connect_timeout=_CONNECT_SECONDS
        ) as connection:
            cursor = await connection.execute(_UNFIT, {"role": role})
            row = await cursor.fetchone()
    superuser, bypasses, owns, known = row if row is not None else (True, True, True, False)
    found = []
    if superuser:
        found.append("its role is, or may become, a superuser")
    elif bypasses:
        found.append("its role bypasses row-level security, or may")
    if owns and role is not None and not superuser:
        found.append("its role owns tables; give the role that serves")
    if not known:
        found.append(f"its role is not {role}")
    return found


async def missing_migrations(conninfo: str) -> list[str]:
    """Return which of this release's migrations the record lacks, by name.

    Args:
        conninfo: of the role `memwarden_app`.

    Raises:
        Unavailable: the server does not answer, or refuses the role.
    """
    known = sorted(path.stem for path in _FOLDER.glob("[0-9]*.sql"))
    with quiet():
        async with await AsyncConnection.connect(
            conninfo, autocommit=True, connect_timeout=_CONNECT_SECONDS
        ) as connection:
            try:
                cursor = await connection.execute("SELECT name FROM public.schema_migrations")
                applied = {name for (name,) in await cursor.fetchall()}
            except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
                applied = set()  # never migrated, or not since releases that let this role look
    return [name for name in known if name not in applied]
