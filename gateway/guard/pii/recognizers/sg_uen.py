"""Entity numbers of Singapore, held by sole proprietors too.

Rules this module keeps:
- Nine or ten characters with a right check letter, beside a word.
"""

from stdnum.sg import uen

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"uen|unique entity|acra"


class UenRecognizer(ShapedRecognizer):
    """Reports `SG_UEN`. Source: Singapore, ACRA."""

    def __init__(self) -> None:
        super().__init__(
            "SG_UEN",
            (
                r"(?<![0-9A-Za-z])(?:[0-9]{8,9}[A-Za-z]"
                r"|[TSRtsr][0-9]{2}[A-Za-z]{2}[0-9]{4}[A-Za-z])(?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=uen.validate,
            needs_word=True,
        )
