"""Counting what is spent, in one place for every replica."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from core.ids import TenantId

WINDOW_SECONDS = 60
"""A budget is for any 60 seconds in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What one call costs of one budget.

    Args:
        of: whose budget it is.
        subject: which one: empty for the tenant's, a credential's id, a person's keyed hash.
        kind: what is counted.
        limit: how much the window holds; 0 holds nothing.
        units: how much is spent.
    """

    tenant: TenantId
    of: Literal["tenant", "key", "user"]
    subject: str | bytes = field(repr=False)
    kind: Literal["requests", "writes"]
    limit: int
    units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """How one budget stands after a call.

    Args:
        units: may still be spent, in `seconds` seconds; then some more come back.
    """

    limit: int
    units: int
    seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What became of a call's charges: all were made, or none.

    Args:
        wait_seconds: 0 when they were made, else how long until every budget has room.
        left: one entry a charge, in order.
    """

    wait_seconds: int
    left: Sequence[Left]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """How many live memories may be kept; None is any number.

    Args:
        author: by whoever writes.
        tenant: in the tenant, by all together.
    """

    author: int | None = None
    tenant: int | None = None


ANY_NUMBER = Stored()


class Counter(Protocol):
    """Counts what is spent, exactly, over all replicas."""

    async def spend(self, charges: Sequence[Charge]) -> Spent:
        """Spend all of `charges`, or none when one of them is over its limit.

        Raises:
            Denied: a charge has no tenant, no subject where one is due, or negative units.
        """
        ...
