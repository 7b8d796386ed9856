"""Where engines run: paths that are long, hold a space, or are closed to others; as root or not."""

import os
import stat
from pathlib import Path

import psycopg
import pytest

from gateway.embedded.account import Account
from gateway.embedded.places import Places
from tests.gateway.embedded.conftest import NOBODY, Hold, Holder, Ordinary, copy_site


def answers(holder: Holder) -> bool:
    assert "refused" not in holder.told, holder.told
    with psycopg.connect(holder.told["database_url"]) as connection:
        return connection.execute("SELECT 1").fetchone() == (1,)


def modes_above(path: Path) -> dict[Path, tuple[int, int]]:
    found = {parent: parent.stat() for parent in path.resolve().parents}
    return {parent: (it.st_mode, it.st_uid) for parent, it in found.items()}


def test_a_long_path_with_a_space_and_a_quote_will_do(open_folder: Path, hold: Hold) -> None:
    data = open_folder / "it's a deep place" / ("long" * 40) / "data folder"
    holder = hold(data, tmp=open_folder)
    assert answers(holder)
    assert len(holder.told["runtime"]) < 60
    holder.stop()
    again = hold(data, tmp=data)
    assert answers(again)
    assert len(again.told["runtime"]) < 60
    again.stop()


@pytest.mark.requirement("M7")
def test_an_ordinary_user_runs_engines_from_a_path_with_a_space(
    open_folder: Path, hold: Hold, site: Path, ordinary: Ordinary
) -> None:
    home = open_folder / "a home"
    home.mkdir()
    if ordinary.uid is not None:
        os.chown(home, ordinary.uid, ordinary.uid)
    before = modes_above(home / "data")
    holder = hold(
        home / "data",
        home=home,
        python=ordinary.python,
        root=site,
        script=site / "holder.py",
        uid=ordinary.uid,
    )
    assert answers(holder)
    mine = os.geteuid() if ordinary.uid is None else ordinary.uid
    assert {it.uids().effective for it in holder.servers().values()} == {mine}
    assert stat.S_IMODE((home / "data").stat().st_mode) == 0o700
    assert Path(holder.told["keys"]).parent == home / ".local/state/memwarden/keys"
    assert modes_above(home / "data") == before
    holder.stop()


def test_root_runs_engines_as_somebody_else(root_alone: None, running: Holder) -> None:
    servers = running.servers().values()
    assert 0 not in {uid for it in servers for uid in it.uids()}
    assert 0 not in {gid for it in servers for gid in it.gids()}
    assert stat.S_IMODE(Path(running.told["data"]).stat().st_mode) == 0o711


@pytest.mark.requirement("M7")
def test_root_runs_engines_below_a_folder_closed_to_them_and_leaves_it_closed(
    root_alone: None, open_folder: Path, hold: Hold
) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    before = modes_above(closed / "data")
    for _ in range(2):
        holder = hold(closed / "data")
        assert answers(holder)
        assert 0 not in {it.uids().real for it in holder.servers().values()}
        holder.process.kill()
    assert modes_above(closed / "data") == before


def test_root_runs_engines_whose_binaries_lie_where_they_may_not_read(
    root_alone: None, open_folder: Path, hold: Hold
) -> None:
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    copy_site(closed)
    holder = hold(closed / "data", root=closed, tmp=closed)
    assert answers(holder)
    runtime = Path(holder.told["runtime"])
    programs = {Path(it.exe()) for it in holder.servers().values()}
    assert all(runtime in program.parents for program in programs)
    assert closed.stat().st_mode & 0o7777 == 0o700
    holder.stop()
    assert not runtime.exists()


def test_roots_copy_of_a_folder_starts(root_alone: None, used: Path, hold: Hold) -> None:
    assert (used / "data/postgres/PG_VERSION").stat().st_uid == 0
    copy = hold(used / "data", keys=used / "keys")
    assert answers(copy)
    copy.stop()


def test_the_folder_of_another_user_is_refused(
    root_alone: None, open_folder: Path, hold: Hold
) -> None:
    os.chown(open_folder, NOBODY, NOBODY)
    holder = hold(open_folder, home=open_folder.parent)
    assert holder.told["refused"] == "FolderUnusable"
    assert str(NOBODY) in holder.told["why"]
    assert list(open_folder.iterdir()) == []


def test_a_folder_keeps_the_account_it_was_made_under(
    root_alone: None, used: Path, hold: Hold
) -> None:
    stranger = 54321
    for folder, names, files in os.walk(used / "data" / "postgres"):
        for name in (".", *names, *files):
            os.chown(Path(folder) / name, stranger, stranger)
    again = hold(used / "data", keys=used / "keys")
    assert answers(again)
    assert {it.uids().real for it in again.servers().values()} == {stranger}
    again.stop()


def test_an_account_is_stopped_by_the_outermost_folder_closed_to_it(open_folder: Path) -> None:
    inner = open_folder / "closed" / "inner"
    inner.mkdir(parents=True)
    stranger = Account(uid=54321, gid=54321)
    assert stranger.reaches(inner)
    (open_folder / "closed").chmod(0o700)
    assert stranger.first_closed(inner) == (open_folder / "closed").resolve()
    owner = (open_folder / "closed").stat()
    assert Account(uid=owner.st_uid, gid=54321).reaches(inner)
    (open_folder / "closed").chmod(0o710)
    assert Account(uid=54321, gid=owner.st_gid).reaches(inner)


def test_sockets_go_where_they_are_short_and_reachable(open_folder: Path) -> None:
    private, long = open_folder / "run", open_folder / ("long" * 20)
    for folder in (private, long):
        folder.mkdir(mode=0o700)
    places = Places(home=open_folder, runtime_dir=private, tmp=open_folder)
    assert places.socket_base(None) == private.resolve()
    assert places.socket_base(Account(uid=54321, gid=54321)) == open_folder.resolve()
    assert Places(home=open_folder, tmp=long).socket_base(None) == Path("/tmp")
    assert Places(home=open_folder, runtime_dir=open_folder / "none").socket_base(None).exists()


@pytest.mark.parametrize("state", [None, Path("/s")])
def test_keys_lie_in_the_state_folder_by_default(state: Path | None) -> None:
    found = Places(home=Path("/h"), state_home=state).keys_of("ab")
    assert found == (state or Path("/h/.local/state")) / "memwarden/keys/ab"
