"""Real engines for tests: PostgreSQL 18, Valkey and Qdrant Edge, started once per worker.

Use it from any test, asynchronous or not:

    def test_something(engines: EmbeddedEngines) -> None:
        engines.database_url("memwarden_app")     # postgresql://…, one role; see
        gateway/embedded/roles.py engines.database_url("memwarden_owner")   # the one that migrates
        engines.keystore_url                      # the key store's own database engines.redis_url
        # for redis.asyncio.Redis.from_url engines.edge_socket, engines.keys, engines.data

The engines are shared by all tests of a worker: use fresh tenants and key prefixes, and leave
nothing that disturbs others.
"""

import asyncio
import importlib.util
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.embedded.engines import EmbeddedEngines
from gateway.embedded.places import Places

_LONGEST_START_SECONDS = 60.0


def _has_edge() -> bool:
    try:
        return importlib.util.find_spec("core.adapters.qdrant.edge_child") is not None
    except ModuleNotFoundError:
        return False


class _EngineThread:
    """Holds engines in a thread of their own: they die with the thread that starts them."""

    def __init__(self, folder: Path) -> None:
        self.engines: EmbeddedEngines | None = None
        self._failed: BaseException | None = None
        self._folder = folder
        self._ended: list[str] = []
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="engines", daemon=True)

    def start(self) -> EmbeddedEngines:
        self._thread.start()
        assert self._started.wait(_LONGEST_START_SECONDS), "the engines did not start in time"
        if self._failed is not None:
            raise self._failed
        assert self.engines is not None
        return self.engines

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(_LONGEST_START_SECONDS)
        assert not self._thread.is_alive(), "the engines did not stop in time"
        assert not self._ended, "an engine ended by itself"

    def _run(self) -> None:
        try:
            asyncio.run(self._hold())
        except BaseException as err:  # noqa: BLE001 - told to the thread that waits
            self._failed = err
        finally:
            self._started.set()

    async def _hold(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with EmbeddedEngines.start(
            self._folder / "data",
            self._folder / "keys",
            Places(home=self._folder),
            on_death=self._ended.append,
            with_edge=_has_edge(),
        ) as self.engines:
            self._started.set()
            await self._over.wait()


@pytest.fixture(scope="session")
def engines() -> Iterator[EmbeddedEngines]:
    """Running engines, shared by this worker's tests."""
    folder = Path(tempfile.mkdtemp(prefix="mw-tests-"))
    thread = _EngineThread(folder)
    try:
        yield thread.start()
        thread.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
