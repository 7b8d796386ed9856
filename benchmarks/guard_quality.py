"""How much personal data and how many secrets the guard finds, and how much else it takes.

    MEMWARDEN_EVAL_DIR=DIR .venv/bin/python -m benchmarks.guard_quality [--notes 500]

Printed as Markdown, per set, kind and language, with 95 % intervals (Wilson):

- the sets of MEMWARDEN_EVAL_DIR (`pii/*.dev.jsonl`: id, lang, text, spans), under each policy;
- the notes of `benchmarks/guard_texts.py`: 500 true values a kind and language, as many decoys;
- the secrets of `benchmarks/guard_secrets.py`.

A prediction is what the redactor would replace, overlaps resolved; a secret that would refuse the
text counts as a span. A prediction hits a gold span of its group when they share half of what they
cover together; leak is the share of gold characters left readable, over-redaction the share of
other characters taken.
"""

import argparse
import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.guard_harmless import HARMLESS
from benchmarks.guard_secrets import secrets_by_split
from benchmarks.guard_texts import KINDS, decoys, notes
from benchmarks.stock_presidio import ask
from gateway.guard.kinds import BEST_EFFORT
from gateway.guard.normalise import normalise
from gateway.guard.pii import load_detector
from gateway.guard.pii.finding import Finding, PiiDetector
from gateway.guard.policy import load_pii_policy
from gateway.guard.redact import SECRET, Redactor
from gateway.guard.rules import SecretRules, load_secret_rules
from gateway.guard.scan import ScanFailed
from gateway.guard.secrets import find_secrets
from gateway.resources import data_path

GROUPS = {
    kind: group
    for group, kinds in {
        "PLACE": "ADDRESS LOCATION ZIP_CODE",
        "PERSON": "PERSON",
        "CREDIT_CARD": "CREDIT_CARD",
        "DATE_TIME": "DATE_TIME DATE_OF_BIRTH AGE",
        "URL": "URL",
        "SECRET": "SECRET PASSWORD",
        "PASSPORT": "PASSPORT US_PASSPORT",
        "BANK_ACCOUNT": "BANK_ACCOUNT ROUTING_NUMBER",
        "HANDLE": "WECHAT_ID QQ USERNAME ALIPAY_ID",
        "CN_RESIDENT_ID": "CN_RESIDENT_ID CN_ID_CARD",
        "DRIVER_LICENSE": "DRIVER_LICENSE US_DRIVER_LICENSE LICENSE",
        "CRYPTO_WALLET": "CRYPTO_WALLET CRYPTO",
        "MEDICAL_ID": "MEDICAL_ID PATIENT_ID PID INSURANCE_POLICY_NUM",
    }.items()
    for kind in kinds.split()
}
"""Names of kinds that mean the same, over the sets and us; any other is its own group."""

UNSTRUCTURED = frozenset({"PLACE", "PERSON", "DATE_TIME", "URL", "ORGANIZATION", "TITLE", "NRP"})
"""Groups told by meaning and not by form: `balanced` lets them through."""

_HALF = 0.5
_JOINED = 3
_Z = 1.96


class OurGuard:
    """The guard under one policy, as a predictor of spans."""

    def __init__(
        self, name: str, detector: PiiDetector, secrets: SecretRules, shown: str | None = None
    ) -> None:
        self.name = shown or name
        self._detector = detector
        self._secrets = secrets
        self._redactor = Redactor(load_pii_policy(data_path("policies", "pii", f"{name}.yaml")))
        self._asked = BEST_EFFORT if name != "balanced" else frozenset[str]()

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, kind) of what would not be kept as it is."""
        try:
            normalised = normalise(text)
            findings = [*self._detector.detect(normalised, self._asked)]
            secrets = find_secrets(normalised, self._secrets)
        except ScanFailed:
            return [(0, len(text), SECRET)]
        findings += [
            Finding(kind=SECRET, start=one.start, end=one.end, score=1.0, recognizer=one.rule)
            for one in secrets
        ]
        return [
            (one.start, one.end, one.kind) for one in self._redactor.replacements(text, findings)
        ]


class Presidio:
    """Stock Presidio with an English spaCy model, asked about all texts at once.

    Raises:
        LookupError: the model is not installed.
    """

    name = "stock Presidio"

    def __init__(self, model: str, texts: Sequence[str]) -> None:
        self._spans = {
            text: answer.spans for text, answer in zip(texts, ask(model, texts), strict=True)
        }

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, kind) of every result, at the default threshold."""
        return self._spans[text]


