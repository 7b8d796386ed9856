"""Marks: what equal values are, what survives the guard, and what only looks like a placeholder."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ContentRejected
from core.placeholders import placeholder, word_of, words_in
from gateway.guard.guard import IDENTIFIER_FIELDS, Guard
from gateway.guard.kinds import KINDS
from gateway.guard.marks import Marker, canonical, lookalikes
from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.policy import load_pii_policy, parse_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path

SECRETS = load_secret_rules(data_path("policies", "secrets.yaml"))
STRICT = load_pii_policy(data_path("policies", "pii", "strict.yaml"))
PSEUDONYMS = parse_pii_policy(
    """
version: "t"
defaults: {action: allow, sensitivity: none}
kinds:
  PHONE_NUMBER: {action: pseudonymize}
  EMAIL_ADDRESS: {action: pseudonymize}
  CREDIT_CARD: {action: pseudonymize}
"""
)
WORD = "bcdfghjkmnpqrtvwbcdf"


@pytest.fixture(scope="module")
def strict() -> Guard:
    return Guard(SECRETS, STRICT, load_detector())


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard(SECRETS, PSEUDONYMS, load_detector())


@pytest.mark.requirement("D6")
@pytest.mark.parametrize(
    ("kind", "spellings"),
    [
        ("PHONE_NUMBER", ["138-0013-8000", "13800138000", "１３８００１３８０００", "138 0013 8000",
                          "+86 13800138000", "0086-138-0013-8000", "一三八零零一三八零零零"]),
        ("CREDIT_CARD", ["4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111"]),
        ("CN_RESIDENT_ID", ["11010519491231002X", "11010519491231002x", "110105 19491231 002X"]),
        ("EMAIL_ADDRESS", ["Kay@Example.com", "kay@example.com", "ｋａｙ@example.com"]),
        ("PERSON", ["Kay  Winter", "kay winter"]),
    ],
)  # fmt: skip
def test_spellings_of_one_value_are_one(kind: str, spellings: list[str]) -> None:
    assert len({canonical(kind, each) for each in spellings}) == 1


@pytest.mark.requirement("D6")
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("EMAIL_ADDRESS", ["a.b@example.com", "ab@example.com", "a-b@example.com"]),
        ("IP_ADDRESS", ["1.2.3.4", "12.3.4.0", "1.23.4.0"]),
        ("CRYPTO_WALLET", ["1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
                           "1boatslrhtknngkdxeeobr76b53lettpyt"]),
        ("PHONE_NUMBER", ["13800138000", "13800138001", "8613800"]),
    ],
)  # fmt: skip
def test_other_values_are_others(kind: str, values: list[str]) -> None:
    assert len({canonical(kind, each) for each in values}) == len(values)


@pytest.mark.requirement("D6")
def test_a_mark_is_new_in_each_request_and_one_for_each_spelling(guard: Guard) -> None:
    fields = {
        "content": "138-0013-8000, 138-0013-8000, 13800138000",
        "metadata": {"a": "138-0013-8000"},
    }
    first, second = guard.check(fields), guard.check(fields)
    words = [word for _, word in words_in(first.fields["content"])]
    assert words[0] == words[1] != words[2]
    assert words_in(first.fields["metadata"]["a"]) == [("PHONE_NUMBER", words[0])]
    assert set(first.marks) == set(words)
    assert set(first.marks).isdisjoint(second.marks)
    assert "8000" not in repr(first)
    marks = first.marks.values()
    assert {mark.canonical for mark in marks} == {"13800138000"}
    assert {mark.spelling for mark in marks} == {"138-0013-8000", "13800138000"}


@pytest.mark.requirement("D6")
@settings(max_examples=200)
@given(kind=st.sampled_from(sorted(KINDS)), token=st.binary(min_size=10, max_size=10))
def test_no_scanner_finds_anything_in_a_placeholder(strict: Guard, kind: str, token: bytes) -> None:
    """Under the strictest policy, names and addresses and secrets looked for."""
    one = placeholder(kind, word_of(token))
    fields = {
        "content": f"She said {one}, 我的电话{one}住在{one}. password: {one}",
        "metadata": dict.fromkeys(("phone", "password", "api_key", "token", "地址"), one),
        "entities": [one],
    }
    checked = strict.check(fields)
    assert checked.fields == fields
    assert not checked.redactions


@pytest.mark.requirement("D6")
@pytest.mark.parametrize(
    "text",
    [
        f"[phone_number p-{WORD}]", f"［PHONE_NUMBER p-{WORD}］", f"[PHONE_NUMBER P-{WORD}]",
        f"[PHONE_NUMBER p-{WORD.upper()}]", f"[PHONE_NUMBER\u00a0p-{WORD}]",
        f"[PHONE_NUMBER p-{WORD[:9]}\u200b{WORD[9:]}]", f"[PHONE_NUMBER p–{WORD}]",
        f"[РHONE_NUMBER p-{WORD}]", f"[PHONE_NUMBER \u202ep-{WORD}]", f"[ PHONE_NUMBER p-{WORD} ]",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_placeholder_is_taken_out(guard: Guard, text: str) -> None:
    checked = guard.check({"content": f"see {text} there"})
    assert checked.fields["content"] == "see [PSEUDONYM] there"
    assert [(one.kind, one.action) for one in checked.redactions] == [("PSEUDONYM", "redact")]
    assert checked.sensitivity.value == "none"


@pytest.mark.requirement("D6")
@pytest.mark.parametrize("text", [f"[PHONE_NUMBER p-{WORD}]\u0301", f"x[PHONE_NUMBER p-{WORD}]👩"])
def test_a_placeholder_is_not_taken_for_a_lookalike_of_itself(text: str) -> None:
    assert list(lookalikes(normalise(text))) == []


@pytest.mark.requirement("D6")
@pytest.mark.parametrize("field", sorted(IDENTIFIER_FIELDS))
def test_a_placeholder_is_no_name(guard: Guard, field: str) -> None:
    with pytest.raises(ContentRejected) as refused:
        guard.check({field: placeholder("PHONE_NUMBER", WORD)})
    assert [(one.kind, one.field) for one in refused.value.reasons] == [("PSEUDONYM", field)]
    with pytest.raises(ContentRejected):
        guard.check({"metadata": {placeholder("PHONE_NUMBER", WORD): 1}})


@pytest.mark.requirement("D6")
def test_a_secret_beside_a_placeholder_is_still_one(guard: Guard) -> None:
    for text in (
        f"[PHONE_NUMBER p-{WORD}] AKIAQ3EGR7HX2B5KZ4TW",
        f"AKIAQ3EGR7HX2B5KZ4TW[PHONE_NUMBER p-{WORD}]",
    ):
        with pytest.raises(ContentRejected):
            guard.check({"content": text})


@pytest.mark.requirement("D5")
def test_a_mark_that_is_swallowed_is_undone() -> None:
    marker = Marker()
    inner = marker.put("PHONE_NUMBER", "138-0013-8000", "138-0013-8000")
    outer = marker.put("ADDRESS", f"8 Elm St {inner}", f"at 8 Elm St {inner}")
    ((_, word),) = words_in(outer)
    assert marker.marks[word].spelling == "at 8 Elm St 138-0013-8000"
    assert marker.marks[word].value == "8 Elm St 138-0013-8000"


def test_a_word_is_drawn_anew() -> None:
    drawn = {Marker().put("PHONE_NUMBER", str(n), str(n)) for n in range(500)}
    assert len(drawn) == 500
