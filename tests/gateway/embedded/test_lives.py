"""How engines end and begin: in order, by force, twice on a folder, after a kill."""

import os
import signal
import stat
from pathlib import Path

import psycopg
import pytest
import redis
import redis.backoff
import redis.exceptions
import redis.retry

from tests.gateway.embedded.conftest import DEATH_SECONDS, Hold, Holder, wait_until_gone


def commit_rows(holder: Holder) -> None:
    with psycopg.connect(holder.told["database_url"]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (n int)")
        connection.execute("INSERT INTO kept SELECT coalesce(max(n), 0) + 1 FROM kept")


def rows(holder: Holder) -> list[int]:
    with psycopg.connect(holder.told["database_url"]) as connection:
        return [n for (n,) in connection.execute("SELECT n FROM kept ORDER BY n")]


def test_a_gateway_that_stops_takes_its_engines_and_sockets_with_it(used: Path, hold: Hold) -> None:
    holder = hold(used / "data", keys=used / "keys")
    engines, runtime = holder.engines(), Path(holder.told["runtime"])
    assert holder.servers().keys() == {"postgres", "valkey-server"}
    holder.stop()
    wait_until_gone(engines)
    assert not runtime.exists()
    assert "database system is shut down" in (used / "data/logs/postgres.log").read_text()


@pytest.mark.requirement("M7")
def test_a_killed_gateway_takes_its_engines_along_and_loses_no_commit(
    used: Path, hold: Hold
) -> None:
    left = []
    for already in range(3):
        holder = hold(used / "data", keys=used / "keys")
        assert holder.told.get("refused") is None, holder.told
        commit_rows(holder)
        assert rows(holder) == list(range(1, already + 2))
        engines = holder.engines()
        left.append(Path(holder.told["runtime"]))
        holder.process.kill()
        # The next start follows at once: it is its business to wait for what is still ending.
        if already == 1:
            wait_until_gone(engines)
    last = hold(used / "data", keys=used / "keys")
    assert rows(last) == [1, 2, 3]
    assert not [it for it in left if it.exists()]
    last.stop()


@pytest.mark.requirement("M7")
def test_a_second_gateway_on_the_folder_is_refused_with_its_reason(
    running: Holder, hold: Hold
) -> None:
    second = hold(Path(running.told["data"]))
    assert second.told["refused"] == "FolderInUse"
    assert str(running.told["pid"]) in second.told["why"]
    commit_rows(running)


def test_a_start_killed_in_the_middle_of_first_use_is_begun_anew(
    tmp_path: Path, hold: Hold
) -> None:
    half = tmp_path / "data" / "postgres.new"
    half.mkdir(parents=True, mode=0o700)
    (tmp_path / "data" / "id").write_text("0" * 32)
    (half / "PG_VERSION").write_text("half")
    holder = hold(tmp_path / "data", keys=tmp_path / "keys")
    commit_rows(holder)
    holder.stop()
    assert not half.exists()


def test_a_stale_pid_file_naming_a_living_stranger_does_not_stop_a_start(
    used: Path, hold: Hold
) -> None:
    stale = used / "data" / "postgres" / "postmaster.pid"
    stale.write_text(f"{os.getppid()}\n{stale.parent}\n1\n5432\n/tmp\n\n1 1\nready\n")
    holder = hold(used / "data", keys=used / "keys")
    commit_rows(holder)
    holder.stop()


def test_ctrl_c_reaches_the_gateway_alone(running: Holder) -> None:
    mine = os.getsid(running.process.pid)
    assert mine not in [os.getsid(it.pid) for it in running.servers().values()]


def test_valkey_is_started_again_at_the_same_place(used: Path, hold: Hold) -> None:
    holder = hold(used / "data", keys=used / "keys")
    before = holder.servers()["valkey-server"]
    before.send_signal(signal.SIGKILL)
    # The client's own retries are the poll, and their end is the deadline.
    retry = redis.retry.Retry(redis.backoff.ConstantBackoff(0.05), 200)
    with redis.Redis.from_url(
        holder.told["redis_url"], retry=retry, retry_on_error=[redis.exceptions.ConnectionError]
    ) as cache:
        before.wait(DEATH_SECONDS)
        assert cache.ping()
    assert holder.servers()["valkey-server"].pid != before.pid
    holder.stop()


def test_the_end_of_postgresql_is_told_to_the_gateway(used: Path, hold: Hold) -> None:
    holder = hold(used / "data", keys=used / "keys")
    holder.servers()["postgres"].send_signal(signal.SIGKILL)
    assert holder.next_told() == {"died": "PostgreSQL"}
    holder.stop()


def test_a_folder_without_its_keys_is_refused_and_with_them_opens_again(
    used: Path, hold: Hold
) -> None:
    without = hold(used / "data", keys=used / "empty")
    assert without.told["refused"] == "FolderUnusable"
    assert "keys" in without.told["why"]
    again = hold(used / "data", keys=used / "keys")
    commit_rows(again)
    again.stop()


def test_a_role_that_a_folder_lacks_is_made_on_the_next_start(used: Path, hold: Hold) -> None:
    lost = used / "keys" / "database-memwarden_owner"
    before = lost.read_bytes()
    lost.unlink()
    again = hold(used / "data", keys=used / "keys")
    assert lost.read_bytes() != before
    commit_rows(again)
    again.stop()


def test_logs_and_folders_stay_private(running: Holder) -> None:
    data, keys = Path(running.told["data"]), Path(running.told["keys"])
    for path in (data / "postgres", data / "logs", data / "edge", keys):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in (*(data / "logs").iterdir(), *keys.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
