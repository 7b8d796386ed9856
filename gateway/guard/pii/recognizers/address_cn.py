"""Postal addresses in Chinese, best effort: the ladder of divisions down to a number.

Rules this module keeps:
- A ladder of two steps or more (省, 市, 区, 县, 路, 街 …) that ends in a number and a unit (号, 栋,
  室 …), or one step with a number and a room. A city or a district alone is no address: who lives
  in 北京朝阳区 may say so.
- Up to sixteen steps; each name of a step has at most eight characters.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

_PART = r"[\u4e00-\u9fff]{1,8}?"
_STEP = (
    r"(?:特别行政区|自治区|自治州|自治县|开发区|高新区|新区|省|市|区|县|旗|盟|镇|乡|街道|社区|村"
    r"|大道|大街|公路|路|街|巷|胡同|弄|里|"
    r"小区|花园|花苑|公寓|家园|广场|大厦|中心|园区|科技园|工业园|新村|苑|座)"
)
_DIGITS = r"[0-9〇零一二三四五六七八九十百千甲乙丙丁A-Za-z]"
_UNIT = r"(?:号楼|号院|号|弄|栋|幢|座|单元|楼|层|室|房|户|门|组)"
_NUMBER = rf"(?:{_DIGITS}{{1,6}}(?:[-之]{_DIGITS}{{1,5}}){{0,2}} ?{_UNIT}(?:[ ,]?))"
_ADDRESS = re.compile(
    rf"(?:(?:{_PART}{_STEP} ?){{2,8}}{_NUMBER}{{1,5}}(?:{_PART}{_STEP} ?{_NUMBER}{{1,4}}"
    rf")?(?:[A-Za-z]座 ?)?(?:[0-9]{{2,5}}(?![0-9]))?)"
    rf"|(?:{_PART}(?:大道|大街|公路|路|街|巷|胡同|弄|小区|花园|公寓|家园|新村"
    rf"|苑) ?{_NUMBER}{{2,5}})"
    rf"|(?:{_PART}(?:省|市|自治区)){{1,3}}{_PART}(?:路|街|大道|巷|区|县)[A-Z]座 ?[0-9]{{4,6}}"
)
# The sentence before an address is no part of it.
_LEAD = re.compile(
    r"^.{0,8}?(?:地址|住址|住在|家住|位于|坐落在|搬到了?|搬去|寄到|送到|邮寄到?|发到|在|到|去|是"
    r"|为|于|住|至|从|的)(?=[\u4e00-\u9fff]{2})"
)


class ChineseAddressRecognizer(Recognizer):
    """Reports `ADDRESS`. Source: GB/T 2260; GA/T 2114."""

    def __init__(self) -> None:
        super().__init__("ADDRESS", _UNIT + r"|[A-Z]座")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for match in _ADDRESS.finditer(text):
            lead = _LEAD.match(match.group())
            start = match.start() + (lead.end() if lead else 0)
            yield Span(start, match.start() + len(match.group().rstrip(" ,")), 0.6)
