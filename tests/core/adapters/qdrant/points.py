"""Points and searches for tests of the index, in keyed words of their own."""

import secrets
from collections.abc import Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.model import Filter, Json
from core.ports import Point, Reach

DIMENSION = 384
NOW = 1_750_000_000.0


def word() -> str:
    """Return a fresh keyed look-up, as the vault makes them: 32 hex digits."""
    return secrets.token_hex(16)


def direction(seed: int) -> NDArray[np.float32]:
    """Return a unit vector that depends on `seed` alone."""
    vector = np.random.default_rng(seed).standard_normal(DIMENSION)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def towards(seed: int, cosine: float) -> NDArray[np.float32]:
    """Return a unit vector whose cosine to `direction(seed)` is `cosine`."""
    goal, other = direction(seed), direction(seed + 1_000_003)
    across = other - (other @ goal) * goal
    across /= np.linalg.norm(across)
    return np.asarray(cosine * goal + np.sqrt(1 - cosine**2) * across, dtype=np.float32)


class Person:
    """One owner of one tenant, who writes points and searches them."""

    def __init__(self, tenant: str | None = None) -> None:
        self.tenant = tenant or word()
        self.owner = word()
        self.user = word()
        self.namespace = word()

    def point(
        self,
        vector: NDArray[np.float32] | None = None,
        *,
        id_: UUID | None = None,
        **payload: Json,
    ) -> Point:
        """Return a point of this person; `payload` overrides single fields."""
        return Point(
            id=id_ or UUID(bytes=secrets.token_bytes(16)),
            vector=direction(1) if vector is None else vector,
            terms={secrets.randbits(63) - 2**62: 1.0 for _ in range(4)},
            payload={
                "tenant": self.tenant,
                "owner": self.owner,
                "user": self.user,
                "namespace": self.namespace,
                "space": None,
                "session": None,
                "tags": [],
                "layer": "semantic",
                "kind": "fact",
                "created": NOW - 1000,
                "expires": 0,
                "confidence": 0.7,
                "version": 1,
                "pointer": secrets.token_urlsafe(40),
                **payload,
            },
        )

    def reach(
        self,
        vector: NDArray[np.float32] | None = None,
        *,
        namespaces: Sequence[str] | None = None,
        space: str | None = None,
        user: str | None = "",
        where: Filter | None = None,
        now: float = NOW,
    ) -> Reach:
        """Return a search of this person over its own namespace, in no space."""
        return Reach(
            tenant=self.tenant,
            owner=self.owner,
            user=self.user if user == "" else user,
            namespaces=(self.namespace,) if namespaces is None else tuple(namespaces),
            space=space,
            vector=direction(1) if vector is None else vector,
            terms=(),
            where=where or Filter(),
            now=now,
        )
