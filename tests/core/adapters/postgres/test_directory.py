"""People, namespaces, tenants and keys on PostgreSQL."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from core.adapters.postgres.admin import ERASED
from core.errors import Conflict, Denied, NotFound, Outdated
from core.ids import SYSTEM_TENANT, KeyId, RecallId, TenantId, new_uuid
from core.model import Filter
from core.ports import Claim, KeyRow, PolicyRow, Repeated, Reply, TenantRow
from core.scope import Action, Role, SourceKind, Standing
from tests.core.adapters.postgres.conftest import told
from tests.core.adapters.postgres.test_walls import tables
from tests.record_values import administrator, blind, event_of, operator


def key_row(tenant, at, **changes):
    values = {
        "id": KeyId(new_uuid().hex),
        "tenant": tenant,
        "roles": frozenset({Role.READER, Role.WRITER}),
        "ceiling": SourceKind.AGENT_INFERRED,
        "grants": b"sealed",
        "secret_mac": b"1" * 32,
        "previous_mac": None,
        "pepper_version": 3,
        "created_at": at,
        "expires_at": None,
        "revoked_at": None,
        "usable": True,
    }
    return KeyRow(**{**values, **changes})


async def add_key(world, tenant, **changes):
    async with world.directory.admin(administrator(tenant)) as view:
        row = key_row(tenant, view.now, **changes)
        await view.insert_key(row)
    return row


async def test_a_key_is_found_as_it_was_kept(world):
    tenant = await world.tenant()
    row = await add_key(world, tenant)
    assert await world.directory.find_key(row.id) == row
    assert await world.directory.find_key(KeyId("none")) is None
    async with world.directory.admin(administrator(tenant)) as view:
        assert await view.keys() == [row]
        assert await view.key(row.id) == row


async def test_no_key_is_made_in_a_tenant_that_is_erased_meanwhile(world):
    tenant = await world.tenant()

    async def add():
        async with world.directory.admin(administrator(tenant)) as view:
            row = key_row(tenant, view.now, id=KeyId("late" + tenant.hex))
            await view.insert_key(row)

    async with world.directory.admin(operator(Action.TENANT_ERASE)) as eraser:
        await eraser.erase_tenant(tenant)
        adding = asyncio.create_task(add())
        await asyncio.sleep(0.3)  # it waits behind the erasure by now, or is about to
    for late in (adding, add()):
        with pytest.raises(NotFound):
            await late
    assert await world.directory.find_key(KeyId("late" + tenant.hex)) is None


async def test_an_operators_key_belongs_to_no_tenant(world):
    async with world.directory.admin(operator(Action.KEY_CREATE)) as view:
        row = key_row(None, view.now, roles=frozenset({Role.OPERATOR}))
        await view.insert_key(row)
    assert await world.directory.find_key(row.id) == row


@pytest.mark.requirement("B12")
async def test_an_expired_or_revoked_key_is_found_and_not_usable(world):
    tenant = await world.tenant()
    now = await world.record.now()
    over = await add_key(world, tenant, expires_at=now - timedelta(seconds=1))
    ended = await add_key(world, tenant, expires_at=now + timedelta(hours=1))
    assert (await world.directory.find_key(ended.id)).usable
    async with world.directory.admin(administrator(tenant, Action.KEY_REVOKE)) as view:
        await view.revoke_key(ended.id)
    for row in (over, ended):
        assert not (await world.directory.find_key(row.id)).usable


async def test_a_rotated_key_keeps_its_old_secret_for_the_overlap_only(world, connect):
    tenant = await world.tenant()
    row = await add_key(world, tenant)
    scope = administrator(tenant, Action.KEY_ROTATE)
    async with world.directory.admin(scope) as view:
        rotated = await view.rotate_key(row.id, b"2" * 32, overlap_seconds=60)
    assert (rotated.secret_mac, rotated.previous_mac) == (b"2" * 32, b"1" * 32)
    assert await world.directory.find_key(row.id) == rotated
    app = await connect()
    async with app.transaction():
        await told(app, {"app.tenant": str(tenant), "app.action": "administer"})
        await app.execute("UPDATE api_keys SET previous_until = now() WHERE id = %s", (row.id,))
    async with world.directory.admin(scope) as view:
        assert (await view.key(row.id)).previous_mac is None
    assert (await world.directory.find_key(row.id)).previous_mac is None
    async with world.directory.admin(scope) as view:
        rotated = await view.rotate_key(row.id, b"3" * 32, overlap_seconds=0)
    assert (rotated.secret_mac, rotated.previous_mac) == (b"3" * 32, None)
    with pytest.raises(Outdated):  # the secret that ended may have been what asked
        async with world.directory.admin(scope):
            pass
    async with world.directory.admin(administrator(tenant, epoch=1)) as view:
        await view.revoke_key(row.id)
        with pytest.raises(NotFound):
            await view.rotate_key(row.id, b"4" * 32, overlap_seconds=0)


async def test_anothers_key_is_not_there(world):
    row = await add_key(world, await world.tenant())
    async with world.directory.admin(administrator(await world.tenant())) as view:
        for step in (
            view.key(row.id),
            view.revoke_key(row.id),
            view.rotate_key(row.id, b"4" * 32, overlap_seconds=0),
        ):
            with pytest.raises(NotFound):
                await step
        assert await view.keys() == []
    assert (await world.directory.find_key(row.id)).usable


async def test_a_tenants_administration_makes_no_tenant_and_no_foreign_key(world):
    tenant, other = await world.tenant(), await world.tenant()
    async with world.directory.admin(administrator(tenant)) as view:
        with pytest.raises(Denied):
            await view.insert_key(key_row(other, view.now))
        with pytest.raises(Denied):
            await view.tenants(None, 10)
        with pytest.raises(Denied):
            await view.erase_tenant(other)
        with pytest.raises(Denied):
            await view.insert_tenant(TenantRow(id=other, name=b"", created_at=view.now), b"")
    async with world.directory.admin(operator()) as view:
        with pytest.raises(Denied):
            await view.insert_key(key_row(other, view.now))


async def test_a_new_tenant_comes_with_its_first_key_or_not_at_all(world):
    tenant = TenantId(new_uuid())
    async with world.directory.admin(operator()) as view:
        row = TenantRow(id=tenant, name=b"sealed", created_at=view.now)
        await view.insert_tenant(row, blind(str(tenant)))
        key = key_row(tenant, view.now)
        await view.insert_key(key)
        await view.record(event_of(operator(), view.now))
    assert await world.directory.find_key(key.id) == key
    again = TenantRow(id=TenantId(new_uuid()), name=b"", created_at=row.created_at)
    with pytest.raises(Conflict):
        async with world.directory.admin(operator()) as view:
            await view.insert_tenant(again, blind(str(tenant)))
    async with world.directory.admin(operator(Action.TENANT_LIST)) as view:
        listed = await view.tenants(None, 10_000)
        assert row in listed
        assert SYSTEM_TENANT not in {one.id for one in listed}
        place = listed.index(row)
        assert (await view.tenants(tenant, 10_000)) == listed[place + 1 :]


async def test_names_are_looked_up_in_their_tenant_alone(world):
    person = await world.person(name="alice", namespace="support")
    other = await world.tenant()
    found = await world.directory.resolve(person.tenant, blind("alice"), None)
    assert (found.user, found.namespaces) == (person.user, {blind("support"): person.namespace})
    wanted = [blind("support"), blind("sales")]
    found = await world.directory.resolve(person.tenant, blind("bob"), wanted)
    assert (found.user, found.namespaces) == (None, {blind("support"): person.namespace})
    found = await world.directory.resolve(person.tenant, blind("alice"), [])
    assert (found.user, found.namespaces) == (person.user, {})
    found = await world.directory.resolve(other, blind("alice"), None)
    assert (found.user, found.namespaces) == (None, {})
    names = await world.directory.namespace_names(person.tenant)
    assert names == {person.namespace: b"sealed support"}


async def test_many_that_make_the_same_names_get_the_same_ids(world):
    tenant = await world.tenant()
    made = await asyncio.gather(
        *(
            world.directory.ensure(tenant, blind("alice"), blind(f"ns {number % 3}"), b"n")
            for number in range(24)
        )
    )
    assert len({user for user, _ in made}) == 1
    assert len({namespace for _, namespace in made}) == 3


async def test_nothing_is_made_where_there_is_no_tenant(world):
    with pytest.raises(NotFound):
        await world.directory.ensure(TenantId(new_uuid()), blind("a"), blind("n"), b"n")


async def count_of(connect, tenant, table):
    app = await connect()
    async with app.transaction(force_rollback=True):
        await told(app, {"app.tenant": str(tenant), "app.action": "erase", "app.audit": "read"})
        cursor = await app.execute(f"SELECT FROM {table} WHERE tenant = %s", (tenant,))
        return cursor.rowcount


async def test_an_erased_tenant_leaves_its_trail_its_tombstone_and_tasks_only(world, connect):
    outbox = await world.outbox()
    person, neighbour = await world.person(), await world.person()
    gone = person.kept("gone")
    async with world.record.view(person.writing) as view:
        await view.insert(person.kept("one"))
        await view.insert(gone)
        await view.forget([gone.id])
        await view.keep_recall(RecallId(new_uuid()), b"sealed", days=7)
        await view.record(event_of(person.writing, view.now))
        await view.settle(
            Claim(key=b"k" * 16, body=b"b" * 16), Reply(body=b"b" * 16, sealed=b"", id=new_uuid())
        )
    async with world.record.view(neighbour.writing) as view:
        await view.insert(neighbour.kept("stays"))
    key = await add_key(world, person.tenant)
    await outbox.done(await outbox.lease(100_000, 5))
    async with world.directory.admin(operator(Action.TENANT_ERASE)) as view:
        assert await view.erase_tenant(person.tenant) == 1
        with pytest.raises(NotFound):
            await view.erase_tenant(person.tenant)
        with pytest.raises(NotFound):
            await view.erase_tenant(SYSTEM_TENANT)
        await view.record(event_of(operator(), view.now))
    assert [await count_of(connect, person.tenant, table) for table in ERASED] == [0] * len(ERASED)
    assert await count_of(connect, person.tenant, "audit_events") == 1
    assert await world.directory.find_key(key.id) is None
    with pytest.raises(NotFound):
        await world.person(person.tenant)
    tasks = [task for task in await outbox.lease(100_000, 5) if task.tenant == person.tenant]
    assert [task.delete for task in tasks] == [True]
    async with world.record.view(neighbour.reading) as view:
        assert len(await view.recent(Filter(), 5)) == 1
    async with world.directory.admin(operator(Action.TENANT_LIST)) as view:
        assert person.tenant not in {one.id for one in await view.tenants(None, 10_000)}


async def test_every_table_of_a_tenant_is_erased_or_known_to_stay(connect):
    stays = {"audit_events", "audit_checkpoints", "outbox"}
    assert set(await tables(await connect())) == {*ERASED, *stays}


async def test_nothing_is_written_behind_an_erasure(world, connect):
    person = await world.person()

    async def write(number):
        async with world.record.view(person.writing) as view:
            await view.insert(person.kept(f"text {number}"))

    async def erase():
        async with world.directory.admin(operator(Action.TENANT_ERASE)) as view:
            return await view.erase_tenant(person.tenant)

    writers = [asyncio.create_task(write(number)) for number in range(6)]
    eraser = asyncio.create_task(erase())
    await asyncio.gather(
        *writers, *(write(number) for number in range(6, 18)), eraser, return_exceptions=True
    )
    assert eraser.exception() is None
    assert await count_of(connect, person.tenant, "memories") == 0
    assert await count_of(connect, person.tenant, "users") == 0
    with pytest.raises(NotFound):
        await write(99)


async def test_events_come_newest_first_and_page_by_page(world):
    person, stranger = await world.person(), await world.person()
    for number in range(7):
        async with world.record.view(person.reading) as view:
            await view.record(event_of(person.reading, view.now, touched=str(number)))
    await world.record.append(event_of(stranger.reading, await world.record.now()))
    reading = administrator(person.tenant, Action.AUDIT_READ)
    everything: dict[str, Any] = {
        "since": None,
        "until": None,
        "on_behalf_of": frozenset(),
        "action": None,
    }
    seen, after = [], None
    while True:
        async with world.directory.admin(reading) as view:
            page = await view.events(**everything, after=after, limit=3)
        if not page:
            break
        seen += [logged.signed.event for logged in page]
        after = (seen[-1].at, seen[-1].event_id)
    assert [event.object for event in seen] == ["6", "5", "4", "3", "2", "1", "0"]
    narrow = [
        ({"since": seen[2].at}, 3),
        ({"until": seen[2].at}, 4),
        ({"on_behalf_of": frozenset({"b" * 32, "c" * 32})}, 7),
        ({"on_behalf_of": frozenset({"c" * 32})}, 0),
        ({"action": "memory:item:recall"}, 7),
        ({"action": "memory:item:write"}, 0),
    ]
    for change, count in narrow:
        async with world.directory.admin(reading) as view:
            found = await view.events(**{**everything, **change}, after=None, limit=100)
        assert len(found) == count, change
    async with world.directory.admin(administrator(person.tenant, Action.KEY_LIST)) as view:
        assert await view.events(**everything, after=None, limit=100) == []


@pytest.mark.requirement("F3")
async def test_a_key_is_made_once_under_an_idempotency_key(world):
    tenant = await world.tenant()
    claim = Claim(key=b"k" * 16, body=b"b" * 16)

    async def make():
        async with world.directory.admin(administrator(tenant)) as view:
            await view.insert_key(key_row(tenant, view.now))
            await view.settle(claim, Reply(body=claim.body, sealed=b"", id=new_uuid()))

    results = await asyncio.gather(*(make() for _ in range(4)), return_exceptions=True)
    assert [type(result) for result in results].count(Repeated) == 3
    async with world.directory.admin(administrator(tenant)) as view:
        assert len(await view.keys()) == 1


async def test_the_versions_of_all_policies_come_with_a_key_and_with_a_look_up(world):
    tenant = await world.tenant()
    row = await add_key(world, tenant)
    wanted = {}
    for epoch, (kind, field) in enumerate(
        (("access", "policy"), ("quotas", "quotas"), ("pii", "pii"), ("secrets", "secrets"))
    ):
        policy = PolicyRow(kind=kind, version=f"v-{kind}", sealed=kind.encode())
        async with world.directory.admin(administrator(tenant, epoch=epoch)) as view:
            await view.put_policy(policy)
            assert await view.policy(kind) == policy
        wanted[field] = policy.version
        standing = Standing(epoch=epoch + 1, **wanted)
        assert await world.directory.standing(tenant) == standing
        found = await world.directory.find_key(row.id)
        assert found is not None
        assert found.standing == standing
        assert (await world.directory.resolve(tenant, b"u" * 16, [])).standing == standing
    other = await world.tenant()
    assert await world.directory.standing(other) == Standing()
