"""The same thing said again."""

from hypothesis import given
from hypothesis import strategies as st

from core import merge
from core.model import Details


def test_a_repetition_raises_confidence_and_stops_at_one() -> None:
    assert merge.raised(0.7) == 0.8
    assert merge.raised(0.95) == 1.0


def test_tags_join_and_the_newer_value_of_a_key_wins() -> None:
    old = Details(tags=("a", "b"), metadata={"n": 1, "kept": True}, source_ref="first")
    new = Details(tags=("b", "c"), metadata={"n": 2}, source_ref="second", session_id="s")
    joined = merge.joined(old, new)
    assert joined.tags == ("a", "b", "c")
    assert joined.metadata == {"n": 2, "kept": True}
    assert (joined.source_ref, joined.session_id) == ("first", "s")


def test_the_same_details_again_change_nothing() -> None:
    details = Details(tags=("a",), metadata={"n": 1}, task="t")
    assert merge.joined(details, details) == details


def test_who_repeats_adds_nothing_and_who_adds_signs() -> None:
    old = Details(tags=("a",), author="key:first", person="alice")
    again = merge.joined(old, Details(tags=("a",), author="key:second"))
    assert merge.adds_nothing(old, again)
    more = merge.joined(old, Details(tags=("b",), author="key:second"))
    assert not merge.adds_nothing(old, more)
    assert (more.author, more.person) == ("key:second", "alice")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.builds(
        Details,
        tags=st.lists(st.text(min_size=1), max_size=4).map(tuple),
        metadata=st.dictionaries(st.text(), json_values, max_size=4),
        entities=st.lists(st.text(min_size=1), max_size=3).map(tuple),
        source_ref=st.none() | st.text(min_size=1),
        session_id=st.none() | st.text(min_size=1),
        task=st.none() | st.text(min_size=1),
        author=st.none() | st.text(min_size=1),
        person=st.none() | st.text(min_size=1),
    )
)
def test_decoding_details_after_encoding_is_identity(details: Details) -> None:
    assert Details.from_bytes(details.to_bytes()) == details
