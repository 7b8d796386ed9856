"""The gateway's fronts on real engines and a real socket."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import pytest

from tests.fronts.seats import Replica
from tests.fronts.seats import replica as open_replica
from tests.fronts.serving import serving
from tests.house import House
from tests.live.gateways import ALL_ROLES, Agent


@dataclass
class Served:
    """The shared gateway behind a socket, and credentials of every kind.

    Args:
        agent: every role a tenant has, for everybody.
    """

    url: str
    house: House
    operator: Agent
    agent: Agent = field(repr=False)


@pytest.fixture(scope="session")
def served(house: House) -> Iterator[Served]:
    up: asyncio.Queue[int] = asyncio.Queue()
    over = asyncio.Event()

    async def hold() -> None:
        async with serving(house.gateway.http) as port:
            await up.put(port)
            await over.wait()

    holding = asyncio.run_coroutine_threadsafe(hold(), house.loop)
    url = f"http://127.0.0.1:{house.run(up.get())}"
    with httpx.Client(base_url=url, timeout=60) as http:
        operator = Agent(http, house.gateway.operator_key, "operator")
        admin = house.tenant()
        key = house.agent(admin, roles=[*ALL_ROLES, "admin"], namespaces=["*"]).key
        yield Served(url, house, operator, Agent(http, key, admin.tenant, "alice"))
    house.loop.call_soon_threadsafe(over.set)
    holding.result(30)


@pytest.fixture(scope="session")
def replica(house: House) -> Iterator[Replica]:
    """One more replica of the shared gateway, entered by seats."""
    with open_replica(house) as opened:
        yield opened
