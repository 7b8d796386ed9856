"""A tenant's own pattern takes a bounded time whatever the text is, or is refused."""

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.guard.patterns import bounded, tame


@pytest.mark.parametrize(
    "pattern",
    [
        "acme_(?:live|test)_[A-Za-z0-9]{20,64}",
        r"(?<![A-Za-z0-9])hr-\d{6}(?!\d)",
        r"ticket\s{0,4}[:=]\s{0,4}(?P<value>[^\s]{8,64})",
        r"(?:ab{3}){5}",
        r"a?b?\{c\}",
        "工号[:：]?[0-9]{6,8}",
    ],
)
def test_an_ordinary_pattern_is_tame(pattern):
    assert tame(pattern) == pattern


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("a*", "without a bound"),
        ("a{2,}", "not allowed"),
        ("(?:a{1,9}){2,9}", "repeats what varies itself"),
        ("(?:a|aa){2,30}", "repeats what varies itself"),
        ("(?:(?:ab?)){2,30}", "repeats what varies itself"),
        ("a{0,1025}", "repeats more than 1024 times"),
        ("a{9,2}", "repeats more than"),
        ("a{0,99}a{0,99}a{0,99}", "too many ways"),
        (r"(a)\1", "an escape that is not allowed"),
        (r"\p{Han}{2}", "an escape that is not allowed"),
        ("(?R)", "not allowed"),
        ("(?>a)", "not allowed"),
        ("(?|a|b)", "not allowed"),
        ("(?P<other>a)", "not allowed"),
        ("(?:cat){e<=2}", "not allowed"),
        ("[a[b]", "operation on sets"),
        ("[a&&b]", "operation on sets"),
        ("a)", "is no pattern"),
        ("(a", "is no pattern"),
        ("[a", "is no pattern"),
    ],
)
def test_any_other_is_refused_and_nothing_of_it_is_said(pattern, said):
    with pytest.raises(ValueError, match=said) as refused:
        tame(pattern)
    assert pattern not in str(refused.value)


def test_a_shipped_pattern_may_do_more_within_bounds():
    assert bounded("(?:a{1,9}){2,9}")
    with pytest.raises(ValueError, match="without a bound"):
        bounded("(?:a+){2,9}")


parts = st.sampled_from(
    ["a", "b", "[ab]", "(?:ab)", "(?:a|b)", "a{0,9}", "[ab]{2,30}", "b?", r"\w{1,99}", "(?!b)"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(parts, min_size=1, max_size=8), st.sampled_from(["", "{2}", "{0,9}", "{3,900}"]))
def test_what_is_tame_ends_well_within_its_time_on_the_worst_of_texts(chosen, repeat):
    pattern = f"(?:{''.join(chosen)}){repeat}c"
    try:
        tame(pattern)
    except ValueError:
        return
    for text in ("a" * 60, "ab" * 30):
        regex.compile(pattern).search(text, timeout=5)  # a TimeoutError fails the test
