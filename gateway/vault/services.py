"""Secrets of the deployment itself: API keys' peppers, the audit log's keys.

Rules this module keeps:
- They are random and independent of every other key, so that rotating the root voids none of them.
- The newest version is for what is made now; older ones are for what was made before.
"""

from collections.abc import Mapping

from core.errors import Unavailable
from gateway.vault.secret import Secret


class ServiceSecrets:
    """Every version of one service secret, unwrapped.

    Args:
        versions: by number; at least one.
    """

    __slots__ = ("_versions",)

    def __init__(self, versions: Mapping[int, Secret]) -> None:
        self._versions = versions

    @property
    def versions(self) -> frozenset[int]:
        """The numbers of the versions here."""
        return frozenset(self._versions)

    @property
    def newest(self) -> Secret:
        """The version for what is made now."""
        return self._versions[max(self._versions)]

    def pepper(self, version: int | None = None) -> tuple[int, bytes]:
        """Return (version, 32 bytes); None asks for the newest.

        Raises:
            Unavailable: there is no such version here.
        """
        number = max(self._versions) if version is None else version
        try:
            return number, bytes(self._versions[number].value)
        except KeyError as err:
            raise Unavailable("A version of a service secret is not here.") from err
