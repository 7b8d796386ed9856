"""`memwarden migrate` and `memwarden keygen`: what is done once, before servers start.

Rules this module keeps:
- Only this command connects as the owner of the record, and only to migrate.
- Keys are made where nobody else reads, and never over ones that are there.
"""

import asyncio
import os
import secrets
from pathlib import Path

from core.errors import Unavailable
from gateway.server.safety import refuse_unsafe
from gateway.settings import load


class _Nowhere:
    """A pepper for a credential of which nothing is kept here: `memwarden serve` registers it."""

    def pepper(self, version: int | None = None) -> tuple[int, bytes]:
        """Return one that is forgotten at once."""
        return version or 1, secrets.token_bytes(32)

    async def learn(self, version: int) -> None:
        """Learn nothing."""


def run(config: Path | None) -> tuple[int, int]:
    """Migrate the record and the key store; returns how many steps each took.

    Raises:
        SettingsInvalid: a setting is missing or unsafe.
        Unavailable: a database does not answer, or is not as an earlier release left it.
    """
    from gateway.parts import migrate  # noqa: PLC0415 - heavy

    settings = load(config)
    refuse_unsafe(settings, "migrate")
    owner, keys = settings.database_owner_url, settings.keystore_url
    if owner is None or keys is None:  # refused above; said once more for the types
        raise Unavailable
    return asyncio.run(migrate(owner.get_secret_value(), keys.get_secret_value()))


def keygen(folder: Path) -> list[str]:
    """Make the root key, the first epoch key and the operator's credential that are missing.

    Args:
        folder: made private when it is not there.

    Returns:
        The names of the files that were made.

    Raises:
        Unavailable: the folder does not take them.
    """
    from gateway.auth.keys import KeySmith  # noqa: PLC0415 - heavy
    from gateway.vault.kek import create_key_file  # noqa: PLC0415 - heavy

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as err:
        raise Unavailable("The folder cannot be made.") from err
    made = [name for name in ("root.key", "epoch-000001") if create_key_file(folder / name)]
    operator = folder / "operator"
    try:
        opened = os.open(operator, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return made
    except OSError as err:
        raise Unavailable("The folder takes no file.") from err
    with os.fdopen(opened, "w", encoding="ascii") as file:
        file.write(KeySmith(_Nowhere()).mint().credential)
    return [*made, "operator"]
