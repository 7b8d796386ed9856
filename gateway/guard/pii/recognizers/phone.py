"""Telephone numbers of any country, above all China, the United States, Britain, Japan, Germany.

Rules this module keeps:
- A number counts by its form alone when the form is a telephone's: `+` or 00 and a country, a
  Chinese mobile (1[3-9] and nine digits, Chinese numerals included), 3-3-4 with separators, or a
  leading 0 and a numbering plan that knows it.
- Any other run of 7 to 15 digits counts only right after a word such as "call" or 电话, or right
  before a label such as "fax".
- Dates, times, addresses, decimals, pieces of UUIDs and hashes, and numbers announced as an order's
  are none.
- `phonenumbers` is asked only about candidates: it costs some 30 µs a region.
"""

import re
from collections.abc import Iterator

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber
from typing_extensions import override

from gateway.guard.pii.context import is_order_number, said_before, stands_alone, words
from gateway.guard.pii.recognizer import Recognizer, Span

REGIONS = ("CN", "GB", "JP", "DE", "FR", "AU", "IN", "KR", "TW", "IT", "NL", "ES", "BR")
"""Numbering plans tried for a number without a country; the United States go by shape."""

_SAID = words(
    r"phones?|telephones?|tel|mobiles?|cell(?:phones?)?|handy|call(?:ed|ing|s)?|text(?:ed|s)?|sms|"
    r"whatsapp|signal|imessage|fax|hotline|dial(?:ed)?|rings?|reach(?:ed)?|contact(?: number)?|ext|"
    r"numbers?|电话|手机|座机|联系方式|联系|号码|来电|致电|拨打|打给|传真|热线|短信|電話|携帯|mobil"
)
_GLUED = words(
    r"tel|phone|mobile|mob|cell|call|no|ph|fax|t|m|p|wechat|wx|vx|whatsapp|sms|at|is|to|on"
)
_ANNOUNCED = re.compile(
    r"(?:(?<![a-z])(?:phone|telephone|tel|mobile|cell|cellphone|handy|call|text|sms|whatsapp|fax"
    r"|hotline|dial|ring|reach|contact|answer(?:ing|s)?|(?:new|my|his|her|their|our|your|work|home"
    r"|office|private|old) number)"
    r"|电话|手机|座机|号码|致电|拨打|打给|传真|热线|短信|電話|携帯"
    r"|@[\w.-]{1,64}\.[a-z]{2,24}[>)\]]?)"
    r"(?:[ \t:,.;#()'\"=-]|号码?|是|为|打|给|我|你|他|她|到"
    r"|(?<![a-z])(?:numbers?|no|nr|num|is|are|was|at|on|me|us|him|her|them|my|back|or|and|with"
    r"|via|to)"
    r"(?![a-z])){0,24}$",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"[ \t-]{0,2}[(]?(?:office|fax|mobile|cell|home|work|landline|phone|tel)(?![a-z])",
    re.IGNORECASE,
)
_EXTENSION = r"(?:[ ,;]{0,2}(?:x|ext\.?|extension|转|分机)[ .:]{0,2}[0-9]{1,6}(?![0-9]))?"
_ABROAD = re.compile(
    r"(?<![0-9+A-Za-z])(?:\+[ ]?|00[ -]?)"
    r"\(?[1-9][0-9]{0,2}\)?(?:[ .·()/-]{0,3}[0-9]){5,13}(?![0-9])" + _EXTENSION
)
_CHINESE = re.compile(
    r"(?<![0-9])(?:\(?(?:\+|00)?86\)?[ .-]{0,2})?"
    r"(?P<number>1[ .·_-]?[3-9](?:[ .·_-]{0,2}[0-9]){9})(?![0-9])" + _EXTENSION
)
_AMERICAN = re.compile(
    r"(?<![0-9A-Za-z_+])(?:(?:\+?1|001)[ .-]{0,2})?"
    r"(?:\([0-9]{3}\)[ .-]{0,2}|[0-9]{3}(?P<sign>[ .-]))"
    r"[0-9]{3}[ .-][0-9]{4}(?![0-9]|[-.][0-9])" + _EXTENSION
)
_NATIONAL = re.compile(
    r"(?<![0-9A-Za-z_+])\(?0[0-9]{1,5}(?:\)|\)?[ ./-]{1,2})"
    r"[0-9]{2,8}(?:[ ./-]{1,2}[0-9]{2,8}){0,3}(?![0-9])" + _EXTENSION
)
_NATIONAL_BARE = re.compile(r"(?<![0-9A-Za-z_+.])0[1-9][0-9]{8,9}(?![0-9])")
_SAID_NUMBER = re.compile(
    r"(?<![0-9A-Za-z_])\(?[0-9](?:[ .()/-]{0,2}[0-9]){6,14}(?![0-9A-Za-z]|[-.][0-9])" + _EXTENSION
)
_SIX_DIGITS = re.compile(
    r"(?<![0-9A-Za-z_.$€£-])(?:[0-9]{2}(?P<sign>[ -])[0-9]{2}(?P=sign)[0-9]{2}"
    r"|[0-9]{3}[ -][0-9]{3})"
    r"(?= {0,2}[(-]? ?(?:office|fax|mobile|cell|home|work|landline|phone|tel)[)]?(?:\n|$))",
    re.IGNORECASE,
)
# A date, an internet address, a social security number; a group of four before, as in an IBAN.
_OTHER_FORM = re.compile(
    r"(?:[0-9]{4}[-./ ][0-9]{1,2}[-./ ][0-9]{1,2}"
    r"|[0-9]{1,2}[-./ ][0-9]{1,2}[-./ ](?:19|20)[0-9]{2})(?![0-9])"
    r"|(?:[0-9]{1,3}\.){3}[0-9]{1,3}$|[0-9]{3}([-. ])[0-9]{2}\1[0-9]{4}$"
)
_IN_GROUPS = re.compile(r"(?=[A-Z]{0,3}[0-9])[A-Z0-9]{4} $")

