"""Server mode refuses settings that are missing or unsafe, and names each."""

import base64
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.cli.migrate import keygen
from gateway.server.safety import refuse_unsafe, weak
from gateway.settings import PREFIX, SettingsInvalid, load
from tests.server.fleet import child_environment

pytestmark = pytest.mark.requirement("B16")

Change = Callable[[dict[str, str], Path], None]


def strong() -> str:
    return secrets.token_urlsafe(32)


def postgres(role: str, database: str = "memwarden", options: str = "sslmode=verify-full") -> str:
    return f"postgresql://{role}:{strong()}@db.internal:5432/{database}?{options}"


@pytest.fixture
def good(tmp_path: Path) -> dict[str, str]:
    """Settings of production that nothing is wrong with."""
    keygen(tmp_path / "keys")
    return {
        "ENVIRONMENT": "production",
        "PUBLIC_URL": "https://memory.example",
        "DATABASE_URL": postgres("memwarden_app"),
        "DATABASE_INDEX_URL": postgres("memwarden_index"),
        "DATABASE_SEAL_URL": postgres("memwarden_seal"),
        "KEYSTORE_URL": postgres("memwarden_keys", "memwarden_keys"),
        "REDIS_URL": f"rediss://memwarden:{strong()}@cache.internal:6379/0",
        "QDRANT_URL": "https://index.internal:6333",
        "QDRANT_API_KEY": strong(),
        "KEK_FILE": str(tmp_path / "keys" / "root.key"),
        "EPOCH_KEYS": str(tmp_path / "keys"),
        "AUDIT_ANCHOR": str(tmp_path / "anchor.jsonl"),
        "OPERATOR_KEY_FILE": str(tmp_path / "keys" / "operator"),
    }


def without(name: str) -> Change:
    def change(settings: dict[str, str], _folder: Path) -> None:
        del settings[name]

    return change


def given(name: str, value: str, instead_of: str | None = None) -> Change:
    def change(settings: dict[str, str], _folder: Path) -> None:
        settings[name] = value
        settings.pop(instead_of or "", None)

    return change


def edited(name: str, old: str, new: str) -> Change:
    def change(settings: dict[str, str], _folder: Path) -> None:
        assert old in settings[name]
        settings[name] = settings[name].replace(old, new)

    return change


def same_password(settings: dict[str, str], _folder: Path) -> None:
    settings["DATABASE_SEAL_URL"] = settings["DATABASE_URL"].replace(
        "memwarden_app", "memwarden_seal"
    )


def open_key_file(settings: dict[str, str], folder: Path) -> None:
    Path(settings["KEK_FILE"]).chmod(0o644)


def short_key_file(settings: dict[str, str], folder: Path) -> None:
    Path(settings["KEK_FILE"]).write_bytes(b"short")


def no_epoch_keys(settings: dict[str, str], folder: Path) -> None:
    (folder / "keys" / "epoch-000001").unlink()


def text_of(length: int) -> str:
    return base64.b64encode((b"correct horse battery staple 42!" * 2)[:length]).decode()


