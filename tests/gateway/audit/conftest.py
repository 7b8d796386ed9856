"""A log in lists, and what seals and verifies it."""

import pytest

from gateway.audit.checkpoint import AnchorFile, CheckpointSigner
from gateway.audit.live import verify_live
from gateway.audit.seal import Sealer
from gateway.audit.writer import Writer
from tests.gateway.audit.log import KEY, SEED, FakeSealStore

SIGNER = CheckpointSigner(SEED)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store():
    return FakeSealStore()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "anchor"


@pytest.fixture
def make(store, clock, path):
    """Make a sealer, as a process does when it starts."""
    return lambda: Sealer(store, KEY, SIGNER, AnchorFile(path), monotonic=clock)


@pytest.fixture
def sealer(make):
    return make()


@pytest.fixture
def writer():
    return Writer(KEY)


@pytest.fixture
def verdict(store, path):
    return lambda: verify_live(store, [SIGNER.public_key], path)
