"""What a call costs, and whose budgets pay for it.

Rules this module keeps:
- The costs stand in one table, and every action has one.
- A call pays from the budget of its tenant, its credential and the person it is about, all at once
  or not at all. A person's budget is touched by those alone who may act for that person.
- A call of no tenant or no credential is refused, not unlimited. The operator pays as a tenant of
  its own.
- Reading and putting quotas pays nothing that quotas could forbid: nobody locks themselves out.
- People are counted by keyed hashes.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from core.errors import Denied, Invalid, NotFound, Throttled
from core.ids import SYSTEM_TENANT, TenantId
from core.ports import Keyring
from core.ports.budgets import Charge, Counter, Left, Stored
from core.scope import WRITING, Action, Call, Principal, Role
from gateway.access.names import user_key
from gateway.gate import Tightest
from gateway.guard.identifiers import check_identifier
from gateway.quotas import NONE, Measure, QuotaBook, Quotas

_TWO = frozenset({Action.MEMORY_RECALL, Action.MEMORY_WRITE, Action.MEMORY_UPDATE})
COSTS: Mapping[Action, int] = MappingProxyType({each: 2 if each in _TWO else 1 for each in Action})
"""Units of a budget of requests: 2 for what embeds a text, 1 for anything else; each item of a
batch is a write of its own. A budget of writes counts each change of a memory as 1."""
MENDING = frozenset({Action.QUOTA_READ, Action.QUOTA_WRITE})
"""What a tenant's own quotas never stand in the way of, those that do not load included."""
MOST_TOLD = 4096

Kind = Literal["requests", "writes"]
_Limit = tuple[Literal["tenant", "key", "user"], str | bytes, Kind, int | None]


class Budgets:
    """The gateway's `Budget`.

    Args:
        counter: counts over all replicas.
        book: the tenants' own quotas.
        keyring: people are counted by keyed hashes.
        key_requests, key_writes: a minute, of a key whose tenant says nothing; 0 is unlimited.
    """

    def __init__(
        self,
        counter: Counter,
        book: QuotaBook,
        keyring: Keyring,
        *,
        key_requests: int = 0,
        key_writes: int = 0,
    ) -> None:
        self._counter = counter
        self._book = book
        self._keyring = keyring
        self._key_requests = key_requests or None
        self._key_writes = key_writes or None
        self._told: OrderedDict[str, Tightest] = OrderedDict()

    async def charge(
        self, call: Call, action: Action, *, units: int = 1, user_id: str | None = None
    ) -> None:
        """Spend what `action` costs, `units` times over.

        Args:
            user_id: the person it is about, as the caller named them; None for the one that the
                credential pins, if it does.

        Raises:
            Throttled: over a budget; nothing was spent.
            Denied: the call has no tenant or no credential to charge.
            Unavailable: the tenant's quotas cannot be read.
        """
        who = call.principal
        tenant = _payer(who)
        if units < 0:
            raise Denied(rule="no-budget")
        quotas = await self._quotas(who, action)
        person = await self._person(who, user_id) if quotas.users else None
        costs = {"requests": COSTS[action] * units, "writes": units if action in WRITING else 0}
        due = [
            Charge(tenant=tenant, of=of, subject=subject, kind=kind, limit=limit, units=costs[kind])
            for of, subject, kind, limit in self._limits(who, quotas, person)
            if limit is not None and costs[kind]
        ]
        if not due:
            return
        spent = await self._counter.spend(due)
        self._tell(call.request_id, due, spent.left)
        if spent.wait_seconds:
            raise Throttled(retry_after_seconds=spent.wait_seconds)

    async def concurrency(self, who: Principal, action: Action | None) -> int | None:
        """Return how many calls the tenant of `who` lets be open at once, or None.

        Args:
            action: what is asked; None while it is not known.

        Raises: Outdated, Unavailable.
        """
        return (await self._quotas(who, action)).tenant.get("concurrency")

    async def stored(self, who: Principal) -> Stored:
        """Return how many memories may be kept: by the caller, and by the tenant.

        Raises: Outdated, Unavailable.
        """
        quotas = await self._quotas(who, None)
        return Stored(
            author=quotas.of_key(who.key_id, "stored_memories"),
            tenant=quotas.tenant.get("stored_memories"),
        )

    def tightest(self, request_id: str) -> Tightest | None:
        """Return what the request's budgets have left, once; None when it was charged to none."""
        return self._told.pop(request_id, None)

    async def _quotas(self, who: Principal, action: Action | None) -> Quotas:
        if who.tenant is None or action in MENDING:
            return NONE
        return await self._book.read(who.tenant, who.standing.quotas)

    def _limits(self, who: Principal, quotas: Quotas, person: bytes | None) -> Iterator[_Limit]:
        """Give every budget that a call of `who` could have to pay from."""
        named: tuple[tuple[Kind, Measure, int | None], ...] = (
            ("requests", "requests_per_minute", self._key_requests),
            ("writes", "writes_per_minute", self._key_writes),
        )
        for kind, measure, otherwise in named:
            yield "key", who.key_id, kind, quotas.of_key(who.key_id, measure, otherwise)
            yield "tenant", b"", kind, quotas.tenant.get(measure)
            if person is not None:
                yield "user", person, kind, quotas.of_user(measure)

    async def _person(self, who: Principal, user_id: str | None) -> bytes | None:
        """Return the keyed hash of the person a call is about, if the caller may act for them."""
        named = who.pinned_user if user_id is None else user_id
        if named is None or who.tenant is None:
            return None
        if who.users is not None and named not in who.users:
            return None  # such a call is denied, and must not spend what is another's
        try:
            check_identifier("user_id", named)
            return user_key(await self._keyring.tenant(who.tenant), named)
        except (Invalid, NotFound):  # no such person can be, or the tenant is gone: denied later on
            return None

    def _tell(self, request_id: str, due: Sequence[Charge], left: Sequence[Left]) -> None:
        charge, least = min(zip(due, left, strict=True), key=lambda pair: pair[1].units)
        self._told[request_id] = Tightest(name=f"{charge.of}-{charge.kind}", left=least)
        while len(self._told) > MOST_TOLD:  # of callers who went away before their reply
            self._told.popitem(last=False)


def _payer(who: Principal) -> TenantId:
    tenant = SYSTEM_TENANT if Role.OPERATOR in who.roles else who.tenant
    if tenant is None or not who.key_id:
        raise Denied(rule="no-budget")
    return tenant
