"""Identity cards of Hong Kong.

Rules this module keeps:
- One or two letters, six digits and a right check character (mod 11), in brackets or not.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_LENGTH = 9
_BLANK = 36


def _is_valid(number: str) -> bool:
    values = [int(sign, 36) for sign in number[:-1]]
    values = [_BLANK] * (_LENGTH - len(number)) + values
    total = sum(value * weight for value, weight in zip(values, range(9, 1, -1), strict=True))
    return (total + (10 if number[-1] == "A" else int(number[-1]))) % 11 == 0


_SAID = r"hkid|hong kong id|hong kong identity|香港身份证|香港身份證|香港永久|身份证|身份證|证件"


class HongKongIdRecognizer(ShapedRecognizer):
    """Reports `HK_ID`. Source: Hong Kong, Cap. 177."""

    def __init__(self) -> None:
        super().__init__(
            "HK_ID",
            (
                r"(?<![0-9A-Za-z])[A-Za-z]{1,2}[ ]?[0-9]{6}[ ]?"
                r"(?:\([0-9Aa]\)|[0-9Aa])(?![0-9A-Za-z]|[-.][0-9])"
            ),
            said=_SAID,
            check=_is_valid,
            score=0.8,
        )
