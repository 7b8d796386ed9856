"""Fiscal codes of Italy.

Rules this module keeps:
- Sixteen letters and digits with a right check letter.
"""

from stdnum.it import codicefiscale

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"codice fiscale|fiscal code|cf"


class FiscalCodeRecognizer(ShapedRecognizer):
    """Reports `IT_FISCAL_CODE`. Source: Italy, D.M. 23/12/1976."""

    def __init__(self) -> None:
        super().__init__(
            "IT_FISCAL_CODE",
            (
                r"(?<![0-9A-Za-z])[A-Za-z]{6}[0-9LMNP-Vlmnp-v]{2}[A-EHLMPRSTa-ehlmprst]"
                r"[0-9LMNP-Vlmnp-v]{2}[A-Za-z][0-9LMNP-Vlmnp-v]{3}[A-Za-z](?![0-9A-Za-z])"
            ),
            said=_SAID,
            check=codicefiscale.validate,
            sign="[0-9]",
        )
