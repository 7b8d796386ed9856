"""Threads for a model that keeps a core busy.

Rules this module keeps:
- One text at a time and thread: a call in progress cannot be stopped, so it must be short.
- Nobody who waits stands behind a long text: long texts have a thread of their own. With the
  bundled model a question took 25 to 48 ms beside a long text, and 150 to 800 ms behind one.
- In the other thread a question goes first, and then each call's first text before others' second.
"""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from core.errors import Unavailable
from core.lane import Lane
from core.ports import Vector, Vectors

_QUESTION_RANK = 0
_SHORT_BYTES = 256
"""Up to here a text counts as short: some 60 tokens, a tenth of a second on a slow core."""


class Lanes:
    """Two threads that embed: one for questions and short passages, one for long passages.

    Args:
        encode: (text, is a question) -> vector; called in both threads at once.
        dimension: of what it returns.
    """

    def __init__(self, encode: Callable[[str, bool], Vector], dimension: int) -> None:
        self._encode = encode
        self._dimension = dimension
        self._short: Lane[Vector] = Lane("embedder-short")
        self._long: Lane[Vector] = Lane("embedder-long")

    async def query(self, text: str) -> Vector:
        """Return the vector of a question. Raises: Unavailable."""
        return await self._embed(text, _QUESTION_RANK)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, shape (n, dimension). Raises: Unavailable."""
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        waiting = (self._embed(text, rank) for rank, text in enumerate(texts, _QUESTION_RANK + 1))
        return np.stack(await asyncio.gather(*waiting))

    def close(self) -> None:
        """Let the threads end."""
        self._short.close()
        self._long.close()

    async def _embed(self, text: str, rank: int) -> Vector:
        clean = readable(text)
        is_question = rank == _QUESTION_RANK
        lane = self._short if len(clean.encode()) <= _SHORT_BYTES else self._long
        return await lane.run(rank, lambda: self._checked(clean, is_question=is_question))

    def _checked(self, text: str, *, is_question: bool) -> Vector:
        vector = self._encode(text, is_question)
        if vector.shape != (self._dimension,) or not np.isfinite(vector).all():
            raise Unavailable
        return vector


def readable(text: str) -> str:
    """Return `text` as a library can read it to its end.

    A NUL ends a string of C and would hide what follows it; a lone surrogate cannot be written.
    """
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
