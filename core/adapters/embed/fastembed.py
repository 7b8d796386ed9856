"""Any ONNX model that `fastembed` knows; the extra `fastembed` installs it.

Rules this module keeps:
- The library is imported when a model is loaded, and not before: it is not always there.
- A model of the e5 family is told what is a question and what a passage, in the words it was
  trained with; the library leaves that to its caller.
- Each text is embedded alone on one core, as with the bundled model.

No model can be had offline, so the tests drive this with a model of their own behind the library's
interface; what a real model returns is the library's business.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from core.adapters.embed.chunking import cut
from core.adapters.embed.facts import ModelFacts
from core.adapters.embed.lane import Lanes, readable
from core.errors import Unavailable
from core.ports import Vector, Vectors


class OnnxModel(Protocol):
    """What is used of `fastembed.TextEmbedding`."""

    @property
    def embedding_size(self) -> int:
        """The dimension of its vectors."""
        ...

    def embed(self, documents: list[str]) -> Iterable[NDArray[Any]]:
        """Yield one vector a text."""
        ...

    def token_count(self, texts: list[str]) -> int:
        """Return the tokens of all texts, the model's own marks included."""
        ...


class FastEmbedder:
    """`core.ports.Embedder` over a model of `fastembed`.

    Args:
        model: loaded.
        facts: of the model.

    Raises:
        Unavailable: the model has another dimension than `facts` say.
    """

    in_process = True

    def __init__(self, model: OnnxModel, facts: ModelFacts) -> None:
        if model.embedding_size != facts.dimension:
            raise Unavailable
        self.name = facts.name
        self.dimension = facts.dimension
        self.max_tokens = facts.max_tokens
        self.floor = facts.floor
        self.ceiling = facts.ceiling
        self._facts = facts
        self._model = model
        self._specials = model.token_count([""])
        self._lanes = Lanes(self._encode, self.dimension)

    @classmethod
    def load(cls, facts: ModelFacts, *, folder: Path | None = None) -> Self:
        """Load a model, fetching it into `folder` when it is not there.

        Raises:
            Unavailable: the extra is not installed, or the model is unknown or cannot be had.
        """
        try:
            from fastembed import TextEmbedding  # noqa: PLC0415 - an extra

            place = None if folder is None else str(folder)
            model = TextEmbedding(facts.name, cache_dir=place, threads=1)
        except (ImportError, OSError, ValueError, RuntimeError) as err:
            raise Unavailable from err
        return cls(model, facts)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, shape (n, dimension). Raises: Unavailable."""
        return await self._lanes.passages(texts)

    async def query(self, text: str) -> Vector:
        """Return the vector of a question, shape (dimension,). Raises: Unavailable."""
        return await self._lanes.query(text)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens `text` has, the model's own marks not counted."""
        return max(0, self._model.token_count([readable(text)]) - self._specials)

    def chunks(self, text: str) -> list[str]:
        """Return `text` in pieces of at most `max_tokens`."""
        return cut(text, self.max_tokens, self.count_tokens)

    def close(self) -> None:
        """Let the model's threads end."""
        self._lanes.close()

    def _encode(self, text: str, is_question: bool) -> Vector:  # noqa: FBT001 - as Lanes calls it
        mark = self._facts.question_mark if is_question else self._facts.passage_mark
        (vector,) = self._model.embed([mark + text])
        return unit(np.asarray(vector, dtype=np.float32))


def unit(vector: Vector) -> Vector:
    """Return `vector` at length one. Raises: Unavailable (it has no direction)."""
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0:
        raise Unavailable
    return (vector / length).astype(np.float32)
