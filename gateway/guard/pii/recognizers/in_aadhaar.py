"""Aadhaar numbers of India.

Rules this module keeps:
- Twelve digits, the first 2 to 9, with a right check digit (Verhoeff): in groups of four, or bare.
- One bare number in ten passes by chance, so a bare one needs a word, or a line of its own.
"""

from stdnum.in_ import aadhaar

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"aadh?aa?r|uidai|uid|आधार"


class AadhaarRecognizer(ShapedRecognizer):
    """Reports `IN_AADHAAR`. Source: UIDAI."""

    def __init__(self) -> None:
        super().__init__(
            "IN_AADHAAR",
            (
                r"(?<![0-9A-Za-z])(?<![0-9][ -])[2-9][0-9]{3}([ -])[0-9]{4}\1[0-9]{4}(?![0-9A-Za-z]"
                r"|[-. ][0-9])|(?<![0-9A-Za-z])[2-9][0-9]{11}(?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=aadhaar.validate,
        )
