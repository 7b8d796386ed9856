"""Models take what they say, and their faults quote nothing."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import GatewayError, Invalid, TooLarge
from gateway.front.http import OPERATIONS
from gateway.front.wire import Wire, moment, read, shown_time
from gateway.front.wire_admin import KeyBody, RotateBody
from gateway.front.wire_audit import EventsQuery
from gateway.front.wire_memory import ChangeBody, ListQuery
from gateway.front.wire_recall import RecallBody
from gateway.front.wire_write import BatchBody, WriteBody

MODELS = sorted(
    {op.body for op in OPERATIONS if op.body} | {op.query for op in OPERATIONS},
    key=lambda model: model.__name__,
)
CANARY = "zq7canary4417"


def faults(model: type[Wire], data: object) -> list[str]:
    """Return the fields that are at fault; a bound counts as well."""
    try:
        read(model, data)
    except Invalid as err:
        return [fault.field for fault in err.faults]
    except TooLarge as err:
        return [f"too large: {err.field}"]
    return []


def write(**fields: object) -> list[str]:
    return faults(WriteBody, {"content": "x"} | fields)


@pytest.mark.parametrize(
    ("fields", "at_fault"),
    [
        ({"content": ""}, ["content"]),
        ({"content": " \n\u3000"}, ["content"]),
        ({"content": "\u200b\ufeff\u3164\u2800\U000e0020"}, ["content"]),
        ({"content": 5}, ["content"]),
        ({"content": None}, ["content"]),
        ({"content": "x" * 32_768}, []),
        ({"content": "x" * 32_769}, ["too large: content"]),
        ({"content": "中" * 32_769}, ["too large: content"]),
        ({"content": "x" * 32_769, "layer": "x"}, ["content", "layer"]),
        ({"user_id": ""}, ["user_id"]),
        ({"user_id": 7}, ["user_id"]),
        ({"user_id": "a" * 129}, ["user_id"]),
        ({"layer": None}, ["layer"]),
        ({"layer": "Semantic"}, ["layer"]),
        ({"kind": 1}, ["kind"]),
        ({"importance": 1.01}, ["importance"]),
        ({"importance": -0.0}, []),
        ({"importance": True}, ["importance"]),
        ({"importance": "0.5"}, ["importance"]),
        ({"tags": ["x"] * 64}, []),
        ({"tags": ["x"] * 65}, ["tags"]),
        ({"tags": ["x" * 128, "x" * 129]}, ["tags[1]"]),
        ({"tags": [""]}, ["tags[0]"]),
        ({"tags": ["\u200b"]}, ["tags[0]"]),
        ({"tags": "x"}, ["tags"]),
        ({"tags": {"a": 1}}, ["tags"]),
        ({"metadata": {"a": [{"b": None}]}}, []),
        ({"metadata": []}, ["metadata"]),
        ({"metadata": {"a": "x" * 16_384}}, ["too large: metadata"]),
        ({"metadata": {"a": "中" * 5461}}, ["too large: metadata"]),
        ({"metadata": {"a": "中" * 5000}}, []),
        ({"metadata": {"user_id": "bob"}}, ["metadata.user_id"]),
        ({"metadata": {"tenant": 1}}, ["metadata.tenant"]),
        ({"metadata": {"deep": {"user_id": "bob"}}}, []),
        ({"occurred_at": 1_700_000_000}, ["occurred_at"]),
        ({"occurred_at": "2026-02-30T00:00:00Z"}, ["occurred_at"]),
        ({"occurred_at": "2026-02-03"}, ["occurred_at"]),
        ({"occurred_at": "0001-01-01T00:00:00Z"}, ["occurred_at"]),
        ({"occurred_at": "9999-12-31T23:59:59-23:59"}, ["occurred_at"]),
        ({"occurred_at": "2026-02-03T10:00:00"}, []),
        ({"expires_at": "session_end"}, ["expires_at"]),
        ({"expires_at": "session_end", "session_id": "s"}, []),
        ({"expires_at": "never"}, ["expires_at"]),
        ({"expires_at": None}, []),
        ({"ttl_seconds": 0}, ["ttl_seconds"]),
        ({"ttl_seconds": 1.5}, ["ttl_seconds"]),
        ({"ttl_seconds": 60.0}, ["ttl_seconds"]),
        ({"source": {"kind": "operator"}}, ["source.kind"]),
        ({"source": {"kind": "derived"}}, ["source.kind"]),
        ({"source": {"ref": "x", "url": "y"}}, ["source.url"]),
        ({"source": {}}, []),
        ({"wait": "later"}, ["wait"]),
        ({"outcome": ""}, ["outcome"]),
        ({"id": "x"}, ["id"]),
    ],
)
def test_a_write_takes_what_the_contract_says(fields, at_fault):
    assert write(**fields) == at_fault


@pytest.mark.parametrize(
    ("model", "data", "at_fault"),
    [
        (RecallBody, {"query": "x", "limit": 50}, []),
        (RecallBody, {"query": "x", "limit": 51}, ["limit"]),
        (RecallBody, {"query": "x", "top_k": 0}, ["top_k"]),
        (RecallBody, {"query": "x", "top_k": 3, "limit": 3}, ["top_k"]),
        (RecallBody, {"query": "x", "run_id": "a", "session_id": "a"}, ["run_id"]),
        (RecallBody, {"query": "x" * 4097}, ["too large: query"]),
        (RecallBody, {"query": "\u200b"}, ["query"]),
        (RecallBody, {"query": "x", "namespaces": []}, ["namespaces"]),
        (RecallBody, {"query": "x", "namespaces": None, "spaces": None}, []),
        (RecallBody, {"query": "x", "explain": 1}, ["explain"]),
        (RecallBody, {"query": "x", "tags_match": "none"}, ["tags_match"]),
        (RecallBody, {"query": "x", "kinds": ["fact", "opinion"]}, ["kinds[1]"]),
        (ChangeBody, {"user_id": "x"}, ["body"]),
        (ChangeBody, {"content": None}, ["content"]),
        (ChangeBody, {"tags": None}, ["tags"]),
        (ChangeBody, {"expires_at": None}, []),
        (ChangeBody, {"expires_at": "session_end"}, ["expires_at"]),
        (ChangeBody, {"layer": "semantic"}, ["layer"]),
        (BatchBody, {"items": []}, ["items"]),
        (BatchBody, {"items": [1] * 256}, []),
        (BatchBody, {"items": [1] * 257}, ["too large: items"]),
        (ListQuery, {"limit": "200"}, []),
        (ListQuery, {"limit": "201"}, ["limit"]),
        (ListQuery, {"limit": "0"}, ["limit"]),
        (ListQuery, {"limit": "1_0"}, ["limit"]),
        (ListQuery, {"limit": " 1"}, ["limit"]),
        (ListQuery, {"limit": "٣"}, ["limit"]),
        (ListQuery, {"limit": ""}, ["limit"]),
        (ListQuery, {"state": "forgotten"}, ["state"]),
        (ListQuery, {"cursor": ""}, ["cursor"]),
        (EventsQuery, {"from": "2026-01-01T00:00:00Z", "to": "x"}, ["to"]),
        (EventsQuery, {"since": "2026-01-01T00:00:00Z"}, ["since"]),
        (EventsQuery, {"action": "memory:item:read"}, []),
        (EventsQuery, {"action": "memory:*"}, ["action"]),
        (KeyBody, {"name": "a", "roles": ["reader"]}, ["namespaces", "users"]),
        (
            KeyBody,
            {"name": "a", "roles": ["operator"], "namespaces": ["*"], "users": ["*"]},
            ["roles[0]"],
        ),
        (KeyBody, {"name": "a", "roles": [], "namespaces": ["*"], "users": ["*"]}, ["roles"]),
        (RotateBody, {}, []),
        (RotateBody, {"overlap_seconds": 604_801}, ["overlap_seconds"]),
    ],
)
def test_the_other_models_do_too(model, data, at_fault):
    assert faults(model, data) == at_fault


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(CANARY) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just(CANARY), inner),
    max_leaves=5,
)


@pytest.mark.requirement("D14")
@given(st.data())
def test_no_fault_repr_or_cause_quotes_what_was_sent(data):
    model = data.draw(st.sampled_from(MODELS))
    names = [info.alias or name for name, info in model.model_fields.items()]
    sent = data.draw(st.dictionaries(st.sampled_from([*names, CANARY]), JUNK))
    try:
        found = read(model, sent)
    except GatewayError as err:
        said = repr(vars(err)) + str(err) + repr(err.__cause__) + repr(err.__context__)
        assert CANARY not in said
    else:
        assert CANARY not in repr(found) + str(found)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_model_is_closed_strict_and_quiet(model):
    config = model.model_config
    assert (config["extra"], config["strict"], config["frozen"]) == ("forbid", True, True)
    assert config["hide_input_in_errors"] is True


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001 - Hypothesis adds the zone
def test_a_time_is_read_back_as_it_was_shown(then):
    assert moment(shown_time(then)) == then


def test_a_time_without_an_offset_is_utc_and_others_are_turned_to_it():
    assert moment("2026-01-01T10:00:00") == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert shown_time(moment("2026-01-01t10:00:00.5+02:00")) == "2026-01-01T08:00:00.500000Z"
    assert shown_time(moment("2026-01-01 10:00:00.1234567z")) == "2026-01-01T10:00:00.123456Z"
    assert shown_time(None) is None
