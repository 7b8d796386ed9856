"""Nothing reaches a point without naming tenant and owner, over either transport.

The witnesses stand between the adapter and the engine and judge by themselves: they read the
requests, not the code that makes them.
"""

import asyncio
import contextlib
import inspect
import json
from pathlib import Path
from typing import Any, Self

import pytest

from core.adapters.qdrant.edge import EdgeIndex
from core.adapters.qdrant.server import ServerIndex
from core.ports import Index
from tests.core.adapters.qdrant.edge_process import EdgeProcess
from tests.core.adapters.qdrant.points import Person
from tests.core.adapters.qdrant.rest_double import RestDouble

pytestmark = pytest.mark.requirement("C6")

POINTLESS = {"ping", "info"}  # read no point: whether it answers, whether it is empty


def names_both(where: Any, person: Person) -> bool:
    """Tell whether a filter asks, unconditionally, for exactly this tenant and this owner."""
    must = where.get("must", []) if isinstance(where, dict) else []
    exact = [c for c in must if isinstance(c, dict) and c.get("key") in ("tenant", "owner")]
    found = [(c["key"], (c.get("match") or {}).get("value")) for c in exact]
    return sorted(found) == [("owner", person.owner), ("tenant", person.tenant)]


class Witness:
    """A socket before the index's own that lets through only calls that name both."""

    def __init__(self, path: Path, behind: Path, person: Person) -> None:
        self.path, self._behind, self._person = path, behind, person
        self.seen: list[str] = []
        self.refused: list[str] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._pass_on, self.path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _pass_on(self, reader, writer) -> None:
        inner_reader, inner_writer = await asyncio.open_unix_connection(self._behind)
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = await reader.readexactly(4)
                body = await reader.readexactly(int.from_bytes(head))
                ask = json.loads(body)
                self.seen.append(ask["op"])
                if ask["op"] not in POINTLESS and not names_both(ask.get("filter"), self._person):
                    self.refused.append(ask["op"])
                    break
                inner_writer.write(head + body)
                head = await inner_reader.readexactly(4)
                writer.write(head + await inner_reader.readexactly(int.from_bytes(head)))
                await writer.drain()
        inner_writer.close()
        writer.close()


async def every_method(index: Index, person: Person) -> None:
    """Call each method of the port once; fails when the port has one that is not called here."""
    point = person.point()
    calls = {
        "upsert": lambda: index.upsert(person.tenant, [point]),
        "search": lambda: index.search(person.reach(), limit=3, also=[point.id]),
        "count": lambda: index.count(person.tenant, person.owner),
        "remove": lambda: index.remove(person.tenant, person.owner, [point.id]),
        "empty": index.empty,
        "ready": index.ready,
    }
    methods = {name for name, _ in inspect.getmembers(Index, inspect.isfunction)}
    assert {name for name in methods if not name.startswith("_")} == set(calls)
    for call in calls.values():
        await call()


async def test_every_call_to_the_embedded_index_names_tenant_and_owner():
    person = Person()
    with EdgeProcess() as process:
        async with Witness(process.folder / "w", process.socket, person) as witness:
            index = EdgeIndex(witness.path)
            await every_method(index, person)
            await index.aclose()
    assert witness.refused == []
    assert set(witness.seen) - POINTLESS == {"upsert", "search", "count", "remove"}


async def test_every_request_to_a_server_names_tenant_and_owner():
    person, double = Person(), RestDouble()
    index = ServerIndex("http://q.test", api_key=None, model="m", transport=double.transport)
    await index.prepare()
    double.requests.clear()
    await every_method(index, person)
    await index.aclose()
    touching = [(path, body) for _, path, body in double.requests if "/points" in path]
    assert {path.rpartition("/points")[2] for path, _ in touching} == {
        "",
        "/query/batch",
        "/count",
        "/delete",
    }
    for path, body in touching:
        asks = body["searches"] if path.endswith("/batch") else [body]
        for ask in asks:
            assert names_both(ask.get("filter") or ask.get("update_filter"), person), path
    for _, path, body in double.requests:
        if "/points" not in path:
            assert body == {}, path  # a question about the collection, with no point in it


def test_the_witness_sees_what_is_missing():
    person = Person()
    tenant = {"key": "tenant", "match": {"value": person.tenant}}
    owner = {"key": "owner", "match": {"value": person.owner}}
    assert names_both({"must": [tenant, owner]}, person)
    assert not names_both({"must": [tenant]}, person)
    assert not names_both({"should": [tenant, owner]}, person)
    assert not names_both({"must": [tenant, {"key": "owner", "match": {"any": ["x"]}}]}, person)
    assert not names_both(None, person)
