"""National health service numbers of England.

Rules this module keeps:
- Ten digits with a right check digit (mod 11), beside a word: one in eleven passes by chance.
"""

from stdnum.gb import nhs

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"nhs|national health|patient|医保"


class NhsRecognizer(ShapedRecognizer):
    """Reports `UK_NHS`. Source: NHS data dictionary."""

    def __init__(self) -> None:
        super().__init__(
            "UK_NHS",
            r"(?<![0-9A-Za-z])[0-9](?:[ .·-]{0,1}[0-9]){9}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=nhs.validate,
            needs_word=True,
        )
