"""One good request for each route and each tool, from the lists that the gateway serves from.

A route or a tool that is added later and has no request here fails the tests that walk these lists.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from core.ids import new_uuid
from gateway.front.http import OPERATIONS
from gateway.front.tools import SPECS
from tests.house import House, key_body, rpc_headers
from tests.live.gateways import Agent

_PART = re.compile(r"{(\w+)}")
SPACE, SPARE_SPACE, MEMBER = "sample-space", "spare-space", "user:alice"
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
        for name in (SPACE, SPARE_SPACE):
            body = {"name": name, "audience": "members"}
            assert admin.call("POST", "/v1/admin/spaces", json=body).status_code == 201
        path = f"/v1/admin/spaces/{SPACE}/members/{quote(MEMBER, safe='')}"
        assert admin.call("PUT", path, json={"role": "writer"}).status_code == 200
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
    names: Callable[[Stage], dict[str, str]] = lambda _stage: {}
    json: dict[str, Any] | None = None
    params: dict[str, Any] = field(default_factory=dict)


def _operator(stage: Stage) -> Agent:
    return stage.house.operator


def _admin(stage: Stage) -> Agent:
    return stage.admin


def _agent(stage: Stage) -> Agent:
    return stage.agent


def _memory(stage: Stage) -> dict[str, str]:
    return {"id": stage.memory}


def _key(stage: Stage) -> dict[str, str]:
    return {"id": stage.key_id}


def _member(_stage: Stage) -> dict[str, str]:
    return {"name": SPACE, "member": MEMBER}


ALICE = {"user_id": "alice"}
SAMPLES: dict[str, Sample] = {
    "create_tenant": Sample(by=_operator, json={}),
    "list_tenants": Sample(by=_operator),
    "erase_tenant": Sample(by=_operator, names=lambda stage: {"id": stage.other_tenant}),
    "create_key": Sample(by=_admin, json=key_body(name="made by a sample")),
    "list_keys": Sample(by=_admin),
    "rotate_key": Sample(by=_admin, names=_key, json={}),
    "revoke_key": Sample(by=_admin, names=_key),
    "write_memory": Sample(by=_agent, json={"content": "she likes oolong"} | ALICE),
    "write_memories": Sample(by=_agent, json={"items": [{"content": "she likes cake"} | ALICE]}),
    "list_memories": Sample(by=_agent, params=ALICE),
    "get_memory": Sample(by=_agent, names=_memory, params=ALICE),
    "get_versions": Sample(by=_agent, names=_memory, params=ALICE),
    "change_memory": Sample(by=_agent, names=_memory, json={"content": "she drinks tea"} | ALICE),
    "forget_memory": Sample(by=_agent, names=_memory, params=ALICE),
    "reveal_memory": Sample(by=_agent, names=_memory, json={"purpose": "a ticket"} | ALICE),
    "recall": Sample(by=_agent, json={"query": "tea", "timeout_ms": 5000} | ALICE),
    "list_events": Sample(by=_agent),
    "create_space": Sample(by=_admin, json={"audience": "members"}),
    "list_spaces": Sample(by=_admin),
    "delete_space": Sample(by=_admin, names=lambda _: {"name": SPARE_SPACE}),
    "list_members": Sample(by=_admin, names=lambda _: {"name": SPACE}),
    "put_member": Sample(by=_admin, names=_member, json={"role": "reader"}),
    "remove_member": Sample(by=_admin, names=_member),
    "put_access_policy": Sample(by=_admin, json={"rules": []}),
    "get_access_policy": Sample(by=_admin),
    "explain_access": Sample(
        by=_admin, json={"roles": ["reader"], "action": "memory:item:read"} | ALICE
    ),
    "preview_guard": Sample(by=_admin, json={"content": "she likes oolong"}),
    "put_pii_policy": Sample(by=_admin, json={"profile": "balanced"}),
    "get_pii_policy": Sample(by=_admin),
    "put_secrets_policy": Sample(by=_admin, json={"rules": []}),
    "get_secrets_policy": Sample(by=_admin),
    "put_quotas": Sample(by=_admin, json={"keys": {"default": {"requests_per_minute": 100_000}}}),
    "get_quotas": Sample(by=_admin),
}

READS = frozenset(
    {"list_tenants", "list_keys", "list_memories", "get_memory", "get_versions", "recall",
     "list_events", "memory_search", "memory_get", "list_spaces", "list_members",
     "get_access_policy", "get_pii_policy", "get_secrets_policy", "explain_access",
     "preview_guard", "get_quotas", "reveal_memory"}
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


def sample_of(stage: Stage, name: str) -> dict[str, Any]:
    """Return the body or the arguments of the good request."""
    return TOOL_SAMPLES[name](stage) if name in SPECS else SAMPLES[name].json or {}


def ask_of(stage: Stage, name: str, **changed: Any) -> httpx.Response:
    """Send the good request of one route or tool.

    Args:
        changed: parts of the request that differ: `thing` (the last name in the path, or a tool's
            memory), `names` (parts of the path), `by` (who asks), `json`, `params`, `headers`,
            `meta`.
    """
    if name in SPECS:
        return ask_tool(stage, name, **changed)
    operation = next(each for each in OPERATIONS if each.name == name)
    sample = SAMPLES[name]
    names = sample.names(stage) | changed.get("names", {})
    for last in _PART.findall(operation.path)[-1:]:
        names[last] = changed.get("thing") or names.get(last, "")
    path = _PART.sub(lambda part: quote(names[part[1]], safe=""), operation.path)
    options: dict[str, Any] = {"headers": changed.get("headers", {})}
    if sample.json is not None:
        # A name of a tenant or of a space is taken once and for all.
        new = name in {"create_tenant", "create_space"}
        unique = {"name": f"sample {new_uuid()}"} if new else {}
        options["json"] = sample.json | unique | changed.get("json", {})
    if sample.params or changed.get("params"):
        options["params"] = sample.params | changed.get("params", {})
    by = changed.get("by") or sample.by(stage)
    return by.call(operation.method, path, **options)


def ask_tool(stage: Stage, name: str, **changed: Any) -> httpx.Response:
    arguments = TOOL_SAMPLES[name](stage) | changed.get("json", {})
    if changed.get("thing"):
        arguments["memory_id"] = changed["thing"]
    params: dict[str, Any] = {"name": name, "arguments": arguments}
    if "meta" in changed:
        params["_meta"] = changed["meta"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = rpc_headers() | changed.get("headers", {})
    by = changed.get("by") or stage.agent
    return by.call("POST", "/mcp", json=body, headers=headers)


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
