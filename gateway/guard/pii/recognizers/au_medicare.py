"""Medicare card numbers of Australia.

Rules this module keeps:
- Ten or eleven digits, the first 2 to 6, the ninth a right check digit, beside a word.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_WEIGHTS = (1, 3, 7, 9, 1, 3, 7, 9)


def _is_valid(number: str) -> bool:
    total = sum(int(digit) * weight for digit, weight in zip(number, _WEIGHTS, strict=False))
    return total % 10 == int(number[8])


_SAID = r"medicare"


class MedicareRecognizer(ShapedRecognizer):
    """Reports `AU_MEDICARE`. Source: Services Australia."""

    def __init__(self) -> None:
        super().__init__(
            "AU_MEDICARE",
            r"(?<![0-9A-Za-z])[2-6](?:[ -]?[0-9]){9,10}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=_is_valid,
            needs_word=True,
        )
