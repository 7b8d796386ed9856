"""Personal numbers of Sweden.

Rules this module keeps:
- A date, - or +, four digits with a right check digit; without the sign only beside a word.
"""

from stdnum.se import personnummer

from gateway.guard.pii.shaped import ShapedRecognizer


def _is_valid(number: str) -> bool:
    return personnummer.is_valid(number[-10:-4].replace("+", "") + "-" + number[-4:])


_SAID = r"personnummer|personal number|samordningsnummer|swedish (?:id|personal)|sweden"


class PersonnummerRecognizer(ShapedRecognizer):
    """Reports `SE_PERSONNUMMER`. Source: Sweden, SKV 704."""

    def __init__(self) -> None:
        super().__init__(
            "SE_PERSONNUMMER",
            (
                r"(?<![0-9A-Za-z])(?<![0-9][-.])(?:19"
                r"|20)?[0-9]{2}[01][0-9][0-9]{2}[-+][0-9]{4}(?![0-9A-Za-z]|[-.][0-9])"
            ),
            said=_SAID,
            check=_is_valid,
            needs_word=True,
        )
