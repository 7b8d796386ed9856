"""One gateway that trusts an issuer, for all tests of tokens over the fronts."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.house import URL, House, open_house
from tests.identity.forging import World
from tests.identity.issuer import running_issuer
from tests.live.gateways import Agent


@dataclass
class Signed:
    """A gateway, the issuer that it trusts, and a tenant of both.

    Args:
        world: what a forger knows of them.
    """

    house: House
    world: World
    admin: Agent = field(repr=False)

    async def send(self, token: str, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request with a token; runs on the house's loop."""
        headers = {"Authorization": f"Bearer {token}"} | options.pop("headers", {})
        return await self.house.client.request(method, path, headers=headers, **options)

    def ask(self, token: str, method: str, path: str, **options: Any) -> httpx.Response:
        return self.house.run(self.send(token, method, path, **options))


@pytest.fixture(scope="session")
def signed() -> Iterator[Signed]:
    with running_issuer("RS256", "ES256", "EdDSA") as issuer, running_issuer() as hostile:
        issuer.audience = hostile.audience = f"{URL}/mcp"
        hostile.add_key("ES256", "ES256")
        hostile.add_key("EdDSA", "EdDSA")
        issuer.add_key("retired")
        issuer.retire("retired")
        # The audience is left to be what it is by default: where the gateway is reached.
        with open_house(issuers=[issuer.settings(audience=None)]) as house:
            admin = house.tenant()
            yield Signed(house, World(issuer, hostile, admin.tenant), admin)
