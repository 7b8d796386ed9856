"""Resident registration numbers of South Korea.

Rules this module keeps:
- A date, a dash, and seven digits of which the first is 1 to 8; with a dash by its shape.
- The check digit is not asked: numbers issued since October 2020 have none.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"주민등록번호|주민번호|resident registration|rrn|korean id"


class RrnRecognizer(ShapedRecognizer):
    """Reports `KR_RRN`. Source: South Korea, Resident Registration Act."""

    def __init__(self) -> None:
        super().__init__(
            "KR_RRN",
            (
                r"(?<![0-9A-Za-z])(?<![0-9][-.])[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]"
                r"|3[01])-[1-8][0-9]{6}(?![0-9A-Za-z]|[-.][0-9])"
            ),
            said=_SAID,
        )
