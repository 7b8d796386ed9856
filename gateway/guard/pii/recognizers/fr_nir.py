"""Social security numbers of France.

Rules this module keeps:
- Fifteen characters with a right control key (mod 97), with a sex, a year and a month.
"""

from stdnum.fr import nir

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"nir|sécurité sociale|securite sociale|insee|french social"


class NirRecognizer(ShapedRecognizer):
    """Reports `FR_NIR`. Source: France, décret 82-103."""

    def __init__(self) -> None:
        super().__init__(
            "FR_NIR",
            (
                r"(?<![0-9A-Za-z])[1278] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?(?:[0-9]{2}"
                r"|2[ABab]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}(?![0-9A-Za-z]|[-.][0-9])"
            ),
            said=_SAID,
            check=nir.validate,
        )
