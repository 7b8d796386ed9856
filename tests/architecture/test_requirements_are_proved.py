"""A promise without a test, and a test for no promise, both fail."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, modules, parse
from tests.requirements import REQUIREMENTS


def claims(module: Module) -> Iterator[str]:
    """Yield the ids that the tests of `module` say they prove; "?" where one is not literal."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.requirement"):
            for argument in node.args:
                value = argument.value if isinstance(argument, ast.Constant) else None
                yield value if isinstance(value, str) else "?"


def claimed() -> dict[str, set[str]]:
    """Return id -> files, over every file that pytest collects."""
    found: dict[str, set[str]] = {}
    for module in modules("tests"):
        if module.path.rpartition("/")[2].startswith("test_"):
            for claim in claims(module):
                found.setdefault(claim, set()).add(module.path)
    return found


def test_every_marker_names_a_promise():
    assert {claim: files for claim, files in claimed().items() if claim not in REQUIREMENTS} == {}


def test_every_promise_has_a_test():
    assert set(REQUIREMENTS) - set(claimed()) == set()


@pytest.mark.parametrize("promise", REQUIREMENTS.values(), ids=REQUIREMENTS)
def test_a_promise_is_a_sentence_with_a_source(promise):
    assert promise.sentence.endswith(".")
    assert promise.source


def test_markers_of_functions_modules_and_cases_are_read():
    module = parse(
        "pytestmark = pytest.mark.requirement('C1')\n"
        "@pytest.mark.requirement('C2', 'C3')\n"
        "def test_it(): ...\n"
        "CASES = [pytest.param(1, marks=pytest.mark.requirement(name))]\n"
    )
    assert sorted(claims(module)) == ["?", "C1", "C2", "C3"]
