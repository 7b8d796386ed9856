"""One owner's keys, unwrapped: seals, opens, blinds and rotates.

Rules this module keeps:
- The newest version seals; every version that is not destroyed opens.
- An owner's secrets are two: the DEK, new with each version, and the look-up secret, kept as long
  as the owner lives so that look-up values outlast a rotation, and destroyed with it.
- A space whose members are people has a look-up secret and no DEK: it looks up, and seals and opens
  nothing. What it keeps about one person is sealed under a DEK of (space, person), which goes with
  that person and leaves the others' memories.
- No key seals more than 2^32 times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.errors import Tampered, Unavailable
from core.model import Owner
from core.ports.keys import Place
from core.ports.vectors import Vectors
from gateway.vault.blinding import BLIND_BYTES, Blinder
from gateway.vault.envelope import OwnerKind, RecordSeal, Versions, identity, versions_of
from gateway.vault.labels import Label, lookup
from gateway.vault.rotation import Rotation
from gateway.vault.rows import OwnerVersion
from gateway.vault.secret import SECRET_BYTES, Secret

OWNER_SECRET_BYTES = 2 * SECRET_BYTES
MOST_SEALS = (
    2**32
)  # NIST SP 800-38D, 8.3, for random nonces; each envelope has its own subkey besides
_RECORD = (Label.OWNER_RECORD_KEY, Label.OWNER_RECORD_COMMITMENT)


class SealCount:
    """How often one key version sealed.

    Args:
        key: whose.
        total: as far as is known: the store's count and this process's own.
        dirty: counts not yet written down; this one puts itself there.
    """

    __slots__ = ("__weakref__", "_dirty", "key", "pending", "total")

    def __init__(
        self, key: OwnerVersion, total: int, dirty: dict[OwnerVersion, "SealCount"]
    ) -> None:
        self.key = key
        self.total = total
        self.pending = 0
        self._dirty = dirty

    def add(self) -> None:
        """Count one. Raises: Unavailable (worn out)."""
        if self.total >= MOST_SEALS:
            raise Unavailable("A key has sealed as often as it may.")
        self.total += 1
        self.pending += 1
        self._dirty[self.key] = self

    def take(self) -> int:
        """Return how many are not written down, and hold them for written."""
        taken, self.pending = self.pending, 0
        return taken

    def put_back(self, number: int) -> None:
        """Take back what could not be written down."""
        self.pending += number
        self._dirty[self.key] = self


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerVersionKey:
    """One unwrapped version: the DEK, and which keys stand above it."""

    dek: Secret = field(repr=False)
    versions: Versions


class UnwrappedOwnerKeys:
    """Implements `core.ports.OwnerKeys`.

    Args:
        owner: whose.
        keys: every version that opens, by number.
        lookup_secret: parent of everything but envelopes.
        current: the version that seals; None when none does.
        count: of the current version; None when none seals.
    """

    __slots__ = ("_blinder", "_count", "_current", "_lookup", "_rotations", "_seals", "owner")

    def __init__(
        self,
        owner: Owner,
        keys: Mapping[int, OwnerVersionKey],
        lookup_secret: Secret,
        current: int | None,
        count: SealCount | None,
    ) -> None:
        self.owner = owner
        kind = OwnerKind.SPACE if owner.is_space else OwnerKind.USER
        whose = identity(owner.tenant, kind, owner.id, owner.person)
        self._seals = {
            version: RecordSeal(key.dek, _RECORD, whose, key.versions)
            for version, key in keys.items()
        }
        self._current = current
        self._count = count
        self._lookup = lookup_secret
        self._blinder = Blinder(lookup_secret)
        self._rotations: dict[int, Rotation] = {}

    @property
    def lookup_secret(self) -> Secret:
        """Parent of the look-ups; the keyring alone asks, for the people of a space."""
        return self._lookup

    def seal(self, place: Place, plaintext: bytes) -> bytes:
        """Return an envelope bound to the owner and to `place`.

        Raises:
            Unavailable: worn out, or there is no version that seals; a space without a person has
                none.
        """
        if self._current is None or self._count is None:
            raise Unavailable("These keys do not seal.")
        self._count.add()
        return self._seals[self._current].seal(place, plaintext)

    def open(self, place: Place, envelope: bytes) -> bytes:
        """Return the plaintext. Raises: Tampered."""
        seal = self._seals.get(versions_of(envelope).owner)
        if seal is None:
            raise Tampered
        return seal.open(place, envelope)

    def digest(self, label: str, text: str) -> bytes:
        """Return the 32-byte keyed digest of `text`. Raises: LookupError (no such label)."""
        return self._blinder.text(lookup("owner", "digest", label), text)

    def blind(self, label: str, text: str) -> bytes:
        """Return the 16-byte look-up value of `text`. Raises: LookupError (no such label)."""
        return self._blinder.text(lookup("owner", "blind", label), text)[:BLIND_BYTES]

    def terms(self, words: Sequence[str]) -> list[int]:
        """Return the signed 64-bit blind token of each word, in order."""
        return self._blinder.terms(Label.OWNER_TERMS, words)

    def rotate(self, vectors: Vectors) -> Vectors:
        """Return `vectors`, shape (n, d), under the owner's transform; inner products kept."""
        dimension = vectors.shape[1]
        rotation = self._rotations.get(dimension)
        if rotation is None:
            rotation = self._rotations[dimension] = Rotation(self._lookup, dimension)
        return rotation.apply(vectors)
