"""Identity numbers of Spain: DNI of citizens, NIE of residents.

Rules this module keeps:
- Eight digits and a letter, or X, Y, Z, seven digits and a letter; the letter is the check.
"""

from stdnum.es import nif

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"dni|nif|nie|documento nacional|identidad"


class NifRecognizer(ShapedRecognizer):
    """Reports `ES_NIF`. Source: Spain, Real Decreto 1553/2005."""

    def __init__(self) -> None:
        super().__init__(
            "ES_NIF",
            (
                r"(?<![0-9A-Za-z])(?:[0-9]{2}\.?[0-9]{3}\.?[0-9]{3}"
                r"|[XYZxyz][ .-]?[0-9]{7})[ .-]?[A-HJ-NP-TV-Za-hj-np-tv-z](?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=nif.validate,
        )
