"""PESEL numbers of Poland.

Rules this module keeps:
- Eleven digits with a date and a right check digit. One number in three hundred passes by chance,
  so it counts only beside a word.
"""

from stdnum.pl import pesel

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"pesel|numer ewidencyjny|polish (?:id|national)|poland"


class PeselRecognizer(ShapedRecognizer):
    """Reports `PL_PESEL`. Source: Poland, Dz.U. 2010 nr 217 poz. 1427."""

    def __init__(self) -> None:
        super().__init__(
            "PL_PESEL",
            r"(?<![0-9A-Za-z.+-])[0-9]{11}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=pesel.validate,
            needs_word=True,
        )
