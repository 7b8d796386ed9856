"""Postal addresses as other countries and forces write them, best effort: a run of words that are.

Rules this module keeps:
- A run begins with a house number, a word for a street or a box, and goes on over capitalised
  words, numbers and particles ("de la", "van der"); over lines only where the whole next line, or
  the one after, is of the same make.
- It counts if it names a street, in a dozen languages, a room, a box or a post of the forces; or
  where words before it say that an address comes ("lives at", "address:", "ship to").
- A number and a capitalised word alone ("12 Monkeys", "OK 200") are no address; nor is a date, or
  "Dr." before a name, which is a street only behind a name of its own.
- At most 24 words and four lines; each start is tried once.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.dated import dates, titles
from gateway.guard.pii.place_names import PLACES
from gateway.guard.pii.recognizer import Recognizer, Span

_MOST_WORDS = 24
_MOST_LINES = 4

_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-Ž\u0391-\u03a9\u0410-\u042f]"
_PARTICLE = (
    r"(?:de|del|della|delle|dei|di|da|do|dos|das|du|des|d'|la|le|les|l'|las|los|el|von|van|vom|der"
    r"|den"
    r"|dem|des|am|an|im|in|zur|zum|auf|of|the|e|y|et|i|na|nad|pod|u|v|sur|sous|af|av|op|ter|ten)"
)
_STREET_WORD = (
    r"(?:Street|St|Avenue|Ave|Av|Road|Rd|Boulevard|Blvd|Bd|Lane|Ln|Drive|Dr|Court|Ct|Crescent|Cres"
    r"|Terrace|Gardens|Grove|Highway|Hwy|Parkway|Pkwy|Circle|Trail|Mews|Close|Square|Walk|Quay"
    r"|Alley"
    r"|Parade|Esplanade|Rue|Via|Viale|Vicolo|Piazza|Corso|Largo|Calle|Avenida|Avda|Carrera|Paseo"
    r"|Rua"
    r"|Travessa|Praça|Estrada|Rodovia|Ulica|Ulitsa|Chemin|Impasse|Allée|Quai|Strada|Calea|Camino"
    r"|Callejón|Cesta|Náměstí|Nám|Třída|Trg|Utca|Út|Tér|Krt|Caddesi|Sokak|Cad|Sok|Jalan|Jl|Marg"
    r"|Nagar|Avenyn|Leof|Odos)"
)
_STREET_ENDING = (
    r"(?:stra[sß]s?e|str|gasse|weg|platz|allee|ring|damm|ufer|gatan|gata|vägen|väg|gränd|stigen"
    r"|torget"
    r"|veien|vegen|vei|veg|vej|gade|allé|stræde|tie|katu|kuja|polku|penger|laan|straat|plein|kade"
    r"|stræti|braut|vegur|dreef|steenweg|singel|gracht|hof|lei|utca|kuja|mäki)"
)
_STREET = re.compile(
    rf"(?<!\w)(?:{_STREET_WORD}(?!\w)|[\w.-]{{3,24}}{_STREET_ENDING}(?!\w))", re.IGNORECASE
)
_ROOM = (
    r"(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor|Room|Rm|Bldg|Building|Piso|Depto|Dpto|Int|Interno"
    r"|Etage|Whg|Box|House|#)"
)
_HAS_ROOM = re.compile(rf"(?<!\w){_ROOM}\.? ?[0-9A-Za-z-]{{1,6}}(?!\w)")
_FORCES = re.compile(
    r"(?<!\w)(?:(?:PSC|CMR|Unit|USNS|USNV|USS|USCGC)[ \w,.'-]{1,40}[\n ,]{1,3})?(?:APO|FPO|DPO)["
    r" ,]{1,2}"
    r"A[AEP][ ,]{1,2}[0-9]{5}(?:-[0-9]{4})?(?!\w)"
)
_BOX = re.compile(
    r"(?<!\w)(?:P\.? ?O\.? ?Box|Postfach|Apartado|Casilla|Boîte postale|Casella postale|GPO Box)"
    r"[ :#]{1,2}[0-9]{1,6}(?!\w)",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    r"(?<![a-z])(?:address(?:es)?[^.?!\n]{0,40}:\s{0,2}|taxi to|cab to|address(?:es)?(?: (?:is|are"
    r"|was))?(?: now)?(?:,? here (?:they are|it is))?"
    r"(?: to the same)?|(?:live|lives|lived|living|reside|resides|residing|stays?|staying|located"
    r"|moved?|moving|ship|shipped|send|sent|deliver|delivered|mail|mailed|arrived|address"
    r"|headquarters"
    r"|offices?"
    r"|office is|house is|home is|where|meet|met)(?: (?:me|it|this|them|that|her|him|us"
    r"|an? (?:new )?[a-z]{2,10}|the [a-z]{2,10}))?"
    r"(?: (?:at|to|on)))[ :,]{0,2}\s{0,4}$",
    re.IGNORECASE,
)
_SMALL_STREET = (
    r"(?:rue|via|viale|calle|rua|avenida|utca|u|tér|út|krt|ulica|ul|trg|náměstí|nám|třída|bd|pl"
    r"|os)(?!\w)"
)
_TOKEN = re.compile(
    rf"(?:{_CAPITAL}[\w'’/-]{{0,24}}"
    rf"|[0-9]{{1,6}}(?![0-9])[A-Za-z]?(?:[/-][0-9A-Za-z]{{1,5}})?(?![\w@])"
    rf"|{_PARTICLE}(?!\w)|#[0-9A-Za-z]{{1,6}}|{_SMALL_STREET})\.?"
)
_GAP = re.compile(r",? ?\n{1,2} ?,? ?|[ ]{1,2}|, ?")
_BEGIN = re.compile(
    rf"(?<![\w.,$€£¥#/:@+-])(?:[0-9]{{1,6}}[A-Za-z]?(?:[/-][0-9A-Za-z]{{1,4}})?(?=,?"
    rf" {{1,2}}{_CAPITAL}"
    rf"|,? (?:[0-9]{{1,5}}[A-Za-z]? )?(?:{_CAPITAL}|rue |via |calle |rua |ul\. ))"
    rf"|(?:{_CAPITAL}[\w.'-]{{1,24}} ){{0,3}}(?:{_STREET_WORD}"
    rf"|[\w.-]{{2,24}}{_STREET_ENDING})(?=\.? [\w(])"
    rf"|(?:Flat|Apt|Apartment|Unit|Suite)\.? [0-9A-Za-z-]{{1,5}},?(?= [0-9]))"
)
_ABBREVIATED = re.compile(
    r"(?:Apt|St|Ave|Av|Rd|Blvd|Bd|Ln|Dr|Ste|No|Nr|Str|str|Ct|Sq|Pl|Hwy|Bldg|Rm|Mt|Ft|Jl|Cad|Sok"
    r"|Avda|[A-Z]|u|ul|nám|bd|pl|os)\.$"
)
_LAST_LINE = re.compile(rf"[ ]?(?:{PLACES})(?![\w ])|[^\n]{{0,60}}[0-9]")
_AFTER_ORDINAL = re.compile(rf"\n|,? {_ROOM}\.? ?[0-9]")
_DIGITS_ALONE = re.compile(r"[0-9]{1,3}|(?:[0-9]{1,6}[ -]){1,6}[0-9]{1,6}(?: [a-z]{1,12})?")
_NUMBER = re.compile(r"[0-9]")


class WrittenAddressRecognizer(Recognizer):
    """Reports `ADDRESS`. Source: Universal Postal Union, S42; USPS Publication 28, 225."""

    def __init__(self) -> None:
        super().__init__("ADDRESS", "[0-9]")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for pattern in (_FORCES, _BOX):
            for match in pattern.finditer(text):
                yield Span(*match.span(), 0.7)
        reached = 0
        dated = dates(text)
        for match in _BEGIN.finditer(text):
            if match.start() < reached or match.start() in dated:
                continue
            end = _run(text, match.start())
            run = text[match.start() : end]
            if not _NUMBER.search(run) or " " not in run:
                continue
            named = any(_streets(run)) or _HAS_ROOM.search(run) is not None
            before = text[max(0, match.start() - 64) : match.start()]
            if (named and _has_number_beside(run)) or _ANNOUNCED.search(before):
                reached = end
                yield Span(match.start(), end, 0.65)
        for match in _ANNOUNCED_RUN.finditer(text):
            if match.start("run") >= reached:
                yield Span(*match.span("run"), 0.5)
        yield from _corners(text)


_CORNER = re.compile(rf"(?<![A-Za-z])(?:the )?corner of (?=[0-9]|ul\.|{_CAPITAL})")
_AND = re.compile(rf" (?:and|&) (?=[0-9]|ul\.|{_CAPITAL})")
_ANNOUNCED_RUN = re.compile(
    r"(?i:(?<![a-z])(?:address(?: is|:)|lives? (?:at|on)|located (?:at|on)|(?:side|end|part) of"
    r"|(?:station|stop|office"
    r"|shop"
    r"|house|store|school|clinic) is (?:at|on)))[ \n]{1,2}"
    rf"(?P<run>{_CAPITAL}[\w'’.-]{{1,24}}(?: (?:{_PARTICLE} )?{_CAPITAL}[\w'’.-]{{1,24}}){{0,3}}"
    rf" [0-9]{{1,5}}"
    r"[A-Za-z]?(?:/[0-9]{1,4})?)(?![\w/:-])"
)


def _corners(text: str) -> Iterator[Span]:
    for match in _CORNER.finditer(text):
        end = _run(text, match.end())
        other = _AND.match(text, end)
        if end > match.end() and other:
            yield Span(match.start(), _run(text, other.end()), 0.65)


def _has_number_beside(run: str) -> bool:
    """Return whether a house number stands where one may: at the start, or after the street."""
    if run[0].isdigit() or _HAS_ROOM.search(run):
        return True
    return any(
        re.match(
            r"\.?,? ?(?:[\w.'’-]{1,24} ){0,5}(?:#|[Nn][or]\.? ?)?[0-9]{1,5}", run[match.end() :]
        )
        for match in _streets(run)
    )


def _streets(run: str) -> Iterator[re.Match[str]]:
    """Yield what names a street in a run."""
    called = titles(run)
    return (match for match in _STREET.finditer(run) if match.start() not in called)


def _run(text: str, start: int) -> int:
    """Return where the run of words that begins at `start` ends."""
    at = end = start
    lines = 1
    for _ in range(_MOST_WORDS):
        token = _TOKEN.match(text, at)
        if token is None:
            break
        word = token.group()
        at = token.end()
        ordinal = word[:-1].isdigit() and _AFTER_ORDINAL.match(text, at)
        if word.endswith(".") and not ordinal and not _ABBREVIATED.search(word):
            return at - 1 if not _is_particle(word[:-1]) else end
        if not _is_particle(word):
            end = at
        gap = _GAP.match(text, at)
        if gap is None:
            break
        if "\n" in gap.group():
            lines += 1
            if lines > _MOST_LINES or not _goes_on(text, gap.end()):
                break
        at = gap.end()
    return end


def _is_particle(word: str) -> bool:
    return word[0].islower()


def _goes_on(text: str, at: int) -> bool:
    """Return whether the line at `at` is part of an address, or leads to one that is."""
    if text.startswith("\n", at):
        at += 1
    for _ in range(3):
        stop = text.find("\n", at)
        line = text[at : stop if stop >= 0 else len(text)].strip(" ,.?!")
        if line and not _is_of_tokens(line):
            return False
        if _DIGITS_ALONE.fullmatch(line):
            return False  # a telephone below the address
        if _LAST_LINE.match(line):
            return True
        if stop < 0:
            return False
        at = stop + 1
    return False


def _is_of_tokens(line: str) -> bool:
    at = 0
    for _ in range(8):
        token = _TOKEN.match(line, at)
        if token is None:
            # A sentence that goes on behind the address does not unmake it.
            return at > 0 and line[at - 1 : at] in (" ", ",")
        at = token.end()
        if at >= len(line):
            return True
        gap = _GAP.match(line, at)
        if gap is None:
            return line[at] in ".?!,;"
        at = gap.end()
    return False
