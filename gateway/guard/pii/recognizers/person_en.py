"""Names in Latin letters, best effort: capitalised words with something that says they are a name.

Rules this module keeps:
- Capitalised words after a title, "my name is", "signed by" and the like, or two to four of them of
  which the first is a frequent given name.
- One capitalised word alone counts only after words that a name alone follows ("maiden name is",
  "my sister"), words in capitals throughout never.
- In small letters a name counts after "mr", "dr" and the like.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.given_names import GIVEN_NAMES
from gateway.guard.pii.place_names import PLACES
from gateway.guard.pii.recognizer import Recognizer, Span

_WORD = (
    r"[A-ZÀ-ÖØ-ÞŁŚŠŽ](?:['’][A-Z])?[a-zß-öø-ÿāăąćčďđēęěğīłńňőřśşšţťūůűźżž]{1,20}"
    r"(?:-[A-ZÀ-Þ]?[a-zß-ÿ]{1,16}|['’](?!s(?![a-z]))[A-ZÀ-Þ]?[a-zß-ÿ]{1,16})?"
)
_PARTICLE = r"(?:(?:van|von|de|der|den|del|della|di|da|dos|la|le|el|al|bin|ibn|ter|zu)\s){1,2}"
_MORE = rf"(?:[ ](?:[A-Z]\.[ ]?)?(?:{_PARTICLE})?{_WORD})"
_TITLED = re.compile(
    rf"(?<![A-Za-z])(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Madam|Herr|Frau|Monsieur|Madame"
    rf"|Señora?|Srita|Sra?|Sig(?:nora)?|Dipl\.-Ing|Ing|Univ\.Prof|Rev|Hon|Capt|Sgt|Lt|Aunt"
    rf"|President|Senator|Governor|Mayor|Judge|Officer|Detective|Coach|Pastor|Prince|Princess"
    rf"|Congressman|Chancellor|Colonel|Captain|Nurse"
    rf"|Uncle)\.?[ ]"
    rf"(?P<name>(?:[A-Z]\.[ ]?)?{_WORD}{_MORE}{{0,3}})"
)
_NAMED = re.compile(
    rf"(?<![A-Za-z])(?i:(?:maiden|first|last|given|family|full|middle|sur|nick)?[ -]?name(?:['’]s"
    rf"|s)?"
    rf"(?: is| was|:|,| =)?|named|dear|attn\.?:?|attention:|signed,?|yours,?|sincerely,?|regards,?"
    rf"|cheers,?|contact(?: is|:| =>| [-=])|employee(?: is|:)|customer(?: is|:)|patient(?: is|:)"
    rf"|(?:my|his|her|our|their) (?:kid|son|daughter|wife|husband|brother|sister|mother|father"
    rf"|uncle"
    rf"|aunt|cousin|nephew|niece|friend|boss|colleague|neighbou?r|partner|girlfriend|boyfriend"
    rf"|fianc[eé]e?"
    rf"|grand(?:mother|father|ma|pa|son|daughter)|roommate|flatmate|therapist|landlord))"
    rf"[ \n]{{1,2}}(?P<name>{_WORD}{_MORE}{{0,3}})(?![\w-]|['’][a-rt-z]| [A-Z0-9])"
)
_SUBJECT = re.compile(
    rf"(?<![\w.@/#-])(?P<name>{_WORD}{_MORE}{{0,2}}) (?:said|says|shouted|yelled|whispered"
    rf"|replied|laughed"
    rf"|smiled|cried|married|likes|loves|hates|prefers|dislikes|enjoys|hated|loved|lives|lived"
    rf"|grew up"
    rf"|was born|turned [0-9]|is allergic|is (?:my|his|her|our|their|very|a [0-9]{{1,2}})"
    rf"|told (?:me|us|him|her)"
    rf"|asked (?:me|us|him|her)|had given|gave (?:me|us|him|her)|spent (?:a|two|three|the)|wants"
    rf"|wanted"
    rf"|moved to|and I|got (?:married|divorced)|passed away|retired)(?![A-Za-z])"
)
_OBJECT = re.compile(
    rf"(?<![A-Za-z])(?i:tell|told|ask|asked|e?mailed|texted|met(?: with)?|(?:talk|talked|spoke"
    rf"|speak|chat"
    rf"|chatted) (?:to|with)|invited|reminded|thanked|married|shouted at|yelled at|given|gave"
    rf"|dating|paid"
    rf"|hugged|kissed|say hi to|regards to|birthday of|funeral of|wedding of|concert by|beneficiary"
    rf"|said)[ ](?P<name>{_WORD}{_MORE}{{0,2}})(?![\w@/(-])"
)
_OWNER = re.compile(
    rf"(?<![\w.@/#-])(?P<name>{_WORD}{_MORE}{{0,2}})['’]s (?:address|phone|number|mobile|e-?mail"
    rf"|birthday"
    rf"|wife|husband|mother|father|mom|mum|dad|son|daughter|brother|sister|kids?|children|family"
    rf"|house"
    rf"|home|apartment|flat|wedding|funeral|passport|visa|card|account|salary|doctor|allergy"
    rf"|allergies"
    rf"|diagnosis|boss|boyfriend|girlfriend|car|dog|cat|desk|laptop|resume|cv|name|age"
    rf"|ssn)(?![A-Za-z])"
)
_GROUP = re.compile(
    rf"(?<![A-Za-z])(?i:founders?|members|guests?|attendees|participants|authors?|kids|children"
    rf"|siblings"
    rf"|friends|players|speakers|students|names|staff|crew|cousins|colleagues|partners|neighbou?rs"
    rf"|passengers|heirs|beneficiaries|contacts)(?: are| were)?:? "
    rf"(?P<list>{_WORD}{_MORE}{{0,2}}(?:, {_WORD}{_MORE}{{0,2}}){{0,6}},? (?:and"
    rf"|&) {_WORD}{_MORE}{{0,2}})"
)
_COMMA = re.compile(r",? (?:and|&) |, ")
_WITHOUT_CAPITALS = re.compile(r"^[^A-ZÀ-ÖØ-Þ\n]{8,}$", re.MULTILINE)
_SMALL_WORD = re.compile(r"(?<![\w@./-])[^\W\d_]{3,16}(?= )")
_SMALL_FAMILY = re.compile(r" (?P<family>[^\W\d_]{4,20})(?![\w@/-])")
_SMALL = re.compile(
    r"(?<![A-Za-z])(?:mr|mrs|ms|dr|prof)\.? (?P<name>(?!(?:and|or|is|was|has|said|the|who|for|to"
    r"|of|from"
    r"|in|on|at|with|please|can|will)(?![a-z]))[a-zß-ÿ]{3,20}(?: (?!(?:and|or|is|was|has|said|who"
    r"|for|to"
    r"|of|from|in|on|at|with|will|can|the|by|as|about|today|called|wants?"
    r"|told)(?![a-z]))[a-zß-ÿ]{3,20}"
    r"(?=[.,;:!?\n]|$| (?:and|or|is|was|has|said|who|for|to|of|from|in|on|at|with"
    r"|will)(?![a-z])))?)"
    r"(?![\w@])"
)
_SAID = re.compile(
    rf"(?:(?i:my name is|name is|name's|names? ?:|i am|i'm|this is|that['’]s|called|named"
    rf"|signed(?: by)?"
    rf"|regards,|cheers,|sincerely,|contact|attn:?|attention:?|c/o|belongs to|booked under"
    rf"|under the name(?: of)?|met with|spoke (?:to|with)|meeting with|assigned to|reports? to"
    rf"|married to|patient|customer|employee|colleague|neighbou?r|friend|manager|owner|tenant"
    rf"|mother|father|sister|brother|wife|husband|son|daughter|boss|doctor|lawyer|teacher|applicant"
    rf"|said|says|told|asked|for|with|by))\s{{1,2}}"
    rf"(?P<name>(?:[A-Z]\.[ ]?)?{_WORD}{_MORE}{{1,3}})"
)
_PLACE = re.compile(PLACES)
_CAPITALISED = re.compile(rf"(?<![A-Za-z])(?:{_WORD})(?![\w])")
_FAMILY = re.compile(rf"(?:[ ][A-Z]\.)?{_MORE}{{1,3}}")
_NEVER_NAMES = (
    "The This That These Those There Here What When Where Why How Who Which It He She They We "
    "You And But Or Not No Yes Monday Tuesday Wednesday Thursday Friday Saturday Sunday "
    "January February March April May June July August September October November December "
    "New North South East West Street Road Avenue Bank University Hospital Company Inc Ltd "
    "LLC Corp Department School College City Data Code Project Please Thank Thanks Hello Hi "
    "Dear Google Microsoft Apple Amazon Python Java English Chinese French German American "
    "British Everyone Everybody Nobody Someone Somebody Anyone People Who Mom Mum Dad Mother Fath"
    "er "
    "Customer Client User Users Team Manager Boss Doctor Teacher Agent Assistant Siri Alexa Claude "
    "Gemini Facebook Netflix Android Windows Linux God Someone Most Many Some Each Every All Both "
    "Another Other One Two Three My Your His Her Our Their Its I We Me Us Them Him A An If As At "
    "In "
    "On Of To For From By With Is Are Was Were Be Been Do Does Did Have Has Had Will Would Can Co"
    "uld "
    "Today Tomorrow Yesterday Now Then Also Just Only Even Never Always Maybe Perhaps While Since "
    "Because After Before During Until Once Life Nature Science Research Section Chapter Figure T"
    "able"
    " Error Warning Note Server Client Docker Kubernetes React Angular Vue Node Rust Ruby Swift K"
    "otlin"
)
_AFTER_A_NAME = (
    "said says told asked went goes came comes wants wanted likes liked loves loved hates hated c"
    "alled "
    "calls will would could should must does have been from with that this when then also just on"
    "ly "
    "lives lived moved works worked made makes gave gives took takes left leaves sent sends shout"
    "ed "
    "knows knew thinks thought feels felt needs needed gets plays played and's today yesterday "
    "tomorrow about after before because while where which during over into onto under again "
    "speak speaks writes wrote bought buys isn wasn doesn didn is was has had"
)
_VERBS = frozenset(_AFTER_A_NAME.split())
_NO_NAME = frozenset(_NEVER_NAMES.split())


class LatinNameRecognizer(Recognizer):
    """Reports `PERSON`. Source: given names of the United States census of 1990."""

    def __init__(self) -> None:
        super().__init__("PERSON", r"[^\W\d_]{2}")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for pattern, score in (
            (_TITLED, 0.7),
            (_NAMED, 0.7),
            (_SMALL, 0.5),
            (_SUBJECT, 0.6),
            (_OBJECT, 0.6),
            (_OWNER, 0.6),
            (_SAID, 0.6),
        ):
            for match in pattern.finditer(text):
                if _may_be_one(match["name"]):
                    yield Span(*match.span("name"), score)
        yield from _given(text)
        for match in _GROUP.finditer(text):
            at = match.start("list")
            for name in _COMMA.split(match["list"]):
                at = text.index(name, at)
                if _may_be_one(name):
                    yield Span(at, at + len(name), 0.6)


def _given(text: str) -> Iterator[Span]:
    """Yield frequent given names with what follows them."""
    for match in _CAPITALISED.finditer(text):
        family = _FAMILY.match(text, match.end()) if match.group() in GIVEN_NAMES else None
        if family and _may_be_one(family.group()):
            yield Span(match.start(), family.end(), 0.6)
    for line in _WITHOUT_CAPITALS.finditer(text):
        for match in _SMALL_WORD.finditer(text, line.start(), line.end()):
            if match.group().capitalize() in GIVEN_NAMES:
                family = _SMALL_FAMILY.match(text, match.end(), line.end())
                if family and family["family"] not in _VERBS:
                    yield Span(match.start(), family.end(), 0.6)


def _may_be_one(name: str) -> bool:
    return _NO_NAME.isdisjoint(re.split(r"[ \n]", name)) and not _PLACE.fullmatch(name)
