"""The embedded index's shards on disk: opened, made anew when they cannot be trusted, and tended.

Rules this module keeps:
- The index can be rebuilt from the record at any time, so whatever is doubtful is thrown away and
  made anew, empty, and says so: another model or dimension, a folder that does not load, one whose
  last load did not end, or one that was open when the machine went down.
- Updates go to Edge's own log at once and survive the death of the process (`kill -9`). They
  survive a power cut only once flushed, and a flush holds the interpreter (10 ms at 10,000 points
  of a shard, 0.2 to 0.4 s at 100,000); so it is rare, and a folder that was not closed by the time
  the machine started again (its boot id differs) counts as doubtful.
- Search is exact: no graph is built. Building one holds the interpreter for a minute at 40,000
  points of one owner, while an exact pass over them takes some 15 ms; what `compact` does is drop
  deleted points.
- A point of one owner never replaces one of another, whatever its id.
"""

import contextlib
import json
import os
import shutil
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import qdrant_edge as qe

from core.adapters.qdrant import fields
from core.adapters.qdrant.edge_filters import owned_by, point_ids, to_edge
from core.adapters.qdrant.wire import MAX_LIMIT, MAX_POINTS, Malformed, finite, unpack_vector

_FORMAT = 1
_STATE = "state.json"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_LARGEST_TERMS = 4096
_DELETED_SHARE = 0.2
_FEWEST_TO_COMPACT = 1000


@dataclass(slots=True)
class _Shard:
    """One of Edge's shards and what has changed in it since it was last tended."""

    edge: qe.EdgeShard
    dirty: int = 0
    removed: int = 0


