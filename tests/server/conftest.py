"""One fleet for all tests of a worker that need several gateways."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from tests.live.gateways import Agent
from tests.server.fleet import Fleet, run_fleet

_numbers = count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have one worker run everything that needs the fleet: it is started once."""
    for item in items:
        if "fleet" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("fleet"))


@pytest.fixture(scope="session")
def fleet() -> Iterator[Fleet]:
    """Three gateways and a worker on one database, one cache and one index."""
    with run_fleet() as running:
        yield running


@pytest.fixture
def tenant(fleet: Fleet) -> Callable[[], Agent]:
    """Make a fresh tenant; returns its administrator, at the first gateway."""
    return lambda: fleet.tenant(f"tenant {next(_numbers)}")
