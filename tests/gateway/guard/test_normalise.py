"""The one normaliser: canonical form, offset map, and the Unicode it is pinned to."""

import hashlib
import re
import sys
import unicodedata  # noqa: TID251 - the judge of the one module that may use it
from itertools import groupby
from operator import itemgetter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Invalid
from gateway.guard import normalise as subject
from gateway.guard.normalise import canonical_text, fold, is_blank, normalise
from gateway.guard.scan import ScanFailed
from tests.architecture.source import ROOT, SHIPPED

EVERY_CHARACTER = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
# Characters that fold, compose, vanish or combine, so that a few of them meet often.
TRICKY = (
    "aé0１²①❶٣Ⅷﬃ½ー—‐− \t\n\u00a0\u3000\u0301\u0323\u0336\u20e3\ufe0f\u200b\u200d\u2060\ufeff"
    "\u00ad\u3164\u2800\u1160\u1161\u11a8가각ガｶﾞ\u3099か한A\u030aÅ\u212b가\U0001f469\U0001f3fb"
    "\U000e0061\x1b[]m;\x07\x9b38中，。ü\u0b47\u0b3e\U0001e08f\U0001e030ﷺ"
)
texts = st.one_of(
    st.text(st.sampled_from(TRICKY), max_size=40),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
)

LEGITIMATE = [
    "👩‍👩‍👧 and 👨🏽‍🚀, 🏳️‍🌈, ❤️‍🔥, 1️⃣, ☎️, ©️",
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁵󠁳󠁴󠁸󠁿",
    "🇨🇳🇩🇪🇬🇧 👍🏿 🧑‍🤝‍🧑 👁️‍🗨️",
    "می‌خواهم کتاب‌هایم را ببرم",
    "क्‍ष और श्रीमान्‌जी",
    "ශ්‍රී ලංකාව",
    "葛󠄀城市と葛󠄁飾区、辻󠄀さん、邉󠄂",
    "︎☃︎ ☀︎ ⚖︎",
    "שלום, מה שלומך? \u200f(טוב)\u200f",
    "السلام عليكم ورحمة الله ﷺ",
    "\u202aembedded\u202c \u2067rtl\u2069 marks",
    "ｶﾀｶﾅ と カタカナ、２０２４年",
    "café, cafe\u0301, ﬁne, Ångström, Å, K",
    "a\u00adsoft\u00adhyphen and a\u2060word\u2060joiner",
    "Zażółć gęślą jaźń; Đặng Thị; İstanbul; ǅ",
    "ᠮᠣᠩᠭᠣᠯ᠎ᠠ",
    "한글과 옛한글 ᄒᆞᆫ",
    "⠃⠗⠁⠊⠇⠇⠑⠀⠓⠑⠗⠑",
    "x̂ = ŷ ± ½·10⁻³ m²",
    "e\u0300\u0323\u0301 stacked",
    "zero\u200bwidth\u200bspaces\u200bbetween\u200bThai\u200bwords",
]


@pytest.mark.parametrize("text", LEGITIMATE)
def test_what_people_write_is_kept_and_is_no_finding(text):
    normalised = normalise(text)
    assert normalised.original == text
    assert normalised.findings == ()
    assert not normalised.blank


@settings(max_examples=500)
@given(texts)
def test_folding_twice_changes_nothing(text):
    once = fold(text).text
    assert fold(once).text == once


@settings(max_examples=500)
@given(texts)
def test_the_map_covers_the_original_in_order(text):
    normalised = normalise(text)
    spans = normalised.offsets
    assert len(spans) == len(normalised.canonical)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert list(spans) == sorted(spans)
    if "ー" not in text:
        for span, group in groupby(zip(normalised.canonical, spans, strict=True), itemgetter(1)):
            # A span alone folds to what it gave in the whole: no character reaches beyond its own.
            assert fold(text[slice(*span)]).text == "".join(char for char, _ in group)


@settings(max_examples=500)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], codec="utf-8"), max_size=30))
def test_what_is_neither_dropped_nor_folded_is_nfkc(text):
    seen = "".join(char for char in text if not subject._INVISIBLE_ONE.match(char))
    composed = unicodedata.normalize("NFKC", seen)
    digits = any(char.isdigit() for char in composed)  # they lose their marks
    if not digits and all(subject._fold_cluster(char) == char for char in composed):
        assert fold(seen).text == composed


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("０９０－１２３４ー５６７８", "090-1234-5678"),
        ("1️⃣3️⃣8️⃣", "138"),
        ("①②❸➍⑤", "12345"),
        ("٠١٢ ०१२ ๐๑๒", "012 012 012"),
        ("𝟏𝟐𝟑 ¹²³", "123 123"),
        ("1\u0336 2\u0301", "1 2"),
        ("p\u0336a\u0336s\u0336s", "pass"),
        ("가\u0336\u11a8", "각"),
        ("p\u200ba\u00ads\u2060s", "pass"),
        ("a\u3164b\uffa0c\u115fd\u1160e\u2800f", "abcdef"),
        ("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link", "red link"),
        ("en–em—minus−hyphen‐", "en-em-minus-hyphen-"),
        ("a\u00a0b\u3000c\u2009d", "a b c d"),
        ("line\u2028sep\x85nel", "line\nsep\nnel"),
        ("ﬃ Ⅷ ㎏", "ffi VIII kg"),
        ("Case Kept", "Case Kept"),
        ("你好，世界！", "你好,世界!"),
    ],
)
def test_the_canonical_form(text, canonical):
    assert normalise(text).canonical == canonical


