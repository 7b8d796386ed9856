"""Names that cannot be told apart by eye are refused, not repaired."""

import pytest

from core.errors import Invalid
from gateway.guard.identifiers import check_identifier

GOOD = [
    "alice",
    "ns/alice",
    "a",
    "用户-7",
    "josé",
    "rosa@harbour.example",
    "a b",
    "**",
    "x" * 128,
    "Ünïcode",
]
BAD = {
    "empty": "",
    "wildcard": "*",
    "too long": "x" * 129,
    "decomposed": "jose\u0301",
    "leading space": " alice",
    "trailing newline": "alice\n",
    "trailing ideographic space": "alice\u3000",
    "control": "al\x07ice",
    "inner newline": "al\nice",
    "delete": "al\x7fice",
    "NUL": "al\0ice",
    "zero-width space": "al\u200bice",
    "zero-width joiner": "al\u200dice",
    "soft hyphen": "al\u00adice",
    "bidi override": "al\u202eice",
    "variation selector": "alice\ufe0f",
    "tag letters": "alice\U000e0061",
    "Hangul filler": "alice\u3164x",
    "Braille blank": "al\u2800ice",
    "no-break space": "al\u00a0ice",
    "lone surrogate": "al\ud800ice",
    "Arabic number sign": "al\u0600ice",
}


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("value", GOOD)
def test_a_plain_name_passes_unchanged(value):
    assert check_identifier("user_id", value) is value


@pytest.mark.requirement("C2", "C3")
@pytest.mark.parametrize("value", BAD.values(), ids=BAD)
def test_an_ambiguous_name_is_refused_without_an_echo(value):
    with pytest.raises(Invalid) as refused:
        check_identifier("namespace", value)
    (fault,) = refused.value.faults
    assert fault.field == "namespace"
    assert len(value) < 3 or value not in fault.message


def test_the_bound_is_the_callers():
    assert check_identifier("tag", "x" * 8, max_length=8)
    with pytest.raises(Invalid):
        check_identifier("tag", "x" * 9, max_length=8)
