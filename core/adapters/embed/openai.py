"""Any endpoint that speaks the embeddings interface of OpenAI.

Rules this module keeps:
- Text of people leaves the process here, to one configured address: no redirect is followed, and no
  proxy is taken from the environment.
- One deadline for a call, its retries included. What may be tried again (it changes nothing) is,
  after a pause with jitter, while there is time.
- A reply is believed only when it answers every text once, with finite vectors of the dimension
  agreed; what it says when it fails goes into no error.
- The tokenizer of the model is not here, so tokens are estimated, on the high side.
"""

import asyncio
import json
import secrets
from collections.abc import Sequence

import httpx
import numpy as np
from numpy.typing import NDArray

from core.adapters.embed.chunking import cut, estimated_tokens
from core.adapters.embed.facts import ModelFacts
from core.adapters.embed.lane import readable
from core.errors import Unavailable
from core.model import Json
from core.ports import Vector, Vectors

_TEXTS_A_REQUEST = 64
_LARGEST_REPLY_BYTES = 32 * 1024 * 1024
_FIRST_PAUSE_SECONDS = 0.1
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
# Source: RFC 9110, 15.5.9 and 15.6; RFC 6585, 4; 409 as the vendor's own client does.


class _TryAgain(Exception):
    """The endpoint may answer if asked again, after `pause` seconds where it says so."""

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__()
        self.pause = pause


class OpenAIEmbedder:
    """`core.ports.Embedder` over HTTP. Belongs to one event loop.

    Args:
        url: the interface's base, such as `https://host/v1`.
        facts: of the model.
        api_key: the bearer token; None for an endpoint that wants none.
        timeout_seconds: for one call, all of its requests and retries.
    """

    in_process = False

    def __init__(
        self,
        url: str,
        facts: ModelFacts,
        *,
        api_key: str | None = None,
        timeout_seconds: float = 10.0,
    ) -> None:
        self.name = facts.name
        self.dimension = facts.dimension
        self.max_tokens = facts.max_tokens
        self.floor = facts.floor
        self.ceiling = facts.ceiling
        self._facts = facts
        self._address = f"{url.rstrip('/')}/embeddings"
        self._timeout = timeout_seconds
        self._client = httpx.AsyncClient(
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            timeout=timeout_seconds,
            follow_redirects=False,
            trust_env=False,
        )

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return one vector a text, shape (n, dimension). Raises: Unavailable."""
        return await self._embed([self._facts.passage_mark + text for text in texts])

    async def query(self, text: str) -> Vector:
        """Return the vector of a question, shape (dimension,). Raises: Unavailable."""
        vector: Vector = (await self._embed([self._facts.question_mark + text]))[0]
        return vector

    def count_tokens(self, text: str) -> int:
        """Return an estimate, on the high side, of how many tokens `text` has."""
        return estimated_tokens(text)

    def chunks(self, text: str) -> list[str]:
        """Return `text` in pieces of at most `max_tokens`, as estimated."""
        return cut(text, self.max_tokens, self.count_tokens)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        # An empty text is an error to some endpoints, a blank one to none.
        clean = [readable(text) or " " for text in texts]
        vectors = np.empty((len(clean), self.dimension), dtype=np.float32)
        try:
            async with asyncio.timeout(self._timeout) as deadline:
                for start in range(0, len(clean), _TEXTS_A_REQUEST):
                    batch = clean[start : start + _TEXTS_A_REQUEST]
                    vectors[start : start + len(batch)] = await self._ask(batch, deadline)
        except TimeoutError as err:
            raise Unavailable from err
        return vectors

    async def _ask(self, texts: Sequence[str], deadline: asyncio.Timeout) -> Vectors:
        """Return the vectors of one request, asking again while there is time."""
        pause = _FIRST_PAUSE_SECONDS
        clock = asyncio.get_running_loop()
        while True:
            try:
                return await self._post(texts)
            except _TryAgain as err:
                wait = max(err.pause, pause * (0.5 + secrets.randbelow(1000) / 1000))
                if clock.time() + wait >= (deadline.when() or 0.0):
                    raise Unavailable from err
                await asyncio.sleep(wait)
                pause *= 2

    async def _post(self, texts: Sequence[str]) -> Vectors:
        asked = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        try:
            async with self._client.stream("POST", self._address, json=asked) as response:
                if response.status_code in _AGAIN:
                    raise _TryAgain(_seconds(response.headers.get("Retry-After", "")))
                if response.status_code != httpx.codes.OK:
                    raise Unavailable
                body = bytearray()
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > _LARGEST_REPLY_BYTES:
                        raise Unavailable
        except httpx.TransportError as err:
            raise _TryAgain from err
        except (httpx.HTTPError, httpx.InvalidURL) as err:
            raise Unavailable from err
        try:
            return self._read(json.loads(body), len(texts))
        except (KeyError, TypeError, ValueError, RecursionError) as err:
            raise Unavailable from err

    def _read(self, reply: Json, count: int) -> Vectors:
        """Return the vectors in the order of the texts.

        Raises: KeyError, TypeError, ValueError (not one sound vector for each text).
        """
        rows = reply["data"]
        if not isinstance(rows, list) or len(rows) != count:
            raise ValueError
        order = [row.get("index", place) for place, row in enumerate(rows)]
        if sorted(order) != list(range(count)):
            raise ValueError
        made: NDArray[np.float64] = np.asarray([row["embedding"] for row in rows], dtype=np.float64)
        if made.shape != (count, self.dimension):
            raise ValueError
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise ValueError
        vectors = np.empty((count, self.dimension), dtype=np.float32)
        vectors[order] = made / lengths
        return vectors


def _seconds(retry_after: str) -> float:
    """Return a `Retry-After` in seconds; a date, or nonsense, is no wish."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0.0
