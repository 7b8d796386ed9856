"""How well what is sensitive is found without an index, beside the same texts in the index.

    MEMWARDEN_EVAL_DIR=DIR .venv/bin/python -m benchmarks.sensitive_recall [--questions 200]
        [--texts 1000] [--fill 5000]

A gateway is built in this process on real engines. Each set is kept twice: as it is, and with a
note in its metadata that makes it sensitive; both answer the same questions. Printed as Markdown:
the share of answers that are among the ten best, the points of the index that stand for the set,
and what a recall took. Last, one person gets so many sensitive memories as a recall opens at most.

The sets are a made-up one and those of `retrieval/` under MEMWARDEN_EVAL_DIR (`turns.jsonl.gz`:
conversation_id, turn_id, text; `queries.jsonl.gz`: conversation_id, question, evidence_turn_ids); a
question is asked of its own conversation alone.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from benchmarks.paths import ASK, WHAT, WHO, Bench, Switch
from core.errors import ContentRejected
from core.model import Details, Draft, Owner, Query, Target
from core.ports import Vectors
from core.scope import Action
from gateway import recall, write
from gateway.app import open_gateway
from gateway.embedded.engines import EmbeddedEngines
from gateway.embedded.places import Places
from gateway.parts import Connections
from gateway.settings import load

BEST = 10
SENSITIVE = Details(metadata={"note": "My salary is 84,000 euros a year."})
MODES = {"indexed": Details(), "sensitive": SENSITIVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of one conversation, and which of its turns answer it."""

    about: str
    text: str
    answers: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Set:
    """Texts by conversation and turn, and questions."""

    name: str
    texts: dict[str, dict[str, str]]
    questions: Sequence[Question]


class Remembering(Switch):
    """The bundled model, asked once for each text: every set is kept twice."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str, Vectors] = {}

    @override
    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return vectors, shape (n, dimension)."""
        if self.filling:
            return await super().passages(texts)
        for text in texts:
            if text not in self._known:
                self._known[text] = await super().passages([text])
        return np.concatenate([self._known[text] for text in texts])


def made_up() -> Set:
    """Return sentences of seven people, each with questions that name one of them."""
    texts = {f"{at}-{what}": f"{who} {said}" for at, who in enumerate(WHO)
             for what, said in enumerate(WHAT)}  # fmt: skip
    questions = []
    for at, who in enumerate(WHO):
        for asked, answers in zip(ASK, ((0, 6), (2, 5), (3,), (6,)), strict=True):
            keys = frozenset(f"{at}-{what}" for what in answers)
            questions.append(Question(about="made-up", text=asked.format(who), answers=keys))
    return Set(name="made up", texts={"made-up": texts}, questions=questions)


def of_others(folder: Path, most: int, most_texts: int) -> Iterator[Set]:
    """Yield the sets under `folder`.

    Args:
        most: of their questions, of those whose answers are kept.
        most_texts: of each conversation, its first.
    """
    for place in sorted(folder.glob("retrieval/*/turns.jsonl.gz")):
        texts: dict[str, dict[str, str]] = defaultdict(dict)
        for turn in _lines(place):
            of_one = texts[str(turn["conversation_id"])]
            if len(of_one) < most_texts:
                of_one[str(turn["turn_id"])] = str(turn["text"])
        questions = [
            Question(
                about=str(one["conversation_id"]),
                text=str(one["question"]),
                answers=frozenset(map(str, one["evidence_turn_ids"])),
            )
            for one in _lines(place.with_name("queries.jsonl.gz"))
            if one["evidence_turn_ids"]
            and one.get("category") != "adversarial"
            and texts[str(one["conversation_id"])].keys() >= set(map(str, one["evidence_turn_ids"]))
        ]
        random.Random(3).shuffle(questions)
        yield Set(name=place.parent.name, texts=texts, questions=questions[:most])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


