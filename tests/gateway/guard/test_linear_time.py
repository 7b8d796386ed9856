"""No text makes a scanner slow: 100 KB of the worst we know takes under a second.

CPU time of this process is measured, so that a busy machine does not fail the test.
"""

import time
from contextlib import suppress

import pytest

from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.rules import load_secret_rules
from gateway.guard.scan import ScanFailed
from gateway.guard.secrets import find_secrets
from gateway.resources import data_path

LONGEST_CONTENT = 32_768
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


def seconds(detector, piece, size):
    text = (piece * (size // len(piece) + 1))[:size]
    begun = time.thread_time()
    # A refusal is as good as a verdict, if it is quick.
    with suppress(ScanFailed):
        normalised = normalise(text)
        find_secrets(normalised, RULES)
        detector.detect(normalised)
    return time.thread_time() - begun


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_of_the_longest_content_is_judged_at_once(detector, piece):
    assert seconds(detector, piece, LONGEST_CONTENT) < 0.5


@pytest.mark.long
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_of_100_kb_is_judged_in_a_second(detector, piece):
    assert seconds(detector, piece, 100_000) < 1.0
