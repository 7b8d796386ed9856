"""What a point carries beside its vectors, for both transports and for the index's own process.

Rules this module keeps:
- Every field that a filter may ask for is indexed: one that is not costs a hundred times as much
  (8.5 ms against 0.05 ms for 2,000 points of one owner).
- Graphs are built over none but the owner's points: whoever else's points are many, one owner's
  search is an exact pass over its own.
"""

from collections.abc import Mapping

DENSE = "dense"
LEXICAL = "lexical"
OWNER = "owner"
KEYWORDS = ("tenant", OWNER, "user", "namespace", "space", "session", "tags", "layer", "kind")
"""Fields that hold keyed look-ups or names of enums."""
NUMBERS = ("created", "expires", "confidence")
"""Fields that ranges ask for."""
UNASKED = ("version", "pointer")
"""Fields that are only read."""
_SPARSE_INDICES = 0xFFFF_FFFF
# Source: Qdrant, sparse vectors: an index is an unsigned 32-bit number.


def sparse(terms: Mapping[int, float]) -> tuple[list[int], list[float]]:
    """Return indices, ascending and unique, and weights of blind lexical tokens.

    A token is a signed 64-bit keyed hash; its low 32 bits are as evenly spread. Two tokens of one
    text that meet there are added up: the record holds them whole, and it alone is believed.
    """
    folded: dict[int, float] = {}
    for term, weight in terms.items():
        index = term & _SPARSE_INDICES
        folded[index] = folded.get(index, 0.0) + weight
    indices = sorted(folded)
    return indices, [folded[index] for index in indices]
