"""Names of people, places and organisations as a spaCy model tells them, checked before they count.

Rules this module keeps:
- There is no model unless `MEMWARDEN_NER_MODEL` names one that is installed; none is ever fetched.
- It is asked only where a policy does more with names than let them through.
- What it proposes is a candidate: digits, pieces of code and logs, plain words and lone small
  letters are no names, whatever the model says.
- A frequent given name alone is a person, what follows "in" a place, whatever the model says.
- Words in capitals throughout are read as if only the first letter were one, and a line without
  any capital is read with the first letters of its rare words raised: models are trained on
  neither.
- A run of 60 characters without white space is no name; it is blanked, because the time of the
  tokenizer grows with the square of its length.
- The model's table of words is emptied after each text, so that nothing of it stays in memory. That
  table belongs to the process, so one text is read at a time.

Source: spaCy 3.8, `Language.memory_zone`.
"""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language

from gateway.guard.pii.given_names import GIVEN_NAMES

_KINDS = {
    "PERSON": "PERSON",
    "GPE": "LOCATION",
    "LOC": "LOCATION",
    "FAC": "LOCATION",
    "ORG": "ORGANIZATION",
    "NORP": "NRP",
}
"""Labels of OntoNotes 5 as kinds."""

_SCORE = 0.55
_PART_CHARACTERS = 4096
_ABBREVIATION = 3
_LEAST_LATIN = 0.5

_LONG_RUN = re.compile(r"\S{60,}")
_CAPITALS = re.compile(r"(?<![^\W_])[^\W\d_]{4,}(?![^\W_])")
_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]")
_WORD = re.compile(r"[^\W\d_][\w'’.-]*")
_SMALL_WORD = re.compile(r"(?<![\w@./#-])[a-zß-ÿ]{3,}(?![\w@/])")
_PART_END = re.compile(r"\n|(?<=[.!?])[ \n]|[ \n]")
_EDGES = " \t\r\n\"'`“”‘’«»()[]{}<>,;:.!?*_|/\\-–—=+#@&~^•…"
_CODE = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[_{}<>=\\#@$^|~*`\[\]\ufffc]|::|://|\(\)|->"
    r"|[a-z][A-Z][a-z]{1,20}[A-Z]|\w/\w"
)
_DIGIT = re.compile(r"[0-9]")
_CAMEL = re.compile(r"(?<!Mc)(?<!Mac)(?<!De)(?<!La)(?<!Le)(?<=[a-z])[A-Z]")
_LEAD = re.compile(
    r"(?:the|a|an|my|our|your|his|her|their|dear|hi|hello|hey|with|from|in|at|to|for|of|and|re|cc)"
    r"\s{1,3}",
    re.IGNORECASE,
)
_DEGREE = re.compile(
    r",?\s(?:(?:B|M)\.?(?:A|S|Sc|Eng|Ed|BA|Phil|Tech)|Ph\.?D|M\.?D|J\.?D|D\.?D\.?S|D\.?V\.?M|CPA"
    r"|Esq|Jr|Sr"
    r"|II|III|IV)\.?$"
)
_OWNED = re.compile(r"['’]s\s")
_NOT_SHORT_FOR = re.compile(r"\s?['’]\s?t(?![a-z])")
_IN = re.compile(r"(?<![A-Za-z])(?:in|near)\s$", re.IGNORECASE)
_WITHIN = re.compile(r"\s(?:in|at|from|near)\s(?=\w)")
_FIRM_BEFORE = re.compile(
    r"(?<![A-Za-z])(?:at|for|from|by|with|joined|of|via|to|versus|vs\.?)\s$", re.IGNORECASE
)
_FIRM_AFTER = re.compile(
    r"['’]s\s|\s(?:is|was|has|had|announced|said|says|will|hired|sued|bought)\s"
)
_TAIL = re.compile(r"(?:['’]s?|\s(?:and|or|from|in|at|to|of|the|is|was))$", re.IGNORECASE)

