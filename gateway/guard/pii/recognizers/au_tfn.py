"""Tax file numbers of Australia.

Rules this module keeps:
- Eight or nine digits with a right check digit, beside a word.
"""

from stdnum.au import tfn

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"tfn|tax file"


class TfnRecognizer(ShapedRecognizer):
    """Reports `AU_TFN`. Source: Australian Taxation Office."""

    def __init__(self) -> None:
        super().__init__(
            "AU_TFN",
            r"(?<![0-9A-Za-z])[0-9](?:[ .-]?[0-9]){7,8}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=tfn.validate,
            needs_word=True,
        )
