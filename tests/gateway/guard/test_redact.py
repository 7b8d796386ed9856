"""Redaction is exact: nothing found stays, nothing else changes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.guard.pii.finding import Finding
from gateway.guard.policy import Action, parse_pii_policy
from gateway.guard.redact import SECRET, Redactor

POLICY = parse_pii_policy(
    """
version: "t"
defaults: {action: redact}
kinds:
  CREDIT_CARD: {action: mask, keep_last: 4, sensitivity: sensitive}
  US_SSN: {action: reject, sensitivity: sensitive}
  IP_ADDRESS: {action: allow}
"""
)
REDACTOR = Redactor(POLICY)
ACTED = ["PHONE_NUMBER", "CREDIT_CARD", "US_SSN", "EMAIL_ADDRESS"]

# Private-use signs stand for what is found, so that nothing else can be mistaken for it.
FOUND = "\ue000\ue001\ue002"
texts = st.text(
    st.sampled_from("ab 中é\u0301👩\u200d🏽\u200b１\ufe0f" + FOUND), min_size=1, max_size=40
)


def finding(kind, start, end, score=1.0, *, encoded=False):
    return Finding(kind=kind, start=start, end=end, score=score, recognizer="t", encoded=encoded)


@st.composite
def texts_and_findings(draw):
    text = draw(texts)
    spans = draw(
        st.lists(
            st.tuples(st.integers(0, len(text) - 1), st.integers(1, 8), st.sampled_from(ACTED)),
            max_size=8,
        )
    )
    return text, [
        finding(kind, start, min(len(text), start + length)) for start, length, kind in spans
    ]


@pytest.mark.requirement("D5")
@settings(max_examples=500)
@given(texts_and_findings())
def test_nothing_found_stays_and_nothing_else_changes(case):
    check_redaction(*case)


@pytest.mark.long
@pytest.mark.requirement("D5")
@settings(max_examples=10_000)
@given(texts_and_findings())
def test_nothing_found_stays_in_ten_thousand_texts(case):
    check_redaction(*case)


def check_redaction(text, findings):
    covered = {at for one in findings for at in range(one.start, one.end)}
    result = REDACTOR.apply(text, findings, "content")
    rest = result.text
    runs = "".join("\n" if at in covered else char for at, char in enumerate(text)).split("\n")
    for run in runs:
        # The uncovered runs are all there, in order, byte for byte.
        assert run in rest
        rest = rest[rest.index(run) + len(run) :]
    outside = "".join(char for at, char in enumerate(text) if at not in covered)
    for sign in FOUND:
        assert result.text.count(sign) == outside.count(sign)
    assert sum(one.count for one in result.redactions) <= len(findings)
    assert bool(result.redactions) is bool(findings)


def test_findings_that_touch_are_two():
    result = REDACTOR.apply(
        "abcdef", [finding("PHONE_NUMBER", 0, 3), finding("EMAIL_ADDRESS", 3, 6)], "c"
    )
    assert result.text == "[PHONE_NUMBER][EMAIL_ADDRESS]"


PHONE, MAIL, CARD, SSN, IP = (
    *("PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD"),
    *("US_SSN", "IP_ADDRESS"),
)


@pytest.mark.parametrize(
    ("findings", "text"),
    [
        pytest.param(
            [finding(CARD, 0, 8), finding(SSN, 2, 5)],
            "[US_SSN]89",
            id="the rejected kind names it though it is shorter",
        ),
        pytest.param(
            [finding(PHONE, 0, 9), finding(CARD, 1, 9)],
            "[CREDIT_CARD ****5678]9",
            id="the more sensitive kind wins over the longer",
        ),
        pytest.param(
            [finding(PHONE, 0, 6), finding(MAIL, 4, 8)],
            "[PHONE_NUMBER]89",
            id="the longer wins and covers what the shorter adds",
        ),
        pytest.param(
            [finding(PHONE, 0, 4, 0.5), finding(MAIL, 0, 4, 0.9)],
            "[EMAIL_ADDRESS]456789",
            id="the surer wins over the less sure",
        ),
        pytest.param(
            [finding(IP, 0, 9), finding(PHONE, 2, 4)],
            "01[PHONE_NUMBER]456789",
            id="what the policy lets through does not count",
        ),
    ],
)
def test_overlaps_go_to_the_most_severe_then_the_longest(findings, text):
    assert REDACTOR.apply("0123456789", findings, "c").text == text


def test_a_mask_keeps_the_last_characters_in_ascii():
    card = "４９２９ ３７０９\u200b ２６１８ ４５０５"
    result = REDACTOR.apply(f"x {card} y", [finding("CREDIT_CARD", 2, 2 + len(card))], "c")
    assert result.text == "x [CREDIT_CARD ****4505] y"
    assert result.redactions[0].action == "mask"


@pytest.mark.parametrize(
    "one", [finding("CREDIT_CARD", 0, 16, encoded=True), finding("CREDIT_CARD", 0, 6)]
)
def test_a_mask_keeps_nothing_of_what_is_encoded_or_short(one):
    result = REDACTOR.apply("NDkyOTM3MDkyNjE4", [one], "c")
    assert result.text.startswith("[CREDIT_CARD]")
    assert result.redactions[0].action == "redact"


def test_a_secret_is_never_left_alone():
    lenient = Redactor(parse_pii_policy('{version: "t", defaults: {action: allow}, kinds: {}}'))
    assert lenient.apply("quokka", [finding(SECRET, 0, 6)], "query").text == "[SECRET]"


def test_the_text_stays_out_of_repr():
    result = REDACTOR.apply("rosa 1", [finding("PHONE_NUMBER", 5, 6)], "c")
    assert "rosa" not in repr(result)
    assert POLICY.of("PHONE_NUMBER").action is Action.REDACT
