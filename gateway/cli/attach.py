"""Reaches the stores of an embedded gateway from beside it, whether it runs or not.

Rules this module keeps:
- The audit log is read as the sealing role, which sees audit events and nothing of anybody's
  memories. The verifying key and the anchor come from the keys folder, not from the database.
- A pepper is made in the key store alone, which no database role of the gateway can open.
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
from gateway.embedded.roles import KEY_KEEPER
from gateway.parts import ANCHOR, PUBLIC_KEY, SEAL, Connections
from gateway.settings import load, personal_folders
from gateway.vault.epochs import EpochKeys
from gateway.vault.kek import FileKek, Kek
from gateway.vault.keyring import KeyringService
from gateway.vault.keystore import PostgresKeyStore


async def verify(data: Path, keys: Path | None) -> Report:
    """Return whether the log of the gateway on `data` is whole.

    Raises:
        FolderUnusable, EngineFailed: there is no such gateway, or it does not start.
        Unavailable: its record does not answer.
    """
    async with _reached(data, keys, SEAL) as (url, keys_folder):
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


async def rotate_pepper(data: Path | None, keys: Path | None) -> int:
    """Make a new pepper of API keys; returns its version.

    Args:
        data: of an embedded gateway; None for the one that the settings name.

    Raises:
        FolderUnusable, EngineFailed: there is no such gateway, or it does not start.
        Conflict: another process rotates at this very moment.
        Unavailable: the key store or what wraps its keys does not answer.
    """
    kek: Kek
    async with contextlib.AsyncExitStack() as stack:
        if data is None:
            server = Connections.server(load())
            url, kek, epochs = server.keystore_url, server.kek, server.epochs
        else:
            reached = _reached(data, keys, KEY_KEEPER)
            url, folder = await stack.enter_async_context(reached)
            kek = FileKek(folder.path / "root.key")
            epochs = EpochKeys.in_folder(folder.path)
        store = await PostgresKeyStore.connect(url)
        stack.push_async_callback(store.close)
        return await KeyringService(store, kek, epochs).rotate_pepper()


@contextlib.asynccontextmanager
async def _reached(
    data: Path, keys: Path | None, role: str
) -> AsyncIterator[tuple[str, KeysFolder]]:
    """Give the URL at which `role` reaches its database, and the keys folder."""
    running = DataFolder.running(data)
    if running is not None and running.keys is not None and running.runtime is not None:
        folder = KeysFolder(running.keys)
        yield running_url(folder, running.runtime, role), folder
        return
    _folder_id(data)  # this is not the moment to make a new gateway
    async with EmbeddedEngines.start(
        data, keys, _places(), on_death=lambda _engine: None, with_edge=False
    ) as engines:
        yield engines.database_url(role), engines.keys


def _folder_id(data: Path) -> str:
    try:
        return (data / "id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeError) as err:
        raise FolderUnusable(f"{data} is not a Memwarden folder") from err


def _places() -> Places:
    return Places(**personal_folders())  # type: ignore[arg-type]  # home and tmp are never None
