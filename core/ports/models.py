"""The clock and the language models: text to vectors, text to facts, text to words."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.model import Fact, Guarded
from core.ports.vectors import Vector, Vectors


class Clock(Protocol):
    """The process's own clock: only for what the database does not time."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...


class Embedder(Protocol):
    """Turns text into vectors. One model, one dimension, for the life of the process."""

    name: str
    dimension: int
    max_tokens: int
    """Longer texts are cut into chunks of at most this many tokens."""
    floor: float
    ceiling: float
    """Cosines of this model that mean unrelated and same; relevance is scaled between them."""
    in_process: bool
    """Whether no text leaves this process; what is sensitive is embedded only where it is so."""

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, shape (n, dimension). Raises: Unavailable."""
        ...

    async def query(self, text: str) -> Vector:
        """Return the vector of a question. Raises: Unavailable."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return how many tokens the model reads in `text`."""
        ...

    def chunks(self, text: str) -> list[str]:
        """Return `text` cut into pieces of at most `max_tokens`, cut at sentences where it can."""
        ...


class Extractor(Protocol):
    """Turns one guarded text into facts."""

    async def extract(self, guarded: Guarded) -> Sequence[Fact]:
        """Return at least one fact."""
        ...


class Tokenizer(Protocol):
    """Cuts text into the words of the lexical index, the same way for texts and for queries."""

    def words(self, text: str) -> list[str]:
        """Return the words in order, repeats included."""
        ...

    def canonical(self, text: str) -> str:
        """Return the spelling under which two texts count as the same."""
        ...
