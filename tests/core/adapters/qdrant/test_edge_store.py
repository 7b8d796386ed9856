"""When the shards on disk are believed, and when they are made anew."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.adapters.qdrant import wire
from core.adapters.qdrant.edge_store import Shards
from core.adapters.qdrant.filters import owned, payload_of
from tests.core.adapters.qdrant.edge_process import folder_in_memory
from tests.core.adapters.qdrant.points import Person

ALICE = Person()
OWNED = owned(ALICE.tenant, ALICE.owner).to_rest()


@pytest.fixture
def folder() -> Iterator[Path]:
    path = folder_in_memory()
    yield path
    shutil.rmtree(path)


def opened(folder: Path, *, dimension: int = 384, model: str = "m", shards: int = 2) -> Shards:
    made = Shards(folder, shards=shards, dimension=dimension, model=model)
    made.open()
    return made


def write(shards: Shards) -> None:
    point = ALICE.point()
    packed = {
        "id": str(point.id),
        "vector": wire.pack_vector(point.vector),
        "terms": [[7], [1.0]],
        "payload": payload_of(ALICE.tenant, point),
    }
    shards.upsert(OWNED, [packed])


def change_state(**changes: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / "state.json"
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}), encoding="utf-8")

    return spoil


def cut_a_segment(folder: Path) -> None:
    for path in folder.glob("shard-*/segments/*/segment.json"):
        path.write_bytes(path.read_bytes()[:7])


def garble_the_log(folder: Path) -> None:
    for path in folder.glob("shard-*/wal/*"):
        path.write_bytes(b"\xa5" * path.stat().st_size)


SPOILED = {
    "nothing": (lambda folder: None, ""),
    "a segment cut": (cut_a_segment, "does not load"),
    "the log garbled": (garble_the_log, "does not load"),
    "a shard lost": (lambda folder: shutil.rmtree(folder / "shard-1"), "does not load"),
    "the state lost": (lambda folder: (folder / "state.json").unlink(), "new"),
    "the state garbled": (lambda folder: (folder / "state.json").write_bytes(b"["), "unreadable"),
    "the state no object": (lambda folder: (folder / "state.json").write_bytes(b"1"), "unreadable"),
    "died while loading": (change_state(phase="loading"), "did not finish loading"),
    "power lost": (
        change_state(phase="open", boot="another run of the machine"),
        "open when the machine stopped",
    ),
    "killed": (change_state(phase="open"), ""),
    "rebooted after an orderly end": (change_state(boot="another run of the machine"), ""),
    "an older format": (change_state(format="0"), "another model or layout"),
}


@pytest.mark.parametrize(("spoil", "reason"), SPOILED.values(), ids=SPOILED)
def test_a_doubtful_folder_is_made_anew_and_says_so(folder, spoil, reason):
    first = opened(folder)
    write(first)
    first.close()
    spoil(folder)
    again = opened(folder)
    assert again.made_anew.startswith(reason)
    assert bool(again.made_anew) is bool(reason)
    assert again.points() == (0 if reason else 1)
    write(again)
    assert again.count(OWNED) == (1 if reason else 2)
    again.close()
    third = opened(folder)
    assert third.made_anew == ""
    third.close()


@pytest.mark.parametrize("layout", [{"dimension": 8}, {"model": "another"}, {"shards": 3}], ids=str)
def test_another_model_dimension_or_number_of_shards_makes_it_anew(folder, layout):
    first = opened(folder)
    write(first)
    first.close()
    again = opened(folder, **layout)
    assert (again.made_anew, again.points()) == ("another model or layout", 0)
    again.close()


def test_updates_are_flushed_once(folder):
    shards = opened(folder)
    assert shards.dirty == 0
    write(shards)
    assert shards.dirty == 1
    shards.flush()
    assert shards.dirty == 0
    shards.close()