class Shards:
    """A small fixed number of Edge shards in one folder; not safe for threads.

    Args:
        folder: belongs to this process alone; the caller holds its lock.
        shards: how many; each costs a thread and some 70 MB of files.
        dimension, model: of the vectors; others than those stored make the index anew.
    """

    def __init__(self, folder: Path, *, shards: int, dimension: int, model: str) -> None:
        self._folder = folder
        self.dimension = dimension
        self._count = shards
        self._layout = {
            "format": _FORMAT,
            "shards": shards,
            "dimension": dimension,
            "model": model,
        }
        self._shards: list[_Shard] = []
        self.made_anew = ""
        """Why the index was made anew when it was opened; blank when it was not."""

    def open(self) -> None:
        """Load the shards, or make them anew, empty."""
        self.made_anew = self._doubt()
        if not self.made_anew:
            self._mark("loading")
            try:
                self._shards = [
                    _Shard(qe.EdgeShard.load(str(path), self._config())) for path in self._paths()
                ]
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as err:  # noqa: BLE001 - the driver panics outside Exception
                self.made_anew = f"does not load ({type(err).__name__})"
        if self.made_anew:
            self._make_anew()
        self._mark("open")

    def close(self) -> None:
        """Flush, close and say that all is on disk."""
        self.flush()
        for shard in self._shards:
            shard.edge.close()
        self._mark("closed")

    def points(self) -> int:
        """Return how many points there are in all."""
        return sum(shard.edge.info().points_count for shard in self._shards)

    @property
    def dirty(self) -> int:
        """How many updates have not been flushed."""
        return sum(shard.dirty for shard in self._shards)

    def upsert(self, where: object, points: object) -> None:
        """Write points of the owner that `where` names. Raises: Malformed (nothing is written)."""
        tenant, owner = owned_by(where)
        if not isinstance(points, list) or len(points) > MAX_POINTS:
            raise Malformed
        made = [self._point(point, tenant, owner) for point in points]
        if made:
            shard = self._of(tenant)
            shard.edge.update(qe.UpdateOperation.upsert_points(made, condition=to_edge(where)))
            shard.dirty += len(made)

    def remove(self, where: object) -> int:
        """Remove what matches; returns how many points that was. Raises: Malformed."""
        shard, chosen = self._of(owned_by(where)[0]), to_edge(where)
        found = shard.edge.count(qe.CountRequest(exact=True, filter=chosen))
        if found:
            shard.edge.update(qe.UpdateOperation.delete_points_by_filter(chosen))
            shard.dirty += found
            shard.removed += found
        return found

    def count(self, where: object) -> int:
        """Return how many points match. Raises: Malformed."""
        shard = self._of(owned_by(where)[0])
        return shard.edge.count(qe.CountRequest(exact=True, filter=to_edge(where)))

    def search(
        self, where: object, vector: object, limit: object, also: object
    ) -> list[tuple[str, str, float]]:
        """Return (id, pointer, cosine) of the nearest `limit` that match, best first.

        Each of the ids in `also` that matches is among them, however far. Raises: Malformed.
        """
        if type(limit) is not int or not 0 < limit <= MAX_LIMIT:
            raise Malformed
        nearest = qe.Query.Nearest(unpack_vector(vector, self.dimension), using=fields.DENSE)
        asked = [(limit, to_edge(where))]
        if others := point_ids(also):
            named = qe.Filter(must=[to_edge(where), qe.HasIdCondition(set(others))])
            asked.append((len(others), named))
        batch = qe.QueryBatchRequest(
            [
                qe.QueryRequest(
                    limit=most,
                    query=nearest,
                    filter=chosen,
                    with_payload=["pointer"],
                    params=qe.SearchParams(exact=True),
                )
                for most, chosen in asked
            ]
        )
        found = self._of(owned_by(where)[0]).edge.query_batch(batch)
        hits = {hit.id: hit for hits in found for hit in hits}
        best = sorted(hits.values(), key=lambda hit: -hit.score)
        return [(str(hit.id), (hit.payload or {})["pointer"], hit.score) for hit in best]

    def flush(self) -> None:
        """Bring every update to the disk. Holds the interpreter, see the rules above."""
        for shard in self._shards:
            if shard.dirty:
                shard.edge.flush()
                shard.dirty = 0

    def compact(self, *, at_least: int = _FEWEST_TO_COMPACT) -> bool:
        """Drop deleted points of the first shard that has enough of them; True when one was done.

        Holds the interpreter: 0.6 s for 50,000 points left of 100,000. Does nothing, in 0.1 ms,
        where Edge sees less than a fifth deleted.
        """
        for shard in self._shards:
            left = shard.edge.info().points_count
            if shard.removed >= max(at_least, _DELETED_SHARE * (left + shard.removed)):
                shard.edge.optimize()
                shard.removed = 0
                return True
        return False

    def _of(self, tenant: str) -> _Shard:
        # crc32 is the same in every process and release; nothing secret hangs on it.
        return self._shards[zlib.crc32(tenant.encode()) % len(self._shards)]

    def _point(self, given: object, tenant: str, owner: str) -> qe.Point:
        if not isinstance(given, dict) or set(given) != {"id", "vector", "terms", "payload"}:
            raise Malformed
        payload, terms = given["payload"], given["terms"]
        if not isinstance(payload, dict) or not isinstance(terms, list):
            raise Malformed
        if payload.get("tenant") != tenant or payload.get("owner") != owner:
            raise Malformed
        (id_,) = point_ids([given["id"]])
        vectors: dict[str, Any] = {fields.DENSE: unpack_vector(given["vector"], self.dimension)}
        if terms:
            vectors[fields.LEXICAL] = _sparse(terms)
        return qe.Point(id=id_, vector=vectors, payload=payload)

    def _paths(self) -> list[Path]:
        return [self._folder / f"shard-{n}" for n in range(self._count)]

    def _config(self) -> qe.EdgeConfig:
        return qe.EdgeConfig(
            vectors={
                fields.DENSE: qe.EdgeVectorParams(
                    size=self.dimension, distance=qe.Distance.Cosine, memory=qe.Memory.Cached
                )
            },
            # No modifier: Edge would count every tenant's texts into one owner's scores.
            sparse_vectors={fields.LEXICAL: qe.EdgeSparseVectorParams(memory=qe.Memory.Cached)},
            hnsw_config=qe.HnswIndexConfig(
                m=0, ef_construct=100, full_scan_threshold=10_000, payload_m=0
            ),
            optimizers=qe.EdgeOptimizersConfig(
                indexing_threshold=0,
                default_segment_number=1,
                deleted_threshold=_DELETED_SHARE,
                vacuum_min_vector_number=_FEWEST_TO_COMPACT,
            ),
            max_search_threads=1,
            payload_memory=qe.Memory.Cached,
        )

    def _doubt(self) -> str:
        """Return why what lies in the folder cannot be used; blank when it can."""
        try:
            state = json.loads((self._folder / _STATE).read_bytes())
        except FileNotFoundError:
            return "new"
        except (OSError, ValueError):
            state = None
        doubt = ""
        if not isinstance(state, dict):
            doubt = "unreadable"
        elif {name: state.get(name) for name in self._layout} != self._layout:
            doubt = "another model or layout"
        elif state.get("phase") not in ("open", "closed"):
            doubt = "did not finish loading"
        elif state["phase"] == "open" and (not _boot_id() or state.get("boot") != _boot_id()):
            doubt = "open when the machine stopped"
        return doubt

    def _make_anew(self) -> None:
        for shard in self._shards:
            with contextlib.suppress(Exception):
                shard.edge.close()
        for path in self._folder.glob("shard-*"):
            shutil.rmtree(path)
        self._mark("loading")
        self._shards = [
            _Shard(qe.EdgeShard.create(str(path), self._config())) for path in self._paths()
        ]
        for shard in self._shards:
            for name in fields.KEYWORDS:
                params = qe.KeywordIndexParams(is_tenant=name == fields.OWNER, enable_hnsw=False)
                shard.edge.update(qe.UpdateOperation.create_field_index(name, params))
            for name in fields.NUMBERS:
                numbers = qe.FloatIndexParams(enable_hnsw=False)
                shard.edge.update(qe.UpdateOperation.create_field_index(name, numbers))

    def _mark(self, phase: str) -> None:
        """Write, whole or not at all, how the folder stands."""
        body = json.dumps({**self._layout, "phase": phase, "boot": _boot_id()}).encode()
        fresh = self._folder / f"{_STATE}.new"
        with fresh.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._folder / _STATE)


def _sparse(terms: list[object]) -> qe.SparseVector:
    """Return [indices, weights] as Edge's sparse vector. Raises: Malformed."""
    if len(terms) != 2:  # noqa: PLR2004 - indices and weights
        raise Malformed
    indices, weights = terms
    if not isinstance(indices, list) or not isinstance(weights, list):
        raise Malformed
    if not len(indices) == len(weights) == len(set(indices)) <= _LARGEST_TERMS:
        raise Malformed
    if not all(type(index) is int and 0 <= index < 1 << 32 for index in indices):
        raise Malformed
    return qe.SparseVector(indices, [finite(weight) for weight in weights])


def _boot_id() -> str:
    """Return the id of this run of the machine, or nothing where the system gives none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""
