"""What an engine lets in: roles, databases, passwords, and nothing from a network."""

import contextlib
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
import pytest
import redis.asyncio
import redis.exceptions

from gateway.embedded import roles
from gateway.embedded.engines import EmbeddedEngines

DATABASES = (roles.RECORD, roles.KEY_STORE, "postgres", "template1")


def elsewhere(engines: EmbeddedEngines, role: str, database: str) -> str:
    own = f"/{roles.database_of(role)}?"
    assert own in engines.database_url(role)
    return engines.database_url(role).replace(own, f"/{database}?")


def engine_processes(engines: EmbeddedEngines) -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.name() in {"postgres", "valkey-server"}:
                found.append(child)
    return found


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize("role", roles.LOGINS)
async def test_a_role_connects_to_its_own_database_and_to_no_other(
    engines: EmbeddedEngines, role: str, database: str
) -> None:
    url = elsewhere(engines, role, database)
    if database == roles.database_of(role):
        async with await psycopg.AsyncConnection.connect(url) as connection:
            cursor = await connection.execute("SELECT session_user, current_database()")
            assert await cursor.fetchone() == (role, database)
    else:
        with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
            await psycopg.AsyncConnection.connect(url)


async def test_the_catalogue_says_the_same_of_who_may_connect(engines: EmbeddedEngines) -> None:
    async with await psycopg.AsyncConnection.connect(engines.keystore_url) as connection:
        cursor = await connection.execute(
            "SELECT rolname, datname FROM pg_roles, pg_database "
            "WHERE rolname LIKE 'memwarden%' "
            "AND has_database_privilege(rolname, datname, 'CONNECT') AND datname <> 'template0'"
        )
        granted = set(await cursor.fetchall())
    assert granted == {(role, roles.database_of(role)) for role in roles.LOGINS}


async def test_no_role_has_more_power_than_it_needs(engines: EmbeddedEngines) -> None:
    async with await psycopg.AsyncConnection.connect(engines.keystore_url) as connection:
        cursor = await connection.execute(
            "SELECT rolname, rolcanlogin FROM pg_roles WHERE rolname LIKE 'memwarden%' AND NOT "
            "(rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)"
        )
        found: dict[str, bool] = dict(await cursor.fetchall())
        cursor = await connection.execute("SELECT rolname FROM pg_roles WHERE rolsuper")
        assert await cursor.fetchall() == [("postgres",)]
    assert found == dict.fromkeys(roles.LOGINS, True) | {roles.LOOK_UP: False}


async def test_the_superuser_cannot_log_in_at_all(engines: EmbeddedEngines) -> None:
    for database in DATABASES:
        url = engines.keystore_url.replace(f"/{roles.KEY_STORE}?", f"/{database}?")
        with pytest.raises(psycopg.OperationalError, match=r"no pg_hba\.conf entry"):
            await psycopg.AsyncConnection.connect(url, user="postgres")


@pytest.mark.parametrize("role", roles.LOGINS)
async def test_a_wrong_password_is_refused(engines: EmbeddedEngines, role: str) -> None:
    for wrong in ("", "wrong", role):
        with pytest.raises(psycopg.OperationalError, match="password"):
            await psycopg.AsyncConnection.connect(engines.database_url(role), password=wrong)


async def test_passwords_are_proved_by_scram_and_kept_only_in_the_keys_folder(
    engines: EmbeddedEngines,
) -> None:
    with pytest.raises(psycopg.OperationalError, match="authentication method requirement"):
        await psycopg.AsyncConnection.connect(
            engines.keystore_url, require_auth="none,password,md5"
        )
    async with await psycopg.AsyncConnection.connect(
        engines.keystore_url, require_auth="scram-sha-256"
    ) as connection:
        await connection.execute("SELECT 1")
    passwords = [engines.keys.read(f"database-{role}") or b"" for role in roles.LOGINS]
    assert {len(password) for password in passwords} == {43}
    for path in (it for it in engines.data.path.rglob("*") if it.is_file()):
        kept = path.read_bytes()
        assert not [password for password in passwords if password in kept]


async def test_the_owner_hands_the_look_up_function_to_its_role(engines: EmbeddedEngines) -> None:
    async with await psycopg.AsyncConnection.connect(
        engines.database_url(roles.OWNER)
    ) as connection:
        await connection.execute("CREATE SCHEMA trial")
        await connection.execute(f"GRANT CREATE, USAGE ON SCHEMA trial TO {roles.LOOK_UP}")
        await connection.execute(
            "CREATE FUNCTION trial.look() RETURNS text SECURITY DEFINER LANGUAGE sql "
            "RETURN current_user"
        )
        await connection.execute(f"ALTER FUNCTION trial.look() OWNER TO {roles.LOOK_UP}")
        cursor = await connection.execute("SELECT trial.look()")
        assert await cursor.fetchone() == (roles.LOOK_UP,)
        await connection.rollback()


