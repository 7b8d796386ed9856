"""How well topics are told: recall and precision per kind and language, on notes held out.

    .venv/bin/python -m benchmarks.guard_topics [--misses]

Prints Markdown. The notes in `topics/held_out.yaml` were written before the recognizers; who reads
what is missed of them and changes a rule by it makes them development notes.
"""

import argparse
from pathlib import Path

import yaml

from gateway.guard.normalise import normalise
from gateway.guard.topics import find_topics

HELD_OUT = Path(__file__).parent / "topics" / "held_out.yaml"
Notes = dict[str, dict[str, dict[str, list[str]]]]


def told(text: str) -> set[str]:
    """Return the topics found in a note."""
    return {one.kind for one in find_topics(normalise(text))}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=HELD_OUT)
    parser.add_argument("--misses", action="store_true", help="print what went wrong, note by note")
    args = parser.parse_args()
    notes: Notes = yaml.safe_load(args.file.read_text(encoding="utf-8"))
    print(
        "| kind | language | recall % | near misses taken % | precision % |\n|---|---|---|---|---|"
    )
    others = [0, 0]
    for kind, languages in notes.items():
        for language, cases in languages.items():
            hits = [text for text in cases["said"] if kind in told(text)]
            taken = [text for text in cases["near"] if kind in told(text)]
            precision = 100 * len(hits) / max(1, len(hits) + len(taken))
            print(
                f"| `{kind}` | {language} | {100 * len(hits) / len(cases['said']):.0f}"
                f" | {100 * len(taken) / len(cases['near']):.0f} | {precision:.0f} |"
            )
            for text in (*cases["said"], *cases["near"]):
                others[0] += bool(told(text) - {kind})
                others[1] += 1
            if args.misses:
                for text in [*(t for t in cases["said"] if t not in hits), *taken]:
                    print("    taken " if text in taken else "    missed", text)
    print(f"\nNotes of another topic taken for one as well: {others[0]} of {others[1]}.")


if __name__ == "__main__":
    main()
