"""What the guard costs: processor time of a short text, of a long one, and of the worst we know.

    .venv/bin/python -m benchmarks.guard_speed [--calls 400] [--model PATH_OR_NAME]

Prints Markdown. Times are this thread's processor time, not the clock's, so that a busy machine
disturbs less; the load is printed beside them. Stock Presidio is timed on the same texts if a
spaCy model is installed; the lock holds none, so the row is usually left out.
"""

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.guard_texts import KINDS, notes
from benchmarks.stock_presidio import ask
from gateway.guard.fields import Leaf
from gateway.guard.guard import Guard
from gateway.guard.pii import load_detector
from gateway.guard.policy import load_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path

SHORT = 120
SIZES = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
HOSTILE_CHARACTERS = 100_000
FILLER = {
    "en": (
        "She moved the meeting about the garden plan to the week after next. ",
        "He likes to swim in the lake before work, and reads on the train in 2024. ",
        "The parcel came on Tuesday with 3 of the 14 books, order 20931. ",
    ),
    "zh": (
        "她把关于花园的会议改到了下下周。",
        "他喜欢上班前在湖里游泳，2024年开始学法语。",
        "周二到了包裹，里面有3本书。",
    ),
}


def short_texts(language: str, count: int, *, personal: bool) -> list[str]:
    """Return texts of 120 characters, one in three with a value in it, or none at all."""
    rng = random.Random(language)
    made = []
    for _ in range(count):
        lead = ""
        if personal:
            lead = next(notes(rng.choice(KINDS), language, 1, rng.randrange(1 << 30))).text
        text = lead
        while len(text) < SHORT:
            text += rng.choice(FILLER[language])
        made.append(text[:SHORT])
    return made


def long_text(size: int) -> str:
    """Return `size` characters of prose in both languages with a value every 500 or so."""
    rng = random.Random(size)
    text = ""
    while len(text) < size:
        language = rng.choice(("en", "zh"))
        text += "".join(rng.choices(FILLER[language], k=6))
        text += next(notes(rng.choice(KINDS), language, 1, rng.randrange(1 << 30))).text + "\n"
    return text[:size]


def milliseconds(work: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    """Return the processor time of `work` on each text, sorted."""
    took = []
    for text in texts:
        begun = time.thread_time()
        work(text)
        took.append(1e3 * (time.thread_time() - begun))
    return sorted(took)


def _row(name: str, took: Sequence[float]) -> str:
    tail = took[int(len(took) * 0.95)]
    return f"| {name} | {took[0]:.2f} | {statistics.median(took):.2f} | {tail:.2f} |"


def main() -> None:
    """Time what is asked and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--model", default="en_core_web_md", help="spaCy model of stock Presidio")
    asked = parser.parse_args()
    rules = load_secret_rules(data_path("policies", "secrets.yaml"))
    detector = load_detector()
    guards = {
        name: Guard(rules, load_pii_policy(data_path("policies", "pii", f"{name}.yaml")), detector)
        for name in ("balanced", "strict")
    }
    print(f"Load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.\n")
    print("| text of 120 characters | least ms | median ms | 95 % ms |\n|---|---|---|---|")
    medians = {}
    english = short_texts("en", asked.calls, personal=True)
    for language in ("en", "zh"):
        for personal in (False, True):
            texts = short_texts(language, asked.calls, personal=personal)
            for name, guard in guards.items():
                took = milliseconds(partial(_checked, guard), texts)
                what = "with personal data" if personal else "without"
                print(_row(f"{name}, {language}, {what}", took))
                medians[name, language, personal] = statistics.median(took)
    try:
        took = sorted(answer.milliseconds for answer in ask(asked.model, english))
    except LookupError:
        print(f"\nStock Presidio is left out: the spaCy model {asked.model} is not installed.")
    else:
        print(_row("stock Presidio, en, with personal data", took))
        faster = statistics.median(took) / medians["balanced", "en", True]
        print(f"\n`balanced` is {faster:.1f} times as fast as stock Presidio in this run.")
    print("\n| long text, `balanced` | median ms | ms for each 1,024 characters |\n|---|---|---|")
    for size in SIZES:
        took = milliseconds(lambda text: _checked(guards["balanced"], text), [long_text(size)] * 7)
        median = statistics.median(took)
        print(f"| {size} | {median:.1f} | {1024 * median / size:.2f} |")
    _print_hostile(guards["strict"])


def _checked(guard: Guard, text: str) -> object:
    # A scan and its redaction, as a write does it; a refusal costs as much.
    leaf = Leaf(path="content", text=text)
    scan = guard.scan(leaf)
    return scan and guard.redacted(leaf, scan)


def _print_hostile(guard: Guard) -> None:
    # Their pieces alone; nothing of the tests is run.
    from tests.gateway.guard.test_hostile import PIECES, text_of  # noqa: PLC0415 - slow
    from tests.gateway.guard.test_linear_time import HOSTILE as MORE  # noqa: PLC0415 - slow

    took = []
    for piece in dict.fromkeys((*PIECES, *MORE)):
        text = text_of(piece, HOSTILE_CHARACTERS)
        begun = time.thread_time()
        scan = guard.scan(Leaf(path="content", text=text))
        took.append((time.thread_time() - begun, piece, scan is None))
    took.sort(reverse=True)
    over = sum(seconds > 1 for seconds, _, _ in took)
    print(f"\n{len(took)} hostile texts of 100 KB, `strict`: {over} over a second; the slowest:\n")
    print("| piece | seconds | |\n|---|---|---|")
    for seconds, piece, refused in took[:8]:
        print(f"| `{piece}` | {seconds:.2f} | {'refused' if refused else 'judged'} |")


if __name__ == "__main__":
    main()
