"""What docs/deployment.md tells an operator to type is what works."""

import re
import tempfile
import tomllib
from pathlib import Path
from unittest import mock

from gateway.cli.migrate import keygen
from gateway.embedded import roles
from gateway.server.safety import refuse_unsafe
from gateway.settings import PREFIX, Settings, load
from tests.server.fleet import Engines, migrated, server_settings

DOCUMENT = Path(__file__).parents[2] / "docs" / "deployment.md"


def block(language: str) -> str:
    """Return the one block of code in that language."""
    (found,) = re.findall(
        rf"^ +```{language}\n(.*?)```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL
    )
    return str(found)


def test_its_roles_and_databases_can_be_migrated(tmp_path):
    script = block("sql")
    statements = [part.strip() for part in script.split(";") if part.strip()]
    made = re.findall(r"CREATE ROLE (\w+)", script)
    assert set(made) == {*roles.LOGINS, roles.LOOK_UP}

    databases = [one for one in statements if "DATABASE" in one]

    def as_written(passwords):
        """Each role as the document makes it, with the password that the engines know."""
        first = [one for one in statements if one not in databases]
        return [
            re.sub(r"ROLE (\w+)( +)LOGIN PASSWORD '…'",
                   lambda found: f"ROLE {found[1]} LOGIN PASSWORD '{passwords[found[1]]}'", one)
            for one in first
        ]  # fmt: skip

    with (
        tempfile.TemporaryDirectory(prefix="mw-doc-") as folder,
        mock.patch.object(roles, "make_roles", as_written),
        mock.patch.object(roles, "make_databases", return_value=databases),
    ):
        holder = Engines(Path(folder))
        engines = holder.begin()
        settings = server_settings(engines, "http://127.0.0.1:9", tmp_path, tmp_path / "anchor")
        done = migrated(settings, engines)
        holder.stop()
    assert done.returncode == 0, done.stderr
    assert re.match(r"applied [1-9]\d* migrations of the record and [1-9]", done.stdout)


def test_its_settings_are_those_of_production_and_nothing_is_wrong_with_them(tmp_path, monkeypatch):
    text = block("toml")
    assert tomllib.loads(text).keys() <= Settings.model_fields.keys()
    keygen(tmp_path / "keys")
    filled = text.replace("/etc/memwarden/keys", str(tmp_path / "keys"))
    filled = filled.replace("/var/lib/memwarden", str(tmp_path))
    count = iter(range(100))
    filled = re.sub("…", lambda _: f"Zq7vXw2mK9rT4bN8cF{next(count):02d}hJ5", filled)
    config = tmp_path / "memwarden.toml"
    config.write_text(filled, encoding="utf-8")
    settings = load(config)
    for command in ("serve", "worker"):
        refuse_unsafe(settings, command)
    monkeypatch.setenv(
        f"{PREFIX}DATABASE_OWNER_URL",
        "postgresql://memwarden_owner:Zq7vXw2mK9rT4bN8cFhJ5x@db/memwarden?sslmode=verify-full",
    )
    refuse_unsafe(load(config), "migrate")


def test_it_names_every_command_that_it_needs():
    text = DOCUMENT.read_text()
    for command in ("serve", "worker", "migrate", "keygen", "up", "audit verify"):
        assert f"memwarden {command}" in text