@dataclass
class Counts:
    """Counts of one group, or of all."""

    hits: int = 0
    wrong: int = 0
    missed: int = 0
    gold: int = 0
    left: int = 0

    def add(self, other: "Counts") -> None:
        """Add the counts of `other` to these."""
        for name in ("hits", "wrong", "missed", "gold", "left"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Score:
    """What one predictor did on one set."""

    groups: dict[str, Counts] = field(default_factory=lambda: defaultdict(Counts))
    others: int = 0
    taken: int = 0
    texts: int = 0


def score(rows: Sequence[dict[str, Any]], predictor: OurGuard | Presidio) -> Score:
    """Compare predictions with gold spans, group by group."""
    made = Score()
    judged = {group(span["type"]) for row in rows for span in row["spans"]}
    for row in rows:
        text = str(row["text"])
        gold = [(one["start"], one["end"], group(one["type"])) for one in row["spans"]]
        found = [(start, end, group(kind)) for start, end, kind in predictor.spans(text)]
        covered = bytearray(len(text))
        for start, end, _ in found:
            covered[start:end] = b"\1" * (end - start)
        inside = bytearray(len(text))
        for start, end, name in gold:
            inside[start:end] = b"\1" * (end - start)
            made.groups[name].gold += end - start
            made.groups[name].left += end - start - sum(covered[start:end])
        made.texts += 1
        made.others += len(text) - sum(inside)
        made.taken += sum(
            1 for one, other in zip(covered, inside, strict=True) if one and not other
        )
        _match(_joined(found, text), gold, made.groups, judged)
    return made


def group(kind: str) -> str:
    """Return the group that `kind` is compared in."""
    return GROUPS.get(kind, kind)


def _joined(spans: Iterable[tuple[int, int, str]], text: str) -> list[tuple[int, int, str]]:
    out: list[tuple[int, int, str]] = []
    for start, end, name in sorted(spans):
        if out and out[-1][2] == name and start - out[-1][1] <= _JOINED:
            between = text[out[-1][1] : start]
            if re.fullmatch(r"[\s,;.\-/#]*", between):
                out[-1] = (out[-1][0], max(out[-1][1], end), name)
                continue
        out.append((start, end, name))
    return out


def _match(
    found: list[tuple[int, int, str]],
    gold: list[tuple[int, int, str]],
    groups: dict[str, Counts],
    judged: set[str],
) -> None:
    pairs = []
    for at, (start, end, name) in enumerate(found):
        for other, (first, last, wanted) in enumerate(gold):
            shared = min(end, last) - max(start, first)
            both = max(end, last) - min(start, first)
            if name == wanted and shared > 0 and shared / both >= _HALF:
                pairs.append((-shared, at, other))
    used: set[int] = set()
    met: set[int] = set()
    for _, at, other in sorted(pairs):
        if at not in used and other not in met:
            used.add(at)
            met.add(other)
            groups[found[at][2]].hits += 1
    for at, (_, _, name) in enumerate(found):
        if at not in used and name in judged:
            groups[name].wrong += 1
    for other, (_, _, name) in enumerate(gold):
        groups[name].missed += other not in met


def interval(part: int, whole: int) -> str:
    """Return a share with its 95 % interval, in per cent. Source: Wilson, 1927."""
    if not whole:
        return "-"
    share = part / whole
    centre = (share + _Z**2 / (2 * whole)) / (1 + _Z**2 / whole)
    reach = (
        _Z / (1 + _Z**2 / whole) * math.sqrt(share * (1 - share) / whole + _Z**2 / (4 * whole**2))
    )
    low, high = max(0.0, centre - reach), min(1.0, centre + reach)
    return f"{100 * share:.1f} ({100 * low:.1f}-{100 * high:.1f})"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else "-"


def _f1(one: Counts) -> str:
    doubled = 2 * one.hits + one.wrong + one.missed
    return f"{100 * 2 * one.hits / doubled:.1f}" if doubled else "-"


def sets(folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield each set's name and rows."""
    for file in sorted(folder.glob("pii/*.dev.jsonl")):
        rows = [json.loads(line) for line in file.open(encoding="utf-8") if line.strip()]
        yield file.name.removesuffix(".dev.jsonl"), rows


def print_pooled(folder: Path, predictors: Sequence[OurGuard | Presidio]) -> None:
    """Print a line for each predictor over the English sets together, negatives left out."""
    print("\n## English sets together\n\n| by | gold | P % | R % | leak, structured % |")
    print("|---|---|---|---|---|")
    for one in predictors:
        every, structured = Counts(), Counts()
        for _, rows in sets(folder):
            if any(row["lang"] != "en" for row in rows):
                continue
            for key, counts in score(rows, one).groups.items():
                every.add(counts)
                if key not in UNSTRUCTURED:
                    structured.add(counts)
        print(
            f"| {one.name} | {every.hits + every.missed} "
            f"| {interval(every.hits, every.hits + every.wrong)} "
            f"| {interval(every.hits, every.hits + every.missed)} "
            f"| {_share(structured.left, structured.gold)} |"
        )


def print_sets(folder: Path, predictors: Sequence[OurGuard | Presidio]) -> None:
    """Print a line for each set and predictor, and one for each group below."""
    details = []
    print("## Sets of others\n")
    print(
        "| set | by | texts | P % | R % | F1 | leak, structured % | leak, all % "
        "| over-redaction % |\n|---|---|---|---|---|---|---|---|---|"
    )
    for name, rows in sets(folder):
        languages = "/".join(sorted({str(row["lang"]) for row in rows}))
        for one in predictors:
            made = score(rows, one)
            every, structured = Counts(), Counts()
            for key, counts in made.groups.items():
                every.add(counts)
                if key not in UNSTRUCTURED:
                    structured.add(counts)
                details.append((name, languages, one.name, key, counts))
            print(
                f"| {name} | {one.name} | {made.texts} "
                f"| {interval(every.hits, every.hits + every.wrong)} "
                f"| {interval(every.hits, every.hits + every.missed)} | {_f1(every)} "
                f"| {_share(structured.left, structured.gold)} | {_share(every.left, every.gold)} "
                f"| {_share(made.taken, made.others)} |"
            )
    print("\n### By kind\n")
    print(
        "| set | language | by | kind | gold | P % | R % | F1 | leak % |\n|---|---|---|---|---"
        "|---|---|---|---|"
    )
    for name, languages, by, key, counts in details:
        gold = counts.hits + counts.missed
        if gold or counts.wrong:
            print(
                f"| {name} | {languages} | {by} | {key} | {gold} "
                f"| {interval(counts.hits, counts.hits + counts.wrong)} "
                f"| {interval(counts.hits, gold)} | {_f1(counts)} "
                f"| {_share(counts.left, counts.gold)} |"
            )


def print_notes(guarded: OurGuard, count: int) -> None:
    """Print recall and false hits on generated notes, per kind and language."""
    print(f"\n## Generated notes, {count} a kind and language, `{guarded.name}`\n")
    print(
        "| gate | kind | called | language | recall % | of that kind % | leak % | decoys hit % |"
        "\n|---|---|---|---|---|---|---|---|"
    )
    gates: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for kind in KINDS:
        for at, language in enumerate(("en", "zh")):
            whole = named = left = characters = 0
            for note in notes(kind, language, count):
                spans = guarded.spans(note.text)
                covered = {place for start, end, _ in spans for place in range(start, end)}
                missing = sum(place not in covered for place in range(note.start, note.end))
                characters += note.end - note.start
                left += missing
                whole += not missing
                named += any(
                    found == note.kind and start < note.end and end > note.start
                    for start, end, found in spans
                )
            hit = sum(
                any(found == note.kind for _, _, found in guarded.spans(note.text))
                for note in decoys(kind, language, count)
            )
            tally = gates[kind.group]
            for place, more in enumerate((whole, count, hit, count)):
                tally[place] += more
            print(
                f"| {kind.group} | {kind.name} | {kind.said[at]} | {language} "
                f"| {interval(whole, count)} | {interval(named, count)} "
                f"| {_share(left, characters)} | {interval(hit, count)} |"
            )
    for name, (whole, of, hit, among) in gates.items():
        print(f"| {name} | all | | | {interval(whole, of)} | | | {interval(hit, among)} |")


def print_secrets(rules: SecretRules) -> None:
    """Print how many secrets are seen, by split, and how many harmless texts are taken for one."""
    print("\n## Secrets\n\n| split | texts | seen % |\n|---|---|---|")
    for split, texts in secrets_by_split().items():
        seen = sum(bool(find_secrets(normalise(text), rules)) for text in texts)
        print(f"| {split} | {len(texts)} | {interval(seen, len(texts))} |")
    for name, texts in HARMLESS.items():
        taken = sum(bool(find_secrets(normalise(text), rules)) for text in texts)
        print(f"| harmless: {name} | {len(texts)} | {interval(taken, len(texts))} taken for one |")


def main() -> None:
    """Run what is asked and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=500, help="a kind and language")
    parser.add_argument("--model", default="en_core_web_md", help="spaCy model, for both")
    parser.add_argument("--kinds", action="store_true", help="only the generated notes")
    asked = parser.parse_args()
    detector = load_detector()
    rules = load_secret_rules(data_path("policies", "secrets.yaml"))
    predictors: list[OurGuard | Presidio] = [
        OurGuard("balanced", detector, rules),
        OurGuard("strict", detector, rules),
    ]
    folder = os.environ.get("MEMWARDEN_EVAL_DIR", "")  # noqa: TID251 - no setting of the gateway
    if asked.kinds:
        pass
    elif not folder:
        print("MEMWARDEN_EVAL_DIR is not set: the sets of others are left out.\n")
    elif not Path(folder, "pii").is_dir():
        print("MEMWARDEN_EVAL_DIR holds no folder `pii`: the sets of others are left out.\n")
    else:
        try:
            texts = [str(row["text"]) for _, rows in sets(Path(folder)) for row in rows]
            predictors.append(Presidio(asked.model, texts))
            model = load_detector(asked.model)
            predictors.insert(2, OurGuard("strict", model, rules, shown="strict with the model"))
        except LookupError as err:
            print(f"What needs a model is left out: {err} is not installed.\n")
        print_sets(Path(folder), predictors)
        print_pooled(Path(folder), predictors)
    print_notes(OurGuard("balanced", detector, rules), asked.notes)
    print_secrets(rules)


if __name__ == "__main__":
    main()
