"""How much may be spent in any minute, counted where every replica counts.

Rules this module keeps:
- A window slides in whole seconds: in any 60 seconds at most the limit is let through, never twice
  the limit around the turn of a minute.
- Check and charge are one script on the server, by the server's clock: replicas neither race nor
  need clocks that agree. A call is charged for all of its budgets or for none.
- No tenant, no budget: such a call is refused, not unlimited. The operator's tenant is the nil one.
- What is counted hangs from whose it is, not from how much it may be: who gets another limit does
  not get what was spent back.
- When the server is away each replica counts by itself, and lets its share of the limit through.
"""

import time
from collections.abc import Callable, Sequence
from uuid import UUID

from core.adapters.redis.connection import Away, Connection
from core.adapters.redis.keys import key
from core.errors import Denied
from core.ports.budgets import WINDOW_SECONDS, Charge, Left, Spent

_MOST_LOCAL = 10_000
_SCRIPT = """
local now = tonumber(redis.call('TIME')[1])
local window = tonumber(ARGV[1])
local wait, told = 0, {}
for i, key in ipairs(KEYS) do
  local limit, units = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local spent, seconds, old = 0, {}, {}
  local counts = redis.call('HGETALL', key)
  for j = 1, #counts, 2 do
    local second = tonumber(counts[j])
    if second < now - window then
      old[#old + 1] = counts[j]
    else
      spent = spent + tonumber(counts[j + 1])
      seconds[#seconds + 1] = {second, tonumber(counts[j + 1])}
    end
  end
  if #old > 0 then redis.call('HDEL', key, unpack(old)) end
  table.sort(seconds, function(a, b) return a[1] < b[1] end)
  local oldest = seconds[1] and seconds[1][1] or now
  told[#told + 1], told[#told + 2] = spent, oldest + window + 1 - now
  if spent + units > limit then
    local until_room = window
    for _, entry in ipairs(seconds) do
      spent = spent - entry[2]
      if spent + units <= limit then until_room = entry[1] + window + 1 - now break end
    end
    wait = math.max(wait, until_room)
  end
end
if wait == 0 then
  for i, key in ipairs(KEYS) do
    redis.call('HINCRBY', key, now, ARGV[2 * i + 1])
    redis.call('EXPIRE', key, window + 2)
    told[2 * i - 1] = told[2 * i - 1] + tonumber(ARGV[2 * i + 1])
  end
end
return {wait, unpack(told)}
"""
"""KEYS: one a budget. ARGV: the window, then limit and units of each. Returns 0 when all were
charged, else the seconds until all have room again; then, of each, what is spent of it and the
seconds until some of that comes back."""


class RedisBudget:
    """`core.ports.budgets.Counter` over Redis. Belongs to one event loop.

    Args:
        url: of the server, see `Connection`.
        replicas: how many gateways share the limits, for when the server is away.
        timeout_seconds: for one call; longer than the cache's, since counting apart lets more in.
        monotonic: the clock of the local count, in seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        replicas: int = 1,
        timeout_seconds: float = 0.25,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = Connection(url, timeout_seconds=timeout_seconds)
        self._script = self._server.redis.register_script(_SCRIPT)
        self._replicas = max(1, replicas)
        self._local = _LocalCount(monotonic)

    async def spend(self, charges: Sequence[Charge]) -> Spent:
        """Spend all of `charges`, or none. Raises: Denied (a charge that is nobody's)."""
        if not charges:
            return Spent(wait_seconds=0, left=())
        names = [_name(charge) for charge in charges]
        arguments: list[int] = [WINDOW_SECONDS]
        for charge in charges:
            arguments += [charge.limit, charge.units]
        try:
            told = await self._server.ask(self._script(keys=names, args=arguments))
            wait, *rest = map(int, told)
            limits = [charge.limit for charge in charges]
        except Away:
            limits = [self._share(charge.limit) for charge in charges]
            costs = [
                (name, limit, charge.units)
                for name, limit, charge in zip(names, limits, charges, strict=True)
            ]
            wait, *rest = self._local.charge(costs)
        left = tuple(
            Left(limit=limit, units=max(0, limit - spent), seconds=max(1, seconds))
            for limit, spent, seconds in zip(limits, rest[::2], rest[1::2], strict=True)
        )
        return Spent(wait_seconds=wait, left=left)

    def _share(self, limit: int) -> int:
        # A replica lets one through where all of them would let fewer: a limit is no outage.
        return max(1, limit // self._replicas) if limit else 0

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()


def _name(charge: Charge) -> bytes:
    tenant: object = charge.tenant  # what a type promises is checked here all the same
    whole = isinstance(tenant, UUID) and (charge.of == "tenant" or bool(charge.subject))
    if not whole or charge.units < 0 or charge.limit < 0:
        raise Denied(rule="no-budget")
    return key("budget", charge.tenant, charge.of, charge.subject, charge.kind)


class _LocalCount:
    """The same count in this process alone."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._spent: dict[bytes, dict[int, int]] = {}

    def charge(self, costs: Sequence[tuple[bytes, int, int]]) -> list[int]:
        """Charge (name, limit, units) of each; returns what the script does."""
        now = int(self._monotonic())
        wait, told = 0, []
        for name, limit, units in costs:
            seconds = self._seconds(name, now)
            spent = sum(seconds.values())
            told += [spent, min(seconds, default=now) + WINDOW_SECONDS + 1 - now]
            if spent + units > limit:
                wait = max(wait, self._until_room(seconds, limit - units, now))
        if not wait and len(self._spent) + len(costs) > _MOST_LOCAL and not self._forget(now):
            wait = WINDOW_SECONDS  # to forget a count would be to lift a limit
        if not wait:
            for number, (name, _, units) in enumerate(costs):
                seconds = self._spent.setdefault(name, {})
                seconds[now] = seconds.get(now, 0) + units
                told[2 * number] += units
        return [wait, *told]

    def _until_room(self, seconds: dict[int, int], room: int, now: int) -> int:
        spent = sum(seconds.values())
        for second in sorted(seconds):
            spent -= seconds[second]
            if spent <= room:
                return second + WINDOW_SECONDS + 1 - now
        return WINDOW_SECONDS

    def _seconds(self, name: bytes, now: int) -> dict[int, int]:
        kept = {
            second: units
            for second, units in self._spent.get(name, {}).items()
            if second >= now - WINDOW_SECONDS
        }
        if name in self._spent:
            self._spent[name] = kept
        return kept

    def _forget(self, now: int) -> bool:
        """Drop counts that are over; tells whether there is room again."""
        for name in [name for name in self._spent if not self._seconds(name, now)]:
            del self._spent[name]
        return len(self._spent) < _MOST_LOCAL