async def test_an_application_role_makes_nothing_of_its_own(engines: EmbeddedEngines) -> None:
    async with await psycopg.AsyncConnection.connect(
        engines.database_url("memwarden_app")
    ) as connection:
        for statement in (
            "CREATE TABLE public.mine (x int)",
            "CREATE TEMP TABLE mine (x int)",
            "CREATE SCHEMA mine",
            "COPY (SELECT 1) TO PROGRAM 'id'",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT rolpassword FROM pg_authid",
            "ALTER SYSTEM SET log_statement = 'all'",
            "SET log_statement = 'all'",
            f"SET ROLE {roles.LOOK_UP}",
        ):
            with pytest.raises(psycopg.Error):
                await connection.execute(statement)
            await connection.rollback()


@pytest.mark.requirement("D14")
async def test_what_callers_send_does_not_reach_the_log(engines: EmbeddedEngines) -> None:
    canary = "canary-5f1e7c02"
    async with await psycopg.AsyncConnection.connect(
        engines.database_url("memwarden_app"), autocommit=True
    ) as connection:
        for statement, values in (
            ("SELECT %s::uuid", [canary]),
            (f"SELECT nothing FROM '{canary}'", []),
            (f"DO $$ BEGIN RAISE WARNING '{canary}'; END $$", []),
            ("SELECT set_config('app.tenant', %s, false), 1/0", [canary]),
        ):
            with contextlib.suppress(psycopg.Error):
                await connection.execute(statement, values)
    log = engines.data.logs / "postgres.log"
    assert "ready to accept connections" in log.read_text(encoding="utf-8")
    assert canary not in log.read_text(encoding="utf-8")


async def test_valkey_takes_only_its_one_user_with_the_password(engines: EmbeddedEngines) -> None:
    socket = engines.redis_url.split("@")[1].split("?")[0]
    for url in (f"unix://{socket}", f"unix://:guess@{socket}", f"unix://memwarden:no@{socket}"):
        async with redis.asyncio.Redis.from_url(url) as cache:
            with pytest.raises(
                redis.exceptions.ConnectionError, match=r"authenticat|WRONGPASS|invalid username"
            ):
                await cache.ping()


@pytest.mark.parametrize(
    "command",
    [
        "KEYS *",
        "FLUSHALL",
        "FLUSHDB",
        "CONFIG GET *",
        "DEBUG SLEEP 0",
        "MONITOR",
        "ACL LIST",
        "SAVE",
        "SHUTDOWN",
        "CLIENT LIST",
        "MODULE LIST",
        "REPLICAOF NO ONE",
    ],
)
async def test_valkey_refuses_the_commands_of_its_operator(
    engines: EmbeddedEngines, command: str
) -> None:
    async with redis.asyncio.Redis.from_url(engines.redis_url) as cache:
        with pytest.raises(redis.exceptions.ResponseError, match=r"(?i)permission|not allowed"):
            await cache.execute_command(*command.split())


async def test_valkey_runs_scripts_and_tells_its_memory(engines: EmbeddedEngines) -> None:
    async with redis.asyncio.Redis.from_url(engines.redis_url) as cache:
        assert await cache.eval("return redis.call('TIME')[1]", 0)
        memory = await cache.info("memory")
        assert (memory["maxmemory"], memory["maxmemory_policy"]) == (67_108_864, "noeviction")


def test_no_engine_listens_on_a_network(engines: EmbeddedEngines) -> None:
    processes = engine_processes(engines)
    assert {it.name() for it in processes} == {"postgres", "valkey-server"}
    assert [it.net_connections(kind="inet") for it in processes] == [[] for _ in processes]


def test_no_secret_is_in_an_argument_or_environment(engines: EmbeddedEngines) -> None:
    secrets = [path.read_text(encoding="ascii") for path in engines.keys.path.iterdir()]
    secrets = [it for it in secrets if it != engines.data.folder_id]
    assert len(secrets) > len(roles.LOGINS)
    for process in engine_processes(engines):
        told = " ".join([*process.cmdline(), *process.environ().values()])
        assert not [it for it in secrets if it in told or quote(it, safe="") in told]


def test_sockets_lie_in_folders_that_only_their_account_enters(engines: EmbeddedEngines) -> None:
    sockets = Path(engines.edge_socket).parent
    for folder in (
        sockets,
        sockets.parent / "postgres",
        Path(engines.redis_url.split("@")[1]).parent,
    ):
        assert folder.stat().st_mode & 0o7777 == 0o700
    runtime = sockets.parent
    assert runtime.stat().st_mode & 0o066 == 0
