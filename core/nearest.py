"""Dense search of what no index may have: vectors of sensitive memories, opened and compared here.

Rules this module keeps:
- The record named them under the Scope, for the person's own alone; it confirms them afterwards
  like whatever else is proposed.
- They are opened beside the event loop, a few at a time, and for no longer than the recall has:
  what was compared by then counts.
- What does not open is named, and proposes nothing.

Source: requirement E11.
"""

import asyncio
import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.errors import Tampered
from core.ids import MemoryId
from core.ports import OwnerKeys, Place, SealedVectors, Vector

AT_ONCE = 128
"""So many are opened before the event loop is asked whether there is time for more."""


@dataclass(slots=True)
class Compared:
    """What was compared so far.

    Args:
        cosines: of the chunk nearest to the query, by memory.
        damaged: memories of which a vector did not open, or was none.
    """

    cosines: dict[MemoryId, float] = field(default_factory=dict)
    damaged: list[MemoryId] = field(default_factory=list)

    def nearest(self, limit: int, also: Collection[MemoryId]) -> dict[MemoryId, float]:
        """Return the `limit` largest cosines, and those of `also` that were compared."""
        largest = heapq.nlargest(limit, self.cosines.items(), key=lambda pair: pair[1])
        others = {one: self.cosines[one] for one in also if one in self.cosines}
        return {**dict(largest), **others}


async def compare(
    vector: Vector, kept: Sequence[SealedVectors], keys: OwnerKeys, into: Compared
) -> None:
    """Fill `into` with the cosine of each of `kept` to `vector`; may be cancelled at any time.

    Args:
        vector: the query's, shape (dimension,), not rotated.
        keys: of the owner of all of them.
    """
    length = float(np.linalg.norm(vector))
    if not length:
        return
    question = np.asarray(vector, dtype=np.float32) / length
    for begin in range(0, len(kept), AT_ONCE):
        part = kept[begin : begin + AT_ONCE]
        found = await asyncio.to_thread(_compared, question, part, keys)
        into.cosines.update(found.cosines)
        into.damaged.extend(found.damaged)


def _compared(question: Vector, kept: Sequence[SealedVectors], keys: OwnerKeys) -> Compared:
    found = Compared()
    for one in kept:
        try:
            cosines = [
                _cosine(question, _opened(one, chunk, keys)) for chunk in range(len(one.vectors))
            ]
        except (Tampered, ValueError):  # a length that is no vector's is a fault as well
            found.damaged.append(one.memory)
        else:
            found.cosines[one.memory] = max(cosines)
    return found


def _opened(one: SealedVectors, chunk: int, keys: OwnerKeys) -> Vector:
    place = Place(
        record=one.memory, version=one.version, field=f"vector.{chunk}", namespace=one.namespace
    )
    return np.frombuffer(keys.open(place, one.vectors[chunk]), dtype="<f4")


def _cosine(question: Vector, passage: Vector) -> float:
    length = float(np.linalg.norm(passage))
    return float(question @ passage) / length if length else 0.0
