"""Places, best effort: a country, a state, a large city, or what follows a verb of living or going.

Rules this module keeps:
- A name of `place_names` counts wherever it stands; any other capitalised words only after "lives
  in", "moved to", "I am in", "born in" and the like.
- A town counts with its postal code behind it, which is not a year.
- In small letters a place counts only on a line without any capital.
- Nothing else in small letters is a place, and neither are months, days and languages after "in".
- A Chinese place counts after 住在, 来自, 出生于, 搬到 and the like, with its 省, 市, 区, 县.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.place_names import PLACES
from gateway.guard.pii.recognizer import Recognizer, Span

_KNOWN = re.compile(rf"(?<![\w'’.@/-])(?:{PLACES})(?![\w@/-]|[.][A-Za-z])")
_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-Ž\u0391-\u03a9\u0410-\u042f]"
_WORD = rf"{_CAPITAL}[\w'’-]{{1,24}}"
_MORE = (
    rf"(?:[ -](?:(?:de|del|della|di|da|do|dos|la|le|les|las|los|el|am|an|der|den|of|the|sur|sul"
    rf"|upon|ob|na|nad)[ -]){{0,2}}{_WORD})"
)
_VERB = (
    r"(?:live|lives|lived|living|reside|resides|resided|residing|stay|stays|stayed|staying|based"
    r"|located|situated|born|raised|settled|grew up|grown up|work|works|worked|working|study"
    r"|studies|studied|studying|travel|travels|travelled|traveled|travelling|traveling|fly|flies"
    r"|flew|flying|drive|drove|driving|move|moves|moved|moving|relocate|relocated|relocating"
    r"|relocates|emigrated|immigrated|migrated|return|returned|returning|arrive|arrived|arriving"
    r"|come|comes|came|coming|is|am|are|was|were|be|been|being|i['’]m|(?:he|she|it|who|that)['’]s"
    r"|(?:we|they|you)['’]re|go|goes"
    r"|going|went|originally"
    r"|trip|trips|journey|holiday|holidays|vacation|weekend|office|offices|house|flat|apartment"
    r"|home|conference|meeting|event|headquartered|headquarters|branch|native|resident|residents"
    r"|mayor|city|town|village|province|state|county|region|suburb|outskirts|citizen|people"
    r"|villagers|visit|visits|visited|visiting)"
)
_PREPOSITION = r"(?:in|to|from|near|at|of|around|outside|within|through|via)"
_SAID = re.compile(
    rf"(?<![A-Za-z])(?i:{_VERB}(?: (?:back|here|there|over|away|up|down|out|currently|now|just"
    rf"|temporarily)){{0,2}} {_PREPOSITION}|(?:visit|visits|visited|visiting|left|leaving|leave for"
    rf"|heading to|headed to|bound for|hometown(?: is|:)?|birthplace(?: is|:)?|where:|location:"
    rf"|city:|town:|country:|state:|province:|place of birth:?|place:))"
    rf"(?i: the (?:city|town|village|state|province|region|island) of)?(?: downtown| central"
    rf"| northern| southern| eastern| western)? (?P<name>{_WORD}{_MORE}{{0,3}})"
)
_SMALL = re.compile(
    rf"(?<![\w.@/-])(?:(?P<known>{PLACES.lower()})|(?:(?:lives?|lived|living|born|raised|grew up"
    rf"|moved"
    rf"|moving|relocated|originally|originates|travell?ed|flew) (?:in|to|from|near)"
    rf"|hometown(?: is|:)"
    rf"|where:|location:) (?P<name>[a-zß-ÿ][\w'’-]{{3,24}}))(?![\w@/-]|[.][a-z])"
)
_CODED = re.compile(
    rf"(?<![A-Za-z])(?:in|to|from|near) (?P<name>{_WORD}{_MORE}{{0,3}} (?!(?:19"
    rf"|20)[0-9]{{2}}(?![0-9-]))"
    rf"[0-9]{{4,5}}(?:-[0-9]{{3,4}})?)(?![\w%]|[.,:/][0-9])"
)
_PAIR = re.compile(rf"(?<![\w-])(?P<name>{_WORD}{_MORE}{{0,2}}), (?:{PLACES})(?!\w)")
_WITHOUT_CAPITALS = re.compile(r"^[^A-ZÀ-ÖØ-Þ\n]{12,}$", re.MULTILINE)
_CHINESE = re.compile(
    r"(?:住在|家住|定居在?|居住在|来自|出生于|出生在|生于|老家在?|老家是|搬到了?|搬去了?|搬回了?"
    r"|籍贯[是为:]?"
    r"|户籍在?|现居|祖籍|人在|去了|回到|位于|出差去|出差到|飞往)(?P<name>[\u4e00-\u9fff]{2,8}?"
    r"(?:自治区|自治州|省|市|区|县|镇|乡|村)(?:[\u4e00-\u9fff]{1,8}?(?:市|区|县|镇|乡|村)){0,3})"
)
_NO_NAMES = (
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday spring summer autumn fall "
    "winter english french german spanish chinese italian japanese russian portuguese arabic "
    "python java javascript typescript rust ruby go php sql html css json yaml xml markdown "
    "docker kubernetes react vue angular node linux windows macos android ios excel word pdf "
    "zoom teams slack google microsoft apple amazon facebook github gitlab jira aws azure api "
    "the this that these those a an my your his her its our their i me you he she it we they "
    "him them us mr mrs ms dr prof mum mom dad god love fact need general particular addition "
    "order case time work home school bed church person charge "
    "fear hope peace debt management production staging another different"
)
_NO_PLACE = frozenset(_NO_NAMES.split())


class PlaceRecognizer(Recognizer):
    """Reports `LOCATION`. Source: 45 CFR 164.514(b)(2)(i)(B)."""

    def __init__(self) -> None:
        super().__init__(
            "LOCATION",
            rf"{_CAPITAL}|住|来自|出生|生于|老家|搬|籍|现居|去了|回到|位于|出差|飞往|人在",
        )

    @override
    def find(self, text: str) -> Iterator[Span]:
        for match in _KNOWN.finditer(text):
            yield Span(*match.span(), 0.6)
        for pattern, score in ((_CODED, 0.6), (_PAIR, 0.5), (_SAID, 0.65), (_CHINESE, 0.5)):
            for match in pattern.finditer(text):
                if _is_place(match["name"]):
                    # What somebody is "at" is as often a firm.
                    at = text.endswith((" at ", " At "), 0, match.start("name"))
                    yield Span(*match.span("name"), 0.5 if at else score)
        yield from _in_small_letters(text)


def _in_small_letters(text: str) -> Iterator[Span]:
    for line in _WITHOUT_CAPITALS.finditer(text):
        for match in _SMALL.finditer(text, line.start(), line.end()):
            if match["known"] or _is_place(match["name"]):
                yield Span(*match.span(match.lastgroup or 0), 0.65)


def _is_place(name: str) -> bool:
    return re.split(r"[ -]", name, maxsplit=1)[0].lower() not in _NO_PLACE
