"""Numbers of driving licences.

Rules this module keeps:
- There are a hundred shapes, so only what stands right after the word counts: 5 to 20 letters,
  digits and dashes, four digits among them.
"""

from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = (
    r"driver'?s?'?(?:’s)? ?-?licen[cs]es?|driving ?-?licen[cs]es?|driver lic"
    r"|licen[cs]e (?:number|no\.?)"
    r"|dl(?= ?(?:#|no|num|:))|(?:my|his|her|their) dl|führerschein(?:nummer)?|permis de conduire"
    r"|驾驶证|驾照|駕照"
    r"|運転免許証?|免許証"
)
_VALUE = (
    r"(?=(?:[-a-z ]{0,5}[0-9]){4})[a-z0-9][a-z0-9]{0,6}(?:[ :-]?[a-z0-9]{1,12}){0,3}(?<=[0-9])"
    r"[a-z]{0,2}"
)


class DriverLicenseRecognizer(AnnouncedRecognizer):
    """Reports `DRIVER_LICENSE`. Source: AAMVA DL/ID card design standard, annex D."""

    def __init__(self) -> None:
        super().__init__("DRIVER_LICENSE", _NAMES, _VALUE)
