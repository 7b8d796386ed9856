"""Candidates and now -> order. Pure.

Rules this module keeps:
- Fusion decides who is looked at, the score decides who is first; the score is absolute, so that
  the best of bad candidates stays low and `min_score` means the same for every query.
- Decay counts from the last use, or else from creation; never from when a thing happened.

Scores: `relevance x (0.5 + 0.5 confidence) x decay + importance and frequency terms`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.ids import MemoryId
from core.model import Persistence, Row
from core.ports import Proposal

HALF_LIFE_DAYS: Mapping[Persistence, float] = {
    Persistence.VOLATILE: 7.0,
    Persistence.DURABLE: 30.0,
    Persistence.PERMANENT: math.inf,
}
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each path and each signal counts.

    Args:
        rrf_k: damping of reciprocal-rank fusion (Cormack et al., SIGIR 2009, use 60).
        dense, lexical, recency: weights of the paths in the fusion.
        dense_evidence, lexical_evidence: how far a perfect match of one path alone convinces.
        importance, frequency: what importance 1, and very frequent use, add to a score.
    """

    rrf_k: int = 60
    dense: float = 1.0
    lexical: float = 1.0
    recency: float = 0.25
    dense_evidence: float = 0.85
    lexical_evidence: float = 0.6
    importance: float = 0.05
    frequency: float = 0.02

    def of(self, path: str) -> float:
        """Return the fusion weight of a path by name."""
        return {"dense": self.dense, "lexical": self.lexical, "recency": self.recency}[path]


@dataclass(slots=True, kw_only=True)
class Candidate:
    """One memory that some path proposed.

    Args:
        fused: its reciprocal-rank score.
        ranks: path -> its place there, from 1.
        cosine: to the query, where the index knew; None where it did not.
        coverage: share of the query's idf mass that its words cover, 0 to 1.
    """

    id: MemoryId
    fused: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)
    cosine: float | None = None
    coverage: float = 0.0


def fuse(paths: Iterable[tuple[str, Sequence[Proposal]]], weights: Weights) -> list[Candidate]:
    """Return every proposed memory once, best fused score first.

    Args:
        paths: a path's name and what it found, best first; a path that searches several owners,
            each by statistics of its own, stands there once for each.
    """
    candidates: dict[MemoryId, Candidate] = {}
    for path, proposals in paths:
        for rank, proposal in enumerate(proposals, start=1):
            candidate = candidates.setdefault(proposal.id, Candidate(id=proposal.id))
            candidate.ranks[path] = rank
            candidate.fused += weights.of(path) / (weights.rrf_k + rank)
            if path == "lexical":
                candidate.coverage = proposal.score
            elif path == "dense":
                candidate.cosine = proposal.score
    return sorted(candidates.values(), key=lambda candidate: (-candidate.fused, candidate.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A candidate with its row and its score in [0, 1]; `parts` explains the score."""

    candidate: Candidate
    row: Row = field(repr=False)
    score: float
    parts: Mapping[str, float]


def score(
    candidate: Candidate, row: Row, *, now: datetime, floor: float, ceiling: float, weights: Weights
) -> Scored:
    """Return the candidate's score.

    Args:
        floor, ceiling: cosines that mean unrelated and same for the embedder in use.
    """
    dense = 0.0
    if candidate.cosine is not None:
        dense = min(1.0, max(0.0, (candidate.cosine - floor) / (ceiling - floor)))
    # Either kind of evidence convinces on its own, both together more (noisy or).
    relevance = 1 - (1 - weights.dense_evidence * dense) * (
        1 - weights.lexical_evidence * candidate.coverage
    )
    decay = decayed(row, now)
    frequency = 1 - 1 / (1 + math.log1p(row.uses))
    total = (
        relevance * (0.5 + 0.5 * row.confidence) * decay
        + weights.importance * row.importance
        + weights.frequency * frequency
    )
    parts = {
        "relevance": round(relevance, 4),
        "dense": round(dense, 4),
        "lexical": round(candidate.coverage, 4),
        "decay": round(decay, 4),
        "fused": round(candidate.fused, 6),
    } | {f"rank_{path}": float(rank) for path, rank in candidate.ranks.items()}
    return Scored(candidate=candidate, row=row, score=round(min(1.0, total), 4), parts=parts)


def decayed(row: Row, now: datetime) -> float:
    """Return how much of a memory's weight is left, in (0, 1]."""
    half_life = HALF_LIFE_DAYS[row.persistence]
    since = row.last_used_at or row.created_at
    days = max(0.0, (now - since).total_seconds()) / _DAY_SECONDS
    return 1.0 if math.isinf(half_life) else float(0.5 ** (days / half_life))


def ordered(scored: Sequence[Scored]) -> list[Scored]:
    """Return `scored` best first; ties go to the newer."""
    return sorted(
        scored, key=lambda item: (-item.score, -item.row.created_at.timestamp(), item.row.id)
    )


SIMPLE_LIMITS = ((3, 3), (6, 5), (10, 8))
RICH_LIMIT = 12
CUT_BELOW_BEST = 0.4
"""With no limit asked for, what scores below this share of the best is not worth its tokens."""


def natural_limit(words: int) -> int:
    """Return how many memories a query of `words` words deserves, 3 to 12."""
    return next((limit for most, limit in SIMPLE_LIMITS if words <= most), RICH_LIMIT)
