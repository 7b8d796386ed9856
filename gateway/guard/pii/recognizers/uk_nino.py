"""National insurance numbers of the United Kingdom.

Rules this module keeps:
- Two letters that are issued, six digits, A to D; glued or in pairs.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"national insurance|ni (?:number|no)|nino"


class NinoRecognizer(ShapedRecognizer):
    """Reports `UK_NINO`. Source: HMRC, NIM39110."""

    def __init__(self) -> None:
        super().__init__(
            "UK_NINO",
            (
                r"(?<![0-9A-Za-z])(?!(?i:bg|gb|kn|nk|nt|tn"
                r"|zz))[A-CEGHJ-PR-TW-Za-ceghj-pr-tw-z][A-CEGHJ-NPR-TW-Za-ceghj-npr-tw-z](?:[ -"
                r"]?[0-9]{2}){3}[ -]?[A-Da-d](?![0-9A-Za-z])"
            ),
            said=_SAID,
        )
