"""PostgreSQL 18 as a private child.

- No TCP; a socket in a 0700 folder, and SCRAM for every role besides. `initdb` never runs with
  `trust`.
- A cluster appears whole: it is made in `postgres.new`, synced, and renamed. A start that is killed
  in between leaves nothing that a later one believes.
- Its settings are this release's, not the folder's: they lie in the runtime folder, where
  PostgreSQL may only read.
- Nothing that a caller sent reaches its log: no statements, no parameters, no errors (their text
  quotes values).
- When the gateway dies it gets SIGQUIT: it ends at once, and the write-ahead log brings every
  commit back.
"""

import contextlib
import os
import secrets
import shutil
import signal
from pathlib import Path
from urllib.parse import quote

from gateway.embedded import roles
from gateway.embedded.account import Account
from gateway.embedded.children import Child, ChildProcess, Probe
from gateway.embedded.folder import DataFolder, FolderUnusable
from gateway.embedded.keys import KeysFolder
from gateway.embedded.places import RuntimeFolder
from gateway.embedded.wheels import Binaries

_MAJOR = "18"
_ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
_START_SECONDS = 60.0
# It writes out what it holds in memory before it ends; cut short, its next start has to recover.
_STOP_SECONDS = 30.0
_SOCKETS = "postgres"
# Of postmaster.pid, from 0. Source: src/include/utils/pidfile.h, LOCK_FILE_LINE_PM_STATUS.
_STATUS_LINE = 7
_OWN_FOLDER = "/proc/self/cwd"

_CONFIGURATION = """\
listen_addresses = ''
unix_socket_directories = '"{sockets}"'
unix_socket_permissions = 0700
hba_file = '{rules}'
max_connections = 60
shared_buffers = 96MB
work_mem = 8MB
maintenance_work_mem = 64MB
effective_cache_size = 512MB
io_method = sync
jit = off
max_worker_processes = 4
max_parallel_workers_per_gather = 0
max_logical_replication_workers = 0
wal_level = minimal
max_wal_senders = 0
max_wal_size = 256MB
min_wal_size = 32MB
fsync = on
synchronous_commit = on
full_page_writes = on
password_encryption = scram-sha-256
allow_alter_system = off
row_security = on
timezone = 'UTC'
log_timezone = 'UTC'
update_process_title = off
logging_collector = off
log_destination = stderr
log_min_messages = log
log_min_error_statement = panic
log_error_verbosity = terse
log_statement = none
log_min_duration_statement = -1
log_min_duration_sample = -1
log_transaction_sample_rate = 0
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
log_duration = off
log_lock_waits = off
log_temp_files = -1
log_autovacuum_min_duration = -1
log_checkpoints = off
debug_print_parse = off
debug_print_plan = off
debug_print_rewritten = off
track_activity_query_size = 100
"""


