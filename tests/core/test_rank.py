"""Candidates and now -> order."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import rank
from core.ids import MemoryId, NamespaceId, UserId, new_uuid
from core.model import Kind, Layer, Persistence, Row, Sensitivity, State, Trust
from core.ports import Proposal
from core.scope import SourceKind

NOW = datetime(2026, 1, 31, tzinfo=UTC)


def row(**fields: object) -> Row:
    values: dict[str, object] = {
        "id": MemoryId(new_uuid()),
        "version": 1,
        "user": UserId(new_uuid()),
        "namespace": NamespaceId(new_uuid()),
        "space": None,
        "layer": Layer.SEMANTIC,
        "kind": Kind.FACT,
        "state": State.ACTIVE,
        "importance": 0.5,
        "confidence": 0.7,
        "persistence": Persistence.DURABLE,
        "sensitivity": Sensitivity.NONE,
        "trust": Trust.HIGH,
        "source_kind": SourceKind.USER_DIRECT,
        "outcome": None,
        "occurred_at": None,
        "valid_from": None,
        "valid_until": None,
        "expires_at": None,
        "until_session_end": False,
        "created_at": NOW,
        "updated_at": NOW,
        "last_used_at": None,
        "uses": 0,
        "chunks": 1,
        "content": b"",
        "details": b"",
    }
    return Row(**(values | fields))  # type: ignore[arg-type]


def scored(one: Row, *, cosine: float | None = None, coverage: float = 0.0) -> float:
    candidate = rank.Candidate(id=one.id, cosine=cosine, coverage=coverage)
    return rank.score(
        candidate, one, now=NOW, floor=0.75, ceiling=0.95, weights=rank.Weights()
    ).score


def test_a_memory_that_two_paths_propose_comes_before_one_that_a_single_path_ranks_higher() -> None:
    first, both = MemoryId(new_uuid()), MemoryId(new_uuid())
    fused = rank.fuse(
        [
            ("dense", [Proposal(id=first, score=0.9), Proposal(id=both, score=0.89)]),
            ("lexical", [Proposal(id=both, score=0.5)]),
        ],
        rank.Weights(),
    )
    assert [candidate.id for candidate in fused] == [both, first]
    assert fused[0].ranks == {"dense": 2, "lexical": 1}


def test_the_best_of_bad_candidates_stays_low() -> None:
    assert scored(row(), cosine=0.75) < 0.05
    assert scored(row(), cosine=0.95, coverage=1.0) > 0.75


def test_dense_alone_and_words_alone_each_convince() -> None:
    assert scored(row(), cosine=0.95) > 0.6
    assert scored(row(), coverage=1.0) > 0.4


def test_confidence_importance_and_use_raise_a_score() -> None:
    plain = scored(row(), cosine=0.9)
    assert scored(row(confidence=1.0), cosine=0.9) > plain
    assert scored(row(importance=1.0), cosine=0.9) > plain
    assert scored(row(uses=50, last_used_at=NOW), cosine=0.9) > plain


@pytest.mark.parametrize(
    ("persistence", "days", "left"),
    [
        (Persistence.VOLATILE, 7, 0.5),
        (Persistence.DURABLE, 30, 0.5),
        (Persistence.DURABLE, 60, 0.25),
        (Persistence.PERMANENT, 3650, 1.0),
    ],
)
def test_a_memory_halves_with_its_half_life(
    persistence: Persistence, days: int, left: float
) -> None:
    old = row(persistence=persistence, created_at=NOW - timedelta(days=days))
    assert rank.decayed(old, NOW) == pytest.approx(left)


def test_decay_counts_from_the_last_use_and_never_from_when_it_happened() -> None:
    used = row(created_at=NOW - timedelta(days=300), last_used_at=NOW)
    assert rank.decayed(used, NOW) == 1.0
    assert rank.decayed(row(occurred_at=NOW - timedelta(days=3000)), NOW) == 1.0


@given(
    st.floats(-1, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 10**6),
)
def test_a_score_is_always_between_zero_and_one(
    cosine: float, coverage: float, confidence: float, importance: float, uses: int
) -> None:
    one = row(confidence=confidence, importance=importance, uses=uses)
    assert 0 <= scored(one, cosine=cosine, coverage=coverage) <= 1


def test_ties_go_to_the_newer() -> None:
    older, newer = row(created_at=NOW - timedelta(seconds=1)), row()
    items = [
        rank.Scored(candidate=rank.Candidate(id=one.id), row=one, score=0.5, parts={})
        for one in (older, newer)
    ]
    assert [item.row.id for item in rank.ordered(items)] == [newer.id, older.id]


def test_a_simple_query_gets_few_and_a_rich_one_up_to_twelve() -> None:
    assert [rank.natural_limit(words) for words in (0, 3, 4, 7, 11, 99)] == [3, 3, 5, 8, 12, 12]
