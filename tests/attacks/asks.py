"""One good request for each route and each tool, from the lists that the gateway serves from.

A route or a tool that is added later and has no request here fails the tests that walk these lists.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from core.ids import new_uuid
from gateway.front.http import OPERATIONS
from gateway.front.tools import SPECS
from tests.house import House, key_body, rpc_headers
from tests.live.gateways import Agent

MISSING = "01900000-0000-7000-8000-000000000000"


@dataclass
class Stage:
    """A tenant with one of everything that a request may name."""

    house: House
    admin: Agent
    agent: Agent
    memory: str
    key_id: str
    other_tenant: str

    @classmethod
    def of(cls, house: House) -> "Stage":
        admin = house.tenant()
        agent = house.agent(admin, "alice")
        spare = admin.call("POST", "/v1/admin/keys", json=key_body(name="spare")).json()
        memory = agent.stored("she drinks green tea")
        return cls(house, admin, agent, memory, spare["id"], house.tenant().tenant)


@dataclass
class Ask:
    """A request that succeeds, and by whom."""

    name: str
    send: Callable[[], httpx.Response]
    changes: bool


@dataclass(kw_only=True)
class Sample:
    """How an operation is asked: by which credential, for which thing, with what."""

    by: Callable[[Stage], Agent]
    thing: Callable[[Stage], str] = lambda _stage: ""
    json: dict[str, Any] | None = None
    params: dict[str, Any] = field(default_factory=dict)


def _operator(stage: Stage) -> Agent:
    return stage.house.operator


def _admin(stage: Stage) -> Agent:
    return stage.admin


def _agent(stage: Stage) -> Agent:
    return stage.agent


def _memory(stage: Stage) -> str:
    return stage.memory


ALICE = {"user_id": "alice"}
SAMPLES: dict[str, Sample] = {
    "create_tenant": Sample(by=_operator, json={}),
    "list_tenants": Sample(by=_operator),
    "erase_tenant": Sample(by=_operator, thing=lambda stage: stage.other_tenant),
    "create_key": Sample(by=_admin, json=key_body(name="made by a sample")),
    "list_keys": Sample(by=_admin),
    "rotate_key": Sample(by=_admin, thing=lambda stage: stage.key_id, json={}),
    "revoke_key": Sample(by=_admin, thing=lambda stage: stage.key_id),
    "write_memory": Sample(by=_agent, json={"content": "she likes oolong"} | ALICE),
    "write_memories": Sample(by=_agent, json={"items": [{"content": "she likes cake"} | ALICE]}),
    "list_memories": Sample(by=_agent, params=ALICE),
    "get_memory": Sample(by=_agent, thing=_memory, params=ALICE),
    "get_versions": Sample(by=_agent, thing=_memory, params=ALICE),
    "change_memory": Sample(by=_agent, thing=_memory, json={"content": "she drinks tea"} | ALICE),
    "forget_memory": Sample(by=_agent, thing=_memory, params=ALICE),
    "recall": Sample(by=_agent, json={"query": "tea", "timeout_ms": 5000} | ALICE),
    "list_events": Sample(by=_agent),
}

READS = frozenset(
    {"list_tenants", "list_keys", "list_memories", "get_memory", "get_versions", "recall",
     "list_events", "memory_search", "memory_get"}
)  # fmt: skip

TOOL_SAMPLES: dict[str, Callable[[Stage], dict[str, Any]]] = {
    "memory_write": lambda _: {"content": "she likes jasmine"} | ALICE,
    "memory_write_batch": lambda _: {"items": [{"content": "she likes biscuits"} | ALICE]},
    "memory_search": lambda _: {"query": "tea"} | ALICE,
    "memory_get": lambda stage: {"memory_id": stage.memory} | ALICE,
    "memory_update": lambda stage: {"memory_id": stage.memory, "content": "black tea"} | ALICE,
    "memory_forget": lambda stage: {"memory_id": stage.memory} | ALICE,
}

NAMES = [*(operation.name for operation in OPERATIONS), *SPECS]


def ask_of(stage: Stage, name: str, **changed: Any) -> httpx.Response:
    """Send the good request of one route or tool.

    Args:
        changed: parts of the request that differ: `thing`, `json`, `params`, `headers`, `meta`.
    """
    if name in SPECS:
        return ask_tool(stage, name, **changed)
    operation = next(each for each in OPERATIONS if each.name == name)
    sample = SAMPLES[name]
    path = operation.path.replace("{id}", changed.get("thing") or sample.thing(stage))
    options: dict[str, Any] = {"headers": changed.get("headers", {})}
    if sample.json is not None:
        # A tenant's name is taken once and for all.
        unique = {"name": f"sample {new_uuid()}"} if name == "create_tenant" else {}
        options["json"] = sample.json | unique | changed.get("json", {})
    if sample.params or changed.get("params"):
        options["params"] = sample.params | changed.get("params", {})
    return sample.by(stage).call(operation.method, path, **options)


def ask_tool(stage: Stage, name: str, **changed: Any) -> httpx.Response:
    arguments = TOOL_SAMPLES[name](stage) | changed.get("json", {})
    if changed.get("thing"):
        arguments["memory_id"] = changed["thing"]
    params: dict[str, Any] = {"name": name, "arguments": arguments}
    if "meta" in changed:
        params["_meta"] = changed["meta"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = rpc_headers() | changed.get("headers", {})
    return stage.agent.call("POST", "/mcp", json=body, headers=headers)


def succeeded(reply: httpx.Response) -> bool:
    """Tell whether a route or a tool did what it was asked."""
    if reply.status_code not in (200, 201, 204):
        return False
    if reply.request.url.path == "/mcp":
        body = reply.json()
        if "result" not in body or body["result"].get("isError"):
            return False
        shown = body["result"]["structuredContent"]
    else:
        shown = reply.json() if reply.content else {}
    results = shown.get("results", [])
    return all("outcomes" in result for result in results)