_NUMERALS = str.maketrans(
    "零〇○一二三四五六七八九幺两壹贰叁肆伍陆柒捌玖", "00012345678912123456789"
)
_NUMERAL = "[0-9零〇○一二三四五六七八九幺两壹贰叁肆伍陆柒捌玖]"
_NUMERAL_RUN = re.compile(rf"{_NUMERAL}(?:[ ·-]?{_NUMERAL}){{10,15}}")
# How people break eleven digits up; single digits, or none, beside these.
_CHINESE_GROUPS = frozenset(
    {(3, 4, 4), (3, 3, 5), (3, 5, 3), (4, 3, 4), (4, 4, 3), (5, 6), (6, 5), (3, 8), (7, 4), (11,)}
)
_LEAST_NATIONAL = 9
_LEAST_ABROAD = 11


class PhoneRecognizer(Recognizer):
    """Reports `PHONE_NUMBER`. Source: ITU-T E.164; numbering plans by `phonenumbers`."""

    def __init__(self) -> None:
        super().__init__("PHONE_NUMBER", f"[0-9]|{_NUMERAL_RUN.pattern}")

    @override
    def find(self, text: str) -> Iterator[Span]:
        yield from _in_numerals(text)
        yield from _abroad(text)
        yield from _chinese(text)
        yield from _american(text)
        yield from _national(text)
        yield from _announced(text)


def _abroad(text: str) -> Iterator[Span]:
    for match in _ABROAD.finditer(text):
        end = (
            0
            if _IN_GROUPS.search(text, max(0, match.start() - 5), match.start())
            else _longest(match)
        )
        if end:
            yield Span(match.start(), end)


def _longest(match: re.Match[str]) -> int:
    """Return where the number ends: trailing groups that are no part of it are given back."""
    ends = [match.end(), *reversed([m.end() for m in re.finditer(r"[0-9]+", match.group())][1:])]
    ends = [ends[0]] + [match.start() + end for end in ends[2:]]
    plus = match.group().startswith("+")
    for check in (phonenumbers.is_valid_number, phonenumbers.is_possible_number):
        for end in ends:
            written = match.string[match.start() : end]
            number = _parsed(written if plus else "+" + written[2:], None)
            if number is not None and check(number) and (plus or _digits(written) >= _LEAST_ABROAD):
                return end
        if not plus:
            # Without the sign, what is merely as long as a number may be anything.
            break
    return 0


def _digits(written: str) -> int:
    return sum(char.isdigit() for char in written)


def _parsed(written: str, region: str | None) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(written, region)
    except NumberParseException:
        return None


def _chinese(text: str) -> Iterator[Span]:
    for match in _CHINESE.finditer(text):
        sizes = tuple(len(group) for group in re.findall(r"[0-9]+", match["number"]))
        if sizes not in _CHINESE_GROUPS and set(sizes) != {1}:
            continue
        if _is_own_value(text, *match.span()):
            yield Span(*match.span())


def _is_own_value(text: str, start: int, end: int) -> bool:
    return stands_alone(text, start, end, _GLUED) and not is_order_number(text, start, _SAID)


def _in_numerals(text: str) -> Iterator[Span]:
    for run in _NUMERAL_RUN.finditer(text):
        if run.group().isascii():
            continue
        for span in _chinese(run.group().translate(_NUMERALS)):
            yield Span(run.start() + span.start, run.start() + span.end, 0.9)


def _american(text: str) -> Iterator[Span]:
    for match in _AMERICAN.finditer(text):
        start, end = match.span()
        if not _is_own_value(text, start, end):
            continue
        if match["sign"] == " " and not said_before(text, start, _SAID):
            number = _parsed(match.group(), "US")
            if number is None or not phonenumbers.is_valid_number(number):
                continue
        area = re.sub(r"^(?:\+?1|001)[ .-]", "", match.group())
        if area[0] in "(23456789" or said_before(text, start, _SAID) or _LABELLED.match(text, end):
            yield Span(start, end, 0.9)


def _national(text: str) -> Iterator[Span]:
    for pattern in (_NATIONAL, _NATIONAL_BARE):
        for match in pattern.finditer(text):
            start, end = match.span()
            if (
                _digits(match.group()) >= _LEAST_NATIONAL
                and not _OTHER_FORM.match(match.group().lstrip("("))
                and not _IN_GROUPS.search(text, max(0, start - 5), start)
                and _is_own_value(text, start, end)
                and _is_known(match.group())
            ):
                yield Span(start, end, 0.85)


def _is_known(written: str) -> bool:
    numbers = (_parsed(written, region) for region in REGIONS)
    return any(number is not None and phonenumbers.is_valid_number(number) for number in numbers)


def _announced(text: str) -> Iterator[Span]:
    for match in _SAID_NUMBER.finditer(text):
        before = text[max(0, match.start() - 48) : match.start()].rsplit("\n", 1)[-1]
        said = _ANNOUNCED.search(before) or _LABELLED.match(text, match.end())
        if said and not _OTHER_FORM.match(match.group()):
            yield Span(match.start(), match.end(), 0.7)
    for match in _SIX_DIGITS.finditer(text):
        yield Span(match.start(), match.end(), 0.7)
