r"""What stands around a number: words that say what it is, and neighbours that say what not.

Rules this module keeps:
- Letters next to a number count only when they are ASCII: Chinese is written without spaces, so a
  word boundary (`\\b`) sees none between a character and a digit.
- Our own placeholders are no context and hold no finding: "[PHONE_NUMBER]" does not make the next
  number a phone, so a cleaned text stays as it is when it comes back.
- A word counts only as a whole word; "lic" in "duplicate" is none.
"""

import re

PLACEHOLDER = re.compile(r"\[[A-Z][A-Z_]{2,39}(?:\.[A-Z_]{2,39})?(?: \*{4}[0-9A-Za-z]{1,4})?\]")
"""What the redactor writes."""

_BLANK = "\ufffc"
"""No letter, no digit, no separator: what a recognizer sees in place of a placeholder."""

_WORD_AT_END = re.compile(r"[A-Za-z]{1,24}$")
_WORD_AT_START = re.compile(r"[A-Za-z]{1,24}")
_ORDER = re.compile(
    r"(?<![a-z])(?:order|invoice|tracking|waybill|parcel|shipment|ticket|serial|sku|isbn|issn|imei"
    r"|batch|lot|reference|ref|transaction|receipt|barcode|part|build|commit|request|trace|session"
    r"|(?:case|item|product|model|customer|member|job)(?= ?(?:no|num|id|#|:)))s?(?![a-z])"
    r"|订单|单号|编号|流水|序列|快递|运单|物流|工单|发票|票号|批号|货号|交易号|条码",
    re.IGNORECASE,
)


def hide_placeholders(text: str) -> str:
    """Return `text` with each placeholder blanked out, index for index."""
    if "[" not in text:
        return text
    return PLACEHOLDER.sub(lambda match: _BLANK * len(match.group()), text)


def words(alternatives: str) -> re.Pattern[str]:
    """Return a pattern for whole words; a Chinese word needs no boundary."""
    return re.compile(rf"(?<![a-z])(?:{alternatives})(?![a-z])", re.IGNORECASE)


def said_before(text: str, start: int, pattern: re.Pattern[str], reach: int = 40) -> bool:
    """Return whether `pattern` occurs on the same line, at most `reach` before `start`."""
    return pattern.search(_line_before(text, start, reach)) is not None


def said_around(text: str, start: int, end: int, pattern: re.Pattern[str], reach: int = 40) -> bool:
    """Return whether `pattern` occurs near `text[start:end]`, before or after it."""
    after = text[end : end + reach].split("\n", 1)[0]
    return said_before(text, start, pattern, reach) or pattern.search(after) is not None


def is_order_number(text: str, start: int, unless: re.Pattern[str]) -> bool:
    """Return whether what begins at `start` is announced as an order's number or the like.

    Args:
        unless: a word of the wanted kind between the two takes it back.
    """
    line = _line_before(text, start, 24)
    said = list(_ORDER.finditer(line))
    return bool(said) and unless.search(line, said[-1].end()) is None


def stands_alone(text: str, start: int, end: int, announced: re.Pattern[str]) -> bool:
    """Return whether `text[start:end]` is a value of its own, not a piece of a longer token.

    A word that announces it may be glued on ("tel13800138000"), and so may a plain lower-case word
    after it. Hashes, UUIDs, decimals and prefixed ids ("ORD-1380...") may not.
    """
    return _free_before(text, start, announced) and _free_after(text, end)


def _free_before(text: str, start: int, announced: re.Pattern[str]) -> bool:
    before = text[max(0, start - 25) : start]
    if not before:
        return True
    glue = before[-1]
    if glue in "-_./=+" and len(before) > 1:
        if glue in ".-" and before[-2].isdigit():
            return False
        before = before[:-1]
        if glue in "./=":
            return not (glue == "." and before[-1].isdigit())
    if not (before[-1].isascii() and before[-1].isalnum()):
        return True
    word = _WORD_AT_END.search(before)
    return word is not None and announced.fullmatch(word.group()) is not None


def _free_after(text: str, end: int) -> bool:
    after = text[end : end + 26]
    if after[:1] in ("-", "_", "."):
        return not (after[1:2].isascii() and after[1:2].isalnum())
    word = _WORD_AT_START.match(after)
    if word is None:
        return True
    rest = after[word.end() : word.end() + 1]
    glued_word = word.group().islower() and not (rest.isascii() and rest.isalnum())
    return glued_word and not re.fullmatch(r"[a-f]{1,8}", word.group())


def _line_before(text: str, start: int, reach: int) -> str:
    return text[max(0, start - reach) : start].rsplit("\n", 1)[-1]
