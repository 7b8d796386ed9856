"""Numbers of QQ accounts.

Rules this module keeps:
- 5 to 11 digits, the first not 0, right after QQ or 扣扣.
"""

from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = r"qq群?|扣扣|企鹅号|q号"
_VALUE = r"[1-9][0-9]{4,10}"


class QqRecognizer(AnnouncedRecognizer):
    """Reports `QQ`. Source: Tencent QQ."""

    def __init__(self) -> None:
        super().__init__("QQ", _NAMES, _VALUE)
