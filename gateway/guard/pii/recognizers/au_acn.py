"""Company numbers of Australia.

Rules this module keeps:
- Nine digits with a right check digit (mod 10, weights 8 to 1), beside a word.
"""

from stdnum.au import acn

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"acn|australian company"


class AcnRecognizer(ShapedRecognizer):
    """Reports `AU_ACN`. Source: ASIC."""

    def __init__(self) -> None:
        super().__init__(
            "AU_ACN",
            r"(?<![0-9A-Za-z])[0-9](?:[ .·-]{0,1}[0-9]){8}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=acn.validate,
            needs_word=True,
        )
