"""The guard over a request: what it refuses, what it cleans, and how it fails."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ContentRejected, Invalid
from core.model import Sensitivity
from gateway.guard.guard import IDENTIFIER_FIELDS, Guard
from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.policy import load_pii_policy, parse_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.guard.scan import ScanTimeout
from gateway.resources import data_path

SECRETS = load_secret_rules(data_path("policies", "secrets.yaml"))
BALANCED = load_pii_policy(data_path("policies", "pii", "balanced.yaml"))
MAIL = "rosa@harbour.example"
KEY = "AKIAQ3EGR7HX2B5KZ4TW"


@pytest.fixture(scope="module")
def detector():
    return load_detector()


@pytest.fixture(scope="module")
def guard(detector):
    return Guard(SECRETS, BALANCED, detector)


def refused(guard, fields):
    with pytest.raises(ContentRejected) as refusal:
        guard.check(fields)
    return {(reason.kind, reason.field) for reason in refusal.value.reasons}


def outcome_of(guard, fields):
    """Return what passed, or the reasons of the refusal."""
    try:
        return guard.check(fields)
    except ContentRejected:
        return refused(guard, fields)


def positions(text):
    """Yield requests with `text` in each place that a string can stand."""
    yield {"content": text}
    yield {"content": f"before {text} after"}
    yield {"content": f"第一行\n{text}\n第三行"}
    yield {"content": "ok", "tags": [text]}
    yield {"content": "ok", "tags": ["a", "b", f"x {text}"]}
    yield {"content": "ok", "entities": [text]}
    yield {"content": "ok", "source.ref": text}
    yield {"content": "ok", "session_id": text}
    yield {"content": "ok", "task": f"do {text}"}
    yield {"content": "ok", "namespace": [text]}
    yield {"content": "ok", "space": text}
    yield {"content": "ok", "metadata": {"note": text}}
    yield {"content": "ok", "metadata": {text: 1}}
    yield {"content": "ok", "metadata": {"a": {text: {"b": 1}}}}
    yield {"content": "ok", "metadata": {"a": [[[text]]]}}
    yield {"content": "ok", "metadata": {"a": [{"b": {"c": f"x {text} y"}}]}}
    yield {"content": "ok", "metadata": {"": text}}
    yield {"content": "ok", "metadata": {"odd key": text}}
    yield {"metadata": {"note": text}}
    yield {"tags": [text]}
    yield {"content": "ok", "arguments": {"q": text}}
    yield {"content": "ok", "events": [{"role": "user", "content": text}]}


@pytest.mark.requirement("D4")
@pytest.mark.parametrize("place", range(22))
def test_personal_data_is_clean_or_refused_in_every_place(guard, place):
    outcome = outcome_of(guard, list(positions(MAIL))[place])
    assert "rosa" not in repr(outcome)
    if isinstance(outcome, set):
        assert {kind for kind, _ in outcome} == {"EMAIL_ADDRESS"}
    else:
        assert "rosa" not in str(outcome.fields)
        assert "[EMAIL_ADDRESS]" in str(outcome.fields)


@pytest.mark.requirement("D4")
@pytest.mark.parametrize("place", range(22))
def test_a_secret_is_refused_in_every_place(guard, place):
    fields = list(positions(KEY))[place]
    reasons = refused(guard, fields)
    assert {kind for kind, _ in reasons} == {"SECRET.CLOUD_KEY"}
    assert all(KEY not in field for _, field in reasons)


@pytest.mark.parametrize("text", ["", "  \n\t", "\u200b\u2060", "\u2800\u3164"])
def test_content_that_shows_nothing_is_invalid(guard, text):
    with pytest.raises(Invalid) as invalid:
        guard.check({"content": text})
    assert invalid.value.faults[0].field == "content"


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"content": "ping \0 pong"}, "content"),
        ({"content": "ok", "metadata": {"k\0": 1}}, "metadata[#0]"),
        ({"content": "ok", "metadata": {"k": ["v\ud800"]}}, "metadata.k[0]"),
        ({"content": "ok", "tags": ["\0"]}, "tags[0]"),
    ],
)
def test_what_no_store_can_keep_is_invalid_and_names_its_field(guard, fields, path):
    with pytest.raises(Invalid) as invalid:
        guard.check(fields)
    assert invalid.value.faults[0].field == path


class Failing:
    def __init__(self, error):
        self.error = error

    def detect(self, normalised, asked=frozenset()):
        raise self.error


ERRORS = [ScanTimeout("x"), RuntimeError("x"), RecursionError(), KeyError(1)]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("fields", [{"content": "x"}, {"tags": ["x"]}, {"metadata": {"k": "v"}}])
def test_a_scanner_that_fails_refuses(error, fields):
    guard = Guard(SECRETS, BALANCED, Failing(error))
    assert {kind for kind, _ in refused(guard, fields)} == {"SCANNER_FAILED"}
    with pytest.raises(ContentRejected):
        guard.check_query("fine")


class Growing:
    """Finds the whole text, whatever it is: redacting never ends."""

    def detect(self, normalised, asked=frozenset()):
        return load_detector().detect(normalise(MAIL + " " * len(normalised.original)))


def test_redaction_without_an_end_refuses():
    assert refused(Guard(SECRETS, BALANCED, Growing()), {"content": "x" * 40}) == {
        ("SCANNER_FAILED", "content")
    }


@pytest.mark.parametrize(
    ("action", "sensitivity", "found"),
    [
        ("allow", "sensitive", Sensitivity.SENSITIVE),
        ("allow", "special", Sensitivity.SPECIAL),
        ("allow", "none", Sensitivity.NONE),
        ("redact", "sensitive", Sensitivity.PERSONAL),
        ("mask, keep_last: 4", "sensitive", Sensitivity.PERSONAL),
        ("redact", "none", Sensitivity.NONE),
    ],
)
def test_the_class_comes_from_what_was_let_through(detector, action, sensitivity, found):
    policy = parse_pii_policy(
        f'{{version: "t", defaults: {{action: {action}, sensitivity: {sensitivity}}}, kinds: {{}}}}'
    )
    checked = Guard(SECRETS, policy, detector).check({"content": f"write {MAIL}", "tags": ["x"]})
    assert checked.sensitivity is found
    assert checked.kinds_found == {"EMAIL_ADDRESS"}
    assert (MAIL in checked.fields["content"]) is action.startswith("allow")


def test_what_a_policy_allows_may_stand_in_a_name(detector):
    policy = parse_pii_policy(
        '{version: "t", defaults: {action: allow, sensitivity: sensitive}, kinds: {}}'
    )
    checked = Guard(SECRETS, policy, detector).check({"content": "ok", "tags": [MAIL]})
    assert checked.fields["tags"] == [MAIL]
    assert checked.sensitivity is Sensitivity.SENSITIVE


def test_a_kind_that_the_policy_rejects_is_a_reason(detector):
    policy = parse_pii_policy('{version: "t", defaults: {action: reject}, kinds: {}}')
    assert refused(Guard(SECRETS, policy, detector), {"content": MAIL, "entities": [MAIL]}) == {
        ("EMAIL_ADDRESS", "content"),
        ("EMAIL_ADDRESS", "entities[0]"),
    }


def test_hidden_text_is_rejected_unless_the_policy_names_it_to_be_redacted(detector):
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "ignore")
    text = f"a{hidden}b"
    silent = '{version: "t", defaults: {action: allow}, kinds: {}, rules: [{action: observe}]}'
    guard = Guard(SECRETS, parse_pii_policy(silent), detector)
    assert refused(guard, {"content": text}) == {("HIDDEN_TEXT", "content")}
    named = silent.replace("kinds: {}", "kinds: {HIDDEN_TEXT: {action: redact}}")
    checked = Guard(SECRETS, parse_pii_policy(named), detector).check({"content": text})
    assert checked.fields["content"] == "a[HIDDEN_TEXT]b"


def test_redacting_brings_new_findings_to_light_until_none_is_left(guard):
    # The first number is glued to an address; once that is replaced, the number stands alone.
    checked = guard.check({"content": "rosa@harbour.example13912345678"})
    assert "139" not in checked.fields["content"]
    again = guard.check({"content": checked.fields["content"]})
    assert again.redactions == ()


def test_what_is_stored_differs_only_where_something_was_found(guard):
    text = f"電話：０９０－１２３４－５６７９、café cafe\u0301 ﬁle 👩‍👩‍👧 {MAIL} ①"
    assert guard.check({"content": text}).fields["content"] == (
        "電話：[PHONE_NUMBER]、café cafe\u0301 ﬁle 👩‍👩‍👧 [EMAIL_ADDRESS] ①"
    )


PIECES = st.sampled_from(
    [
        MAIL,
        "13912345678",
        "4929 3709 2618 4505",
        "110108198802141234",
        "412-53-8847",
        "203.0.113.77",
        "[PHONE_NUMBER]",
        "[CREDIT_CARD ****4505]",
        "call ",
        "卡",
        " ",
        "，",
        "👩‍👧",
        "e\u0301",
        "x",
        "12",
        "-",
        ".",
    ]
)


@settings(max_examples=150)
@given(st.lists(PIECES, min_size=1, max_size=8).map("".join))
def test_what_was_cleaned_holds_nothing_to_find(guard, detector, text):
    kept = guard.check({"content": f"a {text}"}).fields["content"]
    assert detector.detect(normalise(kept)) == ()


def test_a_query_is_cleaned_not_refused(guard):
    query = f"is my password is quokka-77 for {MAIL}, card 4929 3709 2618 4505 or {KEY}?"
    assert guard.check_query(query) == (
        "is my password is [SECRET] for [EMAIL_ADDRESS], card [CREDIT_CARD ****4505] or [SECRET]?"
    )


def test_a_clean_query_is_itself(guard):
    query = "最近我喜欢喝什么？ and what did I say about café ﬁles"
    assert guard.check_query(query) is query


def test_a_key_in_a_query_goes_whole(guard):
    query = "what is -----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END PRIVATE KEY----- for?"
    assert guard.check_query(query) == "what is [SECRET]"


def test_every_field_that_is_looked_up_counts_as_a_name():
    assert {"namespace", "session_id", "space", "tags", "task"} <= IDENTIFIER_FIELDS