def test_a_span_covers_what_belongs_to_its_characters():
    text = "call 1️⃣3\u200b8 now"
    canonical = normalise(text).canonical
    start = canonical.index("138")
    begin, end = normalise(text).span(start, start + 3)
    assert text[begin:end] == "1️⃣3\u200b8"


def test_a_ligature_is_covered_whole():
    begin, end = normalise("xﷺy").span(3, 5)
    assert (begin, end) == (1, 2)


def test_a_span_outside_the_text_is_an_error():
    with pytest.raises(IndexError):
        normalise("abc").span(2, 4)


@pytest.mark.parametrize("text", ["a\0b", "\0", "a\ud800b", "\udfff"])
def test_what_no_store_can_keep_is_refused_with_its_field(text):
    with pytest.raises(Invalid) as refused:
        normalise(text, field="metadata.note")
    (fault,) = refused.value.faults
    assert fault.field == "metadata.note"
    assert text not in fault.message


@pytest.mark.parametrize(
    "text", ["", "  \n\t ", "\u200b\u2060", "\u2800", "\u3164 \ufeff", "\x01\x1b[0m"]
)
def test_a_text_that_shows_nothing_is_blank(text):
    assert is_blank(text)
    assert normalise(text).blank


def test_a_text_that_grows_beyond_its_bound_is_refused():
    with pytest.raises(ScanFailed):
        normalise("ﷺ" * 2000)


def test_canonical_text_is_one_form_for_many_spellings():
    spellings = ["Straße  Nr. 5", "STRASSE nr. ５", " strasse\u200b nr. 5\n", "Straße\u00a0Nr. ⑤"]
    assert {canonical_text(text) for text in spellings} == {"strasse nr. 5"}


@settings(max_examples=300)
@given(texts)
def test_canonical_text_is_its_own_canonical_text(text):
    once = canonical_text(text)
    assert canonical_text(once) == once


@pytest.mark.parametrize(
    ("text", "skeleton"),
    [
        ("рayраl АKІA", "paypal AKIA"),
        ("ᴍʏ ᴘᴀssᴡᴏʀᴅ ɪs", "my password is"),
        ("ꓑꓮꓢꓢꓪꓳꓣꓓ", "PASSWORD"),
        ("ⲢⲒⲚ ΡΙΝ", "PIN PIN"),
        ("sесrеt", "secret"),
    ],
)
def test_look_alikes_fold_index_for_index(text, skeleton):
    layer = fold(text)
    assert layer.skeleton == skeleton
    assert len(layer.skeleton) == len(layer.text)
    assert layer.text == text  # for matching only: what digests and words are made of keeps it


def test_text_and_maps_stay_out_of_repr():
    assert "rosa" not in repr(normalise("rosa was here"))


def test_the_form_is_the_same_under_every_interpreter():
    # SHA-256 over the canonical form of every code point below plane 2. The table of young ones
    # makes it hold from Unicode 14 (Python 3.11) on; if a newer one differs, extend that table.
    every = "\n".join(char for char in EVERY_CHARACTER if char <= "\U0001ffff")
    once = fold(every).text
    cased = fold(once.casefold()).text
    assert hashlib.sha256(f"{once}\0{cased}".encode()).hexdigest() == PINNED


def test_composing_characters_are_all_known():
    known = {char for char in EVERY_CHARACTER if subject._COMPOSING_ONE.match(char)}
    young = {char for char in EVERY_CHARACTER if subject._YOUNG_ONE.match(char)}
    seconds = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for char in EVERY_CHARACTER:
        parts = unicodedata.decomposition(char).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            second = chr(int(parts[1], 16))
            if not unicodedata.combining(second):
                seconds.add(second)
    assert seconds - young == known


def test_the_invisible_are_all_known():
    known = {char for char in EVERY_CHARACTER if subject._INVISIBLE_ONE.match(char)}
    # 4,174 default-ignorable code points, the Braille blank, and U+FFF9-FFFB.
    assert len(known) == 4174 + 1 + 3
    visible_format = {
        char for char in EVERY_CHARACTER if unicodedata.category(char) == "Cf" and char not in known
    }
    # Signs that are drawn: Arabic number marks, Syriac and Kaithi signs, Egyptian quadrats.
    assert {unicodedata.name(char).split()[0] for char in visible_format} == {
        *("ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN"),
    }


def test_nothing_else_imports_unicodedata():
    users = [
        file.relative_to(ROOT).as_posix()
        for package in SHIPPED
        for file in (ROOT / package).rglob("*.py")
        if re.search(
            r"^\s*(?:import|from) unicodedata", file.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert users == ["gateway/guard/normalise.py"]


PINNED = "2eefc8e9ac1e3f8c2603ed6a77783cddb824bd50c25c1df304bd5506ac1fec9f"
