"""Tax identification numbers of Germany.

Rules this module keeps:
- Eleven digits with a right check digit (ISO 7064 MOD 11,10), beside a word.
"""

from stdnum.de import idnr

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"steuer-?(?:id|identifikationsnummer|nummer)|idnr|tax id(?:entification)?|tin"


class GermanTaxIdRecognizer(ShapedRecognizer):
    """Reports `DE_TAX_ID`. Source: Germany, AO section 139b."""

    def __init__(self) -> None:
        super().__init__(
            "DE_TAX_ID",
            r"(?<![0-9A-Za-z])[1-9][0-9](?: ?[0-9]{3}){3}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=idnr.validate,
            needs_word=True,
        )
