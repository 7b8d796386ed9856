"""What the guard says it found, what is counted, and how long a request may take in all."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from typing_extensions import override

from core.errors import ContentRejected
from core.model import Redaction, Sensitivity
from gateway.guard.fields import LEAST_CHARACTERS
from gateway.guard.guard import Guard
from gateway.guard.normalise import Normalised
from gateway.guard.pii import load_detector
from gateway.guard.pii.finding import Finding, PiiDetector
from gateway.guard.policy import PiiPolicy, load_pii_policy, parse_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.guard.scan import BLOCK_CHARACTERS, SECONDS_PER_BLOCK
from gateway.resources import data_path

SECRETS = load_secret_rules(data_path("policies", "secrets.yaml"))
BALANCED = load_pii_policy(data_path("policies", "pii", "balanced.yaml"))
MAIL, PHONE, PASSWORD = "rosa@harbour.example", "+44 20 7946 0958", "my password is Tulip-99x!"
EVERY_ACTION = parse_pii_policy(
    """
version: "t"
defaults: {action: redact}
kinds:
  EMAIL_ADDRESS: {action: observe}
  IP_ADDRESS: {action: allow, sensitivity: none}
  MAC_ADDRESS: {action: expire, expire_seconds: 600}
  CREDIT_CARD: {action: mask, keep_last: 4}
  IBAN_CODE: {action: reject}
