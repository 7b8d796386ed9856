"""Bounds on what one request and one tenant may take of this process.

Rules this module keeps:
- Time and memory of a request are bounded before it proves anything.
- A tenant that fills its own slots leaves the others theirs.
- Nothing waits for a slot: a full house is said at once, with a time to come back, so that the
  queue in front of what all tenants share is as long as their slots and no longer.
- A tenant's own bound makes it fewer, never more than the deployment gives each.
- What is left of a budget is said in the fields of the IETF draft; it names no key and no person.

Source: draft-ietf-httpapi-ratelimit-headers-10; REQUIREMENTS F7.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.errors import Throttled
from core.ids import TenantId
from core.ports.budgets import WINDOW_SECONDS
from gateway.gate import Tightest

KIB = 1024
MIB = 1024 * KIB

BODY_BYTES = MIB
BATCH_BODY_BYTES = 4 * MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a request may take, and how many a tenant may have open.

    Args:
        request_seconds: from the credential to the answer.
        body_seconds: until the whole body has arrived.
        requests_per_tenant: at once, in this process.
    """

    request_seconds: float = 30.0
    body_seconds: float = 10.0
    requests_per_tenant: int = 64


class Slots:
    """Counts the requests each tenant has open.

    Args:
        each: how many one tenant may have.
    """

    def __init__(self, each: int) -> None:
        self._each = each
        self._taken: Counter[TenantId | None] = Counter()

    @contextmanager
    def hold(self, tenant: TenantId | None, own: int | None = None) -> Iterator[None]:
        """Hold a slot of `tenant` (None: the operator's) inside the block.

        Args:
            own: how many the tenant wants to have itself; None for as many as there are.

        Raises: Throttled.
        """
        if self._taken[tenant] >= (self._each if own is None else min(self._each, own)):
            raise Throttled("Too many requests at once.")
        self._taken[tenant] += 1
        try:
            yield
        finally:
            self._taken[tenant] -= 1
            if not self._taken[tenant]:
                del self._taken[tenant]


def budget_headers(told: Tightest | None) -> list[tuple[bytes, bytes]]:
    """Return the headers that say what a budget has left; none where none was charged."""
    if told is None:
        return []
    policy = f'"{told.name}";q={told.left.limit};w={WINDOW_SECONDS}'
    left = f'"{told.name}";r={told.left.units};t={told.left.seconds}'
    return [(b"ratelimit-policy", policy.encode()), (b"ratelimit", left.encode())]
