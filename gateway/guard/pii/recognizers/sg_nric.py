"""Identity numbers of Singapore.

Rules this module keeps:
- S, T, F, G or M, seven digits and a check letter.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_WEIGHTS = (2, 7, 6, 5, 4, 3, 2)
_LETTERS = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "G": "XWUTRQPNMLK"}
_LETTERS_M = "KLJNPQRTUWX"


def _is_valid(number: str) -> bool:
    total = sum(int(digit) * weight for digit, weight in zip(number[1:8], _WEIGHTS, strict=True))
    if number[0] == "M":
        return _LETTERS_M[(total + 3) % 11] == number[8]
    return _LETTERS[number[0]][(total + 4 * (number[0] in "TG")) % 11] == number[8]


_SAID = r"nric|fin|singapore (?:id|identity)|ic (?:no|number)"


class NricRecognizer(ShapedRecognizer):
    """Reports `SG_NRIC_FIN`. Source: Singapore, ICA."""

    def __init__(self) -> None:
        super().__init__(
            "SG_NRIC_FIN",
            r"(?<![0-9A-Za-z])[STFGMstfgm][0-9]{7}[A-Za-z](?![0-9A-Za-z])",
            said=_SAID,
            check=_is_valid,
        )
