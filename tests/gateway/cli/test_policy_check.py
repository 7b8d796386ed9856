"""`memwarden policy check`: what a server would refuse is refused at home, in the same words."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from gateway.cli.main import app

WORD = "zq-marigold"
CASE = {"case": "stays", "text": f"to {WORD}@harbour.example", "kept": "to [EMAIL_ADDRESS]"}


def check(document: Any, *options: str) -> Result:
    fed = document if isinstance(document, bytes) else json.dumps(document).encode()
    result = CliRunner().invoke(app, ["policy", "check", "-", *options], input=fed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert WORD not in result.output + result.stderr
    return result


def test_a_policy_whose_cases_come_out_is_good() -> None:
    result = check({"profile": "strict", "cases": [CASE]})
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith(": 1 cases come out as they say\n")
    rule = {"id": "a", "kind": "SECRET.TOKEN", "pattern": "badge-[0-9]{6}", "keywords": ["badge-"]}
    seen = {"case": "a badge", "text": "badge-483920", "rejected": "SECRET.TOKEN"}
    assert check({"rules": [rule], "cases": [seen]}, "--kind", "secrets").exit_code == 0


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"kinds": {"PERSON": {"action": "redact"}}}, "cases: At least one case is needed."),
        ({"cases": [CASE | {"kept": "to you"}]}, "cases[0]: It comes out otherwise."),
        ({"rules": [{"action": "hide"}]}, "rules[0].action"),
    ],
)
def test_one_that_a_server_would_refuse_ends_with_one_and_says_where(
    document: Any, said: str
) -> None:
    result = check(document)
    assert result.exit_code == 1
    assert said in result.stderr


def test_what_is_no_document_ends_with_two() -> None:
    assert check(b"[]").exit_code == 2
    assert check(b"no json").exit_code == 2
