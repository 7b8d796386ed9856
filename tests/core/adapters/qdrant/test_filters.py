"""The conditions that every call to the index is made of."""

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from core.adapters.qdrant.filters import OwnedFilter, owned, payload_of, within
from core.errors import Invalid
from core.model import Filter, Kind, Layer
from tests.core.adapters.qdrant.points import NOW, Person, word


def value(key: str, wanted: str) -> dict[str, Any]:
    return {"key": key, "match": {"value": wanted}}


@pytest.mark.requirement("C6")
def test_tenant_and_owner_come_first_in_every_filter():
    alice = Person()
    for where in (owned(alice.tenant, alice.owner), within(alice.reach())):
        for made in (where, where.among([alice.point().id])):
            must = made.to_rest()["must"]
            assert must[:2] == [value("tenant", alice.tenant), value("owner", alice.owner)]


@pytest.mark.requirement("C6")
@pytest.mark.parametrize(("tenant", "owner"), [("", "o"), ("t", ""), ("", "")])
def test_a_filter_without_tenant_or_owner_cannot_be_made(tenant, owner):
    with pytest.raises(Invalid):
        owned(tenant, owner)
    with pytest.raises(TypeError):
        OwnedFilter(tenant="t")  # type: ignore[call-arg]  # what a mistake would look like


def test_a_plain_search_asks_for_user_no_space_namespaces_and_time():
    alice = Person()
    assert within(alice.reach()).to_rest()["must"][2:] == [
        value("user", alice.user),
        value("space", ""),
        {"key": "namespace", "match": {"any": [alice.namespace]}},
        {
            "should": [
                {"key": "expires", "range": {"lte": 0}},
                {"key": "expires", "range": {"gt": NOW}},
            ]
        },
    ]


def test_every_field_of_the_filter_but_the_state_becomes_a_condition():
    alice, tag, session = Person(), bytes.fromhex(word()), bytes.fromhex(word())
    asked: dict[str, Any] = {
        "layers": frozenset({Layer.EPISODIC}),
        "kinds": frozenset({Kind.EVENT, Kind.FACT}),
        "tags": (tag,),
        "session": session,
        "created_after": datetime.fromtimestamp(NOW - 60, UTC),
        "created_before": datetime.fromtimestamp(NOW, UTC),
        "min_confidence": 0.25,
    }
    known = {field.name for field in fields(Filter)}
    # tags_all changes how tags are asked; what state a memory is in only the record knows, and a
    # search of the index is of one owner, so nobody else's look-ups are asked.
    assert known == {*asked, "tags_all", "states", "elsewhere"}
    plain = len(within(alice.reach()).rest)
    made = within(alice.reach(where=Filter(**asked))).to_rest()["must"][2 + plain :]
    assert made == [
        {"key": "layer", "match": {"any": ["episodic"]}},
        {"key": "kind", "match": {"any": ["event", "fact"]}},
        {"key": "tags", "match": {"any": [tag.hex()]}},
        value("session", session.hex()),
        {"key": "created", "range": {"gte": NOW - 60, "lt": NOW}},
        {"key": "confidence", "range": {"gte": 0.25}},
    ]


def test_no_namespaces_stays_a_condition_that_nothing_meets():
    reach = Person().reach(namespaces=())
    assert {"key": "namespace", "match": {"any": []}} in within(reach).to_rest()["must"]


def test_a_blank_session_user_or_space_is_refused_rather_than_read_as_none():
    alice, nobody = Person(), Person()
    nobody.user = ""
    blank = Filter(session=b"")
    for reach in (alice.reach(where=blank), alice.reach(space=""), nobody.reach()):
        with pytest.raises(Invalid):
            within(reach)


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": "text of a person"},
        {"tenant": "other"},
        {"owner": ""},
        {"owner": None},
        {"created": "yesterday"},
        {"expires": None},
        {"pointer": b"bytes"},
        {"tags": [1]},
        {"layer": None},
    ],
    ids=str,
)
def test_a_payload_that_is_not_as_agreed_is_refused(wrong):
    alice = Person()
    with pytest.raises(Invalid):
        payload_of(alice.tenant, alice.point(**wrong))


def test_what_a_point_has_not_is_written_as_a_value_that_can_be_asked_for():
    alice = Person()
    kept = payload_of(alice.tenant, alice.point(space=None, session=None, tags=None))
    assert (kept["space"], kept["session"], kept["tags"]) == ("", "", [])
