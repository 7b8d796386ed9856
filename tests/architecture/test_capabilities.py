"""Who may make the two values that open a store: a Scope, and a Guarded draft."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import SCRIPTS, SHIPPED, Module, modules, parse

SCOPES = frozenset({"Scope", "TenantScope", "OperatorScope"})
GUARDED = frozenset({"Guarded", "GuardedChange", "GuardedQuery"})
ASKS_ONLY = frozenset({"isinstance", "issubclass", "cast", "assert_type"})


def makes(module: Module, names: frozenset[str]) -> Iterator[int]:
    """Yield the lines that make one of `names`, or hide that they do.

    Caught: calling the class or one of its constructors, handing it to anything that could call it
    (`partial`, `map`, `object.__new__`), another name for it, and looking it up by text.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            made = _named(node.func, names) or (
                isinstance(node.func, ast.Attribute) and _named(node.func.value, names)
            )
            asks = isinstance(node.func, ast.Name) and node.func.id in ASKS_ONLY
            handed = not asks and any(_named(argument, names) for argument in _arguments(node))
            if made or handed:
                yield node.lineno
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("core"):
            if any(alias.name in names and alias.asname for alias in node.names):
                yield node.lineno
        elif isinstance(node, ast.Assign) and _named(node.value, names):
            yield node.lineno


def _named(node: ast.expr, names: frozenset[str]) -> bool:
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", None)
    text = node.value if isinstance(node, ast.Constant) else None
    return name in names or (isinstance(text, str) and text in names)


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


@pytest.mark.requirement("C1")
def test_only_the_enforcer_mints_a_scope():
    found = {m.path for m in modules(*SHIPPED, *SCRIPTS) if list(makes(m, SCOPES))}
    assert found == {"gateway/access/enforcer.py"}


@pytest.mark.requirement("C1")
def test_only_the_guard_makes_what_the_engine_accepts():
    found = {m.path for m in modules(*SHIPPED, *SCRIPTS) if list(makes(m, GUARDED))}
    assert found
    assert {path for path in found if not path.startswith("gateway/guard/")} == set()


@pytest.mark.parametrize(
    "text",
    [
        "Scope(tenant=t)",
        "scope.Scope(tenant=t)",
        "Scope.of(t)",
        "object.__new__(Scope)",
        "partial(Scope, tenant=t)",
        "make(kind=TenantScope)",
        "Free = OperatorScope",
        "from core.scope import Scope as Free",
        "getattr(scope, 'Scope')(tenant=t)",
    ],
)
def test_every_way_to_mint_is_seen(text):
    assert list(makes(parse(text), SCOPES)) == [1]


@pytest.mark.parametrize(
    "text",
    [
        "def read(scope: Scope) -> TenantScope: ...",
        "isinstance(scope, Scope)",
        "async def view(scope: 'Scope'): ...",
        "AnyScope = Scope | TenantScope",
        "from starlette.types import Scope as AsgiScope",
    ],
)
def test_naming_a_scope_is_not_minting_one(text):
    assert list(makes(parse(text), SCOPES)) == []
