"""Behind PgBouncer in transaction mode, and on the oldest PostgreSQL that we serve."""

import asyncio
import contextlib
import os
import shutil
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from core.adapters.postgres import Pool, PostgresDirectory, PostgresRecord, migrate
from core.errors import NotFound
from core.ids import TenantId, new_uuid
from core.model import Filter
from core.ports import TenantRow
from tests.core.adapters.postgres.test_pool import SETTINGS
from tests.record_values import NotedWriter, Person, blind, event_of, operator, term_of

pytestmark = [pytest.mark.system, pytest.mark.requirement("C5")]
OLDEST = Path("/usr/lib/postgresql/15/bin")


@pytest.fixture
def account(database):
    """Whom servers run as: the engines' own account, since neither server runs as root."""
    return Path(str(conninfo_to_dict(database("memwarden_app"))["host"])).stat().st_uid


@pytest.fixture
def folder(account):
    path = Path(tempfile.mkdtemp(prefix="mw-"))
    if os.geteuid() == 0:
        os.chown(path, account, -1)
    yield path
    shutil.rmtree(path)


async def started(account: int, folder: Path, *command: str | Path) -> Process:
    return await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        user=account if os.geteuid() == 0 else None,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )


@contextlib.asynccontextmanager
async def running(account: int, socket: Path, *command: str | Path) -> AsyncIterator[None]:
    process = await started(account, socket.parent, *command)
    try:
        async with asyncio.timeout(20):
            while True:
                assert process.returncode is None, f"{command[0]} ended by itself"
                with contextlib.suppress(OSError):
                    (await asyncio.open_unix_connection(socket))[1].close()
                    break
                await asyncio.sleep(0.02)
        yield
    finally:
        if process.returncode is None:
            process.send_signal(2)
        await process.wait()


@pytest.fixture
async def pooled(database, account, folder, tool):
    """The URL of the app role through a pooler that has one session for everybody."""
    direct = conninfo_to_dict(database("memwarden_app"))
    (folder / "users").write_text(f'"{direct["user"]}" "{direct["password"]}"\n')
    (folder / "ini").write_text(
        "[databases]\n"
        f"memwarden = host={direct['host']} dbname=memwarden\n"
        "[pgbouncer]\n"
        f"unix_socket_dir = {folder}\nlisten_port = 6432\nauth_type = scram-sha-256\n"
        f"auth_file = {folder}/users\npool_mode = transaction\ndefault_pool_size = 1\n"
        f"server_reset_query =\nlogfile = {folder}/log\npidfile = {folder}/pid\n"
    )
    url = f"postgresql://{direct['user']}:{direct['password']}@/memwarden?host={folder}&port=6432"
    socket = folder / ".s.PGSQL.6432"
    async with running(account, socket, tool("pgbouncer"), folder / "ini"):
        yield url


async def test_people_who_share_one_session_behind_a_pooler_never_see_each_other(world, pooled):
    people = [await world.person() for _ in range(4)]
    pool = Pool(pooled, name="pooled", connections=6, wait_seconds=20.0, prepared=False)
    await pool.open()
    try:
        record = PostgresRecord(pool, NotedWriter())

        async def live(person, number):
            memory = person.kept(f"tea {number}")
            async with record.view(person.writing) as view:
                await view.insert(memory)
                await view.record(event_of(person.writing, view.now))
            if number % 3 == 0:
                with pytest.raises(NotFound):
                    async with record.view(person.reading) as view:
                        await view.get(person.kept().id)
            async with record.view(person.reading) as view:
                found = {row.user for row in (await view.page(Filter(), None, 50)).rows}
                found |= {(await view.get(memory.id)).user}
                assert await view.lexical([term_of("tea")], Filter(), 5)
            assert found == {person.user}

        await asyncio.gather(*(live(person, number) for number in range(12) for person in people))
    finally:
        await pool.close()
    async with await psycopg.AsyncConnection.connect(
        pooled, autocommit=True, prepare_threshold=None
    ) as connection:
        assert await (await connection.execute(SETTINGS)).fetchall() == []
        assert await (await connection.execute("SELECT id FROM memories")).fetchall() == []


async def patiently(url: str) -> psycopg.AsyncConnection[TupleRow]:
    """Connect to a server that may still be starting up."""
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                return await psycopg.AsyncConnection.connect(url, autocommit=True)
            await asyncio.sleep(0.02)


@pytest.fixture
async def oldest(account, folder):
    """A connection string by role, on PostgreSQL 15."""
    data = folder / "data"
    options = ("--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
    initdb = await started(account, folder, OLDEST / "initdb", "-D", data, *options)
    assert await initdb.wait() == 0

    def url(role: str) -> str:
        return f"postgresql://{role}@/memwarden?host={folder}"

    socket = folder / ".s.PGSQL.5432"
    options = ("-k", str(folder), "-c", "listen_addresses=", "-F")
    async with running(account, socket, OLDEST / "postgres", "-D", data, *options):
        admin = f"postgresql://postgres@/postgres?host={folder}"
        async with await patiently(admin) as connection:
            for role in ("owner", "app", "index", "seal", "purge"):
                await connection.execute(f"CREATE ROLE memwarden_{role} LOGIN")
            await connection.execute("CREATE ROLE memwarden_auth NOLOGIN")
            await connection.execute("GRANT memwarden_auth TO memwarden_owner")
            await connection.execute("CREATE DATABASE memwarden OWNER memwarden_owner")
        yield url


@pytest.mark.skipif(not OLDEST.is_dir(), reason="optional: PostgreSQL 15 is not installed")
async def test_the_record_works_on_the_oldest_server(oldest):
    assert await migrate(oldest("memwarden_owner"))
    pool = Pool(oldest("memwarden_app"), name="oldest", connections=2)
    await pool.open()
    try:
        record = PostgresRecord(pool, writer := NotedWriter())
        directory = PostgresDirectory(pool, writer)
        people = []
        for _ in range(2):
            tenant = TenantId(new_uuid())
            async with directory.admin(operator()) as view:
                row = TenantRow(id=tenant, name=b"", created_at=view.now)
                await view.insert_tenant(row, tenant.bytes)
            user, namespace = await directory.ensure(tenant, blind("a"), blind("n"), b"n")
            people.append(Person(tenant=tenant, user=user, namespace=namespace))
        for person in people:
            async with record.view(person.writing) as view:
                first = person.kept("likes tea")
                await view.insert(first)
                assert (await view.insert(person.kept("likes tea"))).existing is not None
                again = person.kept("likes coffee", memory=first.id, version=2)
                await view.revise(again, expected_version=1)
                await view.record(event_of(person.writing, view.now))
            async with record.view(person.reading) as view:
                assert [one.id for one in await view.recent(Filter(), 5)] == [first.id]
                found = await view.lexical([term_of("coffee")], Filter(), 5)
                assert [one.id for one in found] == [first.id]
                assert len(await view.versions(first.id)) == 2
                assert (await view.page(Filter(), None, 5)).rows[0].user == person.user
    finally:
        await pool.close()
