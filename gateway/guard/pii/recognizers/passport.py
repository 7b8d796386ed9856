"""Passport numbers.

Rules this module keeps:
- One to three letters and six to eight digits, or nine digits, beside "passport", 护照 or the like.
- A Chinese one, E and a letter or E, G, D, S, P, H and eight digits, also beside 证件 or 签证.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = (
    r"passports?|passeport|pasaporte|reisepass|护照|護照|パスポート|旅券|travel document"
    r"|出入境证件|证件号"
)


class PassportRecognizer(ShapedRecognizer):
    """Reports `PASSPORT`. Source: ICAO 9303, part 4."""

    def __init__(self) -> None:
        super().__init__(
            "PASSPORT",
            (
                r"(?<![0-9A-Za-z])(?:[A-Za-z]{1,3} ?[0-9]{6,8}[A-Za-z]?|[0-9]{8,9}"
                r"|[0-9]{2}[A-Za-z]{2}[0-9]{5}|[Ee][A-HJ-NP-Za-hj-np-z] ?[0-9]{7}"
                r"|[A-Za-z][0-9](?: ?[0-9]){7}|[A-Za-z][0-9]{7})(?![0-9A-Za-z]|[-.][0-9])"
            ),
            said=_SAID,
            needs_word=True,
        )
