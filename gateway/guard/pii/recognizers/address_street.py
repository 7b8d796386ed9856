"""Street addresses in English, best effort: a number, capitalised words and a word for a street.

Rules this module keeps:
- "12 Oak Street", with flat, town, state and code behind it if they are there.
- British postcodes count wherever they stand; American ZIP codes after a state, and any postal code
  after its name.
- A date is no number of a house, and what follows a person's title no street.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.dated import dates, titles
from gateway.guard.pii.recognizer import Recognizer, Span

_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square"
    r"|Sq|Terrace|Ter|Way|Close|"
    r"Crescent|Cres|Gardens|Grove|Hill|Highway|Hwy|Parkway|Pkwy|Circle|Cir|Trail|Mews|Row|Walk"
    r"|Quay|Alley|Plaza|Loop)"
)
_ROOM = (
    r"(?:[, ]{1,3}(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Room|Rm|Bldg|Building"
    r"|#)\.? ?[0-9A-Za-z-]{1,6})"
)
_TOWN = r"(?:[, \n]{1,3}[A-Z][A-Za-z.'-]{1,20}(?: [A-Z][A-Za-z.'-]{1,20}){0,2})"
_STATE = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI"
    r"|S[CD]|T[NX]|UT|V[AT]|W[AIVY])"
)
_POSTCODE = (
    r"(?:GIR ?0AA|[A-PR-UWYZ](?:[0-9]{1,2}|[A-HK-Y][0-9]|[A-HK-Y][0-9][0-9]|[0-9][A-HJKS-UW]"
    r"|[A-HK-Y][0-9][ABEHMNPRV-Y]) [0-9][ABD-HJLNP-UW-Z]{2})"
)
_ADDRESS = re.compile(
    rf"(?<![0-9A-Za-z$€£])(?:(?:Flat|Apt|Apartment|Unit"
    rf"|Suite)\.? ?[0-9A-Za-z-]{{1,5}},? )?[0-9]{{1,6}}[A-Za-z]?,? (?:[NSEW]\.? )?"
    rf"(?:[A-Z0-9][A-Za-z0-9.'’-]{{0,20}} ){{1,4}}{_STREET}(?![a-z])"
    rf"\.?{_ROOM}?(?:{_TOWN}?[, \n]{{1,3}}{_STATE}(?![A-Za-z])(?: [0-9]{{5}}(?:-[0-9]{{4}})?)?"
    rf"|{_TOWN}?[, \n]{{1,3}}{_POSTCODE})?(?![0-9A-Za-z])"
)
_CODE = re.compile(
    rf"(?<![0-9A-Za-z])(?:{_POSTCODE}|{_STATE} [0-9]{{5}}(?:-[0-9]{{4}})?)(?![0-9A-Za-z-])"
)


_ZIP = re.compile(
    r"(?:(?<![A-Za-z])(?i:zip(?:[ -]?codes?)?|postal code|post ?code|plz)|邮编|邮政编码)"
    r"[ :#=是为]{0,3}"
    r"(?:(?:is|was) )?(?P<code>(?:[A-Z]{1,2}-)?[0-9]{3,6}(?:[ -][0-9]{2,4})?)(?![0-9A-Za-z])"
)


class StreetAddressRecognizer(Recognizer):
    """Reports `ADDRESS`. Source: USPS Publication 28; BS 7666."""

    def __init__(self) -> None:
        super().__init__("ADDRESS", "[0-9]")

    @override
    def find(self, text: str) -> Iterator[Span]:
        yield from self._streets(text)
        for match in _CODE.finditer(text):
            yield Span(*match.span(), 0.6)
        for match in _ZIP.finditer(text):
            yield Span(*match.span("code"), 0.6)

    def _streets(self, text: str) -> Iterator[Span]:
        dated, called = dates(text), titles(text)
        at = 0
        while (match := _ADDRESS.search(text, at)) is not None:
            start, end = match.span()
            # A date or a title in it: look again behind its beginning, where a street may stand.
            if start in dated or not called.isdisjoint(range(start, end)):
                at = start + 1
                continue
            yield Span(start, end, 0.7)
            at = end
