"""The shape that keeps files readable: their size, their names, their suppressions."""

import re

import pytest

from tests.architecture.source import SCRIPTS, SHIPPED, modules

LINES = 500  # past this there are two stories in the file
DRAWERS = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})
SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore)(?P<rest>.*)$")
REASONED = re.compile(r"^(?:\[[\w, -]+\]|:\s*[A-Z0-9, ]+?)\s*(?:#|[-\N{EN DASH}])\s*\S+")
EVERYWHERE = (*SHIPPED, *SCRIPTS, "tests")


def test_no_file_is_over_five_hundred_lines():
    long = {m.path: m.text.count("\n") for m in modules(*EVERYWHERE) if m.text.count("\n") > LINES}
    assert long == {}


def test_no_drawer_without_a_name():
    parts = {m.path: set(m.path.removesuffix(".py").split("/")) for m in modules(*EVERYWHERE)}
    assert [path for path, names in parts.items() if names & DRAWERS] == []


def unreasoned(text: str) -> list[int]:
    """Return the lines of `text` that silence a check without saying why.

    The reason stands behind the suppression, or in a comment above it or above a run of them.
    """
    bare, above = [], ""
    for number, line in enumerate(text.splitlines(), start=1):
        found = SUPPRESSION.search(line)
        if not found:
            above = line.lstrip()
        elif not REASONED.match(found["rest"]) and not above.startswith("# "):
            bare.append(number)
    return bare


def test_every_suppression_gives_its_reason():
    found = {m.path: lines for m in modules(*SHIPPED, *SCRIPTS) if (lines := unreasoned(m.text))}
    assert found == {}


@pytest.mark.parametrize(
    ("line", "silent"),
    [
        ("x = 1  # noqa", True),
        ("x = 1  # noqa: E501", True),
        ("x = 1  # type: ignore[arg-type]", True),
        ("# The stub is older.\nx = 1  # type: ignore[arg-type]", False),
        ("x = 1  # noqa: S608, E501 - built from the catalogue", False),
        ("x = 1  # type: ignore[arg-type]  # the stub is older than the library", False),
    ],
)
def test_a_bare_suppression_is_seen(line, silent):
    assert bool(unreasoned(line)) is silent
