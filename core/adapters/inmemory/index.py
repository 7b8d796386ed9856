"""A fake of the index: an exact search in memory over the very filters that the real ones get.

Rules this module keeps:
- It evaluates the JSON that `core.adapters.qdrant.filters` builds, not the `Reach` itself, so that
  a mistake in the builder shows here as well.
- A condition it does not know is an error, never a pass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from core.adapters.qdrant.filters import OwnedFilter, owned, payload_of, within
from core.adapters.qdrant.wire import MAX_IDS, MAX_LIMIT
from core.errors import Invalid
from core.model import Json
from core.ports import IndexHit, Point, Reach, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    vector: Vector = field(repr=False)
    payload: Mapping[str, Json] = field(repr=False)


class InMemoryIndex:
    """`core.ports.Index` in a dict."""

    def __init__(self, dimension: int = 384) -> None:
        self._dimension = dimension
        self._points: dict[UUID, _Stored] = {}

    async def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        """Write points of one tenant; a point of another owner is never replaced."""
        made = [
            (point.id, _Stored(vector=self._unit(point.vector), payload=payload_of(tenant, point)))
            for point in points
        ]
        for id_, stored in made:
            mine = owned(tenant, stored.payload["owner"])
            if id_ not in self._points or self._matches(mine, id_):
                self._points[id_] = stored

    async def remove(self, tenant: str, owner: str, ids: Sequence[UUID]) -> None:
        """Remove those of `ids` that are this owner's."""
        for id_ in self._chosen(owned(tenant, owner).among(ids)):
            del self._points[id_]

    async def search(
        self, reach: Reach, *, limit: int, also: Sequence[UUID] = ()
    ) -> list[IndexHit]:
        """Return the nearest `limit` within `reach`, and those of `also` within it, best first."""
        if not 0 < limit <= MAX_LIMIT or len(also) > MAX_IDS:
            raise Invalid("A search asks for too many points, or for none.")
        query, seen = self._unit(reach.vector), within(reach)
        hits = [
            IndexHit(
                id=id_,
                pointer=self._points[id_].payload["pointer"],
                score=float(self._points[id_].vector @ query),
            )
            for id_ in self._chosen(seen)
        ]
        hits.sort(key=lambda hit: -hit.score)
        others = set(self._chosen(seen.among(also)))
        return hits[:limit] + [hit for hit in hits[limit:] if hit.id in others]

    async def count(self, tenant: str, owner: str) -> int:
        """Return how many points one owner has."""
        return len(self._chosen(owned(tenant, owner)))

    async def empty(self) -> bool:
        """Return True when the index holds no point at all."""
        return not self._points

    async def ready(self) -> bool:
        """Return True."""
        return True

    def _unit(self, vector: Vector) -> Vector:
        if vector.shape != (self._dimension,) or not np.isfinite(vector).all():
            raise Invalid("A vector of the index has another dimension, or is not finite.")
        length = float(np.linalg.norm(vector))
        return (vector / length if length else vector).astype(np.float32)

    def _chosen(self, where: OwnedFilter) -> list[UUID]:
        return [id_ for id_ in self._points if self._matches(where, id_)]

    def _matches(self, where: OwnedFilter, id_: UUID) -> bool:
        return passes(where.to_rest(), id_, self._points[id_].payload)


def passes(condition: Mapping[str, Json], id_: UUID, payload: Mapping[str, Json]) -> bool:
    """Tell whether a point passes one condition, or one filter, of Qdrant's REST JSON.

    Raises: NotImplementedError (a condition that our filters never build).
    """
    parts = set(condition)
    if parts == {"must"}:
        return all(passes(part, id_, payload) for part in condition["must"])
    if parts == {"should"}:
        return any(passes(part, id_, payload) for part in condition["should"])
    if parts == {"has_id"}:
        return str(id_) in condition["has_id"]
    value = payload.get(condition.get("key", ""))
    values = value if isinstance(value, list) else [value]
    if parts == {"key", "match"} and set(condition["match"]) == {"value"}:
        return condition["match"]["value"] in values
    if parts == {"key", "match"} and set(condition["match"]) == {"any"}:
        return bool(set(values) & set(condition["match"]["any"]))
    if parts == {"key", "range"}:
        return any(_inside(number, condition["range"]) for number in values)
    raise NotImplementedError


def _inside(number: Json, bounds: Mapping[str, float]) -> bool:
    tests = {
        "gt": lambda at: number > at,
        "gte": lambda at: number >= at,
        "lt": lambda at: number < at,
        "lte": lambda at: number <= at,
    }
    return isinstance(number, int | float) and all(tests[side](at) for side, at in bounds.items())
