"""No text makes a scanner slow: twice the worst we know is twice the work.

Calls are counted, not seconds; benchmarks/guard_speed.py prints those for 100 KB of each piece.
"""

import sys
from contextlib import suppress

import pytest

from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.rules import load_secret_rules
from gateway.guard.scan import ScanFailed
from gateway.guard.secrets import find_secrets
from gateway.guard.topics import find_topics
from gateway.resources import data_path

SIZE = 4_096
FIXED = 2_000
"""Calls that any text costs."""
RULES = load_secret_rules(data_path("policies", "secrets.yaml"))

HOSTILE = [
    *(
        "a",
        "1",
        "A1",
        "a.",
        "1.",
        "@",
        "a@",
        "@a.",
        "a@a.",
        "a.a@",
        "-",
        "1-",
        "1 ",
        "+1",
        "00",
        "0 1",
    ),
    *(
        "a:",
        "a::",
        "::",
        ":1",
        "1:",
        "0.",
        "%",
        "%4",
        "%41",
        "&#",
        "&#6",
        "&#65;",
        "\\x",
        "\\u00",
        "\\x41",
    ),
    *("eyJ", "eyJa.", "eyJa.eyJ", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "BEGINPRIVATEKEY"),
    *(
        "password ",
        "password is ",
        "password: a ",
        "pass:",
        "密码",
        "密码是",
        "密码是a",
        "pwd=",
        "key ",
    ),
    *(
        "secret key ",
        "token is ",
        "aws secret key ",
        "http://a:",
        "://",
        "a://b:c",
        "server=a;",
        "curl -u ",
    ),
    *(
        "x-api-key: ",
        "bearer ",
        "mysql -p",
        "ghp_",
        "sk-a",
        "SG.a",
        "DE02",
        "DE02 ",
        "gb",
        "(((",
        "+((",
    ),
    *(
        "call ",
        "call: ",
        "call at ",
        "电话",
        "电话号码是",
        "1 1 1-",
        "12-34-",
        "4929 ",
        "4929-3709-",
        "1101081988",
    ),
    *(
        "\u200b",
        "a\u200b",
        "\ufe0f",
        "1\ufe0f\u20e3",
        "a\u0301",
        "\u0301",
        "\u0323\u0301",
        "\U000e0061",
        "\x1b[",
        "\x1b]",
        "\x1b[1;",
    ),
    *(
        "ー1",
        "１",
        "Ａ",
        "ﬁ",
        "가",
        "ᄀ",
        "가\u11a8",
        "中",
        "一",
        "一三",
        "👩\u200d",
        "\t",
        " ",
        "\n",
        "a\n",
        "[PHONE_NUMBER]",
        "[A",
        "( at ) ",
    ),
    *(
        "my diabetes ",
        "女儿三岁",
        "血糖",
        "12.3456, ",
        "my salary is 1,",
    ),
    *(
        " at ",
        " dot ",
        "a at b dot ",
        "QUJD",
        "QUJDREVG\n",
        "4a 4b ",
        "a b ",
        "a b c d e f g h i j ",
        "0x",
        "ff",
    ),
]


@pytest.fixture(scope="module")
def detector():
    return load_detector()


def calls(detector, piece, size):
    """Return how many Python functions it takes to judge `size` characters of `piece`."""
    text = (piece * (size // len(piece) + 1))[:size]
    count = 0

    def seen(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        # A refusal is as good as a verdict.
        with suppress(ScanFailed):
            normalised = normalise(text)
            find_secrets(normalised, RULES)
            detector.detect(normalised)
            find_topics(normalised)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.requirement("D2")
@pytest.mark.parametrize("piece", HOSTILE)
def test_twice_the_text_is_twice_the_work_at_most(detector, piece):
    calls(detector, piece, SIZE)  # what is cached on first sight is no work of the second
    assert calls(detector, piece, 2 * SIZE) <= 2.3 * calls(detector, piece, SIZE) + FIXED
