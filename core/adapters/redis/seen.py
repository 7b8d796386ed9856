"""Which proofs of possession were used, remembered where every replica looks.

Rules this module keeps:
- To ask is to remember, in one command: of two replicas that see one proof, one is first.
- No answer is no answer: a proof that cannot be remembered could be used again, so nothing is
  accepted while the server is away.

Source: RFC 9449, 11.1.
"""

from core.adapters.redis.connection import Away, Connection
from core.adapters.redis.keys import key
from core.errors import Unavailable
from core.ids import TenantId


class RedisSeenProofs:
    """Implements `gateway.auth.dpop.SeenProofs`. Belongs to one event loop.

    Args:
        url: of the server, see `Connection`.
        timeout_seconds: for one call.
    """

    def __init__(self, url: str, *, timeout_seconds: float = 0.25) -> None:
        self._server = Connection(url, timeout_seconds=timeout_seconds)

    async def first_use(self, tenant: TenantId, proof: bytes, *, seconds: int) -> bool:
        """Remember `proof` for `seconds`; tells whether it was not there before.

        Raises: Unavailable.
        """
        name = key("dpop", tenant, proof)
        try:
            return bool(
                await self._server.ask(self._server.redis.set(name, b"", nx=True, ex=seconds))
            )
        except Away as err:
            raise Unavailable from err

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()
