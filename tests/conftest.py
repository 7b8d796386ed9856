"""How the suite is collected, and what a missing tool means.

Rules this module keeps:
- Where CI is set, a skip is a failure: a test that did not run proves nothing. The one exception
  says so in its reason, which then starts with "optional:" (a Qdrant server at QDRANT_URL).
- Hypothesis replays from the seed it prints and judges no example by the clock of a shared machine.
"""

import os
import re
import shutil
from collections.abc import Callable, Generator

import pytest
from hypothesis import settings

pytest_plugins = [
    "tests.fixtures_engines",
    "tests.fixtures_house",
    "tests.fixtures_identity",
    "tests.fixtures_record",
]

IN_CI = bool(os.environ.get("CI"))  # noqa: TID251 - the test run's own switch, no setting of ours
OPTIONAL = "optional:"
SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin"

settings.register_profile("memwarden", deadline=None, print_blob=True)
settings.load_profile("memwarden")


def skip_is_failure(reason: object, *, in_ci: bool) -> bool:
    """Tell whether a skip for `reason` must fail the run."""
    return in_ci and not str(reason).removeprefix("Skipped: ").startswith(OPTIONAL)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> object:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr


EARLY = ("tests/gateway/audit/", "tests/live/", "tests/stateful/", "tests/server/")
"""What reads the whole log of the house that all share, and what takes longest in one piece: begun
last, the one finds a long log, and the other leaves every other worker idle at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest; the rest keeps its order."""
    items.sort(key=lambda item: not item.nodeid.startswith(EARLY))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    expected = hasattr(report, "wasxfail")
    if report.skipped and not expected and skip_is_failure(_reason(report), in_ci=IN_CI):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if report.skipped and skip_is_failure(_reason(report), in_ci=IN_CI):
        report.outcome = "failed"
        report.longrepr = f"a module skipped where nothing may be: {_reason(report)}"
    return report


@pytest.fixture(scope="session")
def tool() -> Callable[[str], str]:
    """Find a program of the system: its path; the test is skipped (in CI: fails) without it."""

    def find(name: str) -> str:
        path = shutil.which(name) or shutil.which(name, path=SYSTEM_PATH)
        if path is None:
            pytest.skip(f"{name} is not installed; `make system-tools` installs it as root")
        return path

    return find


_RANDOM_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a case alike in every worker: two workers that name it differently run nothing."""
    if isinstance(val, str) and _RANDOM_ID.search(val):
        return _RANDOM_ID.sub("id", val)
    return None