_NO_NAME = (
    "api app async auth aws azure backend bash bot boolean bug cache ci class cli cloud "
    "cluster code component config console const container cookie cron css csv data database "
    "debug default deploy dev docker dom endpoint enum env error event export fastapi feature "
    "fetch field file flask folder form frontend function git github gitlab go golang graphql "
    "grid header hook html http https id image import index info input int integer interface "
    "java javascript jest jira job jquery json jwt key kotlin kubernetes lambda layout lib "
    "library linux list lodash log login map markdown menu method middleware model module "
    "mongodb mysql nextjs nginx node nodejs npm null numpy object output package page pandas "
    "param parser password path php plugin postgres postgresql prisma promise prop props pull "
    "push pytest python pytorch query queue react redis redux request response rest ruby rust "
    "sass schema script sdk server service session sql ssh ssl state string stripe supabase "
    "svelte swift table tailwind template tensorflow terraform test tests todo token "
    "typescript ui update url user users utils ux var variable vercel vite vue web webhook "
    "webpack widget windows worker wrapper xml yaml zod zustand monday tuesday wednesday "
    "thursday friday saturday sunday january february march april may june july august "
    "september october november december today tomorrow yesterday tonight morning evening hi "
    "hello hey dear thanks thank regards cheers sincerely please sorry yes no ok okay lol omg "
    "rt note notes warning name names first last date time when where what who how why email "
    "phone mobile tel fax address street city state zip country company organization title "
    "subject number account card passport license visa iban swift ssn dob age gender mr mrs "
    "ms dr prof i me you he she it we they this that these those the and or but if then else "
    "true false none new old good great best happy christmas easter god lord mom mum dad "
    "mother father team customer client patient doctor teacher manager employee boss driver "
    "owner agent admin wifi gmail google facebook twitter instagram youtube whatsapp wechat "
    "iphone android bitcoin paypal mastercard visa amex netflix spotify zoom slack teams "
    "excel word powerpoint notion chatgpt openai ai llm nlp gpu cpu ram usb pdf faq eta tbd "
    "asap fyi q&a vip bearer basic default user-agent contact order invoice ticket total "
    "balance payment"
)
_NO_PERSON = frozenset(_NO_NAME.split())
"""Words that a model takes for names, or a form puts beside them."""


class ModelMissing(Exception):
    """The model named in the settings is not installed, or is none that names people and places."""


class Candidate(NamedTuple):
    """A name at `text[start:end]`."""

    kind: str
    start: int
    end: int
    score: float


class LanguageModel:
    """A spaCy pipeline of which only the named entities are used. May be shared by threads.

    Args:
        name: an installed package (`en_core_web_md`), or the folder of a model.

    Raises:
        ModelMissing: there is no such model here, or it finds no entities.
    """

    def __init__(self, name: str) -> None:
        if not (spacy.util.is_package(name) or Path(name).is_dir()):
            raise ModelMissing("the model is not installed")
        try:
            pipeline = spacy.load(name)
        except (OSError, ValueError, ImportError) as err:
            raise ModelMissing("the model does not load with this spaCy") from err
        self._pipeline = _entities_only(pipeline)
        self._common = frozenset(pipeline.Defaults.stop_words)
        self._lock = threading.Lock()

    def find(self, text: str) -> Iterator[Candidate]:
        """Yield the names in canonical `text`. Linear time; spans may overlap.

        A text that is mostly in another script than Latin, Greek or Cyrillic yields nothing: the
        model knows one language.
        """
        readable = _LONG_RUN.sub(lambda match: "x" * len(match.group()), text)
        for begin, end in _parts(readable):
            part = readable[begin:end]
            letters = len(_LETTERS.findall(part))
            if not letters or len(_LATIN.findall(part)) < _LEAST_LATIN * letters:
                continue
            for kind, start, stop in self._read(self._as_trained(part)):
                yield from _checked(text, kind, begin + start, begin + stop)

    def _as_trained(self, part: str) -> str:
        """Return `part` in the case that a model is used to, index for index."""
        lines = []
        for line in part.split("\n"):
            raised = _CAPITALS.sub(_only_first_capital, line)
            if not any(char.isupper() for char in raised):
                raised = _SMALL_WORD.sub(self._raised_if_rare, raised)
            lines.append(raised)
        return "\n".join(lines)

    def _raised_if_rare(self, match: re.Match[str]) -> str:
        word = match.group()
        if word in self._common or word in _NO_PERSON or word.endswith(("ing", "ed", "ly")):
            return word
        return word[0].upper() + word[1:]

    def _read(self, part: str) -> list[tuple[str, int, int]]:
        with self._lock, self._pipeline.memory_zone():
            return [
                (_KINDS[one.label_], one.start_char, one.end_char)
                for one in self._pipeline(part).ents
                if one.label_ in _KINDS
            ]


