"""Reads an embedded gateway's audit log from beside it, whether it runs or not.

Rules this module keeps:
- It connects as the sealing role, which sees audit events and nothing of anybody's memories.
- The verifying key and the anchor come from the keys folder, not from the database.
"""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from gateway.app import open_seal_store
from gateway.audit.live import verify_live
from gateway.audit.verify import Report, read_public_key
from gateway.embedded.engines import EmbeddedEngines
from gateway.embedded.folder import DataFolder, FolderUnusable
from gateway.embedded.keys import KeysFolder
from gateway.embedded.places import Places
from gateway.embedded.postgres import running_url
from gateway.parts import ANCHOR, PUBLIC_KEY, SEAL
from gateway.settings import personal_folders


async def verify(data: Path, keys: Path | None) -> Report:
    """Return whether the log of the gateway on `data` is whole.

    Raises:
        FolderUnusable, EngineFailed: there is no such gateway, or it does not start.
        Unavailable: its record does not answer.
    """
    async with _reached(data, keys) as (url, keys_folder):
        pem = keys_folder.read(PUBLIC_KEY)
        if pem is None:
            raise FolderUnusable("the keys folder holds no public key of the audit log")
        async with open_seal_store(url) as store:
            return await verify_live(store, [read_public_key(pem)], keys_folder.path / ANCHOR)


def public_key(data: Path, keys: Path | None) -> bytes | None:
    """Return the PEM of the key that signs the log's heads, or None before the first start.

    Raises:
        FolderUnusable: the folder is not a gateway's.
    """
    running = DataFolder.running(data)
    if running is not None and running.keys is not None:
        return KeysFolder(running.keys).read(PUBLIC_KEY)
    folder = keys or _places().keys_of(_folder_id(data))
    return KeysFolder(folder).read(PUBLIC_KEY) if folder.is_dir() else None


@contextlib.asynccontextmanager
async def _reached(data: Path, keys: Path | None) -> AsyncIterator[tuple[str, KeysFolder]]:
    running = DataFolder.running(data)
    if running is not None and running.keys is not None and running.runtime is not None:
        folder = KeysFolder(running.keys)
        yield running_url(folder, running.runtime, SEAL), folder
        return
    _folder_id(data)  # an audit is not the moment to make a new gateway
    async with EmbeddedEngines.start(
        data, keys, _places(), on_death=lambda _engine: None, with_edge=False
    ) as engines:
        yield engines.database_url(SEAL), engines.keys


def _folder_id(data: Path) -> str:
    try:
        return (data / "id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeError) as err:
        raise FolderUnusable(f"{data} is not a Memwarden folder") from err


def _places() -> Places:
    return Places(**personal_folders())  # type: ignore[arg-type]  # home and tmp are never None
