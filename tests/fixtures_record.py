"""The record on a real PostgreSQL, migrated once, with fresh tenants for each test that asks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.adapters.postgres import (
    Pool,
    PostgresDirectory,
    PostgresOutbox,
    PostgresRecord,
    PostgresSealStore,
    migrate,
)
from core.ids import MemoryId, TenantId, new_uuid
from core.model import Kept
from core.ports import TenantRow
from gateway.embedded.engines import EmbeddedEngines
from tests.record_values import NotedWriter, Person, blind, event_of, operator

MakePool = Callable[..., Awaitable[Pool]]


@pytest.fixture(scope="session")
def database(engines: EmbeddedEngines) -> Callable[[str], str]:
    """The URL of a role, by its name; the database is migrated."""
    asyncio.run(migrate(engines.database_url("memwarden_owner")))
    return engines.database_url


@pytest.fixture
async def make_pool(database: Callable[[str], str]) -> AsyncIterator[MakePool]:
    """Open pools of a role, closed when the test ends."""
    pools: list[Pool] = []

    async def make(role: str = "memwarden_app", **settings: Any) -> Pool:
        pool = Pool(database(role), name="tests", **settings)
        pools.append(pool)
        await pool.open()
        return pool

    yield make
    for pool in pools:
        await pool.close()


@dataclass
class World:
    """The ports of the record, and people to keep memories of."""

    pool: Pool
    record: PostgresRecord
    directory: PostgresDirectory
    writer: NotedWriter
    make: MakePool
    people: list[Person] = field(default_factory=list)

    async def tenant(self) -> TenantId:
        tenant = TenantId(new_uuid())
        async with self.directory.admin(operator()) as view:
            row = TenantRow(id=tenant, name=b"sealed name", created_at=view.now)
            await view.insert_tenant(row, tenant.bytes)
        return tenant

    async def person(
        self, tenant: TenantId | None = None, *, name: str = "alice", namespace: str = "support"
    ) -> Person:
        tenant = await self.tenant() if tenant is None else tenant
        user, space = await self.directory.ensure(
            tenant, blind(name), blind(namespace), b"sealed " + namespace.encode()
        )
        return Person(tenant=tenant, user=user, namespace=space)

    async def keep(self, person: Person, text: str = "likes tea", **others: Any) -> Kept:
        """Keep a new memory of `person`, and record that."""
        memory = person.kept(text, **others)
        async with self.record.view(person.writing) as view:
            inserted = await view.insert(memory)
            assert inserted.existing is None
            await view.record(event_of(person.writing, view.now))
        return memory

    async def expire(self, person: Person, memory: MemoryId) -> None:
        """Let a memory's time run out, as the database sees it."""
        async with self.record.view(person.writing) as view:
            await view._transaction.rows(
                "UPDATE memories SET expires_at = now() - interval '1 second'"
                " WHERE tenant = %(tenant)s AND id = %(id)s",
                {"tenant": person.tenant, "id": memory},
            )

    async def emptied(self) -> PostgresOutbox:
        """Return the outbox without what other tests left in it."""
        outbox = await self.outbox()
        await outbox.done(await outbox.lease(100_000, 5))
        return outbox

    async def outbox(self) -> PostgresOutbox:
        return PostgresOutbox(await self.make("memwarden_index"))

    async def seals(self) -> PostgresSealStore:
        return PostgresSealStore(await self.make("memwarden_seal"))


@pytest.fixture
async def world(make_pool: MakePool) -> World:
    """An open record."""
    pool = await make_pool(wait_seconds=30.0)
    writer = NotedWriter()
    return World(
        pool=pool,
        record=PostgresRecord(pool, writer),
        directory=PostgresDirectory(pool, writer),
        writer=writer,
        make=make_pool,
    )
