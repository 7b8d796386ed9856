"""Brings the database to the shape that this release needs.

Rules this module keeps:
- Migrations are numbered, go forward only, and may run again; each is one transaction.
- One process migrates at a time; the others wait and find it done.
- A migration that was changed after it ran stops the start: two databases must not differ in what
  the same number did.
"""

from hashlib import sha256
from pathlib import Path

from psycopg import AsyncConnection

from core.adapters.postgres.faults import quiet
from core.errors import Unavailable

_FOLDER = Path(__file__).parent / "migrations"
_LOCK = 0x6D656D77  # "memw": one migrating process at a time
ROLES = (
    "memwarden_app",
    "memwarden_auth",
    "memwarden_index",
    "memwarden_purge",
    "memwarden_seal",
)
"""Roles that must be there; whoever sets up the server makes them. None may bypass security."""

_APPLIED = """
CREATE TABLE IF NOT EXISTS schema_migrations (
  name       text PRIMARY KEY,
  checksum   bytea NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)"""


async def migrate(conninfo: str) -> list[str]:
    """Apply what is missing, as the owner of the database; return the names of what was applied.

    Args:
        conninfo: URL or keywords, as libpq takes them, of the role `memwarden_owner`.

    Raises:
        Unavailable: the database does not answer, a role is missing or too strong, or an applied
            migration was changed since.
    """
    with quiet():
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await connection.execute("SET statement_timeout = 0")
            await connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
            try:
                await _check_roles(connection)
                return await _apply(connection)
            finally:
                await connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))


async def _check_roles(connection: AsyncConnection) -> None:
    cursor = await connection.execute(
        "SELECT rolname FROM pg_roles"
        " WHERE rolname = ANY (%s) AND NOT rolsuper AND NOT rolbypassrls",
        (list(ROLES),),
    )
    fit = {name for (name,) in await cursor.fetchall()}
    if wanting := [role for role in ROLES if role not in fit]:
        raise Unavailable(
            "These database roles are missing, or are superusers or bypass row-level security: "
            + ", ".join(wanting)
        )


async def _apply(connection: AsyncConnection) -> list[str]:
    await connection.execute(_APPLIED)
    # So that a gateway can tell a database that was not migrated, without being able to migrate.
    await connection.execute("GRANT SELECT (name) ON schema_migrations TO memwarden_app")
    cursor = await connection.execute("SELECT name, checksum FROM schema_migrations")
    applied = {name: bytes(checksum) for name, checksum in await cursor.fetchall()}
    done: list[str] = []
    for path in sorted(_FOLDER.glob("[0-9]*.sql")):
        script = path.read_text(encoding="utf-8")
        checksum = sha256(script.encode()).digest()
        if path.stem in applied:
            if applied[path.stem] != checksum:
                raise Unavailable(f"The migration {path.stem} was changed after it was applied.")
            continue
        async with connection.transaction():
            await connection.execute(script)
            await connection.execute(
                "INSERT INTO schema_migrations (name, checksum) VALUES (%s, %s)",
                (path.stem, checksum),
            )
        done.append(path.stem)
    return done
