"""The checkout as syntax trees, for the tests that read code instead of running it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("core", "gateway")
SCRIPTS = ("benchmarks", "examples")


class Module(NamedTuple):
    """One file: its path from the root with forward slashes, its text and its tree."""

    path: str
    text: str
    tree: ast.Module


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Return every Python file below `folders`, in the order of their paths."""
    return tuple(
        parse(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "node_modules" not in path.parts  # of others, put there by npm
    )


def parse(text: str, path: str = "example.py") -> Module:
    """Return `text` as a module, so that a rule can be shown what it must catch."""
    return Module(path, text, ast.parse(text, filename=path))


def imports(module: Module) -> Iterator[str]:
    """Yield the dotted name of everything imported, at any depth of the file."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(name: str, *folders: str) -> set[str]:
    """Return the paths of the files that import the package `name` or anything in it."""
    return {
        module.path
        for module in modules(*folders)
        if any(each == name or each.startswith(f"{name}.") for each in imports(module))
    }
