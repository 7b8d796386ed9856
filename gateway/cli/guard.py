"""`memwarden guard scan`: what the guard would do with a file, with no server; nothing is kept.

Rules this module keeps:
- Kinds, actions and line numbers are printed, never a value: the output may be shown around.
- Exit code 0: all of it would be kept, perhaps transformed; 1: some of it would be refused; 2: the
  file or the policy cannot be read.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from gateway.cli.client import AsJson
from gateway.cli.documents import STDIN
from gateway.cli.exits import FAILED, USAGE, fail, failing_plainly

if TYPE_CHECKING:
    from gateway.guard.dry_run import Piece
    from gateway.guard.guard import Guard

app = typer.Typer(help="Try the guard on a file.", no_args_is_help=True)

PROGRESS_CHARACTERS = 4 * 1024 * 1024
"""How much is scanned between two notes on stderr: some seconds."""


class By(StrEnum):
    """What is judged as one text."""

    LINE = "line"
    FILE = "file"


@app.callback()
def guard() -> None:
    """Try the guard on a file."""


@app.command("scan")
def scan(
    file: Annotated[Path, typer.Argument(help="Text file in UTF-8, or - for stdin.")],
    policy: Annotated[
        str | None,
        typer.Option(help="Profile (balanced, strict …) or PII policy file; else the setting's."),
    ] = None,
    by: Annotated[
        By, typer.Option(help="Judge each line, or the file as a whole in pieces of 32,768.")
    ] = By.LINE,
    namespace: Annotated[str | None, typer.Option(help="Namespace it would be written to.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what would be refused or transformed, by kind and line; values are never printed.

    Exit code 1 if anything would be refused, 2 if the file or the policy cannot be read.
    """
    with failing_plainly():
        made = _guard(policy)
        with _opened(file) as source:
            rejected = _scan(made, source, by, namespace, as_json=as_json, name=str(file))
    raise typer.Exit(FAILED if rejected else 0)


def _scan(
    made: "Guard", source: TextIO, by: By, namespace: str | None, *, as_json: bool, name: str
) -> int:
    from gateway.guard.dry_run import Unreadable, judged_lines, judged_pieces  # noqa: PLC0415 - heavy
    from gateway.guard.policy import TextContext  # noqa: PLC0415 - heavy

    context = TextContext(namespaces=frozenset() if namespace is None else frozenset({namespace}))
    judged = judged_lines if by is By.LINE else judged_pieces
    report = _Report(as_json=as_json, unit="lines" if by is By.LINE else "pieces")
    try:
        for piece in judged(made, source, context):
            report.add(piece)
    except Unreadable as err:
        fail(f"{name}: {err}", code=USAGE)
    report.end("/".join(made.versions))
    return report.rejected


class _Report:
    """Prints what was found as it comes, and a summary."""

    def __init__(self, *, as_json: bool, unit: str) -> None:
        self._as_json = as_json
        self._unit = unit
        self._counts: Counter[tuple[str, str]] = Counter()
        self._judged = self._changed = self._read = self._noted = 0
        self.rejected = 0

    def add(self, piece: "Piece") -> None:
        self._judged += 1
        self.rejected += piece.rejected
        self._changed += piece.changed
        for one in piece.findings:
            self._counts[one.kind, one.action] += one.count
        if piece.findings:
            typer.echo(self._as_record(piece) if self._as_json else self._as_line(piece))
        self._read += piece.size
        if self._read - self._noted >= PROGRESS_CHARACTERS:
            self._noted = self._read
            sys.stderr.write(f"memwarden: {self._read:,} characters, to line {piece.last:,}\n")

    def end(self, version: str) -> None:
        counts = sorted((kind, action, count) for (kind, action), count in self._counts.items())
        if self._as_json:
            summary = {
                "type": "summary",
                "unit": self._unit,
                "judged": self._judged,
                "rejected": self.rejected,
                "transformed": self._changed,
                "policy_version": version,
                "findings": [
                    {"kind": kind, "action": action, "count": count}
                    for kind, action, count in counts
                ],
            }
            typer.echo(json.dumps(summary))
            return
        for kind, action, count in counts:
            typer.echo(f"{count:>8}  {action:<12}  {kind}")
        typer.echo(
            f"{self._judged} {self._unit}: {self.rejected} would be refused, {self._changed} "
            f"transformed (policy {version})"
        )

    @staticmethod
    def _as_record(piece: "Piece") -> str:
        return json.dumps(
            {
                "type": "record",
                "line": piece.first,
                "last_line": piece.last,
                "decision": "reject" if piece.rejected else "accept",
                "findings": [
                    {"kind": one.kind, "action": one.action, "count": one.count}
                    for one in piece.findings
                ],
            }
        )

    @staticmethod
    def _as_line(piece: "Piece") -> str:
        where = (
            f"line {piece.first}"
            if piece.first == piece.last
            else (f"lines {piece.first}-{piece.last}")
        )
        told = (
            f"{one.action} {one.kind}" + (f" x{one.count}" if one.count > 1 else "")
            for one in piece.findings
        )
        return f"{where}: {', '.join(told)}"


def _guard(policy: str | None) -> "Guard":
    from gateway.guard.guard import Guard  # noqa: PLC0415 - heavy
    from gateway.guard.pii import load_detector  # noqa: PLC0415 - heavy
    from gateway.guard.policy import load_pii_policy  # noqa: PLC0415 - heavy
    from gateway.guard.policy_file import PolicyInvalid  # noqa: PLC0415 - heavy
    from gateway.guard.rules import load_secret_rules  # noqa: PLC0415 - heavy
    from gateway.resources import data_path  # noqa: PLC0415 - heavy
    from gateway.settings import load  # noqa: PLC0415 - heavy

    settings = load()
    folder = data_path("policies", "pii")
    shipped = {path.stem: path for path in folder.glob("*.yaml")}
    if policy is None:
        path = settings.pii_policy or shipped["balanced"]
    else:
        path = shipped.get(policy) or Path(policy)
    try:
        rules = load_pii_policy(path)
    except PolicyInvalid as err:
        fail(f"policy: {err}", code=USAGE)
    return Guard(
        load_secret_rules(data_path("policies", "secrets.yaml")),
        rules,
        load_detector(settings.ner_model),
    )


@contextmanager
def _opened(file: Path) -> Iterator[TextIO]:
    """Give the text of `file` (`-`: stdin), strictly in UTF-8; ends the command if it cannot."""
    try:
        stream = sys.stdin.buffer if file == STDIN else file.open("rb")
    except OSError as err:
        fail(f"{file} cannot be read ({type(err).__name__})", code=USAGE)
    with stream, TextIOWrapper(stream, encoding="utf-8-sig", errors="strict", newline="\n") as text:
        try:
            yield text
        except OSError as err:
            fail(f"{file} cannot be read ({type(err).__name__})", code=USAGE)
