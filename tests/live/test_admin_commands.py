"""`memwarden tenant|key|space|policy|quota|user` against a gateway that runs."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner, Result

from gateway.cli.main import app
from tests.live.gateways import Agent, Running

GROUPS = {"tenant", "key", "space", "policy", "quota", "user"}


class Shell:
    """The command line as one caller; in this process, since starting one takes a second."""

    def __init__(self, live: Running, key: str) -> None:
        self._environment = {"MEMWARDEN_URL": live.url, "MEMWARDEN_KEY": key}

    def run(self, *arguments: str, fed: str | None = None) -> Result:
        return CliRunner().invoke(app, arguments, input=fed, env=self._environment)

    def __call__(self, *arguments: str, fed: str | None = None) -> str:
        done = self.run(*arguments, fed=fed)
        assert done.exit_code == 0, done.output
        return done.stdout

    def json(self, *arguments: str, fed: str | None = None) -> Any:
        return json.loads(self(*arguments, "--json", fed=fed))

    def refused(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.exit_code in {1, 2}
        assert isinstance(done.exception, SystemExit)
        assert done.stdout == ""
        assert done.stderr.startswith("memwarden: ")
        assert done.stderr.count("\n") == 1
        return done.stderr


@pytest.fixture
def admin(live: Running, tenant: Callable[[], Agent]) -> Shell:
    return Shell(live, tenant().key)


def test_keys_with_owner_and_networks_are_made_and_shown(admin: Shell) -> None:
    made = admin.json(
        *("key", "create", "--name", "bot", "--role", "reader", "--owner", "alice"),
        *("--address", "192.0.2.0/24", "--address", "2001:db8::1", "--user", "alice"),
    )
    assert made["owner"] == "alice"
    assert made["addresses"] == ["192.0.2.0/24", "2001:db8::1"]
    table = admin("key", "list").splitlines()
    assert table[0].split()[:3] == ["key", "name", "roles"]
    row = next(line for line in table if made["id"] in line)
    assert "192.0.2.0/24, 2001:db8::1" in row
    assert "alice" in row
    used = next(item for item in admin.json("key", "list")["items"] if item["name"] == "admin")
    assert (used["owner"], used["addresses"]) == (None, None)
    refused = admin.refused(
        *("key", "create", "--name", "b", "--role", "reader", "--address", "192.0.2.1/24")
    )
    assert "addresses[0]" in refused
    assert "192.0.2.1" not in refused
    assert "not_found" in admin.refused("key", "revoke", "a" * 16)
    admin.refused("key", "revoke", "../tenants")


def test_a_pepper_is_rotated_beside_a_running_gateway(admin: Shell, live: Running) -> None:
    folders = ("--data", str(live.data), "--keys", str(live.keys))
    version = int(admin("key", "rotate-pepper", *folders).removeprefix("pepper "))
    assert version >= 2
    assert admin.json("key", "list")["items"]  # the old ones go on
    assert admin("key", "rotate-pepper", *folders) == f"pepper {version + 1}\n"
    admin.refused("key", "rotate-pepper", "--data", str(live.folder / "nowhere"))
    assert not (live.folder / "nowhere").exists()


def test_quotas_are_shown_put_and_set_one_by_one(admin: Shell, tmp_path: Path) -> None:
    assert admin("quota", "get") == "nothing is limited\n"
    wanted = {"tenant": {"concurrency": 4}, "keys": {"default": {"requests_per_minute": 600}}}
    (tmp_path / "quotas.json").write_text(json.dumps(wanted), encoding="utf-8")
    put = admin.json("quota", "put", str(tmp_path / "quotas.json"))
    assert put["tenant"] == {"concurrency": 4}
    admin("quota", "set", "key:default", "writes_per_minute", "60")
    admin("quota", "set", "tenant", "concurrency", "none")
    admin("quota", "set", "user:default", "requests_per_minute", "30")
    table = [line.split() for line in admin("quota", "get").splitlines()[2:]]
    assert sorted(table) == [
        ["key:default", "requests_per_minute", "600"],
        ["key:default", "writes_per_minute", "60"],
        ["tenant", "concurrency", "none"],
        ["user:default", "requests_per_minute", "30"],
    ]
    assert admin.json("quota", "put", "-", fed="{}")["keys"] == {}
    assert admin("quota", "get") == "nothing is limited\n"
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    for arguments in (
        ("put", str(tmp_path / "bad.json")),
        ("put", str(tmp_path / "missing.json")),
        ("set", "tenant", "requests", "5"),
        ("set", "tenant", "concurrency", "five"),
        ("set", "alice", "concurrency", "5"),
    ):
        admin.refused("quota", *arguments)
    assert "invalid" in admin.refused("quota", "set", "user:alice", "requests_per_minute", "5")


def test_spaces_are_made_shared_unshared_and_deleted(admin: Shell) -> None:
    assert admin("space", "list") == "no space yet\n"
    made = admin.json("space", "create", "team notes", "--audience", "members")
    assert made["audience"] == "members"
    key = admin.json("key", "create", "--name", "bot", "--role", "reader")["id"]
    assert admin("space", "members", "team notes") == "no member yet\n"
    shared = admin("space", "share", "team notes", "user:王芳", "--role", "writer")
    assert shared == "user:王芳 is a writer of team notes\n"
    admin("space", "share", "team notes", f"key:{key}")
    table = [line.split() for line in admin("space", "members", "team notes").splitlines()[2:]]
    assert table == [["user:王芳", "writer"], [f"key:{key}", "reader"]]
    assert "team notes" in admin("space", "list")
    admin("space", "unshare", "team notes", "user:王芳")
    assert len(admin.json("space", "members", "team notes")["items"]) == 1
    assert "not_found" in admin.refused("space", "unshare", "team notes", "user:王芳")
    assert "404" in admin.refused("space", "members", "another")
    assert "invalid" in admin.refused("space", "share", "team notes", "alice")
    admin.refused("space", "delete", "..", "--yes")
    assert admin("space", "delete", "team notes", "--yes") == "deleted, with 0 memories\n"
    assert admin("space", "list") == "no space yet\n"


POLICY = {
    "rules": [
        {
            "subject": "role:reader",
            "in": "namespace:sales",
            "object": "memory:item",
            "verb": "read",
            "effect": "deny",
        }
    ],
    "cases": [
        {
            "case": "sales is closed to readers",
            "subject": {"roles": ["reader"]},
            "in": "namespace:sales",
            "expect": {"memory:item:read": "deny"},
        }
    ],
}


def test_a_policy_is_put_shown_explained_and_put_back(admin: Shell) -> None:
    before = admin("policy", "get")
    version = admin("policy", "put", "-", fed=json.dumps(POLICY)).split()[1]
    assert admin.json("policy", "get")["version"] == version
    assert json.loads(admin("policy", "get")) == POLICY
    ask = ("policy", "explain", "memory:item:read", "--role", "reader")
    assert admin(*ask).startswith("allowed by ")
    denied = admin(*ask, "--namespace", "sales").splitlines()
    assert denied[0].startswith("denied by ")
    assert version in denied[0]
    assert any("namespace:sales" in line and "deny" in line for line in denied[1:])
    assert admin.json(*ask, "--namespace", "sales")["allowed"] is False
    wrong = POLICY | {"cases": []}
    done = admin.run("policy", "put", "-", fed=json.dumps(wrong))
    assert done.exit_code == 1
    assert "422 invalid" in done.stderr
    assert admin.json("policy", "get")["version"] == version
    assert "invalid" in admin.refused("policy", "explain", "memory:item:fly", "--role", "reader")
    admin("policy", "put", "-", fed=before)
    assert admin(*ask, "--namespace", "sales").startswith("allowed by ")


def test_a_policy_of_the_guard_is_put_shown_and_put_back(admin: Shell) -> None:
    for kind in ("pii", "secrets"):
        named = ("--kind", kind)
        before = admin("policy", "get", *named)
        case = {"case": "tea stays", "text": "likes tea", "kept": "likes tea"}
        put = admin("policy", "put", "-", *named, fed=json.dumps({"cases": [case], "rules": []}))
        assert put.split()[1] == admin.json("policy", "get", *named)["version"]
        assert json.loads(admin("policy", "get", *named))["cases"] == [case]
        wrong = admin.run(
            "policy", "put", "-", *named, fed=json.dumps({"cases": [case | {"kept": "tea"}]})
        )
        assert wrong.exit_code == 1
        assert "422 invalid" in wrong.stderr
        admin("policy", "put", "-", *named, fed=before)


def test_a_name_styles_no_terminal_and_a_reader_may_not_ask(
    admin: Shell, live: Running, tenant: Callable[[], Agent]
) -> None:
    admin("key", "create", "--name", "[red]bold[/red]", "--role", "reader")
    assert "[red]bold[/red]" in admin("key", "list")
    reader = Shell(live, live.agent(tenant(), roles=["reader"]).key)
    for group in ("key", "quota"):
        refused = reader.refused(group, "list" if group == "key" else "get")
        assert "403 forbidden" in refused
        assert "(request " in refused


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name, below in command.commands.items():
        yield from _commands(below, (*path, name))


def test_every_command_and_every_option_says_what_it_does() -> None:
    found = dict(_commands(typer.main.get_command(app)))
    ours = {path: each for path, each in found.items() if path[0] in GROUPS}
    assert {path[0] for path in ours} == GROUPS
    assert [path for path, command in found.items() if not command.help] == []
    silent = [
        (*path, option.name)
        for path, command in ours.items()
        for option in command.params
        if not option.help
    ]
    assert silent == []