class Postgres:
    """The cluster under DIR/postgres, and how to reach it."""

    def __init__(
        self, binaries: Binaries, data: DataFolder, keys: KeysFolder, runtime: RuntimeFolder
    ) -> None:
        """Name the parts; nothing is touched yet."""
        self._binaries = binaries
        self._data = data
        self._keys = keys
        self._runtime = runtime
        self._passwords: dict[str, str] = {}
        self.sockets = runtime.private(_SOCKETS, engine=True)

    def url(self, role: str) -> str:
        """Return a connection URL for one of `roles.LOGINS`, its password included."""
        return _url(role, self._passwords[role], self.sockets)

    async def prepare(self) -> Child:
        """Make the cluster on first use, or roles that it lacks; return what to start.

        Raises:
            EngineFailed: a step did not succeed.
            FolderUnusable: made by another major version, or its keys are not in the keys folder.
        """
        cluster = self._data.postgres
        known = {role: self._keys.read(_secret_name(role)) for role in roles.LOGINS}
        self._passwords = {
            role: secrets.token_urlsafe(32) if kept is None else kept.decode()
            for role, kept in known.items()
        }
        if not cluster.exists():
            await self._make_cluster()
        else:
            if not any(known.values()):
                raise FolderUnusable(f"the keys of {self._data.path} are not in {self._keys.path}")
            self._check(cluster)
            missing = {role: self._passwords[role] for role, kept in known.items() if kept is None}
            if missing:
                await self._single_user(cluster, roles.make_roles(missing))
                self._keep(missing)
        return self._server(cluster)

    async def _make_cluster(self) -> None:
        fresh = self._data.path / "postgres.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        first = self.sockets / "first"
        first.write_text(secrets.token_urlsafe(32), encoding="ascii")
        for path in (fresh, first):
            path.chmod(0o700 if path is fresh else 0o600)
            if self._runtime.account is not None:
                os.chown(path, self._runtime.account.uid, self._runtime.account.gid)
        await self._initdb(
            fresh,
            *("--username=postgres", "--auth=scram-sha-256", f"--pwfile={first}"),
            *("--encoding=UTF8", "--locale=C", "--data-checksums"),
            *("--no-sync", "--no-instructions"),
        )
        first.unlink()
        statements = [*roles.make_roles(self._passwords), *roles.make_databases()]
        await self._single_user(fresh, statements, in_making=True)
        # One sync at the end, and none in between.
        await self._initdb(fresh, "--sync-only")
        self._keep(self._passwords)
        fresh.rename(self._data.postgres)
        _sync_folder(self._data.path)

    async def _initdb(self, cluster: Path, *options: str) -> None:
        argv = (str(self._binaries.initdb), "-D", self._named(cluster), *options)
        await ChildProcess(self._child(cluster, argv)).run()

    async def _single_user(
        self, cluster: Path, statements: list[str], *, in_making: bool = False
    ) -> None:
        argv = (
            *(str(self._binaries.postgres), "--single", "-j", "-D", self._named(cluster)),
            *(("-F",) if in_making else ()),
            *("-c", "exit_on_error=on", "-c", "log_checkpoints=off"),
            # A statement that fails must not be quoted: it holds a verifier.
            *("-c", "log_min_error_statement=panic", "postgres"),
        )
        feed = "".join(f"{statement};\n\n" for statement in statements).encode()
        await ChildProcess(self._child(cluster, argv, feed=feed)).run()

    def _server(self, cluster: Path) -> Child:
        rules = self._runtime.write("pg_hba.conf", roles.host_rules())
        configuration = self._runtime.write(
            "postgresql.conf", _CONFIGURATION.format(sockets=self.sockets, rules=rules)
        )
        pid_file = cluster / "postmaster.pid"
        _remove_stale(pid_file)

        async def ready() -> bool:
            try:
                lines = pid_file.read_text(encoding="utf-8").splitlines()
            except FileNotFoundError:
                return False
            return len(lines) > _STATUS_LINE and lines[_STATUS_LINE].strip() == "ready"

        argv = (
            *(str(self._binaries.postgres), "-D", self._named(cluster)),
            *("-c", f"config_file={configuration}"),
        )
        return self._child(cluster, argv, ready=ready)

    def _named(self, cluster: Path) -> str:
        """Return the path by which PostgreSQL, started in `cluster`, names it.

        Its account may not be able to walk there (/root is 0700, and is not ours to open); it need
        not, since it is started inside and asks for no other path.
        """
        account = self._runtime.account
        closed = None if account is None else account.first_closed(cluster.parent)
        if closed is None:
            return str(cluster)
        if not Path(_OWN_FOLDER).is_dir():
            raise FolderUnusable(
                f"PostgreSQL cannot run as root, and its account may not enter {closed}; "
                "start the gateway as an ordinary user, or name a data folder elsewhere"
            )
        return _OWN_FOLDER

    def _check(self, cluster: Path) -> None:
        version = (cluster / "PG_VERSION").read_text(encoding="ascii").strip()
        if version != _MAJOR:
            raise FolderUnusable(f"{cluster} was made by PostgreSQL {version}; this is {_MAJOR}")
        account = self._runtime.account
        if account is not None and cluster.stat().st_uid == 0:
            # Root's copy of a folder; PostgreSQL insists on owning its own.
            _give(cluster, account)

    def _keep(self, passwords: dict[str, str]) -> None:
        for role, password in passwords.items():
            self._keys.read_or_create(_secret_name(role), password.encode)

    def _child(
        self, cluster: Path, argv: tuple[str, ...], *, feed: bytes = b"", ready: Probe | None = None
    ) -> Child:
        return Child(
            name="PostgreSQL",
            argv=argv,
            cwd=cluster,
            log=self._data.logs / "postgres.log",
            alive=self._data.alive,
            account=self._runtime.account,
            environment=_ENVIRONMENT,
            feed=feed,
            ready=ready,
            start_seconds=_START_SECONDS,
            stop_signal=signal.SIGINT,
            grace_seconds=_STOP_SECONDS,
            death_signal=signal.SIGQUIT,
        )


def running_url(keys: KeysFolder, runtime: Path, role: str) -> str:
    """Return the URL at which `role` reaches the database of a gateway that runs already.

    Args:
        keys, runtime: its keys folder and the folder of its sockets, as its data folder tells.

    Raises:
        FolderUnusable: the keys folder holds no password of that role.
    """
    password = keys.read(_secret_name(role))
    if password is None:
        raise FolderUnusable("the keys folder holds no password of the database")
    return _url(role, password.decode(), runtime / _SOCKETS)


def _url(role: str, password: str, sockets: Path) -> str:
    host = quote(str(sockets), safe="")
    return f"postgresql://{role}:{quote(password, safe='')}@/{roles.database_of(role)}?host={host}"


def _secret_name(role: str) -> str:
    return f"database-{role}"


def _give(cluster: Path, account: Account) -> None:
    for _, folders, files, descriptor in os.fwalk(cluster, follow_symlinks=False):
        for name in (*folders, *files):
            os.chown(name, account.uid, account.gid, dir_fd=descriptor, follow_symlinks=False)
        os.fchown(descriptor, account.uid, account.gid)


def _remove_stale(pid_file: Path) -> None:
    """Remove a killed server's pid file, whose number may by now be some other process's.

    `DataFolder.alive` has shown that no child of an earlier gateway lives. A PostgreSQL that
    somebody else started on the folder is the one thing left to look for; its file stays, and
    PostgreSQL refuses by itself.
    """
    with contextlib.suppress(FileNotFoundError, ValueError, IndexError):
        pid = int(pid_file.read_text(encoding="utf-8").split("\n", 1)[0])
        with contextlib.suppress(FileNotFoundError):
            if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "postgres":
                return
        pid_file.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
