"""The whole guard on made-up texts: values go, and nothing else does.

Values stand between emoji, combining marks and other scripts, overlap, repeat and are dressed up.
What is expected is known because the text was put together from its parts.
"""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.guard.guard import Guard
from gateway.guard.pii import load_detector
from gateway.guard.policy import load_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path

# Each with the placeholder that stands for it, and what may be left of it.
VALUES = {
    "rosa@harbour.example": "[EMAIL_ADDRESS]",
    "ROSA.K+x@harbour.example": "[EMAIL_ADDRESS]",
    "rosa@harbour.example,liu@pier.example": "[EMAIL_ADDRESS],[EMAIL_ADDRESS]",
    "+44 20 7946 0958": "[PHONE_NUMBER]",
    "１３８００１３８０００": "[PHONE_NUMBER]",
    "138\u200b0013\u200b8000": "[PHONE_NUMBER]",
    "1️⃣3️⃣8️⃣0️⃣0️⃣1️⃣3️⃣8️⃣0️⃣0️⃣0️⃣": "[PHONE_NUMBER]",
    "11010519491231002X": "[CN_RESIDENT_ID]",
    "4111 1111 1111 1111": "[CREDIT_CARD ****1111]",
    "DE89 3704 0044 0532 0130 00": "[IBAN_CODE ****3000]",
    "192.0.2.44": "[IP_ADDRESS]",
    "%72%6F%73%61%40harbour.example": "[EMAIL_ADDRESS]",
}
HARMLESS = (
    *("she said", "é", "e\u0301\u0323", "中文", "👩‍👩‍👧", "👩🏽‍🚒", "🇳🇱", "❤️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "葛󠄀"),
    *("می‌خواهم", "क्‍ष", "שלום", "한국어", "ｶﾀｶﾅ", "½", "ﬁne", "…", "\n", "\u2028", "“so”"),
    *("[PHONE_NUMBER]", "[note]", "a\u0336b\u0336"),
)  # fmt: skip

parts = st.lists(
    st.one_of(
        st.sampled_from(sorted(VALUES)).map(lambda value: (value, VALUES[value])),
        st.lists(st.sampled_from(HARMLESS), min_size=1, max_size=4)
        .map(" ".join)
        .map(lambda text: (text, text)),
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard(
        load_secret_rules(data_path("policies", "secrets.yaml")),
        load_pii_policy(data_path("policies", "pii", "balanced.yaml")),
        load_detector(),
    )


@pytest.mark.requirement("D5")
@settings(max_examples=500)
@given(parts, st.sampled_from([" ; ", "\n", " — ", "。 ", " 👩‍👩‍👧 "]))
def test_values_go_and_nothing_else_does(
    guard: Guard, made: Sequence[tuple[str, str]], between: str
) -> None:
    check(guard, made, between)


@pytest.mark.long
@pytest.mark.requirement("D5")
@settings(max_examples=10_000)
@given(parts, st.sampled_from([" ; ", "\n", " — ", "。 ", " 👩‍👩‍👧 "]))
def test_values_go_and_nothing_else_does_in_ten_thousand_texts(
    guard: Guard, made: Sequence[tuple[str, str]], between: str
) -> None:
    check(guard, made, between)


def check(guard: Guard, made: Sequence[tuple[str, str]], between: str) -> None:
    text = "so: " + between.join(part for part, _ in made)
    wanted = "so: " + between.join(part for _, part in made)
    checked = guard.check({"content": text})
    assert checked.fields["content"] == wanted
    placeholders = sum(part.count("[") for value, part in made if value != part)
    assert sum(one.count for one in checked.redactions) == placeholders
    again = guard.check({"content": wanted})
    assert again.fields["content"] == wanted
    assert again.redactions == ()
