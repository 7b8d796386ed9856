"""The ONNX adapter, over the interface of its library."""

from typing import ClassVar

import numpy as np
import pytest

from core.adapters.embed.facts import ModelFacts
from core.adapters.embed.fastembed import FastEmbedder
from core.errors import Unavailable


class Recorder:
    """A model of two dimensions that remembers what it was given."""

    embedding_size = 2
    given: ClassVar[list[str]] = []

    def embed(self, documents: list[str]):
        self.given.extend(documents)
        yield from (np.array([3.0, 4.0]) if text.strip() else np.zeros(2) for text in documents)

    def token_count(self, texts: list[str]) -> int:
        return sum(len(text.split()) + 2 for text in texts)


@pytest.fixture
def model():
    Recorder.given.clear()
    return Recorder()


@pytest.mark.parametrize(
    ("name", "marks"),
    [
        ("intfloat/multilingual-e5-small", ["query: a", "passage: b"]),
        ("vendor/bge-small-zh", ["a", "b"]),
        ("vendor/geek5-e500", ["a", "b"]),
    ],
)
async def test_only_a_model_of_the_e5_family_is_told_question_from_passage(model, name, marks):
    embedder = FastEmbedder(model, ModelFacts.of(name, 2))
    np.testing.assert_allclose(await embedder.query("a"), [0.6, 0.8], atol=1e-6)
    await embedder.passages(["b"])
    embedder.close()
    assert model.given == marks


async def test_a_vector_without_direction_is_no_answer(model):
    embedder = FastEmbedder(model, ModelFacts(name="m", dimension=2))
    with pytest.raises(Unavailable):
        await embedder.passages([" "])
    embedder.close()


def test_another_dimension_than_agreed_is_refused(model):
    with pytest.raises(Unavailable):
        FastEmbedder(model, ModelFacts(name="m", dimension=3))


def test_an_unknown_model_is_refused_without_a_fetch(tmp_path):
    pytest.importorskip("fastembed", reason="optional: the extra is not installed")
    with pytest.raises(Unavailable):
        FastEmbedder.load(ModelFacts(name="no/such-model", dimension=2), folder=tmp_path)


def test_tokens_are_counted_without_the_models_own_marks(model):
    embedder = FastEmbedder(model, ModelFacts(name="m", dimension=2))
    assert embedder.count_tokens("one two three") == 3
    assert embedder.count_tokens("") == 0
