"""Numbers of patients and of the insured.

Rules this module keeps:
- 4 to 16 letters, digits and dashes with four digits, right after the words.
"""

from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = (
    r"patient(?= ?(?:id|no|num|#|:))|mrn|medical record|chart (?:number|no)|health (?:card"
    r"|insurance|plan)|insurance (?:policy|number|no\.?|id|card)|policy(?:holder)? ?(?:number"
    r"|no\.?|id)|member (?:id|number|no\.?)|beneficiary (?:id|number)|subscriber id"
    r"|医保卡?|社保卡?|病历|病案|就诊卡|住院|门诊|保单|社会保障|健康卡|診察券|保険証"
)
_VALUE = r"(?=(?:[a-z-]{0,4}[0-9]){4})[a-z0-9]{1,16}(?:-[a-z0-9]{1,12}){0,3}"


class MedicalIdRecognizer(AnnouncedRecognizer):
    """Reports `MEDICAL_ID`. Source: 45 CFR 164.514(b)(2)."""

    def __init__(self) -> None:
        super().__init__("MEDICAL_ID", _NAMES, _VALUE)
