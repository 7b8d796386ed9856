"""The real index process for tests, in a short private folder."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

LONGEST_START_SECONDS = 60.0


def folder_in_memory() -> Path:
    """Return a new private folder, in memory where the system has one.

    What is tested is what the process does, not how long this machine's disk takes to agree.
    """
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="mw-", dir=memory if memory.is_dir() else None))


class EdgeProcess:
    """Starts, kills and starts again `core.adapters.qdrant.edge_child` over one folder."""

    def __init__(self, *, dimension: int = 384, model: str = "m") -> None:
        self.folder = folder_in_memory()
        self.data = self.folder / "data"
        self.socket = self.folder / "s"
        self.dimension = dimension
        self.model = model
        self._process: subprocess.Popen[bytes] | None = None
        self.said = b""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> Self:
        """Start it and wait until it takes connections."""
        self._process = self.spawn()
        deadline = time.monotonic() + LONGEST_START_SECONDS
        while not self._serves():
            assert self._process.poll() is None, "the index process ended while it started"
            assert time.monotonic() < deadline, "the index process did not start"
            time.sleep(0.005)
        return self

    def _serves(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start one more process over the same folder."""
        names = {
            "--socket": self.socket,
            "--data": self.data,
            "--dimension": self.dimension,
            "--model": self.model,
        }
        arguments = [str(part) for pair in names.items() for part in pair]
        module = "core.adapters.qdrant.edge_child"
        return subprocess.Popen([sys.executable, "-m", module, *arguments], stderr=subprocess.PIPE)

    def stop(self) -> int:
        """End it in order; returns its exit code."""
        return self._end(lambda process: process.terminate())

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self._end(lambda process: process.kill())
        self.socket.unlink(missing_ok=True)

    def _end(self, how) -> int:
        if self._process is None:
            return 0
        how(self._process)
        _, self.said = self._process.communicate(timeout=LONGEST_START_SECONDS)
        code, self._process = self._process.returncode, None
        return code
