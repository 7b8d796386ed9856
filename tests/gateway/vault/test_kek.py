"""One contract for every provider of a root KEK, and the files that hold one."""

import os
import secrets
import threading
from pathlib import Path

import pytest

from core.errors import Tampered, Unavailable
from gateway.vault.kek import FileKek, Kek, StaticKek, create_key_file, read_key_file

KEY = secrets.token_bytes(64)


@pytest.fixture(params=["static", "file"])
def kek(request: pytest.FixtureRequest, tmp_path: Path) -> Kek:
    if request.param == "static":
        return StaticKek(secrets.token_bytes(32))
    return FileKek(tmp_path / "root", create=True)


async def test_what_was_wrapped_unwraps_in_its_context(kek):
    wrapped = await kek.wrap(KEY, b"row 1")
    assert await kek.unwrap(wrapped, b"row 1") == KEY
    assert KEY not in wrapped
    assert await kek.wrap(KEY, b"row 1") != wrapped


@pytest.mark.parametrize("context", [b"row 2", b"", b"row 1\0"])
async def test_another_context_does_not_unwrap(kek, context):
    wrapped = await kek.wrap(KEY, b"row 1")
    with pytest.raises(Tampered):
        await kek.unwrap(wrapped, context)


async def test_another_key_does_not_unwrap(kek):
    wrapped = await kek.wrap(KEY, b"row 1")
    with pytest.raises(Tampered):
        await StaticKek(secrets.token_bytes(32)).unwrap(wrapped, b"row 1")


async def test_a_wrap_with_any_byte_changed_does_not_unwrap(kek):
    wrapped = await kek.wrap(KEY, b"row 1")
    for at in range(len(wrapped)):
        with pytest.raises(Tampered):
            await kek.unwrap(wrapped[:at] + bytes((wrapped[at] ^ 1,)) + wrapped[at + 1 :], b"row 1")
    for cut in (b"", wrapped[:-1], wrapped + b"\0"):
        with pytest.raises(Tampered):
            await kek.unwrap(cut, b"row 1")


async def test_the_id_tells_keys_apart_and_nothing_of_them(kek, tmp_path):
    assert kek.id.startswith("aes256-")
    assert kek.id != StaticKek(secrets.token_bytes(32)).id
    path = tmp_path / "second"
    create_key_file(path)
    moved = StaticKek(path.read_bytes())
    assert moved.id == FileKek(path).id  # the same key in another home is the same key
    assert path.read_bytes()[:4].hex() not in moved.id


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_a_root_kek_of_another_size_is_refused(size, tmp_path):
    with pytest.raises(ValueError, match="32 bytes"):
        StaticKek(bytes(size))
    path = tmp_path / "root"
    path.write_bytes(bytes(size))
    path.chmod(0o600)
    with pytest.raises(Unavailable):
        FileKek(path)


def test_a_key_file_is_private_from_its_first_moment(tmp_path):
    before = os.umask(0)
    try:
        assert create_key_file(tmp_path / "root")
    finally:
        os.umask(before)
    assert (tmp_path / "root").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


def test_a_key_file_is_never_replaced(tmp_path):
    assert create_key_file(tmp_path / "root")
    kept = read_key_file(tmp_path / "root")
    assert not create_key_file(tmp_path / "root")
    assert read_key_file(tmp_path / "root") == kept
    assert FileKek(tmp_path / "root", create=True).id == StaticKek(kept).id


def test_of_many_that_make_a_key_file_at_once_one_does(tmp_path):
    made: list[bool] = []
    start = threading.Barrier(8)

    def make() -> None:
        start.wait()
        made.append(create_key_file(tmp_path / "root"))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False] * 7 + [True]
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o610, 0o644])
def test_a_key_file_open_to_others_is_refused_and_left_as_it_is(mode, tmp_path):
    path = tmp_path / "root"
    create_key_file(path)
    path.chmod(mode)
    with pytest.raises(Unavailable):
        FileKek(path, create=True)
    assert path.stat().st_mode & 0o777 == mode


def test_what_is_not_a_plain_key_file_is_refused(tmp_path):
    real = tmp_path / "real"
    create_key_file(real)
    (tmp_path / "link").symlink_to(real)
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir(mode=0o700)
    for name in ("link", "pipe", "folder", "missing"):
        with pytest.raises(Unavailable):
            read_key_file(tmp_path / name)
    with pytest.raises(Unavailable):
        create_key_file(tmp_path / "no" / "folder")


def test_a_key_file_of_another_user_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "root"
    create_key_file(path)
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
    else:  # only root can give a file away: be somebody else instead
        monkeypatch.setattr("gateway.vault.kek.os.geteuid", lambda: 12345)
    with pytest.raises(Unavailable):
        read_key_file(path)