BAD: dict[str, tuple[str, Change]] = {
    "an environment that is none": ("ENVIRONMENT", given("ENVIRONMENT", "prod")),
    "no public URL": ("PUBLIC_URL", without("PUBLIC_URL")),
    "a plain public URL": ("PUBLIC_URL", given("PUBLIC_URL", "http://memory.example")),
    "a public URL with a credential": ("PUBLIC_URL", given("PUBLIC_URL", "https://a:b@c.example")),
    "every origin": ("ALLOWED_ORIGINS", given("ALLOWED_ORIGINS", '["*"]')),
    "the null origin": ("ALLOWED_ORIGINS", given("ALLOWED_ORIGINS", '["null"]')),
    "origins by pattern": ("ALLOWED_ORIGINS", given("ALLOWED_ORIGINS", '["https://*.example"]')),
    "a plain origin": ("ALLOWED_ORIGINS", given("ALLOWED_ORIGINS", '["http://app.example"]')),
    "no record": ("DATABASE_URL", without("DATABASE_URL")),
    "no indexing role": ("DATABASE_INDEX_URL", without("DATABASE_INDEX_URL")),
    "no sealing role": ("DATABASE_SEAL_URL", without("DATABASE_SEAL_URL")),
    "no key store": ("KEYSTORE_URL", without("KEYSTORE_URL")),
    "no cache": ("REDIS_URL", without("REDIS_URL")),
    "no index": ("QDRANT_URL", without("QDRANT_URL")),
    "no root key": ("KEK_FILE", without("KEK_FILE")),
    "no folder of epoch keys": ("EPOCH_KEYS", without("EPOCH_KEYS")),
    "no anchor": ("AUDIT_ANCHOR", without("AUDIT_ANCHOR")),
    "an anchor nowhere": ("AUDIT_ANCHOR", given("AUDIT_ANCHOR", "/nonexistent/anchor.jsonl")),
    "a record without TLS": ("DATABASE_URL", edited("DATABASE_URL", "?sslmode=verify-full", "")),
    "a record with TLS of anybody": (
        "DATABASE_URL",
        edited("DATABASE_URL", "verify-full", "require"),
    ),
    "TLS turned off after it was on": (
        "DATABASE_URL",
        edited("DATABASE_URL", "verify-full", "verify-full&sslmode=disable"),
    ),
    "a key store without TLS": ("KEYSTORE_URL", edited("KEYSTORE_URL", "verify-full", "prefer")),
    "a record by keywords": ("DATABASE_URL", given("DATABASE_URL", "host=db dbname=memwarden")),
    "a host beside the URL's": (
        "DATABASE_URL",
        edited("DATABASE_URL", "?sslmode=verify-full", "?host=/run/pg,db.internal"),
    ),
    "a placeholder password": (
        "DATABASE_URL",
        given("DATABASE_URL", "postgresql://memwarden_app:changeme-changeme@db.internal/memwarden"),
    ),
    "no password": (
        "DATABASE_SEAL_URL",
        given("DATABASE_SEAL_URL", "postgresql://memwarden_seal@db/memwarden?sslmode=verify-full"),
    ),
    "one role for two": (
        "DATABASE_SEAL_URL",
        given("DATABASE_SEAL_URL", postgres("memwarden_app")),
    ),
    "one password for two": ("DATABASE_SEAL_URL", same_password),
    "keys in the record's database": (
        "KEYSTORE_URL",
        given("KEYSTORE_URL", postgres("memwarden_keys")),
    ),
    "the owner's password where it serves": (
        "DATABASE_OWNER_URL",
        given("DATABASE_OWNER_URL", postgres("memwarden_owner")),
    ),
    "a plain cache": ("REDIS_URL", edited("REDIS_URL", "rediss://", "redis://")),
    "a cache that is not verified": (
        "REDIS_URL",
        edited("REDIS_URL", "6379/0", "6379/0?ssl_cert_reqs=none"),
    ),
    "a cache of any name": (
        "REDIS_URL",
        edited("REDIS_URL", "6379/0", "6379/0?ssl_check_hostname=false"),
    ),
    "a cache without a password": (
        "REDIS_URL",
        given("REDIS_URL", "rediss://cache.internal:6379/0"),
    ),
    "a cache with a weak password": (
        "REDIS_URL",
        given("REDIS_URL", "rediss://memwarden:redis-password@cache.internal:6379/0"),
    ),
    "a plain index": ("QDRANT_URL", edited("QDRANT_URL", "https://", "http://")),
    "an index without a key": ("QDRANT_API_KEY", without("QDRANT_API_KEY")),
    "an index with a placeholder": (
        "QDRANT_API_KEY",
        given("QDRANT_API_KEY", "your-secret-api-key-here"),
    ),
    "a root key for all to read": ("KEK_FILE", open_key_file),
    "a root key too short": ("KEK_FILE", short_key_file),
    "a root key that is a sentence": ("KEK", given("KEK", text_of(32), "KEK_FILE")),
    "a root key of zeros": ("KEK", given("KEK", base64.b64encode(bytes(32)).decode(), "KEK_FILE")),
    "a root key of 16 bytes": ("KEK", given("KEK", text_of(16), "KEK_FILE")),
    "a root key that is not base64": ("KEK", given("KEK", "not base64!", "KEK_FILE")),
    "two root keys": ("KEK", given("KEK", base64.b64encode(os.urandom(32)).decode())),
    "no epoch key": ("EPOCH_KEYS", no_epoch_keys),
    "an operator key made by hand": (
        "OPERATOR_KEY",
        given("OPERATOR_KEY", "operator", "OPERATOR_KEY_FILE"),
    ),
    "an operator key that is no secret": (
        "OPERATOR_KEY",
        given("OPERATOR_KEY", f"mw_{'a' * 16}_{'A' * 43}", "OPERATOR_KEY_FILE"),
    ),
    "traces in the clear": ("OTLP_ENDPOINT", given("OTLP_ENDPOINT", "http://traces.internal")),
    "a misspelled setting": ("DATABSE_URL", given("DATABSE_URL", "x")),
    "a port that is none": ("PORT", given("PORT", "70000")),
}


