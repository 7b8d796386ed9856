"""Business numbers of Australia, held by sole traders too.

Rules this module keeps:
- Eleven digits with a right check (mod 89): in groups of 2-3-3-3 by its shape, else beside a word.
"""

from stdnum.au import abn

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"abn|australian business"


class AbnRecognizer(ShapedRecognizer):
    """Reports `AU_ABN`. Source: Australian Business Register."""

    def __init__(self) -> None:
        super().__init__(
            "AU_ABN",
            (
                r"(?<![0-9A-Za-z])(?<![0-9][-.,])[0-9]{2} [0-9]{3} [0-9]{3} [0-9]{3}(?![0-9A-Za-z]"
                r"|[-., ][0-9])|(?<![0-9A-Za-z])[0-9]{11}(?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=abn.validate,
            needs_word=True,
        )
