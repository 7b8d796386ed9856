"""Organisations, best effort: capitalised words with a legal form, or after a word for work.

Rules this module keeps:
- "Harbour Tools GmbH", "Tidewater Clinic", "University of …"; what follows "works at", "employed
  by", "joined" and the like.
- An employer leads to a person, so `strict` takes it; a product or a tool named alone is left.
- A Chinese one ends in 公司, 集团, 大学, 医院 or the like after 在, 就职于, 任职于.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

_WORD = r"[A-ZÀ-ÖØ-Þ0-9][\w'’&-]{1,24}"
_JOIN = r"(?:,? (?:and|&|und|et|y|e|of|the|for|de|del|della|di) |[ -]|, )"
_FORM = (
    r"(?:Inc|Incorporated|Ltd|Limited|LLC|LLP|L\.L\.C|Corp|Corporation|Co|Company|PLC|plc|GmbH|AG"
    r"|KG|KGaA"
    r"|OHG|e\.V|SE|S\.?A\.?S?|S\.?C|S\.?L|S\.?p\.?A|S\.?r\.?l|B\.?V|N\.?V|Oyj?|AB|A/S|ApS|ASA"
    r"|Pty(?: Ltd)?|Pvt(?: Ltd)?|K\.K|Group|Holdings?|Partners|Associates|Foundation|Association"
    r"|Bank"
    r"|University|College|Hospital|Clinic|Institute|Academy|Society|Union|Council|Ministry|Agency"
    r"|Authority|Laborator(?:y|ies)|Insurance|Airlines|Pharmaceuticals|Technologies|Solutions"
    r"|Industries|Consulting|Logistics|Studios?|Systems|Services|Enterprises|Ventures|Cooperative)"
)
_NAMED = re.compile(
    rf"(?<![\w.@/-])(?P<name>(?!(?:The|A|An|At|In|From|With|For|By|On|To|Our|My|Your|If|When|This"
    rf"|And)[ ])"
    rf"{_WORD}(?:{_JOIN}{_WORD}){{0,4}}? {_FORM}(?:\.(?=[ ,;)\n]|$))?(?: & Co\.?(?: KG)?)?)(?![\w])"
)
_OF = re.compile(
    rf"(?<![A-Za-z])(?P<name>(?:U\.S\. )?(?:University|Bank|Department|Ministry|Institute|College"
    rf"|Church"
    rf"|Academy|Office|Bureau|Board|City|Chamber|Museum) of (?:the )?{_WORD}(?: (?:and"
    rf" )?{_WORD}){{0,3}})"
)
_WORKS = re.compile(
    r"(?<![A-Za-z])(?:work(?:s|ed|ing)? (?:at|for)|employ(?:ed|er) (?:at|by|is|:)|employer:|joined"
    r"|joining|job at|interns? at|internship at|career at|(?:years?|months?|time) at|hired by"
    r"|retired from|company(?: is|:)|founded|founder of|ceo of|cto of|cfo of|director of"
    r"|head of [a-z]{2,16} at|(?:engineer|manager|developer|analyst|designer|consultant|nurse"
    r"|teacher"
    r"|lawyer|accountant|assistant|director|intern|partner) at|later became|at the (?:firm"
    r"|company))"
    rf" (?P<name>{_WORD}(?:(?:[ -]|, (?=[A-Z][\w-]{{1,24}}(?:,| and ))| and | & ){_WORD}){{0,3}})"
)
_ACTS = re.compile(
    rf"(?<![\w.@/#-])(?P<name>{_WORD}(?:[ -]{_WORD}){{0,3}}) (?:announced|acquired|launched"
    rf"|was founded"
    rf"|was acquired|is hiring|went public|laid off|filed for|merged with|employs|employed|issued"
    rf"|sued"
    rf"|is the brainchild|is headquartered|is a (?:startup|company|firm|bank|subsidiary"
    rf"|non-?profit|charity"
    rf"|supplier|manufacturer|retailer))(?![A-Za-z])"
)
_PARTNERS = re.compile(
    rf"(?<![A-Za-z])(?:from|at) (?P<name>{_WORD}(?:, {_WORD}){{1,3}},? and {_WORD})"
)
_CHINESE = re.compile(
    r"(?:就职于|任职于|供职于|入职了?|工作单位[是为:]?|毕业于|就读于|在"
    r"|来自)(?P<name>[\u4e00-\u9fff]{2,16}?"
    r"(?:有限公司|股份公司|公司|集团|银行|大学|学院|医院|研究院|研究所|事务所|中学|小学))"
)
_ARTICLES = "The This That My Our Your His Her Its A An I We They Home School"
_NO_FIRM = frozenset(_ARTICLES.split())


class OrganizationRecognizer(Recognizer):
    """Reports `ORGANIZATION`. Source: 45 CFR 164.514(b)(2)(i), "employers"."""

    def __init__(self) -> None:
        super().__init__(
            "ORGANIZATION", r"[A-ZÀ-Þ][\w'’-]|公司|集团|银行|大学|学院|医院|研究|事务所|学"
        )

    @override
    def find(self, text: str) -> Iterator[Span]:
        for pattern in (_NAMED, _OF, _WORKS, _ACTS, _PARTNERS, _CHINESE):
            for match in pattern.finditer(text):
                if match["name"].split(" ", 1)[0] not in _NO_FIRM:
                    yield Span(*match.span("name"), 0.65)
