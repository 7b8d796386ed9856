"""The `memwarden` command as an operator uses it."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

from tests.live.gateways import Running

CLI = [sys.executable, "-m", "gateway.cli"]


def memwarden(*arguments: str, key: str = "", url: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ}  # noqa: TID251 - a child's environment
    if url:
        environment |= {"MEMWARDEN_URL": url, "MEMWARDEN_KEY": key}
    return subprocess.run(
        [*CLI, *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_an_operator_makes_a_tenant_and_its_administrator_keys(live: Running) -> None:
    made = memwarden("tenant", "create", "Shell Co", "--json", key=live.operator_key, url=live.url)
    assert made.returncode == 0, made.stderr
    admin = json.loads(made.stdout)["admin_key"]
    again = memwarden("tenant", "create", "Shell Co", key=live.operator_key, url=live.url)
    assert again.returncode == 1
    assert "conflict" in again.stderr
    listed = memwarden("tenant", "list", key=live.operator_key, url=live.url)
    assert "Shell Co" in listed.stdout
    key = memwarden(
        *("key", "create", "--name", "bot", "--role", "reader", "--role", "writer"),
        *("--namespace", "chat", "--user", "*", "--json"),
        key=admin,
        url=live.url,
    )
    assert key.returncode == 0, key.stderr
    identity = json.loads(key.stdout)["id"]
    assert identity in memwarden("key", "list", key=admin, url=live.url).stdout
    rotated = memwarden("key", "rotate", identity, key=admin, url=live.url)
    assert rotated.returncode == 0
    assert json.loads(key.stdout)["key"] not in rotated.stdout
    assert memwarden("key", "revoke", identity, key=admin, url=live.url).returncode == 0
    assert "revoked" in memwarden("key", "list", key=admin, url=live.url).stdout


def test_the_ready_file_is_private_and_says_where_it_serves(live: Running) -> None:
    ready = live.folder / "ready.json"
    assert stat.S_IMODE(ready.stat().st_mode) == 0o600
    told = json.loads(ready.read_text(encoding="utf-8"))
    assert set(told) == {"url", "mcp_url", "operator_key", "pid"}
    assert told["mcp_url"] == told["url"] + "/mcp"
    assert told["pid"] == live.process.pid
    kept = live.keys / "operator"
    assert kept.read_text(encoding="ascii") == told["operator_key"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_second_gateway_on_the_folder_is_refused_with_its_reason(live: Running) -> None:
    refused = memwarden("up", "--data", str(live.data), "--keys", str(live.keys), "--port", "0")
    assert refused.returncode == 1
    assert "in use" in refused.stderr
    assert str(live.process.pid) in refused.stderr


def test_the_live_log_verifies_and_its_key_is_shown(live: Running) -> None:
    agent = live.agent(live.tenant("verified"), "alice")
    agent.write("something to log")
    verified = memwarden("audit", "verify", "--data", str(live.data))
    assert verified.returncode == 0, verified.stderr
    assert verified.stdout.startswith("whole: ")
    shown = memwarden("audit", "public-key", "--data", str(live.data))
    assert shown.stdout.startswith("-----BEGIN PUBLIC KEY-----")


def test_an_audit_makes_no_new_gateway(tmp_path: Path) -> None:
    for command in ("verify", "public-key"):
        result = memwarden("audit", command, "--data", str(tmp_path / "nothing"))
        assert result.returncode == 1
        assert "not a Memwarden folder" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_command() -> None:
    shown = memwarden("--help").stdout
    for command in ("up", "mcp", "tenant", "key", "audit", "version"):
        assert command in shown
    assert memwarden("version").stdout.strip() == "0.1.0"


def test_a_gateway_that_is_not_there_is_one_plain_sentence() -> None:
    result = memwarden("tenant", "list", key="mw_x", url="http://127.0.0.1:9")
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "no answer from" in result.stderr
