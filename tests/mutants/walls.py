"""Takes each wall away in turn, in a copy of the tree, and asks whether a test notices.

Run it by `make mutants-walls`, or as `python -m tests.mutants.walls [words of names]`.

Rules this module keeps:
- The checkout is never touched: what is broken is a copy in a temporary folder.
- A wall is taken away by exact texts that must be there exactly once: code that moved fails loudly,
  and its wall is to be named anew (tests/mutants/removed.py).
- A wall counts as watched when a test fails. A copy that does not even load proves nothing.
- Before anything is taken away the same tests pass.
"""

import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.removed import Edit, Wall, all_walls, policies

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("core", "gateway", "policies", "tests", "examples", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", ".hypothesis", "*.pyc")
JOBS = 2
SECONDS = 300
"""The longest that the tests of one wall may take."""
SECONDS_OF_ALL = 1_800
"""The longest that the tests of all walls, or those of all policies, may take."""

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_TESTS_FAILED = 1  # pytest's exit code; 2 to 5 are runs that did not come to a judgement


class Moved(Exception):
    """A text that stands for a wall is not there exactly once."""


@dataclass(frozen=True)
class Outcome:
    """What became of one wall's removal."""

    name: str
    noticed: tuple[str, ...]
    fault: str = ""
    seconds: float = 0.0

    @property
    def line(self) -> str:
        told = self.fault or ", ".join(self.noticed) or "NOTHING NOTICED IT"
        return f"{self.name:<62} {self.seconds:5.1f} s  {told}"


class Copy:
    """A copy of the tree that may be broken."""

    def __init__(self, folder: Path, source: Path = ROOT) -> None:
        self.folder = folder
        for name in COPIED:
            if (source / name).is_dir():
                shutil.copytree(source / name, folder / name, ignore=LEFT_OUT)
            else:
                shutil.copy2(source / name, folder / name)
        # Compiled by contents: a change of a file within the second would go unseen by its time.
        self._python("-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "core",
                     "gateway")  # fmt: skip

    def without(self, edits: Sequence[Edit]) -> dict[Path, str]:
        """Take a wall away; returns what is to be put back. Raises: Moved."""
        before: dict[Path, str] = {}
        after: dict[Path, str] = {}
        for edit in edits:
            path = self.folder / edit.path
            text = after.get(path) or path.read_text(encoding="utf-8")
            if (times := text.count(edit.old)) != 1:
                raise Moved(f"{edit.path} has {edit.old!r} {times} times, not once")
            before.setdefault(path, text)
            after[path] = text.replace(edit.old, edit.new)
        self.restore(after)
        return before

    def restore(self, texts: dict[Path, str]) -> None:
        """Put back what `without` took."""
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")

    def tests(
        self, names: Sequence[str], *options: str, seconds: float = SECONDS
    ) -> tuple[int, str]:
        """Run tests; returns pytest's exit code and what it said. Raises: TimeoutExpired."""
        ran = self._python(
            *("-m", "pytest", "-q", "-rfE", "--no-header", "--tb=line", "-p", "no:cacheprovider"),
            *("-o", "faulthandler_timeout=120", *options, *names),
            seconds=seconds,
        )
        return ran.returncode, ran.stdout

    def _python(
        self, *arguments: str, seconds: float = SECONDS
    ) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name != "CI"}  # noqa: TID251 - a child's environment
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=environment | {"PYTHONPATH": str(self.folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
        )


def judge(copy: Copy, wall: Wall) -> Outcome:
    """Take `wall` away in `copy`, run what should notice, and put the wall back."""
    started = time.monotonic()
    try:
        before = copy.without(wall.edits)
    except Moved as err:
        return Outcome(wall.name, (), f"MOVED: {err}")
    try:
        code, said = copy.tests(wall.tests, "-x")
        noticed = tuple(name.rpartition("::")[2] for name in _FAILED.findall(said))
        fault = "" if code in (0, _TESTS_FAILED) else f"DID NOT RUN ({code}): {said[-600:]}"
    except subprocess.TimeoutExpired:
        noticed, fault = (), "DID NOT END"
    finally:
        copy.restore(before)
    return Outcome(wall.name, noticed, fault, time.monotonic() - started)


def judge_policies(copy: Copy) -> list[Outcome]:
    """Open each policy of row-level security in turn, in one run of the tests over SQL."""
    started = time.monotonic()
    files = dict.fromkeys(test for policy in policies() for test in policy.tests)
    code, said = copy.tests(tuple(files), "-p", "tests.mutants.weakened", seconds=SECONDS_OF_ALL)
    took = (time.monotonic() - started) / max(1, len(policies()))
    fault = "" if code in (0, _TESTS_FAILED) else f"DID NOT RUN ({code}): {said[-600:]}"
    failed = [name.rpartition("::")[2].rstrip("]").partition("[") for name in _FAILED.findall(said)]
    return [
        Outcome(
            f"row-level security: {policy.name}",
            # A test with parameters of its own names them before or after the policy.
            tuple(test for test, _, of in failed if f"-{policy.name}-" in f"-{of}-"),
            fault,
            took,
        )
        for policy in policies()
    ]


def run(walls: Sequence[Wall], *, with_policies: bool, jobs: int = JOBS) -> Iterator[Outcome]:
    """Judge every wall; yields the outcomes, the first of which is that of nothing removed."""
    with tempfile.TemporaryDirectory(prefix="mw-walls-") as name:
        copies: queue.Queue[Copy] = queue.Queue()
        for number in range(jobs):
            copies.put(Copy(Path(name) / str(number)))

        def lent(work: Callable[[Copy], list[Outcome]]) -> list[Outcome]:
            copy = copies.get()
            try:
                return work(copy)
            finally:
                copies.put(copy)

        tests = dict.fromkeys(test for wall in walls for test in wall.tests)
        if with_policies:
            tests |= dict.fromkeys(test for policy in policies() for test in policy.tests)
        nothing = lent(lambda copy: [whole(copy, tuple(tests))])[0]
        yield nothing
        if nothing.fault:
            return
        works: list[Callable[[Copy], list[Outcome]]] = [judge_policies] if with_policies else []
        works += [lambda copy, wall=wall: [judge(copy, wall)] for wall in walls]  # type: ignore[misc]
        with ThreadPoolExecutor(jobs) as threads:
            for done in as_completed([threads.submit(lent, work) for work in works]):
                yield from done.result()


def whole(copy: Copy, names: Sequence[str]) -> Outcome:
    """Run the tests of all walls with every wall in its place."""
    started = time.monotonic()
    code, said = copy.tests(names, "-n", "2", "--dist", "loadfile", seconds=SECONDS_OF_ALL)
    fault = "" if code == 0 else f"RED BEFORE ANYTHING WAS REMOVED: {said[-2000:]}"
    return Outcome("(nothing removed)", ("all pass",), fault, time.monotonic() - started)


def unwatched(outcomes: Sequence[Outcome]) -> list[str]:
    """Return a line for each wall whose removal no test noticed."""
    return [one.line for one in outcomes if one.fault or not one.noticed]


def main(words: Sequence[str]) -> int:
    """Print the table. Returns 1 when a wall may go without a test failing.

    Args:
        words: only walls whose names have all of them.
    """
    started = time.monotonic()
    walls = [wall for wall in all_walls() if all(word in wall.name for word in words)]
    with_policies = not words or "policies" in words
    if not walls and not with_policies:  # without a name, pytest would run every test there is
        print("no wall has these words in its name")  # noqa: T201 - for whoever asked
        return 1
    outcomes = []
    for outcome in run(walls, with_policies=with_policies):
        outcomes.append(outcome)
        print(outcome.line, flush=True)  # noqa: T201 - the table is what this is for
    left = unwatched(outcomes)
    took = time.monotonic() - started
    print(f"\n{len(outcomes) - 1} walls, {len(left)} of them unwatched, {took:.0f} s")  # noqa: T201 - as above
    for line in left:
        print(line)  # noqa: T201 - as above
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
