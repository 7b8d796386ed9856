"""The shape of a placeholder, and what is known about the value it stands for.

Rules this module keeps:
- A placeholder reads `[PHONE_NUMBER p-bcdfghjkmnpqrtvwbcdf]`: a kind and a word.
- A word is letters, none of them a vowel: no number, name or word of any language can be read in
  it, the lexical index keeps it whole, and nothing cuts a plural's ending off it.
- What holds a value is left out of `repr`.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

TOKEN_BYTES = 10
"""Nobody guesses 80 bits, and of one person's values no two meet in them."""

LETTERS = "bcdfghjkmnpqrtvw"
_FROM_HEX = str.maketrans("0123456789abcdef", LETTERS)
_TO_HEX = str.maketrans(LETTERS, "0123456789abcdef")
_SHAPE = re.compile(rf"\[([A-Z][A-Z0-9_]{{0,63}}) p-([{LETTERS}]{{{2 * TOKEN_BYTES}}})\]")

Path = tuple[str | int, ...]
"""Where a string stands in a memory, such as ("metadata", "note", 0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What a placeholder of one request stands for, until it has its person's word.

    Args:
        canonical: the value without what spelling adds; equal values are equal here.
        value: as it was found.
        spelling: all that the placeholder took the place of; holds `value`, and seldom more.
    """

    kind: str
    canonical: str = field(repr=False)
    value: str = field(repr=False)
    spelling: str = field(repr=False)


Marks = Mapping[str, Mark]
"""Words drawn at random for one request -> what they stand for."""


@dataclass(slots=True, kw_only=True)
class Entry:
    """What is kept sealed about one word in one version of a memory.

    Args:
        spelled: place -> spelling, where it is not `value`; see `place_of`.
    """

    kind: str
    value: str = field(repr=False)
    spelled: dict[str, str] = field(default_factory=dict, repr=False)

    def to_bytes(self) -> bytes:
        """Return the JSON form that is sealed."""
        kept = {"kind": self.kind, "value": self.value, "spelled": self.spelled}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return the entry that `to_bytes` wrote; decode after encode is identity."""
        kept = json.loads(data)
        return cls(kind=kept["kind"], value=kept["value"], spelled=kept["spelled"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Originals:
    """The values behind the placeholders of some texts.

    Args:
        values: word -> (kind, value).
        spellings: (path, text with placeholders) -> what each placeholder in it stands for, in
            order; None for one that stands for nothing.
    """

    values: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    spellings: Mapping[tuple[Path, str], tuple[str | None, ...]] = field(
        default_factory=dict, repr=False
    )


NO_ORIGINALS = Originals()


def place_of(text: int, number: int) -> str:
    """Return the name of the placeholder `number`, from 0, of the text `text`: the how manieth of
    the texts that hold any, from 0. Short, since a path can be as long as the metadata.
    """
    return f"{text}.{number}"


def placeholder(kind: str, word: str) -> str:
    """Return the placeholder of a value of `kind`."""
    return f"[{kind} p-{word}]"


def word_of(token: bytes) -> str:
    """Return the word of a token of `TOKEN_BYTES`."""
    return token.hex().translate(_FROM_HEX)


def token_of(word: str) -> bytes:
    """Return the token of a word that `word_of` wrote."""
    return bytes.fromhex(word.translate(_TO_HEX))


def words_in(text: str) -> list[tuple[str, str]]:
    """Return (kind, word) of each placeholder in `text`, in order, whoever put it there."""
    return [(found[1], found[2]) for found in _SHAPE.finditer(text)] if " p-" in text else []


def spans_in(text: str) -> list[tuple[int, int]]:
    """Return where the placeholders of `text` are, in order."""
    return [found.span() for found in _SHAPE.finditer(text)] if " p-" in text else []


def replaced(text: str, by: Callable[[str, str], str]) -> str:
    """Return `text` with each placeholder replaced by what `by` returns for its kind and word."""
    if " p-" not in text:
        return text
    return _SHAPE.sub(lambda found: by(found[1], found[2]), text)
