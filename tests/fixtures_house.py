"""Gateways in this process for all tests of a worker that break nothing others need."""

from collections.abc import Iterator

import pytest

from tests.house import House, open_house
from tests.pseudonyms import POLICY


@pytest.fixture(scope="session")
def house() -> Iterator[House]:
    with open_house() as opened:
        yield opened


@pytest.fixture(scope="session")
def hiding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A gateway whose policy asks for pseudonyms."""
    policy = tmp_path_factory.mktemp("policies") / "pii.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    with open_house(pii_policy=policy) as opened:
        yield opened
