"""Conditions that the index's own process refuses: what is skipped would widen a search."""

import pytest
import qdrant_edge as qe

from core.adapters.qdrant.edge_filters import owned_by, to_edge
from core.adapters.qdrant.filters import within
from core.adapters.qdrant.wire import Malformed
from tests.core.adapters.qdrant.points import Person

OWNED = [
    {"key": "tenant", "match": {"value": "t"}},
    {"key": "owner", "match": {"value": "o"}},
]


def test_what_the_builder_builds_is_understood():
    alice = Person()
    where = within(alice.reach()).among([alice.point().id]).to_rest()
    assert owned_by(where) == (alice.tenant, alice.owner)
    assert isinstance(to_edge(where), qe.Filter)


@pytest.mark.parametrize(
    "condition",
    [
        {},
        "all",
        {"key": "user"},
        {"key": "user", "match": {}},
        {"key": "user", "match": {"value": 1}},
        {"key": "user", "match": {"value": "u", "any": []}},
        {"key": "user", "match": {"except": ["u"]}},
        {"key": "user", "match": {"text": "u"}},
        {"key": "user", "match": {"value": "u"}, "is_null": True},
        {"key": 1, "match": {"value": "u"}},
        {"key": "created", "range": {}},
        {"key": "created", "range": {"gt": "1"}},
        {"key": "created", "range": {"gt": float("nan")}},
        {"key": "created", "range": {"above": 1}},
        {"has_id": "all"},
        {"has_id": ["not-a-uuid"]},
        {"has_id": [7]},
        {"is_empty": {"key": "user"}},
        {"nested": {"key": "user", "filter": {}}},
        {"must": []},
        {"must": [], "should": []},
        {"must_not": [{"key": "user", "match": {"value": "u"}}]},
        {"min_should": {"conditions": [], "min_count": 0}},
        {"should": [{"should": [{"should": [{"should": [{"should": [{"has_id": []}]}]}]}]}]},
    ],
    ids=str,
)
def test_an_unknown_condition_is_refused(condition):
    with pytest.raises(Malformed):
        to_edge({"must": [*OWNED, condition]})


@pytest.mark.requirement("C6")
@pytest.mark.parametrize(
    "where",
    [
        None,
        {},
        {"must": []},
        {"must": OWNED[:1]},
        {"must": OWNED[1:]},
        {"should": OWNED},
        {"must": [{"should": OWNED}]},
        {"must": [*OWNED, OWNED[0]]},
        {"must": [OWNED[0], {"key": "owner", "match": {"value": ""}}]},
        {"must": [OWNED[0], {"key": "owner", "match": {"any": ["o"]}}]},
        {"must": [OWNED[0], {"key": "owner", "range": {"gt": 0}}]},
    ],
    ids=str,
)
def test_a_filter_that_does_not_name_one_tenant_and_one_owner_is_refused(where):
    with pytest.raises(Malformed):
        owned_by(where)
