"""One gateway for all black-box tests of a worker."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from tests.live.gateways import Agent, Running, running

_numbers = count(1)


@pytest.fixture(scope="session")
def live() -> Iterator[Running]:
    with running() as gateway:
        yield gateway


@pytest.fixture
def tenant(live: Running) -> Callable[[], Agent]:
    """Make a fresh tenant; returns its administrator."""
    return lambda: live.tenant(f"tenant {next(_numbers)}")


@pytest.fixture
def agent(live: Running, tenant: Callable[[], Agent]) -> Agent:
    """A fresh tenant's agent that acts for one person."""
    return live.agent(tenant(), "alice")
