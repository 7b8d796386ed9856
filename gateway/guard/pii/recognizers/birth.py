"""Dates of birth, best effort: a date right after the words that make it one.

Rules this module keeps:
- Any date may be remembered; only "born", "birthday", "DOB", 出生, 生日 and the like make it one of
  birth.
"""

from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = (
    r"born|birth ?date|birthday|birth|dob|d\.o\.b\.?|date of birth|出生(?:日期|年月|于|在)?|生日"
    r"|生于|geboren|née?|fecha de nacimiento"
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_VALUE = (
    r"[0-9]{4}[-/.年] ?[0-9]{1,2}[-/.月] ?[0-9]{1,2}日?"
    r"|[0-9]{1,2}[-/. ][0-9]{1,2}[-/. ](?:[0-9]{4}|[0-9]{2})"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? [0-9]{{4}}|{_MONTH} [0-9]{{1,2}}(?:st|nd"
    rf"|rd|th)?,? [0-9]{{4}}"
    r"|[0-9]{8}|[0-9]{1,2}月[0-9]{1,2}日|[0-9]{4}年(?:[0-9]{1,2}月)?"
)


class BirthRecognizer(AnnouncedRecognizer):
    """Reports `DATE_OF_BIRTH`. Source: 45 CFR 164.514(b)(2)."""

    def __init__(self) -> None:
        super().__init__("DATE_OF_BIRTH", _NAMES, _VALUE)
