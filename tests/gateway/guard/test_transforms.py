"""What is caught stays caught when it is dressed up, and what people really write is left alone."""

import base64
import random
import string
import unicodedata  # noqa: TID251 - the attacker's own, to make what the normaliser must undo
from collections.abc import Callable
from urllib.parse import quote

import pytest

from core.errors import ContentRejected
from gateway.guard.guard import Guard
from gateway.guard.pii import load_detector
from gateway.guard.policy import load_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path

ALNUM = string.ascii_letters + string.digits
LOOK_ALIKE = str.maketrans("aeopcxAEOPCX", "аеорсхАЕОРСХ")
LEET = str.maketrans("aeost", "4305t")


def payloads():
    """Return texts of which each word is needed: a secret, or data that may not stay readable."""
    rng = random.Random(11)
    for number in range(12):
        word = "".join(rng.choices(string.ascii_lowercase, k=7))
        yield f"{word}{number}@harbour.example"
        yield f"my password is {word}-{number}!"
        yield f"-----BEGIN PRIVATE KEY----- {''.join(rng.choices(ALNUM, k=40))}"
        yield f"call +44 20 7946 {rng.randrange(10_000):04d} today"
        yield f"SSN {rng.randrange(100, 600)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}"


def tags(text):
    return "ok " + "".join(chr(0xE0000 + ord(sign)) for sign in text)


def selectors(text):
    return "ok 🙂" + "".join(
        chr(0xFE00 + byte) if byte < 16 else chr(0xE0100 + byte - 16) for byte in text.encode()
    )


TRANSFORMS: dict[str, Callable[[str], str]] = {
    "decomposed": lambda text: unicodedata.normalize("NFKD", text),
    "tag characters": tags,
    "zero-width": "\u200b".join,
    "variation selectors": selectors,
    "variation selectors between": "\ufe0e".join,
    "Hangul and Braille blanks": lambda text: "\u3164".join(text[::1]).replace("\u3164", "\u115f"),
    "bidi controls": lambda text: "\u202d" + "\u2066".join(text) + "\u202c",
    "look-alikes": lambda text: text.translate(LOOK_ALIKE),
    "full-width": lambda text: "".join(
        chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text
    ),
    "case": lambda text: text.swapcase(),
    "leetspeak": lambda text: text.split(" ")[0] + " " + text.partition(" ")[2].translate(LEET),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64 twice": lambda text: base64.b64encode(base64.b64encode(text.encode())).decode(),
    "hex": lambda text: text.encode().hex(),
    "URL": lambda text: quote(text, safe=""),
    "HTML entities": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "ANSI escapes": "\x1b[31m".join,
}


@pytest.fixture(scope="module")
def guard():
    return Guard(
        load_secret_rules(data_path("policies", "secrets.yaml")),
        load_pii_policy(data_path("policies", "pii", "balanced.yaml")),
        load_detector(),
    )


def stays_readable(guard, text):
    try:
        return guard.check({"content": text}).fields["content"] == text
    except ContentRejected:
        return False


@pytest.mark.requirement("A7")
@pytest.mark.parametrize("name", TRANSFORMS)
def test_what_is_caught_stays_caught(guard, name):
    every = list(payloads())
    assert not [text for text in every if stays_readable(guard, text)]
    missed = [text for text in every if stays_readable(guard, TRANSFORMS[name](text))]
    # An armoured key in leetspeak is none: no program reads it.
    assert [text for text in missed if name != "leetspeak" or "BEGIN" not in text] == []


EMOJI = ("👩‍👩‍👧‍👦", "🏳️‍🌈", "👨🏽‍🚒", "❤️", "🇳🇱", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "1️⃣", "☎️", "🧑🏿‍🤝‍🧑🏻")
WORDS = (
    *("می‌خواهم", "کتاب‌ها", "नमस्ते", "क्‍ष", "र्‍य", "שלום עולם", "مرحبا بالعالم", "葛󠄀城", "辻󠄁", "神︀社"),
    *("Zażółć", "naïve", "Ελλάδα", "Київ", "ｶﾀｶﾅ", "한국어", "ไทย", "Việt Nam", "Ærøskøbing", "ﷺ"),
)
FRAMES = (
    *(
        "I wrote {} on the card.",
        "{} is what she sent",
        "他说{}很好看",
        "«{}»",
        "{}",
        "— {} —",
        "لطفا {} را",
    ),
    *("note: {} and {}", "{}\n{}", "שלום {} תודה"),
)


def legitimate():
    for frame in FRAMES:
        for first in (*EMOJI, *WORDS):
            for second in (EMOJI[0], WORDS[0]) if frame.count("{}") > 1 else ("",):
                yield frame.format(first, second)
    rng = random.Random(5)
    for _ in range(200):
        yield " ".join(rng.sample((*EMOJI, *WORDS), 4))


@pytest.mark.requirement("A8")
def test_what_people_write_is_kept_byte_for_byte(guard):
    every = list(legitimate())
    assert len(set(every)) >= 500
    for text in every:
        checked = guard.check({"content": text})
        assert checked.fields["content"] == text
        assert checked.redactions == ()