def refused(settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, command="serve"):
    """Return the faults of `settings`, by the name of what is at fault."""
    for name in [name for name in os.environ if name.startswith(PREFIX)]:  # noqa: TID251 - a test's own
        monkeypatch.delenv(name)
    for name, value in settings.items():
        monkeypatch.setenv(PREFIX + name, value)
    try:
        refuse_unsafe(load(), command)
    except SettingsInvalid as err:
        return dict(fault.split(": ", 1) for fault in err.faults)
    return {}


def test_there_are_more_than_twenty_five_bad_configurations():
    assert len(BAD) >= 25


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_what_is_good_is_taken(good, monkeypatch, command):
    assert refused(good, monkeypatch, command) == {}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_configuration_is_refused_and_its_setting_named(good, tmp_path, monkeypatch, case):
    name, change = BAD[case]
    change(good, tmp_path)
    faults = refused(good, monkeypatch)
    assert PREFIX + name in faults
    values = [value for value in good.values() if len(value) > 12]
    assert not [value for value in values if any(value in fault for fault in faults.values())]


def test_every_fault_is_told_at_once(good, monkeypatch):
    for name in ("DATABASE_URL", "REDIS_URL", "KEK_FILE", "AUDIT_ANCHOR"):
        del good[name]
    wanted = {PREFIX + name for name in ("DATABASE_URL", "REDIS_URL", "KEK_FILE", "AUDIT_ANCHOR")}
    assert wanted <= refused(good, monkeypatch).keys()


def test_what_is_missing_is_refused_in_development_too(good, monkeypatch):
    good["ENVIRONMENT"] = "development"
    del good["KEYSTORE_URL"], good["EPOCH_KEYS"]
    assert refused(good, monkeypatch).keys() == {
        f"{PREFIX}KEYSTORE_URL",
        f"{PREFIX}EPOCH_KEYS",
    }


def test_migrate_needs_the_owner_and_no_key(monkeypatch):
    owner = {
        "ENVIRONMENT": "production",
        "PUBLIC_URL": "https://memory.example",
        "DATABASE_OWNER_URL": postgres("memwarden_owner"),
        "KEYSTORE_URL": postgres("memwarden_keys", "memwarden_keys"),
    }
    assert refused(owner, monkeypatch, "migrate") == {}
    del owner["DATABASE_OWNER_URL"]
    assert f"{PREFIX}DATABASE_OWNER_URL" in refused(owner, monkeypatch, "migrate")


@pytest.mark.parametrize(
    "secret",
    ["", "short", "changeme-changeme-changeme", "postgres-production-password", "a" * 40,
     "your_secret_key_here_0123456789", "memwarden" * 5],
)  # fmt: skip
def test_a_placeholder_is_weak_however_long(secret):
    assert weak(secret)


def test_a_random_secret_is_never_weak():
    assert not [made for made in (strong() for _ in range(5000)) if weak(made)]


def test_keys_are_made_once_and_private(tmp_path):
    made = keygen(tmp_path / "keys")
    before = {path.name: path.read_bytes() for path in (tmp_path / "keys").iterdir()}
    assert sorted(before) == sorted(made)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "keys").iterdir()} == {0o600}
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    assert keygen(tmp_path / "keys") == []
    assert {path.name: path.read_bytes() for path in (tmp_path / "keys").iterdir()} == before


@pytest.mark.parametrize("command", ["serve", "worker", "migrate"])
def test_the_command_ends_with_code_78_and_a_line_for_each(good, command):
    good |= {"KEYSTORE_URL": "", "ALLOWED_ORIGINS": '["*"]'}
    done = subprocess.run(
        [sys.executable, "-m", "gateway.cli", command],
        env=child_environment(good),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 78
    assert "memwarden: MEMWARDEN_ALLOWED_ORIGINS:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not [
        value for name, value in good.items() if "URL" in name and value and value in done.stderr
    ]
