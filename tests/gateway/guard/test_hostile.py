"""Forty hostile strings of 100 KB: bounded work, and none passes unjudged.

Work is counted in calls and characters, not in seconds: what runs in C is bounded by the budget of
processor time that `ScanTimeout` keeps, and benchmarks/guard_speed.py prints the seconds.
"""

import sys

import pytest

from gateway.guard.fields import Leaf
from gateway.guard.guard import Guard
from gateway.guard.pii import load_detector
from gateway.guard.policy import load_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path

SIZE = 100_000
CANARY = " rosa@harbour.example "
MOST_CALLS_A_CHARACTER = 60
"""Python calls for a character: about 20 at the worst seen; a quadratic scan makes thousands."""

# What made scanners slow elsewhere: addresses of the web and of mail that backtrack (Presidio
# #2063, #2095), the tokeniser's "a:" (spaCy #14020), and the beginnings of our own patterns.
PIECES = [
    *("http://a.", "https://a.b/", "www.", "a@", "@a.", "a.a@a.", "a@a.a-", "x@y", '"a'),
    *("a:", "::", "1:", ":a", "0:0:", "1.", "1.1.", "1 1 ", "1-1-", "+1 ", "(1) "),
    *(
        "4929 ",
        "4929-3709-",
        "DE02 ",
        "11010819",
        "一二三",
        "京A",
        "张",
        "王先生",
        "路1号",
        "省市区县",
    ),
    *("password is ", "password: a", "密码是", "key = ", "eyJa.", "-----BEGIN ", "seed phrase a "),
    *("QUJD", "%41", "&#65;", "4a ", "passport ", "account number ", "驾照", "Mr. A", "born 1/1/"),
]


@pytest.fixture(scope="module")
def guard():
    return Guard(
        load_secret_rules(data_path("policies", "secrets.yaml")),
        load_pii_policy(data_path("policies", "pii", "strict.yaml")),
        load_detector(),
    )


def calls_of(work):
    """Return how many Python functions `work` entered, and what it returned."""
    count = 0

    def seen(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        made = work()
    finally:
        sys.setprofile(before)
    return count, made


def text_of(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def test_there_are_forty():
    assert len(set(PIECES)) >= 40


@pytest.mark.requirement("D2")
@pytest.mark.parametrize("piece", PIECES)
def test_a_hostile_text_is_refused_or_judged_to_its_end(guard, piece):
    scan = guard.scan(Leaf(path="content", text=text_of(piece, SIZE) + CANARY))
    # None is a refusal. A text that was judged was judged whole: what stands at its end is found.
    assert scan is None or any(one.end > SIZE for one in (*scan.findings, *scan.secrets))


@pytest.mark.requirement("D2")
@pytest.mark.parametrize("piece", PIECES)
def test_the_work_grows_with_the_text_and_not_faster(guard, piece):
    size = 8_192
    calls, _ = calls_of(lambda: guard.scan(Leaf(path="content", text=text_of(piece, size))))
    assert calls <= MOST_CALLS_A_CHARACTER * size
