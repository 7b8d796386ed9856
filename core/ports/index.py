"""The vector index: it proposes points and is never believed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from core.model import Filter, Json
from core.ports.vectors import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One chunk of a memory in the index. Everything that names a thing is a keyed hash.

    Args:
        id: keyed hash of (tenant, owner, memory, chunk).
        vector: rotated under the owner's key, shape (dimension,).
        terms: blind lexical tokens and weights, for the sparse vector.
        payload: `tenant`, `owner`, `user`, `namespace`, `space`, `session`, `tags` as hex of keyed
            look-ups; `layer`, `kind`, `created` (epoch seconds), `expires` (epoch seconds or
            0), `confidence`, `version` as numbers or enums; `pointer` sealed.
    """

    id: UUID
    vector: Vector = field(repr=False)
    terms: Mapping[int, float] = field(repr=False)
    payload: Mapping[str, Json] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What one owner's search may see, in the index's own keyed words; made from a Scope.

    Args:
        tenant, owner: keyed look-ups; both are conditions of every call.
        user: keyed look-up of the person; None only for a `members` space.
        namespaces: keyed look-ups, or empty for a space.
        space: keyed look-up of the space, or None for what is in no space.
        vector: the query, rotated under this owner's key.
        terms: the query's blind tokens under this owner's key.
        now: epoch seconds; what expired by then is not proposed.
    """

    tenant: str
    owner: str
    user: str | None
    namespaces: tuple[str, ...]
    space: str | None
    vector: Vector = field(repr=False)
    terms: tuple[int, ...] = field(repr=False)
    where: Filter
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHit:
    """A point that the index proposes: its sealed pointer and its cosine to the query."""

    id: UUID
    pointer: str
    score: float


class Index(Protocol):
    """The vector index. Every method raises Unavailable when it cannot answer in time."""

    async def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        """Write points of one tenant; the same id is replaced."""
        ...

    async def remove(self, tenant: str, owner: str, ids: Sequence[UUID]) -> None:
        """Remove points of one owner."""
        ...

    async def search(
        self, reach: Reach, *, limit: int, also: Sequence[UUID] = ()
    ) -> list[IndexHit]:
        """Return the nearest points within `reach`, best first, and the score of each of `also`
        (proposed by other paths) that lies within it.
        """
        ...

    async def count(self, tenant: str, owner: str) -> int:
        """Return how many points one owner has."""
        ...

    async def empty(self) -> bool:
        """Return True when the index holds no point at all (new, or its folder was lost)."""
        ...

    async def ready(self) -> bool:
        """Return True when the index answers."""
        ...
