"""What server mode asks of the servers that it is to stand on, before it serves."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from core.adapters.postgres.fitness import missing_migrations, unfit
from core.adapters.redis.strangers import admits_strangers
from gateway import parts
from gateway.cli.migrate import keygen
from gateway.embedded import roles
from gateway.embedded.engines import EmbeddedEngines
from gateway.parts import Connections, refuse_unfit
from gateway.settings import SettingsInvalid, load
from tests.qdrant_double import listening
from tests.server.fleet import Engines, child_environment, migrated, server_settings

SERVING = ("memwarden_app", "memwarden_index", "memwarden_seal")


@pytest.mark.requirement("B16")
@pytest.mark.parametrize("role", SERVING)
async def test_the_roles_that_serve_are_fit(database, role):
    assert await unfit(database(role), role) == []


@pytest.mark.requirement("B16")
async def test_the_owner_is_not_fit_to_serve(database):
    found = await unfit(database("memwarden_owner"), "memwarden_app")
    assert any("owns tables" in fault for fault in found)
    assert any("is not memwarden_app" in fault for fault in found)


@pytest.mark.requirement("B16")
async def test_a_role_in_anothers_place_is_told(database):
    assert await unfit(database("memwarden_seal"), "memwarden_app") == [
        "its role is not memwarden_app"
    ]


async def test_the_key_keeper_may_own_its_database(engines):
    assert await unfit(engines.keystore_url, None) == []


async def test_a_migrated_database_lacks_nothing(database, engines):
    assert await missing_migrations(database("memwarden_app")) == []


async def test_a_role_that_may_not_look_finds_everything_missing(database):
    missing = await missing_migrations(database("memwarden_index"))
    assert missing[0].startswith("0001_")


async def test_a_cache_with_a_password_admits_no_stranger(engines):
    assert not await admits_strangers(engines.redis_url)


@pytest.mark.requirement("B16")
async def test_production_refuses_an_index_and_a_cache_that_admit_strangers(
    database, engines, tmp_path
):
    keygen(tmp_path / "keys")
    with listening("") as index:
        given = server_settings(engines, index, tmp_path / "keys", tmp_path / "anchor.jsonl")
        values: dict[str, Any] = {name.lower(): value for name, value in given.items()}
        settings = load(**values)
        connections = Connections.server(settings)
        await refuse_unfit(connections, settings)  # development takes them
        strict = settings.model_copy(update={"environment": "production"})
        with (
            mock.patch.object(parts, "cache_admits_strangers", return_value=True),
            pytest.raises(SettingsInvalid) as refused,
        ):
            await refuse_unfit(connections, strict)
    assert [fault.partition(":")[0] for fault in refused.value.faults] == [
        "MEMWARDEN_QDRANT_URL",
        "MEMWARDEN_REDIS_URL",
    ]
    with listening("a key") as index:
        kept = strict.model_copy(update={"qdrant_url": index})
        await refuse_unfit(Connections.server(kept), kept)


WRONG = {
    "wrong_super": "SUPERUSER",
    "wrong_bypass": "BYPASSRLS IN ROLE memwarden_app",
    "wrong_owner": "IN ROLE memwarden_app, memwarden_owner",
}
PASSWORD = "made-up-for-a-role-that-must-not-serve"


@pytest.fixture(scope="module")
def wrong() -> Iterator[EmbeddedEngines]:
    """Engines nobody has migrated, with roles that nobody should serve as."""
    made = [
        f"CREATE ROLE {name} LOGIN {kind} PASSWORD '{PASSWORD}'" for name, kind in WRONG.items()
    ]
    made += [
        f"CREATE ROLE wrong_by_proxy LOGIN IN ROLE memwarden_app PASSWORD '{PASSWORD}'",
        "GRANT wrong_bypass TO wrong_by_proxy WITH INHERIT FALSE, SET TRUE",
    ]
    names = ",".join([*WRONG, "wrong_by_proxy"])
    databases, rules = roles.make_databases(), roles.host_rules()
    with (
        tempfile.TemporaryDirectory(prefix="mw-wrong-") as folder,
        mock.patch.object(roles, "make_databases", return_value=[*databases, *made]),
        mock.patch.object(
            roles, "host_rules", return_value=f"{rules}local memwarden {names} scram-sha-256\n"
        ),
    ):
        holder = Engines(Path(folder))
        yield holder.begin()
        holder.stop()


def as_role(engines: EmbeddedEngines, role: str) -> str:
    url = engines.database_url("memwarden_app")
    return re.sub(r"//[^@]+@", f"//{role}:{PASSWORD}@", url)


@pytest.mark.requirement("B16")
@pytest.mark.parametrize(
    ("role", "fault"),
    [
        ("wrong_super", "superuser"),
        ("wrong_bypass", "bypasses row-level security"),
        ("wrong_by_proxy", "bypasses row-level security"),
    ],
)
async def test_a_role_that_steps_over_the_walls_is_told(wrong, role, fault):
    assert any(fault in told for told in await unfit(as_role(wrong, role), "memwarden_app"))


def serve(settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gateway.cli", "serve"],
        env=child_environment(settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_gateway_refuses_such_roles_and_databases_that_nobody_migrated(wrong, tmp_path):
    keygen(tmp_path / "keys")
    settings = server_settings(
        wrong, "http://127.0.0.1:9", tmp_path / "keys", tmp_path / "anchor.jsonl"
    )
    unmigrated = serve(settings)
    assert unmigrated.returncode == 1
    assert "run `memwarden migrate` first" in unmigrated.stderr
    assert "0001_" in unmigrated.stderr

    done = migrated(settings, wrong)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert re.match(r"applied [1-9]\d* migrations of the record and [1-9]", done.stdout)
    assert migrated(settings, wrong).stdout.startswith("applied 0 migrations of the record and 0")

    refused = serve(
        settings
        | {
            "DATABASE_URL": as_role(wrong, "wrong_bypass"),
            "DATABASE_INDEX_URL": as_role(wrong, "wrong_super"),
            "DATABASE_SEAL_URL": as_role(wrong, "wrong_owner"),
        }
    )
    assert refused.returncode == 78
    for name in ("DATABASE_URL", "DATABASE_INDEX_URL", "DATABASE_SEAL_URL"):
        assert f"memwarden: MEMWARDEN_{name}: its role" in refused.stderr
    assert PASSWORD not in refused.stderr
    assert "Traceback" not in refused.stderr
