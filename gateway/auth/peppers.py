"""The peppers of API keys as this process knows them, kept up with what other processes make.

Rules this module keeps:
- Looking one up never waits: a verification takes the same time whatever it verifies.
- A version that is not known is fetched when a key needs it, and newer ones are looked for from
  time to time, so that a rotation needs no restart.
- A version once known stays, since the keys hashed under it would prove nothing without it.
"""

from typing import Protocol, Self

from gateway.vault.services import ServiceSecrets


class PepperStore(Protocol):
    """Whoever unwraps peppers; `KeyringService` is one."""

    async def peppers(self) -> ServiceSecrets:
        """Return every version, as of some minutes ago at the oldest. Raises: Unavailable."""
        ...

    async def pepper(self, version: int | None = None) -> tuple[int, bytes]:
        """Return one version, fetched anew if need be. Raises: Unavailable."""
        ...


class LivePeppers:
    """`gateway.auth.keys.Peppers` over the key store.

    Args:
        store: unwraps them.
        known: the versions to begin with.
    """

    def __init__(self, store: PepperStore, known: ServiceSecrets) -> None:
        self._store = store
        self._known = known

    @classmethod
    async def open(cls, store: PepperStore) -> Self:
        """Return the peppers of a deployment; the first is made here. Raises: Unavailable."""
        return cls(store, await store.peppers())

    def pepper(self, version: int | None = None) -> tuple[int, bytes]:
        """Return (version, 32 bytes); None asks for the newest known. Raises: Unavailable."""
        return self._known.pepper(version)

    async def learn(self, version: int) -> None:
        """Fetch a version that another process made since. Raises: Unavailable (none such too)."""
        await self._store.pepper(version)
        await self.refresh()

    async def refresh(self) -> None:
        """Look for versions that other processes made. Raises: Unavailable."""
        self._known = await self._store.peppers()
