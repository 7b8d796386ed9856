import asyncio
import stat
from pathlib import Path

import pytest

from gateway.embedded.folder import DataFolder, FolderInUse, FolderUnusable
from gateway.embedded.keys import KeysFolder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def as_root(path: Path) -> bool:
    return path.stat().st_uid == 0


@pytest.mark.requirement("M7")
def test_a_new_folder_is_private_and_no_parent_changes(tmp_path: Path) -> None:
    (tmp_path / "parent").mkdir(mode=0o750)
    before = [(it, mode(it)) for it in (tmp_path / "parent", *tmp_path.resolve().parents)]
    folder = DataFolder.open(tmp_path / "parent" / "data")
    assert mode(folder.path) == (0o711 if as_root(folder.path) else 0o700)
    assert {mode(it) for it in (folder.edge, folder.logs)} == {0o700}
    assert {mode(folder.path / it) for it in ("id", "lock", "alive")} == {0o600}
    assert [(it, mode(it)) for it, _ in before] == before
    folder.close()


def test_an_empty_folder_is_taken_and_a_foreign_one_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir(mode=0o755)
    DataFolder.open(tmp_path / "empty").close()
    foreign = tmp_path / "foreign"
    foreign.mkdir(mode=0o755)
    (foreign / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(FolderUnusable, match="not empty"):
        DataFolder.open(foreign)
    assert [it.name for it in foreign.iterdir()] == ["thesis.txt"]
    assert mode(foreign) == 0o755


def test_a_start_that_died_before_it_named_the_folder_does_not_spoil_it(tmp_path: Path) -> None:
    (tmp_path / "lock").touch(mode=0o600)
    (tmp_path / "lock.id").touch(mode=0o600)
    folder = DataFolder.open(tmp_path)
    assert len(folder.folder_id) == 32
    folder.close()


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(FolderUnusable, match="data"):
        DataFolder.open(tmp_path / "data")


def test_a_link_in_the_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path / "data")
    folder.close()
    (folder.path / "lock").unlink()
    (folder.path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FolderUnusable):
        DataFolder.open(folder.path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_second_gateway_is_refused_and_told_who_holds_the_folder(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path / "data")
    told = DataFolder.running(folder.path)
    with pytest.raises(FolderInUse) as refused:
        DataFolder.open(folder.path)
    assert told is not None
    assert refused.value.pid == told.pid
    folder.close()
    DataFolder.open(folder.path).close()


async def test_a_start_waits_until_the_last_child_of_a_killed_run_is_gone(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path / "data")
    child = await asyncio.create_subprocess_exec("sleep", "60", pass_fds=[folder.alive])
    folder.close()
    start = asyncio.create_task(asyncio.to_thread(DataFolder.open, folder.path))
    done, _ = await asyncio.wait((start,), timeout=0.2)
    assert not done
    child.kill()
    await child.wait()
    (await start).close()


def test_who_attaches_learns_the_url_once_it_serves_and_nothing_after_it_stopped(
    tmp_path: Path,
) -> None:
    assert DataFolder.running(tmp_path / "data") is None
    folder = DataFolder.open(tmp_path / "data")
    folder.describe(keys=tmp_path / "keys")
    starting = DataFolder.running(folder.path)
    assert starting is not None
    assert starting.url is None
    folder.describe(url="http://127.0.0.1:8700")
    serving = DataFolder.running(folder.path)
    assert serving is not None
    assert (serving.url, serving.keys) == ("http://127.0.0.1:8700", tmp_path / "keys")
    folder.close()
    assert DataFolder.running(folder.path) is None


def test_a_moved_folder_keeps_its_id_and_so_its_keys(tmp_path: Path) -> None:
    folder = DataFolder.open(tmp_path / "old")
    made = folder.folder_id
    folder.close()
    (tmp_path / "old").rename(tmp_path / "new")
    moved = DataFolder.open(tmp_path / "new")
    assert moved.folder_id == made
    moved.close()


def test_a_secret_is_made_once_and_private(tmp_path: Path) -> None:
    data = DataFolder.open(tmp_path / "data")
    keys = KeysFolder.open(tmp_path / "state" / "keys", data)
    assert keys.read("kek") is None
    assert keys.read_or_create("kek", lambda: b"first") == b"first"
    assert keys.read_or_create("kek", lambda: b"second") == b"first"
    assert KeysFolder.open(keys.path, data).read("kek") == b"first"
    assert mode(keys.path) == 0o700
    assert {mode(it) for it in keys.path.iterdir()} == {0o600}
    assert {it.name for it in keys.path.iterdir()} == {"kek", "folder-id"}
    keys.destroy("kek")
    keys.destroy("kek")
    assert keys.read("kek") is None
    data.close()


def test_keys_within_the_data_folder_are_refused(tmp_path: Path) -> None:
    data = DataFolder.open(tmp_path / "data")
    for inside in (data.path, data.path / "keys"):
        with pytest.raises(FolderUnusable, match="lies in the data folder"):
            KeysFolder.open(inside, data)
    data.close()


def test_keys_that_others_could_read_are_refused_not_mended(tmp_path: Path) -> None:
    data = DataFolder.open(tmp_path / "data")
    keys = KeysFolder.open(tmp_path / "keys", data)
    keys.read_or_create("kek", lambda: b"secret")
    (keys.path / "kek").chmod(0o640)
    with pytest.raises(FolderUnusable, match="must be private"):
        keys.read("kek")
    keys.path.chmod(0o750)
    with pytest.raises(FolderUnusable, match="must be private"):
        KeysFolder.open(keys.path, data)
    assert mode(keys.path) == 0o750
    data.close()


def test_keys_of_another_folder_are_refused(tmp_path: Path) -> None:
    one, other = (DataFolder.open(tmp_path / name) for name in ("one", "other"))
    KeysFolder.open(tmp_path / "keys", one)
    with pytest.raises(FolderUnusable, match="another data folder"):
        KeysFolder.open(tmp_path / "keys", other)
    one.close()
    other.close()


@pytest.mark.parametrize("name", ["", "../kek", "a/b", ".hidden", "Kek"])
def test_a_secret_cannot_be_named_out_of_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        KeysFolder(tmp_path).read(name)


def test_a_link_in_the_place_of_a_secret_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "keys").mkdir(mode=0o700)
    (tmp_path / "kek").write_bytes(b"elsewhere")
    (tmp_path / "keys" / "kek").symlink_to(tmp_path / "kek")
    with pytest.raises(FolderUnusable, match="symbolic"):
        KeysFolder(tmp_path / "keys").read("kek")
