"""An embedder for whatever does not test meaning: words are hashed, so that a text costs nothing
to embed, two runs agree, and texts are as near as the words they share."""

import asyncio
import hashlib
import re
from collections.abc import Sequence

import numpy as np

from core.errors import Unavailable
from core.ports import Vector, Vectors

_WORD = re.compile(r"[a-z0-9_]+|[\u3400-\u9fff]")
_PIECE = 1_000


class WordEmbedder:
    """Implements `core.ports.Embedder`. `down` and `hanging` make it fail as a real one may."""

    name = "hashed-words"
    dimension = 384
    max_tokens = 256
    floor = 0.1
    ceiling = 0.9
    in_process = True

    def __init__(self) -> None:
        self.down = False
        self.hanging = False
        self.seen: list[str] = []

    async def passages(self, texts: Sequence[str]) -> Vectors:
        await self._ready(texts)
        return np.stack([self._vector(text) for text in texts])

    async def query(self, text: str) -> Vector:
        await self._ready([text])
        return self._vector(text)

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text.lower()))

    def chunks(self, text: str) -> list[str]:
        return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]

    async def _ready(self, texts: Sequence[str]) -> None:
        self.seen += texts
        if self.hanging:
            await asyncio.Event().wait()
        if self.down:
            raise Unavailable

    def _vector(self, text: str) -> Vector:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in _WORD.findall(text.lower()):
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            vector[int.from_bytes(digest[:4]) % self.dimension] += 1 if digest[4] & 1 else -1
        length = float(np.linalg.norm(vector))
        if length == 0:
            vector[0] = length = 1.0
        return vector / np.float32(length)