def _entities_only(pipeline: Language) -> Language:
    """Switch off what the entities do not need. Raises ModelMissing."""
    if "ner" not in pipeline.pipe_names:
        raise ModelMissing("the model finds no named entities")
    config = pipeline.get_pipe_config("ner")
    listens = "Tok2VecListener" in str(config) or "TransformerListener" in str(config)
    needed = {"ner", "tok2vec", "transformer"} if listens else {"ner"}
    for name in pipeline.pipe_names:
        if name not in needed:
            pipeline.disable_pipe(name)
    return pipeline


def _only_first_capital(match: re.Match[str]) -> str:
    word = match.group()
    if not word.isupper():
        return word
    return "".join((word[0], word[1:].lower())) if len(word.lower()) == len(word) else word


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of pieces of at most 4,096 characters, cut after a line if there is one."""
    begin = 0
    while begin < len(text):
        end = min(len(text), begin + _PART_CHARACTERS)
        if end < len(text):
            for sign in ("\n", ". ", " "):
                cut = text.rfind(sign, begin + 1, end)
                if cut > begin:
                    end = cut + 1
                    break
        yield begin, end
        begin = end


def _checked(text: str, kind: str, start: int, end: int) -> Iterator[Candidate]:
    """Yield what of `text[start:end]` may be a name: one for each line, without its edges."""
    at = start
    for line in text[start:end].split("\n"):
        first, last = _trimmed(text, at, at + len(line))
        at += len(line) + 1
        if kind == "PERSON" and (owned := _OWNED.search(text, first, last)):
            last = owned.start()
        within = _WITHIN.search(text, first, last) if kind == "ORGANIZATION" else None
        if within:
            yield from _checked(text, "LOCATION", within.end(), last)
            last = within.start()
        name = text[first:last]
        if first < last and _is_name(name, kind) and not _is_other(text, kind, first, last):
            yield Candidate(_kind(text, kind, first, name), first, last, _SCORE)


def _is_other(text: str, kind: str, start: int, end: int) -> bool:
    """Return whether what stands around says that it is no name: code, "don't", a product."""
    if text[start - 1 : start] == "`" or _NOT_SHORT_FOR.match(text, end):
        return True
    alone = kind == "ORGANIZATION" and " " not in text[start:end]
    return alone and not (
        _FIRM_BEFORE.search(text, max(0, start - 10), start) or _FIRM_AFTER.match(text, end)
    )


def _kind(text: str, kind: str, start: int, name: str) -> str:
    """Return the kind that the name's words and the one before it say, if not the model's."""
    if name in GIVEN_NAMES:
        return "PERSON"
    if kind in ("PERSON", "ORGANIZATION") and _IN.search(text, max(0, start - 8), start):
        return "LOCATION"
    return kind


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without signs at its edges, articles before it and a genitive after it."""
    while True:
        before = start, end
        while start < end and text[start] in _EDGES:
            start += 1
        while end > start and text[end - 1] in _EDGES:
            end -= 1
        if lead := _LEAD.match(text, start, end):
            start = lead.end()
        if tail := _TAIL.search(text[start:end]) or _DEGREE.search(text[start:end]):
            end = start + tail.start()
        if (start, end) == before:
            return start, end


def _is_name(name: str, kind: str) -> bool:
    words = _WORD.findall(name)
    if not words or _CODE.search(name) or max(len(word) for word in words) < 2:  # noqa: PLR2004 - an initial alone
        return False
    plain = [word.lower().strip(".'’-") for word in words]
    if all(word in _NO_PERSON for word in plain) or (len(words) == 1 and name.islower()):
        return False
    if kind == "ORGANIZATION":
        # A lone acronym is a term of the trade far more often than the name of a firm.
        # In small letters a model that was made to see names sees firms everywhere.
        odd = name.islower() or (
            len(words) == 1 and (name.isupper() or _CAMEL.search(name) is not None)
        )
        return not odd and 2 * len(_NO_PERSON.intersection(plain)) < len(plain)
    if _DIGIT.search(name) or (len(name) <= _ABBREVIATION and name.isupper()):
        return False
    return kind != "PERSON" or not (_CAMEL.search(name) or _NO_PERSON.intersection(plain))
