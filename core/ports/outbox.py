"""What the index still has to follow; ids and versions only, never text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.ids import MemoryId, NamespaceId, SpaceId, TenantId, UserId


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexTask:
    """One memory whose points must follow the record. Ids and versions only, never text.

    Args:
        task: the queue's own number.
        delete: True when the memory is gone and its points must go.
        chunks: how many points it had, for a removal.
    """

    task: int
    tenant: TenantId
    user: UserId
    namespace: NamespaceId
    space: SpaceId | None
    space_is_owner: bool
    memory: MemoryId
    version: int
    delete: bool
    chunks: int


class Outbox(Protocol):
    """The worker's side of the record: it lists ids, then mints one ordinary Scope an item."""

    async def lease(self, limit: int, seconds: int) -> list[IndexTask]:
        """Take at most `limit` tasks, oldest first; no other worker gets them for `seconds`."""
        ...

    async def done(self, tasks: Sequence[IndexTask]) -> None:
        """Remove finished tasks."""
        ...

    async def pending(self) -> int:
        """Return how many tasks wait."""
        ...

    async def requeue_all(self) -> int:
        """Queue every live memory again, for a rebuild of the index; returns how many."""
        ...
