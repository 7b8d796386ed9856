"""Citizen service numbers of the Netherlands.

Rules this module keeps:
- Eight or nine digits that pass the eleven test, beside a word.
"""

from stdnum.nl import bsn

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"bsn|burgerservicenummer|sofi(?:nummer)?|citizen service"


class BsnRecognizer(ShapedRecognizer):
    """Reports `NL_BSN`. Source: Netherlands, Wabb."""

    def __init__(self) -> None:
        super().__init__(
            "NL_BSN",
            r"(?<![0-9A-Za-z])[0-9](?:[ .]?[0-9]){7,8}(?![0-9A-Za-z]|[-.][0-9])",
            said=_SAID,
            check=bsn.validate,
            needs_word=True,
        )
