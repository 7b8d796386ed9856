"""Number plates of China.

Rules this module keeps:
- A province's character, a letter and five or six letters and digits without I and O; a dot, dash
  or space may follow the letter.
- Six for new-energy cars; 警, 学, 挂, 港, 澳, 领 or 使 may end it.
- A plate has a digit: 京ABCDEF in a sentence is none.
"""

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"车牌|牌照|号牌|车号|plates?|number plate|licen[cs]e plate"


class PlateRecognizer(ShapedRecognizer):
    """Reports `CN_LICENSE_PLATE`. Source: GA 36-2018."""

    def __init__(self) -> None:
        super().__init__(
            "CN_LICENSE_PLATE",
            (
                r"(?<![0-9A-Za-z])"
                r"(?:[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼]"
                r"[A-HJ-NP-Za-hj-np-z][ ·.•-]?(?=[A-Za-z ]{0,5}[0-9])(?:(?:[A-HJ-NP-Za-hj-np-z0-9]"
                r" ?){4}[A-HJ-NP-Za-hj-np-z0-9警学挂港澳领使](?:[A-HJ-NP-Za-hj-np-z0-9]"
                r"(?![0-9A-Za-z]))?)|使 ?[0-9]{6}|[A-Z]{2}[ ·-]?[0-9]{5}(?=号军牌))(?![0-9A-Za-z])"
            ),
            said=_SAID,
            sign="[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼使]",
            score=0.85,
        )
