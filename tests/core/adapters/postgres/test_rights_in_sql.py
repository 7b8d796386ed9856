"""What the application's role may do to each table, by verb, in a transaction of each kind.

The table below is the specification, written apart from the migrations. Statements here name no
tenant and no person: what they do not touch, row-level security alone keeps from them.
"""

import json
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest
from psycopg import sql

from core.ids import new_uuid
from tests.core.adapters.postgres.conftest import Connection, told
from tests.core.adapters.postgres.test_walls import changeable, full, own_rows, tables

__all__ = ["full"]  # a fixture: pytest finds it by its name here

pytestmark = pytest.mark.requirement("C5")

KINDS = frozenset(
    {
        "", "look", "read", "reveal", "write", "ensure", "administer", "operate", "erase",
        "no such kind",
    }
)  # fmt: skip
NONE: frozenset[str] = frozenset()


def only(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


KEPT = {"select": KINDS, "insert": only("write"), "update": only("write"),
        "delete": only("write", "erase")}  # fmt: skip
NAMES = {"select": KINDS, "insert": only("ensure"), "update": only("erase"),
         "delete": only("erase")}  # fmt: skip
RULES = {"select": KINDS, "insert": only("administer"), "update": only("administer"),
         "delete": only("erase")}  # fmt: skip
OWN = {"select": KINDS, "insert": KINDS, "update": NONE, "delete": only("erase")}

RIGHTS: dict[str, dict[str, frozenset[str]]] = {
    "users": NAMES,
    "namespaces": NAMES,
    "spaces": RULES
    | {"update": only("administer", "erase"), "delete": only("administer", "erase")},
    "space_members": RULES | {"delete": only("administer", "erase")},
    "access_standings": RULES,
    "policies": RULES,
    "api_keys": {
        "select": only("administer", "operate", "erase"),
        "insert": only("administer", "operate"),
        "update": only("administer"),
        "delete": only("erase"),
    },
    "memories": KEPT,
    "memory_versions": KEPT | {"update": NONE},
    "memory_tokens": KEPT | {"update": NONE},
    "memory_links": KEPT | {"update": NONE},
    "memory_vectors": KEPT,
    "memory_counts": KEPT,
    "memory_uses": KEPT | {"update": KINDS},  # who may read a memory may count that it was used
    "pseudonyms": {
        "select": only("write", "reveal", "erase"), "insert": only("write"), "update": NONE,
        "delete": only("write", "erase"),
    },
    "memory_authors": {
        "select": KINDS,
        "insert": only("write"),
        "update": only("write", "erase"),
        "delete": only("erase"),
    },
    "outbox": {
        "select": KINDS, "insert": only("write", "erase"), "update": NONE, "delete": NONE,
    },
    "recalls": OWN,
    "jobs": OWN,
    "idempotency": OWN | {"update": KINDS},
    "audit_events": {"select": KINDS, "insert": KINDS, "update": NONE, "delete": NONE},
    "audit_checkpoints": {"select": KINDS, "insert": NONE, "update": NONE, "delete": NONE},
}  # fmt: skip
"""Table -> verb -> the kinds of transaction (`app.action`) in which one's own row is touched."""

OF_A_PERSON = ("recalls", "jobs")
OF_A_SCOPE = (
    "memories", "memory_versions", "memory_tokens", "memory_links", "memory_vectors",
    "memory_counts", "memory_uses", "pseudonyms", "outbox",
)  # fmt: skip


async def touches(
    app: Connection, settings: Mapping[str, str], statement: sql.Composed, *values: Any
) -> bool:
    """Tell whether a statement gets at a row. Everything is undone.

    A constraint is asked after the wall, so to fail on one is to have got past.
    """
    try:
        async with app.transaction(force_rollback=True):
            await told(app, settings)
            cursor = await app.execute(statement, values)
            return cursor.rowcount > 0
    except psycopg.errors.InsufficientPrivilege:
        return False
    except psycopg.errors.IntegrityError:
        return True


async def verbs(app: Connection, table: str, row: dict[str, Any]) -> dict[str, Any]:
    """Return a statement for each verb, with its values: blind, so that no other wall helps."""
    name = sql.Identifier(table)
    columns = sql.SQL(", ").join(sql.Identifier(column) for column in row if column != "task")
    found: dict[str, Any] = {
        "select": (sql.SQL("SELECT FROM {}").format(name),),
        "delete": (sql.SQL("DELETE FROM {}").format(name),),
        "insert": (
            sql.SQL(
                "INSERT INTO {0} ({1}) SELECT {1} FROM jsonb_populate_record(NULL::{0}, %s)"
            ).format(name, columns),
            json.dumps(row),
        ),
    }
    for column in (await changeable(app, table))[:1]:
        update = sql.SQL("UPDATE {0} SET {1} = (jsonb_populate_record(NULL::{0}, %s)).{1}").format(
            name, sql.Identifier(column)
        )
        found["update"] = (update, json.dumps(row))
    return found


def settings_of(person: Any, **changed: str) -> dict[str, str]:
    return {
        "app.tenant": str(person.tenant),
        "app.user_id": str(person.user),
        "app.namespaces": f"{{{person.namespace}}}",
        "app.audit": "read",
    } | {f"app.{name}": value for name, value in changed.items()}


async def test_every_table_with_a_tenant_has_its_rights_written_down(connect):
    app = await connect()
    assert set(await tables(app)) == set(RIGHTS)


async def test_each_kind_of_transaction_has_its_rights_and_no_others(full, connect):
    app = await connect()
    rows = await own_rows(app, full)
    found = {}
    for table, rights in RIGHTS.items():
        statements = await verbs(app, table, rows[table])
        for verb in rights:
            found[table, verb] = {
                kind
                for kind in KINDS
                if verb in statements
                and await touches(app, settings_of(full, action=kind), *statements[verb])
            }
    wanted = {
        (table, verb): set(kinds) for table, of in RIGHTS.items() for verb, kinds in of.items()
    }
    assert {key: kinds for key, kinds in found.items() if kinds != wanted[key]} == {}


@pytest.mark.parametrize("missing", ["tenant", "user_id", "namespaces"])
async def test_a_tenant_a_person_or_a_namespace_that_is_not_there_touches_nothing(
    full, connect, missing
):
    """Not even with a statement that names nobody, in any kind of transaction."""
    app = await connect()
    rows = await own_rows(app, full)
    among = {
        "tenant": tuple(RIGHTS),
        "user_id": (*OF_A_PERSON, *OF_A_SCOPE),
        "namespaces": OF_A_SCOPE,
    }[missing]
    other = f"{{{new_uuid()}}}" if missing == "namespaces" else str(new_uuid())
    # An erasure is of the whole tenant.
    kinds = KINDS if missing == "tenant" else KINDS - {"erase"}
    touched = []
    for table in among:
        for verb, statement in (await verbs(app, table, rows[table])).items():
            for kind in kinds:
                for value in (other, ""):
                    settings = settings_of(full, action=kind, **{missing: value})
                    if await touches(app, settings, *statement):
                        touched.append((table, verb, kind))
    assert touched == []


async def test_the_audit_log_is_read_by_who_reads_the_audit_log(full, connect):
    app = await connect()
    for table in ("audit_events", "audit_checkpoints"):
        for audit in ("", "write", "no"):
            look = sql.SQL("SELECT FROM {}").format(sql.Identifier(table))
            assert not await touches(app, settings_of(full, action="read", audit=audit), look)
