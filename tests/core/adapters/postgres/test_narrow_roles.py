"""What the roles that serve one kind of work may do, and what the operator alone may."""

import psycopg
import pytest

from core.ids import KeyId, new_uuid
from core.ports import KeyRow
from core.scope import Role, SourceKind
from tests.core.adapters.postgres.conftest import told
from tests.core.adapters.postgres.test_walls import ACTIONS, attempt, full
from tests.record_values import administrator

__all__ = ["full"]  # a fixture: pytest finds it by its name here

pytestmark = pytest.mark.requirement("C5")


async def test_the_index_role_asks_for_no_removal(full, connect):
    """It may have a memory indexed again; what is removed, whoever removed the memory said."""
    index = await connect("memwarden_index")
    row = (
        "INSERT INTO outbox (tenant, user_id, namespace, space_is_owner, memory, version, removal,"
        " chunks) VALUES (%s, %s, %s, false, %s, 1, %s, 1)"
    )
    values = (full.tenant, full.user, full.namespace, new_uuid())
    assert await attempt(index, {}, row, (*values, False)) == 1
    assert await attempt(index, {}, row, (*values, True)) == 0


@pytest.mark.parametrize("table", ["recalls", "idempotency"])
async def test_the_purge_role_sees_and_removes_what_is_over(full, connect, table):
    app, purge = await connect(), await connect("memwarden_purge")
    live = await purge.execute(f"SELECT FROM {table} WHERE expires_at > now()")
    assert live.rowcount == 0
    seen = await purge.execute(f"SELECT FROM {table}")
    async with purge.transaction(
        force_rollback=True
    ):  # a blind statement, which asks nothing first
        gone = await purge.execute(f"DELETE FROM {table}")
        assert gone.rowcount == seen.rowcount
    async with app.transaction(force_rollback=True):
        settings = {"app.tenant": str(full.tenant), "app.user_id": str(full.user)}
        await told(app, settings)
        assert (await app.execute(f"SELECT FROM {table}")).rowcount > 0


async def test_a_revoked_key_is_written_down_no_more(world, full, connect):
    async with world.directory.admin(administrator(full.tenant, epoch=full.epoch)) as view:
        ids = {}
        for revoked in (None, view.now):
            ids[revoked is not None] = row = KeyRow(
                id=KeyId(new_uuid().hex),
                tenant=full.tenant,
                roles=frozenset({Role.READER}),
                ceiling=SourceKind.USER_DIRECT,
                grants=b"sealed",
                secret_mac=new_uuid().bytes * 2,
                previous_mac=None,
                pepper_version=1,
                created_at=view.now,
                expires_at=None,
                revoked_at=revoked,
                usable=revoked is None,
            )
            await view.insert_key(row)
    app = await connect()
    for revoked, row in ids.items():
        await app.execute("SELECT auth_keys_used(ARRAY[%s], ARRAY[now()])", (row.id,))
        changed = await app.execute(
            "SELECT auth_rehash_key(%s, %s, %s, 2)", (row.id, row.secret_mac, b"n" * 32)
        )
        assert await changed.fetchall() == [(not revoked,)]
        found = await app.execute(
            "SELECT last_used_at IS NULL, pepper_version FROM auth_credential(%s)", (row.id,)
        )
        assert await found.fetchall() == [(True, 1) if revoked else (False, 2)]


async def test_tenants_are_made_by_the_operator_alone(full, connect):
    app = await connect()
    made = "INSERT INTO tenants (id, name, name_key) VALUES (%s, '', %s)"
    for action in ACTIONS:
        for tenant in ("", str(full.tenant), str(new_uuid())):
            settings = {"app.tenant": tenant, "app.action": action}
            new = new_uuid()
            count = await attempt(app, settings, made, (new, new.bytes))
            assert count == (1 if action == "operate" else 0)


async def test_who_reads_the_audit_log_may_not_seal_it(full, connect):
    app = await connect()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        await app.execute(
            "INSERT INTO audit_checkpoints (tenant, size, head, at, key_id, signature)"
            " VALUES (%s, 9, %s, now(), '', '')",
            (full.tenant, b"h" * 32),
        )
