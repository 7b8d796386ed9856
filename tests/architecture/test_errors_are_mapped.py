"""Every error that crosses a border is in the one tree and has a row in the fronts' table."""

import ast
from collections.abc import Iterator

from core.errors import GatewayError
from gateway.front.errors import ROWS
from tests.architecture.source import SHIPPED, modules


def family(root: type[GatewayError]) -> Iterator[type[GatewayError]]:
    """Yield every class below `root` that the tree in core/errors.py draws."""
    for child in root.__subclasses__():
        if child.__module__ == GatewayError.__module__:
            yield child
            yield from family(child)


def test_every_error_has_a_row():
    assert set(family(GatewayError)) - set(ROWS) == set()


def test_no_row_is_of_a_class_that_is_gone():
    assert set(ROWS) - {GatewayError, *family(GatewayError)} == set()


def test_the_tree_of_errors_is_in_one_module():
    tree = {GatewayError.__name__} | {error.__name__ for error in family(GatewayError)}
    strays = {
        f"{module.path}:{node.name}"
        for module in modules(*SHIPPED)
        if module.path != "core/errors.py"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        if tree & {ast.unparse(base).rpartition(".")[2] for base in node.bases}
    }
    assert strays == set()
