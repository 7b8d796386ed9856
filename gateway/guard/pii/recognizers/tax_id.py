"""Tax numbers of countries without a recognizer of their own, and employers' numbers.

Rules this module keeps:
- 7 to 15 letters, digits and dashes with five digits, right after the words; not one that is said
  to be a social security number and was never issued.
"""

from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Span
from gateway.guard.pii.recognizers.ssn import is_unissued
from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = (
    r"tax(?:payer)?[ -]?(?:id(?:entification)?|identifier|number|no\.?|file)s?|tin|ein"
    r"|employer identification|vat(?: ?(?:reg(?:istration)?|id))?|fein|utr|steuernummer"
    r"|partita iva|nit|rfc|nip|纳税人识别号|税号"
)
_VALUE = (
    r"(?=(?:[a-z-]{0,9} ?[0-9]){5})[a-z0-9]{1,11}(?:[ -]?[a-z0-9]{2,10}){0,3}(?<=[0-9])[a-z]{0,2}"
)


class TaxIdRecognizer(AnnouncedRecognizer):
    """Reports `TAX_ID`. Source: OECD, tax identification numbers."""

    def __init__(self) -> None:
        super().__init__("TAX_ID", _NAMES, _VALUE)

    @override
    def find(self, text: str) -> Iterator[Span]:
        for span in super().find(text):
            if not is_unissued(text, span.start, span.end):
                yield span
