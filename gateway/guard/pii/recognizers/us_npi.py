"""Provider numbers of United States health care.

Rules this module keeps:
- Ten digits, the first 1 or 2, with a right check digit (Luhn over 80840), beside a word.
"""

from stdnum import luhn

from gateway.guard.pii.shaped import ShapedRecognizer


def _is_valid(number: str) -> bool:
    return luhn.is_valid("80840" + number)


_SAID = r"npi|national provider|provider (?:id|number)"


class NpiRecognizer(ShapedRecognizer):
    """Reports `US_NPI`. Source: 45 CFR 162.406."""

    def __init__(self) -> None:
        super().__init__(
            "US_NPI",
            r"(?<![0-9A-Za-z])[12][0-9]{9}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=_is_valid,
            needs_word=True,
        )
