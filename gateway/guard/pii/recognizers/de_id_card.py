"""Numbers of identity cards and passports of Germany.

Rules this module keeps:
- Nine letters and digits without vowels that look like words, and a check digit (7-3-1), beside a
  word; the check digit may be left out, as it is on the card's face.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_WEIGHTS = (7, 3, 1)
_FACE = 9


def _is_valid(number: str) -> bool:
    number = number.rstrip("D")
    if len(number) == _FACE:
        return True
    total = sum(int(sign, 36) * _WEIGHTS[at % 3] for at, sign in enumerate(number[:_FACE]))
    return total % 10 == int(number[_FACE])


_SAID = (
    r"personalausweis(?:nummer)?|ausweis(?:nummer)?|reisepass(?:nummer)?|passnummer|german (?:id"
    r"|identity|passport)|id card"
)


class GermanIdCardRecognizer(ShapedRecognizer):
    """Reports `DE_ID_CARD`. Source: ICAO 9303, part 3, 4.9."""

    def __init__(self) -> None:
        super().__init__(
            "DE_ID_CARD",
            (
                r"(?<![0-9A-Za-z])[CFGHJKLMNPRTVWXYZcfghjklmnprtvwxyz](?=[0-9A-Za-z]{0,8}[0-9])"
                r"[0-9CFGHJKLMNPRTVWXYZcfghjklmnprtvwxyz]{8}[0-9]?D?(?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=_is_valid,
            needs_word=True,
        )
