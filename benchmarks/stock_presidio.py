"""Stock Presidio with an English spaCy model, in a process of its own.

Presidio finds its recognizers by the names of their classes, and some of ours bear the same: in one
process it would take ours for its own. The lock holds no spaCy model; without one this is left out.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Answer:
    """What it found in one text, and the milliseconds of processor time it took."""

    spans: list[tuple[int, int, str]]
    milliseconds: float


def ask(model: str, texts: Sequence[str]) -> list[Answer]:
    """Return an answer for each text.

    Args:
        model: name of an installed spaCy model, or the path of one.
        texts: in English.

    Raises:
        LookupError: there is no such model; Presidio would fetch it from the network.
    """
    done = subprocess.run(  # noqa: S603 - this very module
        [sys.executable, "-m", "benchmarks.stock_presidio", model],
        input=json.dumps(list(texts)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LookupError(model)
    return [
        Answer([(start, end, kind) for start, end, kind in spans], took)
        for spans, took in json.loads(done.stdout)
    ]


def main() -> None:
    """Answer for the texts on standard input, as JSON."""
    import spacy  # noqa: PLC0415 - slow, and not always asked
    from presidio_analyzer import AnalyzerEngine  # noqa: PLC0415 - as above
    from presidio_analyzer.nlp_engine import NlpEngineProvider  # noqa: PLC0415 - as above

    model = sys.argv[1]
    if not (spacy.util.is_package(model) or Path(model).exists()):
        sys.exit(1)
    models = [{"lang_code": "en", "model_name": model}]
    engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models})
    analyzer = AnalyzerEngine(nlp_engine=engine.create_engine(), supported_languages=["en"])
    analyzer.analyze("warm up Ann Example 212-555-0143", "en")
    answers = []
    for text in json.load(sys.stdin):
        begun = time.thread_time()
        found = analyzer.analyze(text, "en")
        took = 1e3 * (time.thread_time() - begun)
        answers.append(([(one.start, one.end, one.entity_type) for one in found], took))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
