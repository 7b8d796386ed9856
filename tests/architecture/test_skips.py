"""In CI nothing is skipped quietly; tests/conftest.py makes a skip a failure there."""

import os
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT

SUITE = """
import pytest

def test_with_a_missing_tool(tool):
    tool("no-such-program-anywhere")

def test_that_is_optional():
    pytest.skip("optional: no server")

@pytest.mark.xfail(reason="known", strict=True)
def test_expected_to_fail():
    raise ValueError
"""


ABSENT = 'import pytest\npytest.importorskip("no_such_package")\ndef test_it(): ...\n'


def run(folder, *, ci):
    """Run both modules as a suite of its own under our conftest, and return the closing line."""
    (folder / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    (folder / "test_suite.py").write_text(SUITE, "utf-8")
    (folder / "test_absent.py").write_text(ABSENT, "utf-8")
    bare = {key: value for key, value in os.environ.items() if key != "CI"}  # noqa: TID251 - a child's environment
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(
        [
            *command,
            "-c",
            str(ROOT / "pyproject.toml"),
            f"--rootdir={folder}",
            "-o",
            "addopts=",
            "--continue-on-collection-errors",
        ],
        cwd=ROOT,
        env=bare | ({"CI": "true"} if ci else {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("ci", "counts"),
    [(False, "3 skipped, 1 xfailed"), (True, "1 failed, 1 skipped, 1 xfailed, 1 error")],
)
def test_what_is_missing_skips_a_test_or_a_module_and_in_ci_fails_it(tmp_path, ci, counts):
    assert run(tmp_path, ci=ci).startswith(counts)
