"""Identity numbers of Turkey.

Rules this module keeps:
- Eleven digits with two right check digits, beside a word.
"""

from stdnum.tr import tckimlik

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"t\.?c\.? ?(?:kimlik|no)|kimlik|tckn|turkish id"


class TcknRecognizer(ShapedRecognizer):
    """Reports `TR_NATIONAL_ID`. Source: Turkey, law 5490."""

    def __init__(self) -> None:
        super().__init__(
            "TR_NATIONAL_ID",
            r"(?<![0-9A-Za-z.+-])[1-9][0-9]{10}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=tckimlik.validate,
            needs_word=True,
        )
