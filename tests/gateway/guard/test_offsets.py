"""Each span of the canonical form leads back to the original characters that it was made of."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.guard.normalise import Normalised, fold, normalise

# What composes, decomposes, vanishes, grows, joins and takes marks: a few of them meet often.
TRICKY = (
    "aé0１²①❶Ⅷﬃ½—‐− \t\n\u00a0\u3000\u0301\u0323\u0336\u20e3\ufe0f\ufe0e\u200b\u200c\u200d\u2060"
    "\ufeff\u00ad\u3164\u2800\u1160\u1161\u11a8각ガｶﾞ\u3099か한A\u030aÅ\u212b가\U0001f469"
    "\U0001f3fb\U000e0061\U000e0100\x1b[]m;\x07中，。ü\u0b47\u0b3e\U0001e08fﷺक\u094dष\u0d4d\u202e"
    "豈\uf900神\ufe00สำ\u0e33"
)
texts = st.one_of(
    st.text(st.sampled_from(TRICKY), max_size=40),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0ー"), max_size=40),
)
INVISIBLE = "\u200b\u2060\u00ad\ufeff\u180e\u3164\u2800\u202d\U000e0041\ufe0f\u034f"
FULL_WIDTH = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}


@settings(max_examples=300)
@given(texts, st.data())
def test_a_span_of_any_length_holds_what_it_was_made_of(text: str, data: st.DataObject) -> None:
    check_span(normalise(text), data.draw)


@pytest.mark.long
@settings(max_examples=10_000)
@given(texts, st.data())
def test_ten_thousand_spans_hold_what_they_were_made_of(text: str, data: st.DataObject) -> None:
    check_span(normalise(text), data.draw)


def check_span(made: Normalised, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
    size = len(made.canonical)
    start = draw(st.integers(0, size))
    end = draw(st.integers(start, size))
    begin, stop = made.span(start, end)
    assert 0 <= begin <= stop <= len(made.original)
    wanted = made.canonical[start:end]
    if wanted:
        # It may take the rest of a ligature with it, and never leaves a part of the value behind.
        assert wanted in fold(made.original[begin:stop]).text
    before = made.span(0, start)[1] if start else 0
    after = made.span(end, size)[0] if end < size else len(made.original)
    if wanted and before <= begin and stop <= after:
        # Where no character is shared with its neighbours, nothing of the value is outside it.
        assert fold(made.original[:begin]).text == made.canonical[:start]


@settings(max_examples=300)
@given(
    st.text(st.sampled_from("xyz中é👩 "), max_size=8),
    st.text(st.sampled_from("0123456789abc@.-"), min_size=1, max_size=16),
    st.text(st.sampled_from("xyz中é👩 "), max_size=8),
    st.data(),
)
def test_a_value_in_disguise_is_covered_from_its_first_sign_to_its_last(
    before: str, value: str, after: str, data: st.DataObject
) -> None:
    """Full-width, with invisible characters inside: what is cut out is the value and no more."""
    dressed = ""
    for number, sign in enumerate(value):
        shown = FULL_WIDTH[sign] if data.draw(st.booleans()) else sign
        hidden = data.draw(st.text(st.sampled_from(INVISIBLE), max_size=2)) if number else ""
        dressed += hidden + shown
    text = f"{before} {dressed} {after}"
    made = normalise(text)
    start = len(fold(before).text) + 1
    assert made.canonical[start : start + len(value)] == value
    assert made.span(start, start + len(value)) == (
        len(before) + 1,
        len(before) + 1 + len(dressed),
    )


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab中é１\u200b\u0301"), max_size=12), st.sampled_from(["%", "\\u"]))
def test_a_span_of_a_decoded_layer_covers_what_encodes_it(around: str, escape: str) -> None:
    value = "rosa@harbour.example"
    encoded = "".join(
        f"%{ord(sign):02X}" if escape == "%" else f"\\u{ord(sign):04x}" for sign in value
    )
    made = normalise(f"{around} {encoded} {around}")
    (layer,) = [one for one in made.decoded if value in one.text]
    start = layer.text.index(value)
    begin, stop = layer.span(start, start + len(value))
    assert made.original[begin:stop] == encoded


DROPPED = {
    "soft hyphen": "\u00ad",
    "combining grapheme joiner": "\u034f",
    "Mongolian selectors and separator": "\u180b\u180c\u180d\u180e\u180f",
    "zero-width space and joiners": "\u200b\u200c\u200d",
    "marks and overrides of direction": "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e",
    "isolates of direction": "\u2066\u2067\u2068\u2069",
    "word joiner and invisible operators": "\u2060\u2061\u2062\u2063\u2064\u2065",
    "deprecated format characters": "\u206a\u206b\u206c\u206d\u206e\u206f",
    "Braille blank": "\u2800",
    "Hangul fillers": "\u115f\u1160\u3164\uffa0",
    "Khmer inherent vowels": "\u17b4\u17b5",
    "variation selectors": "".join(map(chr, range(0xFE00, 0xFE10))),
    "more variation selectors": "".join(map(chr, range(0xE0100, 0xE01F0))),
    "tags": "".join(map(chr, range(0xE0000, 0xE0080))),
    "byte order mark": "\ufeff",
    "interlinear annotation": "\ufff9\ufffa\ufffb",
    "shorthand and musical format characters": "\U0001bca0\U0001bca3\U0001d173\U0001d17a",
}


@pytest.mark.parametrize("signs", DROPPED.values(), ids=DROPPED)
def test_what_nobody_sees_is_dropped_and_leaves_its_neighbours_whole(signs: str) -> None:
    for sign in signs:
        made = normalise(f"13{sign}8")
        assert made.canonical == "138"
        assert made.span(0, 3) == (0, 4)
        assert made.original == f"13{sign}8"
