"""The outside conformance suite for MCP servers, run twice over each served revision.

The suite can bring no credential, so a local proxy adds one; the second run goes through a proxy
that adds none, and proves that every request it can think of is answered 401.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.interop.npm import MODULES, node
from tests.interop.proxy import Proxy, proxying
from tests.live.gateways import Running, running

pytestmark = pytest.mark.interop

SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
REVISIONS = ("2025-11-25", "2026-07-28")
EXPECTED: dict[str, Any] = yaml.safe_load(
    Path(__file__).with_name("conformance_expected.yaml").read_text(encoding="utf-8")
)
MINUTES = 10
RUN = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
"""How the suite names the folder of one scenario's run."""


@pytest.fixture(scope="module")
def gateway() -> Iterator[Running]:
    with running() as opened:
        yield opened


def run_suite(url: str, revision: str, folder: Path) -> dict[str, str]:
    """Run every scenario that a revision asks for; returns the status of each check."""
    command = [node(), str(SUITE), "server", "--url", f"{url}/mcp", "--requirements", revision]
    ended = subprocess.run(
        [*command, "--output-dir", str(folder)],
        capture_output=True,
        text=True,
        timeout=60 * MINUTES,
        check=False,
    )
    found: dict[str, str] = {}
    for checks in sorted(folder.glob("*/checks.json")):
        scenario = RUN.fullmatch(checks.parent.name)[1]  # type: ignore[index]  # or fail here
        for check in json.loads(checks.read_text(encoding="utf-8")):
            name = f"{scenario}:{check['id']}"
            # One check may be made several times; one failure is a failure.
            if found.get(name) != "FAILURE":
                found[name] = check["status"]
    assert found, ended.stdout + ended.stderr
    return found


def test_every_exception_has_a_reason() -> None:
    assert set(EXPECTED["checks"].values()) == set(EXPECTED["reasons"])


@pytest.mark.requirement("B3")
def test_nothing_fails_that_is_ours(gateway: Running, tmp_path: Path) -> None:
    agent = gateway.agent(gateway.tenant("conformance"), users=["alice"])
    failed: set[str] = set()
    passed: set[str] = set()
    with proxying(Proxy(gateway.url, agent.key)) as url:
        for revision in REVISIONS:
            statuses = run_suite(url, revision, tmp_path / revision)
            assert len(statuses) > 30
            failed |= {check for check, status in statuses.items() if status == "FAILURE"}
            passed |= {check for check, status in statuses.items() if status == "SUCCESS"}
    assert failed == set(EXPECTED["checks"])
    assert len(passed) >= 60


@pytest.mark.requirement("B3", "B8")
def test_without_a_credential_nothing_of_it_is_answered(gateway: Running, tmp_path: Path) -> None:
    strangers = Proxy(gateway.url, None)
    with proxying(strangers) as url:
        for revision in REVISIONS:
            run_suite(url, revision, tmp_path / revision)
    asked = [answer for answer in strangers.answered if not answer.path.startswith("/.well-known")]
    assert len(asked) > 50
    # 403 is a Host or an Origin that is not ours, which is judged before the credential.
    assert {answer.status for answer in asked} <= {401, 403}
    for answer in asked:
        if answer.status == 401:
            assert "resource_metadata=" in answer.challenge
