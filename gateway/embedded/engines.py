"""The three engines of an embedded gateway as one thing that starts and stops.

- They start in parallel and stop in order: the index, the cache, and the record last.
- Valkey and Qdrant Edge are started again when they end by themselves: nothing acknowledged lives
  in them alone. The end of PostgreSQL is final, and told to the gateway.
"""

import asyncio
import contextlib
import os
import secrets
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.embedded import roles
from gateway.embedded.account import engine_account
from gateway.embedded.children import Child, Keeper, accepts
from gateway.embedded.folder import DataFolder, FolderUnusable
from gateway.embedded.keys import KeysFolder
from gateway.embedded.places import Places, RuntimeFolder, remove_runtime
from gateway.embedded.postgres import Postgres
from gateway.embedded.valkey import valkey_child
from gateway.embedded.wheels import Binaries

_EDGE_MODULE = "core.adapters.qdrant.edge_child"
_EDGE_SHARDS = 2


class EmbeddedEngines:
    """Running engines, and the URLs, with passwords, at which they are reached.

    Attributes:
        data: the data folder, held.
        keys: its keys folder.
        redis_url: Valkey's, `unix://user:password@socket?db=0`.
        edge_socket: where the Qdrant Edge child listens.
    """

    def __init__(
        self,
        *,
        data: DataFolder,
        keys: KeysFolder,
        postgres: Postgres,
        redis_url: str,
        edge_socket: Path,
    ) -> None:
        self.data = data
        self.keys = keys
        self.redis_url = redis_url
        self.edge_socket = edge_socket
        self._postgres = postgres

    def database_url(self, role: str) -> str:
        """Return the URL at which `role`, one of `roles.LOGINS`, reaches its one database."""
        return self._postgres.url(role)

    @property
    def keystore_url(self) -> str:
        """The URL of the key store's own database, as the only role that may connect to it."""
        return self._postgres.url(roles.KEY_KEEPER)

    def describe(self, url: str) -> None:
        """Tell attaching processes where the gateway serves."""
        self.data.describe(url=url)

    @staticmethod
    @asynccontextmanager
    async def start(
        data: Path,
        keys: Path | None,
        places: Places,
        *,
        on_death: Callable[[str], None],
        with_edge: bool = True,
        vectors: tuple[str, int] = ("", 384),
    ) -> AsyncGenerator["EmbeddedEngines"]:
        """Start the engines on a data folder; on leaving, stop them and let it go.

        Must be entered in a thread that outlives the engines: they die with it (prctl(2),
        PR_SET_PDEATHSIG).

        Args:
            data: the data folder; made when it is not there.
            keys: the keys folder; None for the default under `places`.
            places: the caller's own folders.
            on_death: told the name of an engine that ended and cannot be started again.
            with_edge: off for what needs only the record and the cache.
            vectors: name and dimension of the model that makes the index's vectors; an index of
                another model is made anew, empty, and filled again from the record.

        Raises:
            FolderInUse: another gateway holds the data folder.
            FolderUnusable: a folder cannot be used; the message says which and why.
            EngineFailed: an engine did not start.
        """
        folder = await asyncio.to_thread(DataFolder.open, data)
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(folder.close)
            keys_folder = KeysFolder.open(keys or places.keys_of(folder.folder_id), folder)
            runtime = _make_runtime(folder, places)
            stack.callback(runtime.remove)
            folder.describe(keys=keys_folder.path, runtime=runtime.path)
            binaries = await asyncio.to_thread(Binaries.find, runtime.account, runtime.path)

            postgres = Postgres(binaries, folder, keys_folder, runtime)
            password = keys_folder.read_or_create("valkey", _new_password).decode()
            valkey, redis_url = valkey_child(binaries, folder, runtime, password)
            edge = _edge_child(folder, runtime, *vectors)
            engines = EmbeddedEngines(
                data=folder,
                keys=keys_folder,
                postgres=postgres,
                redis_url=redis_url,
                edge_socket=edge.socket or Path(),
            )

            async def start_postgres() -> None:
                keeper = Keeper(await postgres.prepare(), on_death=on_death)
                record.push_async_callback(keeper.stop)
                await keeper.start()

            async def start_other(child: Child) -> None:
                keeper = Keeper(child)
                others.push_async_callback(keeper.stop)
                await keeper.start()

            record = await stack.enter_async_context(contextlib.AsyncExitStack())
            others = await stack.enter_async_context(contextlib.AsyncExitStack())
            children = (valkey, edge) if with_edge else (valkey,)
            try:
                async with asyncio.TaskGroup() as starts:
                    starts.create_task(start_postgres())
                    for child in children:
                        starts.create_task(start_other(child))
            except BaseExceptionGroup as failed:
                # One reason is enough; the other starts were given up because of it.
                raise failed.exceptions[0] from failed
            yield engines


def _new_password() -> bytes:
    return secrets.token_urlsafe(32).encode()


def _make_runtime(folder: DataFolder, places: Places) -> RuntimeFolder:
    if folder.left_runtime is not None:
        remove_runtime(folder.left_runtime)
    try:
        return RuntimeFolder(places, engine_account(folder.postgres))
    except LookupError as err:
        raise FolderUnusable(str(err)) from err


def _edge_child(folder: DataFolder, runtime: RuntimeFolder, model: str, dimension: int) -> Child:
    # As the caller, root included: an interpreter under /root could not be started as another
    # account.
    socket = runtime.private("edge", engine=False) / "edge.sock"

    async def ready() -> bool:
        return await accepts(socket)

    return Child(
        name="Qdrant Edge",
        argv=(
            *(sys.executable, "-P", "-m", _EDGE_MODULE, "--socket", str(socket)),
            *("--data", str(folder.edge), "--shards", str(_EDGE_SHARDS)),
            *("--model", model, "--dimension", str(dimension)),
        ),
        cwd=folder.edge,
        log=folder.logs / "edge.log",
        alive=folder.alive,
        # The very packages that the gateway runs, in a checkout that is not installed too.
        environment={"PYTHONPATH": os.pathsep.join(sys.path)},
        ready=ready,
        socket=socket,
    )
