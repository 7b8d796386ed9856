"""Identity numbers of Taiwan, of citizens and of residents.

Rules this module keeps:
- A letter, 1, 2, 8 or 9, and eight digits with a right check digit.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_LETTERS = "ABCDEFGHJKLMNPQRSTUVXYWZIO"
_WEIGHTS = (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)


def _is_valid(number: str) -> bool:
    region = _LETTERS.index(number[0]) + 10
    digits = [region // 10, region % 10, *(int(digit) for digit in number[1:])]
    return sum(digit * weight for digit, weight in zip(digits, _WEIGHTS, strict=True)) % 10 == 0


_SAID = r"身分證|身份证|身份證|统一编号|統一編號|taiwan id|national id|居留證"


class TaiwanIdRecognizer(ShapedRecognizer):
    """Reports `TW_ID`. Source: Taiwan, household registration rules."""

    def __init__(self) -> None:
        super().__init__(
            "TW_ID",
            r"(?<![0-9A-Za-z])[A-Za-z][1289][0-9]{8}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=_is_valid,
        )
