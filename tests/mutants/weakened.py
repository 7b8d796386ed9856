"""A pytest plugin: runs each test once for each policy of row-level security, with that one open.

Rules this module keeps:
- The engines start once: a policy is opened by one statement, and put back by the next test's.
- Once a test has failed for a policy, the others of that policy are left out.
"""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from tests.mutants.removed import Policy, policies

_noticed: set[str] = set()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep of each policy the tests that are about its role."""
    items[:] = [item for item in items if _watches(item)]


def _watches(item: pytest.Item) -> bool:
    policy: Policy = item.callspec.params["weakened"]  # type: ignore[attr-defined]
    return item.nodeid.startswith(policy.tests)


@pytest.fixture(autouse=True, params=policies(), ids=lambda policy: policy.name)
def weakened(request: pytest.FixtureRequest, database: Callable[[str], str]) -> Iterator[None]:
    """Open one policy for the length of a test."""
    policy: Policy = request.param
    if policy.name in _noticed:
        pytest.skip("noticed already")
    failed = request.session.testsfailed
    with psycopg.connect(database("memwarden_owner"), autocommit=True) as owner:
        (before,) = owner.execute(
            "SELECT format('ALTER POLICY %%I ON %%I', policyname, tablename)"
            " || coalesce(' USING (' || qual || ')', '')"
            " || coalesce(' WITH CHECK (' || with_check || ')', '')"
            "  FROM pg_policies WHERE tablename || '-' || policyname = %s",
            [policy.name],
        ).fetchall()
        owner.execute(policy.weakened)
        try:
            yield
        finally:
            owner.execute(str(before[0]))
    if request.session.testsfailed > failed:
        _noticed.add(policy.name)
