"""How much a credential may spend in any minute, counted where every replica counts.

Rules this module keeps:
- A window slides in whole seconds: in any 60 seconds at most the limit is let through, never twice
  the limit around the turn of a minute.
- Check and charge are one script on the server, by the server's clock: replicas neither race nor
  need clocks that agree. A call is charged for all of its budgets or for none.
- No tenant, no budget: such a call is refused, not unlimited. The operator's tenant is the nil one.
- With no limit set nothing is asked, so nothing is waited for.
- When the server is away each replica counts by itself, and lets its share of the limit through.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.adapters.redis.connection import Away, Connection
from core.adapters.redis.keys import key
from core.errors import Denied, Throttled
from core.ids import SYSTEM_TENANT
from core.scope import WRITING, Action, Call, Role

WINDOW_SECONDS = 60
_MOST_LOCAL = 10_000
_SCRIPT = """
local now = tonumber(redis.call('TIME')[1])
local window = tonumber(ARGV[1])
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
  if spent + units > limit then
    table.sort(seconds, function(a, b) return a[1] < b[1] end)
    for _, entry in ipairs(seconds) do
      spent = spent - entry[2]
      if spent + units <= limit then return entry[1] + window + 1 - now end
    end
    return window
  end
end
for i, key in ipairs(KEYS) do
  redis.call('HINCRBY', key, now, ARGV[2 * i + 1])
  redis.call('EXPIRE', key, window + 2)
end
return 0
"""
"""KEYS: one a budget. ARGV: the window, then limit and units of each. Returns 0 when all were
charged, else the seconds until the first that is short has room again."""


@dataclass(frozen=True, slots=True)
class _Cost:
    """What one call costs of one budget."""

    key: bytes
    limit: int
    units: int


class RedisBudget:
    """The gateway's `Budget` over Redis. Belongs to one event loop.

    Args:
        url: of the server, see `Connection`.
        requests_per_minute, writes_per_minute: of one credential; 0 is unlimited.
        replicas: how many gateways share the limits, for when the server is away.
        timeout_seconds: for one call; longer than the cache's, since counting apart lets more in.
        monotonic: the clock of the local count, in seconds.
    """

    def __init__(
        self,
        url: str,
        *,
        requests_per_minute: int = 0,
        writes_per_minute: int = 0,
        replicas: int = 1,
        timeout_seconds: float = 0.25,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = Connection(url, timeout_seconds=timeout_seconds)
        self._script = self._server.redis.register_script(_SCRIPT)
        self._requests = requests_per_minute
        self._writes = writes_per_minute
        self._replicas = max(1, replicas)
        self._local = _LocalCount(monotonic)

    async def charge(self, call: Call, action: Action, *, units: int = 1) -> None:
        """Spend one request, and `units` writes if `action` writes.

        Raises:
            Throttled: over a budget; nothing was spent.
            Denied: the call has no tenant or no credential to charge.
        """
        costs = self._costs(call, action, units)
        if not costs:
            return
        try:
            arguments: list[int] = [WINDOW_SECONDS]
            for cost in costs:
                arguments += [cost.limit, cost.units]
            running = self._script(keys=[cost.key for cost in costs], args=arguments)
            wait = int(await self._server.ask(running))
        except Away:
            shares = [
                _Cost(cost.key, max(1, cost.limit // self._replicas), cost.units) for cost in costs
            ]
            wait = self._local.charge(shares)
        if wait:
            raise Throttled(retry_after_seconds=wait)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    def _costs(self, call: Call, action: Action, units: int) -> list[_Cost]:
        who = call.principal
        tenant = SYSTEM_TENANT if Role.OPERATOR in who.roles else who.tenant
        if tenant is None or not who.key_id or units < 0:
            raise Denied(rule="no-budget")
        costs = []
        if self._requests:
            costs.append(_Cost(key("budget", tenant, who.key_id, "requests"), self._requests, 1))
        if self._writes and units and action in WRITING:
            costs.append(_Cost(key("budget", tenant, who.key_id, "writes"), self._writes, units))
        return costs


class _LocalCount:
    """The same count in this process alone."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._spent: dict[bytes, dict[int, int]] = {}

    def charge(self, costs: Sequence[_Cost]) -> int:
        """Return 0 when all were charged, else the seconds to wait."""
        now = int(self._monotonic())
        for cost in costs:
            seconds = self._seconds(cost.key, now)
            spent = sum(seconds.values())
            if spent + cost.units <= cost.limit:
                continue
            for second in sorted(seconds):
                spent -= seconds[second]
                if spent + cost.units <= cost.limit:
                    return second + WINDOW_SECONDS + 1 - now
            return WINDOW_SECONDS
        if len(self._spent) + len(costs) > _MOST_LOCAL and not self._forget(now):
            return WINDOW_SECONDS  # to forget a count would be to lift a limit
        for cost in costs:
            seconds = self._spent.setdefault(cost.key, {})
            seconds[now] = seconds.get(now, 0) + cost.units
        return 0

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
