"""Row-level security by itself: what a role can do that has the whole of SQL and no adapter."""

import json

import psycopg
import pytest
from psycopg import sql

from core.ids import KeyId, RecallId, new_uuid
from core.model import Filter
from core.ports import Claim, KeyRow, PolicyRow, Reply
from core.scope import Action, Role, SourceKind
from tests.core.adapters.postgres.conftest import told
from tests.record_values import Person, administrator, blind, event_of

pytestmark = pytest.mark.requirement("C5")

ACTIONS = ("", "read", "reveal", "write", "ensure", "administer", "operate", "erase")
TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p')
   AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')
 ORDER BY c.relname"""


@pytest.fixture
async def full(world, connect):
    """A person whose tenant has a row in every table that has a tenant."""
    person = await world.person()
    first = person.kept("likes tea")
    async with world.record.view(person.writing) as view:
        await view.insert(first)
        await view.revise(
            person.kept("likes coffee", memory=first.id, version=2), expected_version=1
        )
        await view.keep_recall(RecallId(new_uuid()), b"sealed", days=7)
        reply = Reply(body=b"b" * 16, sealed=b"sealed", id=new_uuid())
        await view.settle(Claim(key=new_uuid().bytes, body=b"b" * 16), reply)
        await view.record(event_of(person.writing, view.now))
    async with world.directory.admin(administrator(person.tenant)) as view:
        await view.insert_key(
            KeyRow(
                id=KeyId(new_uuid().hex),
                tenant=person.tenant,
                roles=frozenset({Role.READER}),
                ceiling=SourceKind.USER_DIRECT,
                grants=b"sealed",
                secret_mac=b"m" * 32,
                previous_mac=None,
                pepper_version=1,
                created_at=view.now,
                expires_at=None,
                revoked_at=None,
                usable=True,
            )
        )
        await view.put_policy(PolicyRow(kind="access", version="v", sealed=b"sealed"))
    person = Person(tenant=person.tenant, user=person.user, namespace=person.namespace, epoch=1)
    app, seal = await connect(), await connect("memwarden_seal")
    space = new_uuid()
    async with app.transaction():
        await told(
            app,
            {
                "app.tenant": str(person.tenant),
                "app.user_id": str(person.user),
                "app.action": "administer",
            },
        )
        await app.execute(
            "INSERT INTO spaces (tenant, id, blind, name, audience)"
            " VALUES (%s, %s, %s, '', 'members')",
            (person.tenant, space, blind("space")),
        )
        await app.execute(
            "INSERT INTO space_members (tenant, space, member, role, kind, name)"
            " VALUES (%s, %s, %s, 'reader', 'user', '')",
            (person.tenant, space, blind("member")),
        )
        await app.execute(
            "INSERT INTO jobs (tenant, id, user_id, kind) VALUES (%s, %s, %s, 'distil')",
            (person.tenant, new_uuid(), person.user),
        )
    async with app.transaction():
        await told(
            app,
            {
                "app.tenant": str(person.tenant),
                "app.user_id": str(person.user),
                "app.namespaces": f"{{{person.namespace}}}",
                "app.action": "write",
            },
        )
        await app.execute(
            "INSERT INTO memory_authors (tenant, author, memories) VALUES (%s, %s, 1)"
            " ON CONFLICT DO NOTHING",
            (person.tenant, blind("author")),
        )
        await app.execute(
            "INSERT INTO memory_links (tenant, user_id, namespace, memory, target, relation)"
            " VALUES (%s, %s, %s, %s, %s, 'relates')",
            (person.tenant, person.user, person.namespace, first.id, first.id),
        )
    await seal.execute(
        "INSERT INTO audit_checkpoints (tenant, size, head, at, key_id, signature)"
        " VALUES (%s, 1, %s, now(), '', '')",
        (person.tenant, b"h" * 32),
    )
    return person


async def tables(connection):
    return [name for (name,) in await (await connection.execute(TABLES)).fetchall()]


async def own_rows(app, person):
    """Return one row of each table as JSON, read with all that the tenant itself may set."""
    found = {}
    for table in await tables(app):
        for action in ACTIONS:
            async with app.transaction():
                await told(
                    app,
                    {
                        "app.tenant": str(person.tenant),
                        "app.action": action,
                        "app.user_id": str(person.user),
                        "app.audit": "read",
                        "app.namespaces": f"{{{person.namespace}}}",
                    },
                )
                cursor = await app.execute(
                    sql.SQL("SELECT to_jsonb(t) FROM {} t LIMIT 1").format(sql.Identifier(table))
                )
                row = await cursor.fetchone()
            if row is not None:
                found[table] = row[0]
    return found


async def attempt(app, settings, statement, parameters=()):
    """Return the rows that a statement touched; a refusal touches none. Everything is undone."""
    try:
        async with app.transaction(force_rollback=True):
            await told(app, settings)
            cursor = await app.execute(statement, parameters)
            return cursor.rowcount
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported):
        return 0


async def changeable(app, table):
    """Return the columns of `table` that the role may update at all."""
    cursor = await app.execute(
        "SELECT column_name FROM information_schema.column_privileges"
        " WHERE table_name = %s AND privilege_type = 'UPDATE' AND grantee = current_user",
        (table,),
    )
    return [name for (name,) in await cursor.fetchall()]


async def test_every_table_with_a_tenant_has_a_row_to_try(full, connect):
    app = await connect()
    assert set(await own_rows(app, full)) == set(await tables(app))


async def test_no_foreign_row_is_read_changed_removed_or_made_in_any_table(world, full, connect):
    app = await connect()
    stranger = await world.person()
    rows = await own_rows(app, full)
    reach = {
        "app.user_id": str(full.user),
        "app.namespaces": f"{{{full.namespace}}}",
        "app.audit": "read",
    }
    settings: list[dict[str, str]] = [{}] + [
        {**reach, **tenant, "app.action": action}
        for tenant in ({}, {"app.tenant": str(stranger.tenant)})
        for action in ACTIONS
    ]
    touched = []
    for table, row in rows.items():
        name = sql.Identifier(table)
        row.pop("task", None)
        columns = sql.SQL(", ").join(map(sql.Identifier, row))
        made = "INSERT INTO {0} ({1}) SELECT {1} FROM jsonb_populate_record(NULL::{0}, %s)"
        where = sql.SQL(" WHERE tenant = %s")
        foreign, copied = (full.tenant,), (json.dumps(row),)
        statements = [
            (sql.SQL("SELECT FROM {}").format(name) + where, foreign),
            (sql.SQL("SELECT FROM {}").format(name) + where + sql.SQL(" FOR UPDATE"), foreign),
            (sql.SQL("DELETE FROM {}").format(name) + where, foreign),
            (sql.SQL(made).format(name, columns), copied),
            (sql.SQL(made + " ON CONFLICT DO NOTHING").format(name, columns), copied),
        ]
        for column in map(sql.Identifier, await changeable(app, table)):
            update = sql.SQL("UPDATE {0} SET {1} = {1}").format(name, column)
            statements.append((update + where, foreign))
        for given in settings:
            for statement, parameters in statements:
                count = await attempt(app, given, statement, parameters)
                if count:
                    touched.append((table, given.get("app.action"), statement.as_string(), count))
    assert touched == []


async def test_nothing_is_copied_out_or_in_without_settings(full, connect):
    app = await connect()
    for table in await tables(app):
        name = sql.Identifier(table)
        with_data = b""
        try:
            async with (
                app.cursor() as cursor,
                cursor.copy(sql.SQL("COPY {} TO STDOUT").format(name)) as copy,
            ):
                with_data = b"".join([bytes(data) async for data in copy])
        except psycopg.errors.InsufficientPrivilege:
            pass
        assert with_data == b"", table
        with pytest.raises(
            (psycopg.errors.FeatureNotSupported, psycopg.errors.InsufficientPrivilege)
        ):
            async with (
                app.cursor() as cursor,
                cursor.copy(sql.SQL("COPY {} FROM STDIN").format(name)),
            ):
                pass


async def test_tenants_are_seen_by_the_operator_and_by_themselves_alone(world, full, connect):
    app = await connect()
    stranger = await world.tenant()
    for action in ACTIONS:
        settings = {"app.tenant": str(stranger), "app.action": action}
        look = "SELECT FROM tenants WHERE id = %s"
        seen = await attempt(app, settings, look, (full.tenant,))
        assert seen == (1 if action == "operate" else 0)
        ended = await attempt(
            app, settings, "UPDATE tenants SET name = '' WHERE id = %s", (full.tenant,)
        )
        assert ended == 0
        assert await attempt(app, settings, "DELETE FROM tenants WHERE id = %s", (stranger,)) == 0


async def test_a_reading_transaction_changes_no_memory(full, connect):
    app = await connect()
    reading = {
        "app.tenant": str(full.tenant),
        "app.user_id": str(full.user),
        "app.namespaces": f"{{{full.namespace}}}",
        "app.action": "read",
    }
    for table in (
        "memories",
        "memory_versions",
        "memory_vectors",
        "memory_tokens",
        "memory_counts",
        "memory_links",
        "memory_uses",
    ):
        name = sql.Identifier(table)
        assert await attempt(app, reading, sql.SQL("SELECT FROM {}").format(name)) > 0
        assert await attempt(app, reading, sql.SQL("DELETE FROM {}").format(name)) == 0
        if table == "memory_uses":  # who may read a memory may count that it was used
            continue
        update = sql.SQL("UPDATE {} SET user_id = user_id").format(name)
        assert await attempt(app, reading, update) == 0


async def test_the_audit_log_is_added_to_and_nothing_else(full, connect):
    app = await connect()
    for action in ACTIONS:
        given = {"app.tenant": str(full.tenant), "app.audit": "read", "app.action": action}
        assert await attempt(app, given, "SELECT FROM audit_events") > 0
        assert await attempt(app, given, "UPDATE audit_events SET outcome = 'ok'") == 0
        assert await attempt(app, given, "UPDATE audit_events SET sequence = 1") == 0
        assert await attempt(app, given, "DELETE FROM audit_events") == 0
        assert await attempt(app, given, "TRUNCATE audit_events") == 0
        unseen = {**given, "app.audit": ""}
        assert await attempt(app, unseen, "SELECT FROM audit_events") == 0


async def test_security_is_forced_on_every_table_and_each_verb_has_its_own_policy(connect):
    app = await connect()
    cursor = await app.execute(
        "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class"
        " WHERE relname = ANY (%s)",
        ([*await tables(app), "tenants"],),
    )
    assert {(row[1], row[2]) for row in await cursor.fetchall()} == {(True, True)}
    cursor = await app.execute(
        "SELECT tablename, policyname FROM pg_policies"
        " WHERE cmd = 'ALL' OR roles = '{public}' OR permissive <> 'PERMISSIVE'"
    )
    assert await cursor.fetchall() == []


async def test_no_role_that_serves_is_owner_superuser_or_bypasses(connect):
    app = await connect()
    cursor = await app.execute(
        "SELECT rolname FROM pg_roles WHERE rolname LIKE 'memwarden%'"
        " AND (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)"
    )
    assert await cursor.fetchall() == []
    cursor = await app.execute(
        "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace"
    )
    assert await cursor.fetchall() == [("memwarden_owner",)]
    cursor = await app.execute(
        "SELECT proname, pg_get_userbyid(proowner) FROM pg_proc"
        " WHERE pronamespace = 'public'::regnamespace AND prosecdef"
    )
    assert sorted(await cursor.fetchall()) == [
        (name, "memwarden_auth")
        for name in (
            "auth_credential",
            "auth_find_key",
            "auth_key",
            "auth_keys_used",
            "auth_rehash_key",
        )
    ]
    cursor = await app.execute(
        "SELECT pg_get_userbyid(roleid), pg_get_userbyid(member) FROM pg_auth_members"
        " WHERE pg_get_userbyid(member) LIKE 'memwarden%'"
    )
    assert await cursor.fetchall() == [("memwarden_auth", "memwarden_owner")]


async def test_nobody_may_create_in_the_schema_or_run_what_makes_walls(connect):
    for role in ("app", "index", "seal", "purge"):
        connection = await connect(f"memwarden_{role}")
        for statement in (
            "CREATE TABLE mine (id int)",
            "CREATE TEMP TABLE mine (id int)",
            "CALL wall('memories', 'memwarden_app', 'select', 'true')",
            "SELECT wall_tenant()",
            "SET ROLE memwarden_owner",
            "SET ROLE memwarden_auth",
            "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
            "SET session_replication_role = replica",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute(statement)
        await connection.execute("SET row_security = off")
        if role == "app":
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await connection.execute("SELECT FROM memories")


async def test_the_look_up_of_a_key_returns_its_row_and_nothing_else_is_readable(full, connect):
    app = await connect()
    row = (await own_rows(app, full))["api_keys"]
    cursor = await app.execute("SELECT id FROM auth_find_key(%s)", (row["id"],))
    assert await cursor.fetchall() == [(row["id"],)]
    for other in ("", "%", row["id"] + " ", row["id"].upper(), "' OR true --", None):
        cursor = await app.execute("SELECT id FROM auth_find_key(%s::text)", (other,))
        assert await cursor.fetchall() == []
    cursor = await app.execute("SELECT id FROM api_keys")
    assert await cursor.fetchall() == []
    for role in ("index", "seal", "purge"):
        connection = await connect(f"memwarden_{role}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await connection.execute("SELECT auth_find_key('x')")


async def test_the_release_before_finds_a_key_as_this_one_does(full, connect):
    app = await connect()
    row = (await own_rows(app, full))["api_keys"]
    found = {}
    for function in ("auth_find_key", "auth_key", "auth_credential"):
        cursor = await app.execute(f"SELECT * FROM {function}(%s)", (row["id"],))
        assert cursor.description is not None
        (values,) = await cursor.fetchall()
        found[function] = dict(zip([each.name for each in cursor.description], values, strict=True))
    newest = found["auth_credential"]
    assert newest["id"] == row["id"]
    for function, columns in (("auth_find_key", 12), ("auth_key", 16)):
        assert len(found[function]) == columns
        assert found[function].items() <= newest.items()
    assert set(newest) - set(found["auth_key"]) == {"pii", "secrets"}


SEALED = ("content", "details", "digest", "session", "tags", "terms", "embedder", "confidence")


async def test_the_index_role_lists_live_ids_and_reads_no_text(world, full, connect):
    async with world.record.view(full.writing) as view:
        gone = full.kept("gone")
        await view.insert(gone)
        await view.forget([gone.id])
        live = [row.id for row in (await view.page(Filter(), None, 10)).rows]
    index = await connect("memwarden_index")
    cursor = await index.execute("SELECT id FROM memories WHERE tenant = %s", (full.tenant,))
    assert [row[0] for row in await cursor.fetchall()] == live
    for column in SEALED:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await index.execute(f"SELECT {column} FROM memories")
    readable = {"memories", "outbox"}
    for table in set(await tables(index)) - readable:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await index.execute(f"SELECT FROM {table}")
    for statement in (
        "DELETE FROM memories",
        "UPDATE memories SET version = 9",
        "UPDATE outbox SET tenant = tenant",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await index.execute(statement)


async def test_the_purge_role_lists_what_expired_and_is_not_held(world, full, connect):
    over, held = full.kept("over"), full.kept("held")
    async with world.record.view(full.writing) as view:
        await view.insert(over)
    held_one = await world.person(full.tenant, name="held")
    other = Person(
        tenant=full.tenant, user=held_one.user, namespace=held_one.namespace, epoch=full.epoch
    )
    async with world.record.view(other.writing) as view:
        await view.insert(held := other.kept("held"))
    app = await connect()
    async with app.transaction():
        await told(app, {"app.tenant": str(full.tenant), "app.action": "erase"})
        await app.execute("UPDATE users SET held = true WHERE id = %s", (other.user,))
    for person, memory in ((full, over), (other, held)):
        async with app.transaction():
            await told(
                app,
                {
                    "app.tenant": str(person.tenant),
                    "app.user_id": str(person.user),
                    "app.namespaces": f"{{{person.namespace}}}",
                    "app.action": "write",
                },
            )
            await app.execute(
                "UPDATE memories SET expires_at = now() - interval '1 s' WHERE id = %s",
                (memory.id,),
            )
    purge = await connect("memwarden_purge")
    cursor = await purge.execute("SELECT id FROM memories WHERE tenant = %s", (full.tenant,))
    assert await cursor.fetchall() == [(over.id,)]
    for statement in (
        "SELECT content FROM memories",
        "DELETE FROM memories",
        "SELECT reply FROM idempotency",
        "SELECT sealed FROM recalls",
        "SELECT FROM audit_events",
        "UPDATE users SET held = false",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await purge.execute(statement)


async def test_the_sealing_role_places_an_event_once_and_reads_nothing_but_the_log(full, connect):
    seal = await connect("memwarden_seal")
    place = (
        "UPDATE audit_events SET sequence = 1, prev = %s, hash = %s WHERE tenant = %s"
        " AND event_id = (SELECT event_id FROM audit_events WHERE tenant = %s LIMIT 1)"
    )
    values = (b"p" * 32, b"h" * 32, full.tenant, full.tenant)
    assert (await seal.execute(place, values)).rowcount == 1
    assert (await seal.execute(place, values)).rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await seal.execute("UPDATE audit_events SET outcome = 'ok'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await seal.execute("DELETE FROM audit_events")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await seal.execute("DELETE FROM audit_checkpoints")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await seal.execute(
            "INSERT INTO audit_events SELECT (jsonb_populate_record(e, jsonb_build_object("
            "'event_id', %s::text, 'sequence', null, 'prev', null, 'hash', null))).*"
            " FROM audit_events e WHERE tenant = %s LIMIT 1",
            (str(new_uuid()), full.tenant),
        )
    for table in set(await tables(seal)) - {"audit_events", "audit_checkpoints"}:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await seal.execute(f"SELECT FROM {table}")


async def test_a_scope_of_reading_gives_the_adapter_no_more(world, full):
    with pytest.raises(Exception, match="cannot answer"):
        async with world.record.view(full.scope(Action.MEMORY_READ)) as view:
            await view.insert(full.kept("not allowed"))