"""
)
WITH_ALL = f"{MAIL} {PHONE} {PHONE} 192.0.2.44 00:00:5e:00:53:af 4111 1111 1111 1111"
IBAN = "DE89370400440532013000"


@pytest.fixture(scope="module")
def detector() -> PiiDetector:
    return load_detector()


class Tallied:
    """A guard that keeps what it counts."""

    def __init__(self, policy: PiiPolicy, detector: PiiDetector) -> None:
        self.counted: list[tuple[str, str, int]] = []
        self.guard = Guard(SECRETS, policy, detector, tally=self._tally)

    def _tally(self, findings: Iterable[Redaction]) -> None:
        self.counted += told(findings)


@pytest.fixture
def tallied(detector: PiiDetector) -> Tallied:
    return Tallied(EVERY_ACTION, detector)


def told(findings: Iterable[Redaction]) -> list[tuple[str, str, int]]:
    return sorted((one.kind, one.action, one.count) for one in findings)


ACCEPTED = [
    ("CREDIT_CARD", "mask", 1), ("EMAIL_ADDRESS", "observe", 1), ("IP_ADDRESS", "allow", 1),
    ("MAC_ADDRESS", "expire", 1), ("PHONE_NUMBER", "redact", 2),
]  # fmt: skip


def test_all_that_is_found_is_told_with_what_is_done(tallied: Tallied) -> None:
    judged = tallied.guard.judge({"content": WITH_ALL})
    assert told(judged.findings) == ACCEPTED
    assert judged.checked is not None
    assert judged.checked.expire_seconds == 600
    assert judged.reasons == ()
    # The report of a write tells what was done and what is observed; what is let through is not.
    assert {one.kind for one in judged.checked.redactions} == {
        "CREDIT_CARD", "EMAIL_ADDRESS", "PHONE_NUMBER",
    }  # fmt: skip


def test_a_refused_request_tells_why_and_what_else_there_is(tallied: Tallied) -> None:
    judged = tallied.guard.judge(
        {"content": f"{WITH_ALL} {IBAN}", "metadata": {"note": PASSWORD}, "tags": [PHONE]}
    )
    assert judged.checked is None
    assert told(judged.findings) == sorted(
        [
            *ACCEPTED,
            ("IBAN_CODE", "reject", 1),
            ("SECRET.PASSWORD", "reject", 1),
            ("PHONE_NUMBER", "reject", 1),
        ]
    )
    assert {(one.kind, one.field) for one in judged.reasons} == {
        ("IBAN_CODE", "content"), ("SECRET.PASSWORD", "metadata.note"), ("PHONE_NUMBER", "tags[0]"),
    }  # fmt: skip
    fields = {one.field for one in judged.findings}
    assert fields == {"content", "metadata.note", "tags[0]"}
    assert MAIL not in repr(judged)


def test_a_key_that_is_refused_is_told_by_its_place_and_nothing_below_it(tallied: Tallied) -> None:
    judged = tallied.guard.judge({"metadata": {PASSWORD: {"note": MAIL}}})
    assert [(one.kind, one.field) for one in judged.findings] == [
        ("SECRET.PASSWORD", "metadata[#0]")
    ]


@pytest.mark.parametrize(
    ("fields", "counted"),
    [
        ({"content": WITH_ALL}, ACCEPTED),
        ({"content": f"{IBAN} and {IBAN}"}, [("IBAN_CODE", "reject", 2)]),
        ({"content": PASSWORD}, [("SECRET.PASSWORD", "reject", 1)]),
        ({"content": "nothing"}, []),
    ],
)
def test_what_is_checked_is_counted_and_what_is_only_judged_is_not(
    tallied: Tallied, fields: Mapping[str, Any], counted: list[tuple[str, str, int]]
) -> None:
    tallied.guard.judge(fields)
    assert tallied.counted == []
    try:
        tallied.guard.check(fields)
    except ContentRejected:
        assert any(action == "reject" for _, action, _ in counted)
    assert tallied.counted == counted


def test_a_query_is_counted_by_what_became_of_it(tallied: Tallied) -> None:
    cleaned = tallied.guard.check_query(f"whose is {PHONE}, {MAIL}? {PASSWORD}")
    assert PHONE not in cleaned
    assert tallied.counted == [
        ("EMAIL_ADDRESS", "observe", 1), ("PHONE_NUMBER", "redact", 1), ("SECRET", "redact", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "卡号[CREDIT_CARD ****4505]，IBAN [IBAN_CODE ****0402]",
        "login [EMAIL_ADDRESS] [CREDIT_CARD ****4505], then [PHONE_NUMBER]",
        "user [USERNAME], card [CREDIT_CARD ****1a2b] and key of the door",
    ],
)
def test_what_a_redaction_left_is_no_secret(detector: PiiDetector, text: str) -> None:
    assert Guard(SECRETS, BALANCED, detector).judge({"content": text}).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "my password is Tulip[CREDIT_CARD ****99]",
        "my password is [CREDIT_CARD ****4505]Tulip-99x!",
        "password: [PHONE_NUMBER]Tulip-99x!",
    ],
)
def test_nothing_hides_behind_what_looks_like_a_placeholder(
    detector: PiiDetector, text: str
) -> None:
    judged = Guard(SECRETS, BALANCED, detector).judge({"content": text})
    assert [one.kind for one in judged.reasons] == ["SECRET.PASSWORD"]


# --- the budget of a request ----------------------------------------------------------------------


class Slow(PiiDetector):
    """Finds nothing, and takes its time: so many seconds a text, on a clock of its own."""

    def __init__(self, seconds: float) -> None:
        self.now = 0.0
        self.texts: list[str] = []
        self._seconds = seconds

    @override
    def detect(
        self, normalised: Normalised, asked: frozenset[str] = frozenset()
    ) -> tuple[Finding, ...]:
        self.now += self._seconds
        self.texts.append(normalised.original)
        return ()

    def guard(self) -> Guard:
        return Guard(SECRETS, BALANCED, self, timer=lambda: self.now)


def refused(guard: Guard, fields: Mapping[str, Any]) -> set[tuple[str, str]]:
    with pytest.raises(ContentRejected) as refusal:
        guard.check(fields)
    return {(reason.kind, reason.field) for reason in refusal.value.reasons}


@pytest.mark.requirement("D2")
def test_strings_that_together_take_too_long_are_refused_and_the_rest_is_not_read() -> None:
    slow = Slow(SECONDS_PER_BLOCK / 2)
    asked = {"content": "a", "metadata": {"k": ["b", "c", "d", "e"]}}
    assert refused(slow.guard(), asked) == {("SCANNER_FAILED", "metadata.k[0]")}
    assert slow.texts == ["k", "a", "k: b"]


@pytest.mark.requirement("D2")
@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_a_request_gets_250_ms_for_each_8_kb_begun(blocks: int, *, over: bool) -> None:
    content = "x" * (BLOCK_CHARACTERS * blocks - 1 - LEAST_CHARACTERS)
    slow = Slow(SECONDS_PER_BLOCK * blocks + (0.001 if over else 0.0))
    if over:
        assert refused(slow.guard(), {"content": content}) == {("SCANNER_FAILED", "content")}
    else:
        assert slow.guard().check({"content": content}).sensitivity is Sensitivity.NONE


@pytest.mark.requirement("D2")
def test_a_query_that_takes_too_long_is_refused() -> None:
    guard = Slow(SECONDS_PER_BLOCK + 0.001).guard()
    with pytest.raises(ContentRejected) as refusal:
        guard.check_query("what is it")
    assert [one.kind for one in refusal.value.reasons] == ["SCANNER_FAILED"]


@pytest.mark.requirement("D2")
def test_searching_again_after_a_redaction_is_part_of_the_budget() -> None:
    class Growing(Slow):
        """Finds the last letter of whatever there is."""

        @override
        def detect(
            self, normalised: Normalised, asked: frozenset[str] = frozenset()
        ) -> tuple[Finding, ...]:
            super().detect(normalised)
            end = len(normalised.original)
            if not normalised.original.startswith("z"):
                return ()
            return (Finding(kind="QQ", start=end - 1, end=end, score=1.0, recognizer="t"),)

    growing = Growing(SECONDS_PER_BLOCK / 4)
    assert refused(growing.guard(), {"content": "zzzz"}) == {("SCANNER_FAILED", "content")}
    assert 3 <= len(growing.texts) <= 6


def test_a_guard_on_a_real_clock_judges_thousands_of_short_strings(detector: PiiDetector) -> None:
    guard = Guard(SECRETS, BALANCED, detector)
    checked = guard.check({"metadata": {"vector": [number / 7 for number in range(700)]}})
    assert checked.redactions == ()
