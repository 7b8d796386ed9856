"""Medicare beneficiary identifiers of the United States.

Rules this module keeps:
- Eleven characters in CMS's own pattern, without S, L, O, I, B, Z; dashes may stand in it.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"mbi|medicare"


class MbiRecognizer(ShapedRecognizer):
    """Reports `US_MBI`. Source: CMS, MBI format."""

    def __init__(self) -> None:
        super().__init__(
            "US_MBI",
            (
                r"(?<![0-9A-Za-z])[1-9][AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y][0-9]-?[AC-HJKMNP-RT-Y]"
                r"[0-9AC-HJKMNP-RT-Y][0-9]-?[AC-HJKMNP-RT-Y]{2}[0-9]{2}(?![0-9A-Za-z])"
            ),
            said=_SAID,
            sign="[0-9]",
        )