class Keeper:
    """Keeps sets and asks them, through the whole guarded paths."""

    def __init__(self, bench: Bench, model: Switch) -> None:
        self._bench = bench
        self._model = model

    async def keep(self, person: str, texts: Sequence[str], details: Details) -> list[str]:
        """Write each text about `person`; return their ids; "" where it is refused."""
        call = await self._bench.call()
        ids = []
        for text in texts:
            draft = Draft(content=text, details=details)
            try:
                receipt = await write.write(self._bench.gate, call, Target(user_id=person), draft)
            except ContentRejected:  # what the guard refuses, it refuses both times
                ids.append("")
            else:
                ids.append(str(receipt.outcomes[0].id))
        return ids

    async def ask(self, person: str, text: str) -> tuple[list[str], float]:
        """Return the ids of the ten best, and the milliseconds."""
        call = await self._bench.call()
        query = Query(text=text, limit=BEST, max_tokens=100_000, timeout_ms=30_000)
        started = time.perf_counter()
        answer = await recall.recall(self._bench.gate, call, Target(user_id=person), query)
        taken = (time.perf_counter() - started) * 1000
        if answer.degraded:
            raise RuntimeError("the benchmark measured a degraded recall")
        return [str(item.memory.row.id) for item in answer.items], taken

    async def points(self, person: str) -> int:
        """Return how many points of the index are the person's."""
        gate = self._bench.gate
        call = await self._bench.call()
        scope = await gate.access.scope(call, Target(user_id=person), Action.MEMORY_RECALL)
        keys = await gate.keyring.tenant(scope.tenant)
        owner = keys.word("owner", str(Owner.of(scope).id))
        return await gate.recall.index.count(keys.word("tenant", str(scope.tenant)), owner)

    async def compare(self, asked: Set) -> None:
        """Print one row for each way of keeping a set."""
        for mode, details in MODES.items():
            turn_of: dict[str, str] = {}
            points = 0
            for about, texts in asked.texts.items():
                ids = await self.keep(f"{asked.name} {mode} {about}", list(texts.values()), details)
                turn_of.update(zip(ids, texts, strict=True))
            await self._bench.settle()
            for about in asked.texts:
                points += await self.points(f"{asked.name} {mode} {about}")
            found, times = 0.0, []
            for question in asked.questions:
                ids, taken = await self.ask(f"{asked.name} {mode} {question.about}", question.text)
                times.append(taken)
                hits = question.answers & {turn_of[one] for one in ids}
                found += len(hits) / len(question.answers)
            kept = sum(map(len, asked.texts.values()))
            print(
                f"| {asked.name} | {mode} | {kept:,} | {len(asked.questions)} | {points:,}"
                f" | {100 * found / len(asked.questions):.1f} | {statistics.median(times):.0f}"
                f" / {np.percentile(times, 95):.0f} |",
                flush=True,
            )

    async def fill(self, number: int, calls: int = 20) -> None:
        """Print what a recall takes of a person who has `number` sensitive memories."""
        self._model.filling = True
        texts = [self._bench.texts.sentence() for _ in range(number)]
        await self.keep("full", texts, SENSITIVE)
        self._model.filling = False
        times = [(await self.ask("full", self._bench.texts.question()))[1] for _ in range(calls)]
        print(
            f"\n{number:,} sensitive memories of one person: a recall takes"
            f" {statistics.median(times):.0f} ms (p50), {np.percentile(times, 95):.0f} ms (p95)."
        )


async def run(sets: Sequence[Set], fill: int) -> None:
    """Build a gateway, and measure each set."""
    with tempfile.TemporaryDirectory(prefix="memwarden-bench-") as name:
        folder = Path(name)
        async with EmbeddedEngines.start(
            folder / "data", folder / "keys", Places(home=folder), on_death=print
        ) as engines:
            model = Remembering()
            async with open_gateway(
                Connections.embedded(engines),
                load(),
                own_url="http://127.0.0.1",
                embedder=model,
                on_step=lambda _step, _seconds: None,
            ) as gateway:
                bench = Bench(gateway, model, defaultdict(list))
                await bench.prepare()
                model.filling = False
                keeper = Keeper(bench, model)
                print(
                    "| set | kept | texts | questions | points in the index | recall@10 %"
                    " | p50 / p95 ms |\n|---|---|---|---|---|---|---|"
                )
                for asked in sets:
                    await keeper.compare(asked)
                if fill:
                    await keeper.fill(fill)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=200, help="of each set of others")
    parser.add_argument("--texts", type=int, default=1000, help="of each conversation of theirs")
    parser.add_argument("--fill", type=int, default=5000, help="sensitive memories of one person")
    options = parser.parse_args()
    sets = [made_up()]
    # The gateway refuses what it does not know under its prefix, and this it knows.
    folder = os.environ.get("MEMWARDEN_EVAL_DIR", "")  # noqa: TID251 - no setting of the gateway
    if folder:
        sets += of_others(Path(folder), options.questions, options.texts)
    else:
        print("MEMWARDEN_EVAL_DIR is not set: the sets of others are left out.\n")
    asyncio.run(run(sets, options.fill))


if __name__ == "__main__":
    main()
