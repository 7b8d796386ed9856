"""Every string of a request is walked, and only what is replaced changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid
from gateway.guard.fields import MAX_DEPTH, Role, keys_of, rebuild, strings_of

NESTED = {
    "note": "a",
    "list": ["b", {"deep": ["c", 7, True, None]}],
    "odd key!": "d",
    "数": 1.0,
    "7": {"x": "e"},
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


def test_paths_name_fields_and_plain_keys_only():
    assert list(strings_of(NESTED, "metadata")) == [
        ("metadata.note", "a"),
        ("metadata.list[0]", "b"),
        ("metadata.list[1].deep[0]", "c"),
        ("metadata.list[1].deep[1]", "7"),
        ("metadata[#2]", "d"),
        ("metadata.数", "1"),
        ("metadata[#4].x", "e"),
    ]


def test_keys_are_walked_by_place():
    assert [(key.path, key.text, key.role) for key in keys_of(NESTED, "metadata")][:4] == [
        ("metadata[#0]", "note", Role.KEY),
        ("metadata[#1]", "list", Role.KEY),
        ("metadata[#1][1][#0]", "deep", Role.KEY),
        ("metadata[#2]", "odd key!", Role.KEY),
    ]


def test_a_value_is_labelled_with_its_nearest_key():
    labels = {}

    def note(leaf):
        labels[leaf.text] = leaf.label
        return leaf.text

    rebuild(NESTED, "metadata", note)
    assert labels == {
        "a": "note",
        "b": "list",
        "c": "deep",
        "7": "deep",
        "d": "odd key!",
        "1": "数",
        "e": "x",
    }


@given(json_values)
def test_replacing_nothing_changes_nothing(value):
    assert rebuild(value, "v", lambda leaf: leaf.text) == value


@given(json_values)
def test_every_string_is_replaced(value):
    shouted = rebuild(value, "v", lambda _: "!")
    assert {text for _, text in strings_of(shouted, "v") if not text.lstrip("-").isdigit()} <= {
        "!",
        *(text for _, text in strings_of(value, "v")),
    }


def test_numbers_are_shown_as_people_write_them():
    assert dict(strings_of([13912345678, 13912345678.0, 1.5, -2], "n")) == {
        "n[0]": "13912345678",
        "n[1]": "13912345678",
        "n[2]": "1.5",
        "n[3]": "-2",
    }


@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: {"k": inner}])
def test_bottomless_nesting_is_refused(make):
    value = "x"
    for _ in range(MAX_DEPTH + 1):
        value = make(value)
    with pytest.raises(Invalid):
        rebuild(value, "metadata", lambda leaf: leaf.text)
    with pytest.raises(Invalid):
        list(keys_of(value, "metadata"))


def test_what_is_no_json_is_refused():
    with pytest.raises(Invalid):
        rebuild({"x": object()}, "metadata", lambda leaf: leaf.text)


def test_texts_stay_out_of_repr():
    (leaf,) = keys_of({"rosa": 1}, "metadata")
    assert "rosa" not in repr(leaf)
