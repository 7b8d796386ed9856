"""Where a text is cut, and that nothing of it is lost."""

from hypothesis import given
from hypothesis import strategies as st

from core.adapters.embed.chunking import cut, estimated_tokens

prose = st.lists(
    st.sampled_from(
        [
            "word ",
            "Dr. ",
            "end. ",
            "really?! ",
            "停。",
            "你好",
            "，",
            "“quoted.” ",
            "\n\n",
            "\n",
            " ",
            "x" * 30,
        ]
    ),
    max_size=120,
).map("".join)


@given(prose | st.text(max_size=400), st.integers(8, 60))
def test_pieces_fit_and_hold_all_but_white_space(text, most):
    pieces = cut(text, most, estimated_tokens)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(estimated_tokens(piece) <= most for piece in pieces)
    assert len(pieces) == 1 or all(pieces)


def test_a_text_that_fits_is_not_cut():
    assert cut("One. Two. 三。", 20, estimated_tokens) == ["One. Two. 三。"]


def test_paragraphs_go_before_sentences_and_sentences_before_words():
    text = "First one here. Second one here.\n\nThird one here. 第四句在这里。第五句在这里。"
    assert cut(text, 13, estimated_tokens) == [
        "First one here. Second one here.",
        "Third one here.",
        "第四句在这里。",
        "第五句在这里。",
    ]


def test_a_closing_quote_stays_with_its_sentence():
    assert cut("她说：“我走了。”他没有回答。", 10, estimated_tokens) == [
        "她说：“我走了。”",
        "他没有回答。",
    ]


def test_a_word_without_end_is_cut_anywhere():
    pieces = cut("x" * 1000, 10, estimated_tokens)
    assert "".join(pieces) == "x" * 1000


def test_the_estimate_is_at_least_what_tokenizers_say():
    assert estimated_tokens("") == estimated_tokens(" \n") == 0
    assert estimated_tokens("I moved to Berlin in March.") >= 8  # e5 says 8
    assert estimated_tokens("我住在北京朝阳区") == 8  # e5 says 5
