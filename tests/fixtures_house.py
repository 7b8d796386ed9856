"""One gateway in this process for all tests of a worker that break nothing others need."""

from collections.abc import Iterator

import pytest

from tests.house import House, open_house


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    with open_house() as opened:
        yield opened
