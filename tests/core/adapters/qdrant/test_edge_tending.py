"""When the index's process flushes and compacts: while nobody asks, or when it must."""

import time

import pytest

from core.adapters.qdrant.edge_child import Service


class Shards:
    """Counts what it is told to do."""

    def __init__(self) -> None:
        self.dirty = 1
        self.flushed = self.compacted = 0

    def flush(self) -> None:
        self.flushed += 1

    def compact(self) -> bool:
        self.compacted += 1
        return True

    def count(self, _: object) -> int:
        return 0

    def points(self) -> int:
        return 0

    made_anew = ""


@pytest.fixture
def shards():
    return Shards()


@pytest.fixture
def service(shards):
    return Service(shards)


@pytest.mark.parametrize(
    ("quiet", "flushed", "compacted"), [(0.1, 0, 0), (29, 0, 0), (31, 1, 0), (61, 1, 1)]
)
def test_it_waits_until_nobody_has_asked_for_a_while(service, shards, quiet, flushed, compacted):
    service.answer({"op": "count", "filter": {}})
    service._tend_once(time.monotonic() + quiet)
    assert (shards.flushed, shards.compacted) == (flushed, compacted)


def test_very_many_updates_are_flushed_even_when_busy(service, shards):
    shards.dirty = 20_001
    service._tend_once(time.monotonic())
    assert (shards.flushed, shards.compacted) == (1, 0)


def test_a_process_that_is_never_quiet_compacts_in_a_pause_after_an_hour(service, shards):
    start = time.monotonic()
    service._last_request = start + 3601
    service._tend_once(start + 3601.1)
    assert shards.compacted == 0
    service._tend_once(start + 3601.3)
    assert shards.compacted == 1
    service._last_request = start + 3602
    service._tend_once(start + 3602.3)
    assert shards.compacted == 1


@pytest.mark.parametrize("probe", ["ping", "info"])
def test_a_probe_does_not_count_as_somebody_who_asks(service, shards, probe):
    service._last_request -= 100
    service.answer({"op": probe})
    service._tend_once(time.monotonic())
    assert shards.flushed == 1
