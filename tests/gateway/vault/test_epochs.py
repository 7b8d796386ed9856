import secrets

import pytest

from core.errors import Tampered, Unavailable
from gateway.vault.epochs import EpochKeys
from gateway.vault.kek import create_key_file


def test_the_first_epoch_is_made_once_and_found_again(tmp_path):
    wrapped = EpochKeys.in_folder(tmp_path, create=True).wrap(1, b"inner", b"row")
    again = EpochKeys.in_folder(tmp_path, create=True)
    assert again.current() == 1
    assert again.unwrap(1, wrapped, b"row") == b"inner"
    assert (tmp_path / "epoch-000001").stat().st_mode & 0o777 == 0o600


def test_without_an_epoch_key_nothing_starts(tmp_path):
    with pytest.raises(Unavailable):
        EpochKeys.in_folder(tmp_path)
    with pytest.raises(Unavailable):
        EpochKeys.in_folder(tmp_path / "missing", create=True)
    with pytest.raises(Unavailable):
        EpochKeys({})


def test_an_epoch_key_open_to_others_is_refused(tmp_path):
    create_key_file(tmp_path / "epoch-000001")
    (tmp_path / "epoch-000001").chmod(0o640)
    with pytest.raises(Unavailable):
        EpochKeys.in_folder(tmp_path)


def test_the_newest_epoch_wraps_and_a_destroyed_one_unwraps_nothing(tmp_path):
    first = EpochKeys.in_folder(tmp_path, create=True)
    old = first.wrap(1, b"inner", b"row")
    create_key_file(tmp_path / "epoch-000002")
    both = EpochKeys.in_folder(tmp_path)
    assert both.current() == 2
    assert both.unwrap(1, old, b"row") == b"inner"
    (tmp_path / "epoch-000001").unlink()
    with pytest.raises(Unavailable):
        EpochKeys.in_folder(tmp_path).unwrap(1, old, b"row")


def test_a_wrap_is_bound_to_its_epoch_and_context():
    key = secrets.token_bytes(32)
    epochs = EpochKeys({1: key, 2: key})
    wrapped = epochs.wrap(1, b"inner", b"row")
    for epoch, context in ((2, b"row"), (1, b"other"), (1, b"")):
        with pytest.raises(Tampered):
            epochs.unwrap(epoch, wrapped, context)


def test_other_files_in_the_folder_are_not_epoch_keys(tmp_path):
    (tmp_path / "epoch-1").write_bytes(b"short")
    (tmp_path / ".epoch-000009.half").write_bytes(b"half")
    assert EpochKeys.in_folder(tmp_path, create=True).current() == 1
