"""`memwarden guard scan`: kinds and lines, never values, and a code that a script can act on."""

import json
import secrets
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from gateway.cli import guard as command
from gateway.cli.main import app
from gateway.guard.dry_run import OVERLAP_CHARACTERS, PIECE_CHARACTERS

WORD = "zq" + secrets.token_hex(6)
MAIL, PASSWORD = f"{WORD}@harbour.example", f"my password is {WORD}-T9!"


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    result = CliRunner().invoke(app, ["guard", "scan", *arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert WORD not in result.output + result.stderr
    return result


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def make(text: str | bytes) -> str:
        file = tmp_path / "notes.txt"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(file)

    return make


def records(result: Result) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    *found, summary = (json.loads(line) for line in result.stdout.splitlines())
    assert summary["type"] == "summary"
    return found, summary


def test_each_line_is_judged_by_itself_and_told_by_its_number(write: Any) -> None:
    result = run(write(f"hello\n{PASSWORD}\n\nto {MAIL} and {MAIL}\nok"))
    assert result.exit_code == 1
    told = result.stdout.splitlines()
    assert told[:2] == ["line 2: reject SECRET.PASSWORD", "line 4: redact EMAIL_ADDRESS x2"]
    assert told[-1].startswith("4 lines: 1 would be refused, 1 transformed (policy balanced-")


def test_what_would_be_kept_ends_with_zero(write: Any) -> None:
    assert run(write(f"hello\nto {MAIL}\n")).exit_code == 0
    empty = run(write(""))
    assert empty.exit_code == 0
    assert empty.stdout.startswith("0 lines: 0 would be refused")


def test_stdin_is_read_for_a_dash() -> None:
    result = run("--json", "-", stdin=f"a\n{PASSWORD}\n".encode())
    assert result.exit_code == 1
    (found,), summary = records(result)
    assert found == {
        "type": "record", "line": 2, "last_line": 2, "decision": "reject",
        "findings": [{"kind": "SECRET.PASSWORD", "action": "reject", "count": 1}],
    }  # fmt: skip
    assert (summary["judged"], summary["rejected"], summary["transformed"]) == (2, 1, 0)


def test_a_file_as_a_whole_shows_what_reaches_over_lines(write: Any) -> None:
    key = "-----BEGIN\nPRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQ\n" * 3
    file = write(f"hello\n{key}bye\n")
    (found,), summary = records(run("--json", "--by", "file", file))
    assert (found["line"], found["last_line"]) == (1, 7)
    assert [one["kind"] for one in found["findings"]] == ["SECRET.PRIVATE_KEY"]
    assert (summary["unit"], summary["judged"]) == ("pieces", 1)
    assert run(file).exit_code == 0  # no line of it is a key


def test_a_profile_and_a_file_of_a_policy_are_taken(write: Any, tmp_path: Path) -> None:
    text = write("ask Dr. Rosa Klein about it\n")
    assert "PERSON" in run("--policy", "strict", text).stdout
    assert "PERSON" not in run("--policy", "balanced", text).stdout
    own = tmp_path / "own.yaml"
    own.write_text('version: "own"\ndefaults: {action: reject}\nkinds: {}\n', encoding="utf-8")
    result = run("--policy", str(own), write(f"to {MAIL}\n"))
    assert result.exit_code == 1
    assert "reject EMAIL_ADDRESS" in result.stdout


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"fine\n\xff\xfe\x00b", "is not UTF-8"),
        (b"fine\nnot \x00 text\n", "line 2 holds U+0000"),
        (f"{WORD} \x00".encode(), "line 1 holds U+0000"),
        (f"{WORD} ".encode() + b"\xe4\xbd", "is not UTF-8"),
    ],
    ids=["not UTF-8", "U+0000", "U+0000 behind a word", "cut short"],
)
@pytest.mark.parametrize("by", ["line", "file"])
def test_what_is_no_text_is_said_plainly(write: Any, by: str, content: bytes, told: str) -> None:
    result = run("--by", by, write(content))
    assert result.exit_code == 2
    assert told in result.stderr
    assert "Traceback" not in result.stderr


def test_what_cannot_be_read_is_said_plainly(write: Any, tmp_path: Path) -> None:
    for arguments in ([str(tmp_path / "missing")], [str(tmp_path)],
                      ["--policy", "no-such-profile", write("x")]):  # fmt: skip
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert "cannot be read" in result.stderr


def test_a_broken_policy_is_said_plainly(write: Any, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text('version: "own"\ndefaults: {action: shrug}\nkinds: {}\n', encoding="utf-8")
    result = run("--policy", str(own), write("x"))
    assert result.exit_code == 2
    assert "defaults" in result.stderr


@pytest.mark.parametrize("by", ["line", "file"])
@pytest.mark.parametrize("at", [-30, -10, 0, 10])
def test_what_stands_over_a_cut_is_seen(write: Any, by: str, at: int) -> None:
    """In a line that is longer than a memory, at each place where it is cut."""
    before = PIECE_CHARACTERS - OVERLAP_CHARACTERS + at
    text = "lorem ipsum " * (before // 12) + "x" * (before % 12) + f" {MAIL} " + "dolor sit " * 4000
    found, _ = records(run("--json", "--by", by, write(text)))
    assert "EMAIL_ADDRESS" in {one["kind"] for record in found for one in record["findings"]}
    assert {record["line"] for record in found} == {1}


def test_pieces_cover_every_line_and_none_is_too_long(write: Any) -> None:
    line = "a line with nothing in it but words\n"
    secret_lines = {400, 1000, 1001, 2999}
    text = "".join(f"to {MAIL}\n" if n in secret_lines else line for n in range(1, 3001))
    found, summary = records(run("--json", "--by", "file", write(text)))
    assert summary["judged"] >= len(text) // PIECE_CHARACTERS
    for wanted in secret_lines:
        assert any(one["line"] <= wanted <= one["last_line"] for one in found)


def test_a_long_file_says_how_far_it_is(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "PROGRESS_CHARACTERS", 100)
    result = run(write("twenty characters...\n" * 11))
    assert result.stderr.splitlines() == [
        "memwarden: 105 characters, to line 5",
        "memwarden: 210 characters, to line 10",
    ]


def test_a_mark_of_byte_order_and_windows_line_ends_are_no_findings(write: Any) -> None:
    assert run(write(b"\xef\xbb\xbfhello\r\nthere\r\n")).exit_code == 0
