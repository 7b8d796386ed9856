"""Keys as objects that seal, open and blind; key bytes never pass this port."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from core.ids import MemoryId, TenantId
from core.model import Owner
from core.ports.vectors import Vectors

NIL = UUID(int=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an envelope stands; authenticated with it, so that moved ciphertext does not open.

    Args:
        record: id of the row; memories, recalls and replies have ids of their own.
        version: of the record, from 1.
        field: such as `content`, `details`, `vector.0`, `recall`, `reply`.
        namespace: of the memory; the nil UUID where none applies.
    """

    record: UUID
    version: int
    field: str
    namespace: UUID = NIL


class OwnerKeys(Protocol):
    """The keys of one owner, unwrapped for a short while. Every method is pure and fast."""

    owner: Owner

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """Return an envelope of `plaintext`, bound to the owner and to `place`."""
        ...

    def open(self, place: Place, envelope: bytes) -> bytes:
        """Return the plaintext. Raises: Tampered."""
        ...

    def digest(self, label: str, text: str) -> bytes:
        """Return the 32-byte keyed digest of `text` under `label` (deduplication)."""
        ...

    def blind(self, label: str, text: str) -> bytes:
        """Return the 16-byte keyed look-up value of `text` under `label` (tags, sessions)."""
        ...

    def terms(self, words: Sequence[str]) -> list[int]:
        """Return the signed 64-bit blind token of each word, in order."""
        ...

    def rotate(self, vectors: Vectors) -> Vectors:
        """Return `vectors`, shape (n, d), under the owner's orthogonal transform.

        Obfuscation, not encryption: inner products are kept to 1e-5.
        """
        ...


class TenantKeys(Protocol):
    """The keys of one tenant, unwrapped for a short while. Every method is pure and fast."""

    tenant: TenantId

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """Return an envelope of `plaintext`, bound to the tenant and to `place`."""
        ...

    def open(self, place: Place, envelope: bytes) -> bytes:
        """Return the plaintext. Raises: Tampered."""
        ...

    def blind(self, label: str, text: str) -> bytes:
        """Return the 16-byte keyed look-up value of `text` under `label` (users, namespaces)."""
        ...

    def word(self, label: str, value: str) -> str:
        """Return the keyed word, 32 hex digits, by which the index knows `value` under `label`."""
        ...

    def point_id(self, owner: Owner, memory: MemoryId, chunk: int) -> UUID:
        """Return the id of one point in the index: a keyed hash, so that none can be aimed at."""
        ...

    def seal_pointer(self, memory: MemoryId, version: int) -> str:
        """Return the sealed pointer that a point's payload carries."""
        ...

    def open_pointer(self, pointer: str) -> tuple[MemoryId, int]:
        """Return (memory, version). Raises: Tampered."""
        ...


class Keyring(Protocol):
    """Hands out keys; unwraps them from the key store and forgets them after `cache_seconds`."""

    async def tenant(self, tenant: TenantId) -> TenantKeys:
        """Return the tenant's keys. Raises: NotFound (no such tenant), Unavailable."""
        ...

    async def create_tenant(self, tenant: TenantId) -> TenantKeys:
        """Make the tenant's first key version. Raises: Conflict, Unavailable."""
        ...

    async def owner(self, owner: Owner) -> OwnerKeys | None:
        """Return the owner's keys, or None when it has none. Raises: Unavailable."""
        ...

    async def ensure_owner(self, owner: Owner) -> OwnerKeys:
        """Return the owner's keys, making the first version if there is none; safe under races.

        Raises: Unavailable.
        """
        ...

    async def destroy_owner(self, owner: Owner) -> int:
        """Destroy every version of an owner's keys that is not held; returns how many.

        A space without a person takes the keys of everybody in it along; one person's leave the
        others' as they are. Other processes forget them within `cache_seconds`.

        Raises: Unavailable.
        """
        ...
