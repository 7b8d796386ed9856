"""Texts and queries are cut alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.lexicon import Lexicon
from gateway.guard.normalise import canonical_text

LEXICON = Lexicon(canonical_text)


def found(query: str, text: str) -> bool:
    return bool(set(LEXICON.words(query)) & set(LEXICON.words(text)))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("OAuth", "部署脚本里OAuth令牌过期了"),
        ("refresh_url", "错误在refresh_url的拼写"),
        ("unit7 part-3", "Unit 7, Part 3: solder the connector"),
        ("cats", "She has a cat"),
        ("朝阳", "他住在朝阳区"),
        ("ＡＢＣ", "abc"),
        ("parties", "a party of five"),
    ],
)
def test_a_query_finds_the_text(query: str, text: str) -> None:
    assert found(query, text)


@pytest.mark.parametrize(("query", "text"), [("%", "100 percent"), ("_", "a b"), ("cat", "dog")])
def test_a_query_does_not_find_the_text(query: str, text: str) -> None:
    assert not found(query, text)


def test_every_pair_of_chinese_neighbours_is_a_word() -> None:
    assert LEXICON.words("花生过敏") == ["花", "生", "过", "敏", "花生", "生过", "过敏"]


@given(st.text(max_size=200))
def test_cutting_is_a_function_of_the_canonical_text(text: str) -> None:
    try:
        canonical = canonical_text(text)
    except ValueError:
        return
    assert LEXICON.words(text) == LEXICON.words(canonical)


def test_the_number_of_words_is_bounded() -> None:
    assert len(LEXICON.words("汉字" * 40_000)) == 20_000
