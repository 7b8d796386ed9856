"""The tools over MCP: who sees which, what they take, and what a failure says."""

import json
from typing import Any

import httpx
import jsonschema
import pytest

from tests.house import PROTOCOL, House, rpc_headers
from tests.live.gateways import Agent

ALL = [
    "memory_write",
    "memory_write_batch",
    "memory_search",
    "memory_get",
    "memory_update",
    "memory_forget",
]
MODERN = "2026-07-28"


def listed(house: House, agent: Agent) -> list[dict[str, Any]]:
    reply = house.rpc(agent, "tools/list", {})
    assert reply.status_code == 200, reply.text
    tools: list[dict[str, Any]] = reply.json()["result"]["tools"]
    return tools


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in result["content"])


@pytest.mark.parametrize(
    ("roles", "names"),
    [
        (["reader", "writer", "curator"], ALL),
        (["reader"], ["memory_search", "memory_get"]),
        (["writer"], ["memory_write", "memory_write_batch"]),
        (["curator"], ["memory_update", "memory_forget"]),
        (["auditor"], []),
    ],
)
def test_a_credential_is_shown_only_what_it_may_call(
    house: House, roles: list[str], names: list[str]
) -> None:
    assert [tool["name"] for tool in listed(house, house.someone(roles=roles))] == names


def test_what_is_not_shown_may_not_be_called_either(house: House) -> None:
    reader = house.someone(roles=["reader"])
    result = house.tool(reader, "memory_write", content="a thing", user_id="alice")
    assert result["isError"]
    assert "may not" in text_of(result)


def test_a_key_for_one_person_hides_user_id_and_supplies_it(house: House) -> None:
    pinned = house.someone(users=["alice"])
    for tool in listed(house, pinned):
        assert "user_id" not in json.dumps(tool["inputSchema"])
    result = house.tool(pinned, "memory_write", content="prefers the window")
    assert not result["isError"], result
    found = house.tool(pinned, "memory_search", query="window")
    assert "prefers the window" in text_of(found)
    other = house.tool(pinned, "memory_search", query="window", user_id="bob")
    assert other["isError"]


def test_every_tool_is_described_hinted_and_asks_for_two_arguments_at_most(house: House) -> None:
    for tool in listed(house, house.someone()):
        assert len(tool["description"]) > 80
        assert len(tool["inputSchema"].get("required", [])) <= 2
        assert tool["inputSchema"]["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool)
        assert set(tool["annotations"]) >= {"readOnlyHint", "destructiveHint", "idempotentHint"}
        for name, argument in tool["inputSchema"]["properties"].items():
            assert argument.get("description"), (tool["name"], name)


def test_what_a_tool_returns_fits_the_schema_it_names(house: House) -> None:
    agent = house.someone()
    schemas = {tool["name"]: tool["outputSchema"] for tool in listed(house, agent)}
    wrote = house.tool(agent, "memory_write", content="likes plum cake", user_id="alice")
    memory = wrote["structuredContent"]["outcomes"][0]["id"]
    about = {"memory_id": memory, "user_id": "alice"}
    results = {
        "memory_write": wrote,
        "memory_write_batch": house.tool(
            agent, "memory_write_batch", items=[{"content": "likes tea", "user_id": "alice"}]
        ),
        "memory_search": house.tool(agent, "memory_search", query="cake", user_id="alice"),
        "memory_get": house.tool(agent, "memory_get", **about),
        "memory_update": house.tool(agent, "memory_update", content="likes pear cake", **about),
        "memory_forget": house.tool(agent, "memory_forget", **about),
    }
    assert set(results) == set(schemas)
    for name, result in results.items():
        assert not result["isError"], result
        jsonschema.validate(result["structuredContent"], schemas[name])


@pytest.mark.parametrize("text", ["12345", '{"a": 1}', "true", "null", "[1, 2]"])
def test_a_text_that_looks_like_json_stays_a_text(house: House, text: str) -> None:
    agent = house.someone()
    wrote = house.tool(agent, "memory_write", content=text, user_id="alice")
    memory = wrote["structuredContent"]["outcomes"][0]["id"]
    read = house.tool(agent, "memory_get", memory_id=memory, user_id="alice")
    assert read["structuredContent"]["content"] == text


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("memory_write", {"content": "my password is Hunter2!xyz", "user_id": "a"}, "a password"),
        ("memory_write", {"content": "x"}, "user_id"),
        ("memory_write", {"user_id": "a"}, "content"),
        ("memory_write", {"content": "x", "user_id": "a", "nope": 1}, "nope"),
        ("memory_write", {"content": 7, "user_id": "a"}, "content"),
        ("memory_search", {"query": "x", "user_id": "a", "limit": 1000}, "limit"),
        ("memory_search", {"query": "x", "user_id": "a", "spaces": ["s"]}, "no such"),
        ("memory_get", {"memory_id": "not-an-id", "user_id": "a"}, "no such"),
        ("memory_nothing", {}, "no such tool"),
    ],
)
def test_a_failure_tells_the_model_what_to_mend_and_quotes_nothing(
    house: House, name: str, arguments: dict[str, Any], says: str
) -> None:
    result = house.tool(house.someone(), name, **arguments)
    assert result["isError"]
    assert says in text_of(result)
    assert "Hunter2" not in json.dumps(result)


def test_one_bad_item_of_a_batch_harms_no_other(house: House) -> None:
    agent = house.someone()
    items = [
        {"content": "first", "user_id": "alice"},
        {"content": "", "user_id": "alice"},
        {"content": "third", "user_id": "alice"},
    ]
    results = house.tool(agent, "memory_write_batch", items=items)["structuredContent"]["results"]
    assert [("error" in one) for one in results] == [False, True, False]
    assert {memory["content"] for memory in agent.listed()} == {"first", "third"}


def test_over_mcp_a_statement_is_the_agents_own_at_most(house: House) -> None:
    agent = house.someone()
    house.tool(agent, "memory_write", content="said over mcp", user_id="alice")
    agent.write("said over http")
    kinds = {memory["content"]: memory["source"]["kind"] for memory in agent.listed()}
    assert kinds == {"said over mcp": "agent_inferred", "said over http": "user_direct"}


def test_each_call_of_a_tool_is_one_event(house: House) -> None:
    agent = house.someone()
    house.tool(agent, "memory_write", content="one", user_id="alice")
    house.tool(agent, "memory_search", query="one", user_id="alice")
    house.tool(agent, "memory_search", query="one", user_id="alice", limit=0)
    house.tool(agent, "memory_get", memory_id="gone", user_id="alice")
    events = [(event["action"], event["outcome"]) for event in agent.events()]
    memory = [event for event in events if event[0].startswith("memory:")]
    assert memory == [
        ("memory:item:read", "not_found"),
        ("memory:item:recall", "invalid"),
        ("memory:item:recall", "ok"),
        ("memory:item:write", "ok"),
    ]


def test_the_prompt_tells_when_to_write_and_when_to_search(house: House) -> None:
    agent = house.someone()
    prompts = house.rpc(agent, "prompts/list", {}).json()["result"]["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["use_memory"]
    told = house.rpc(agent, "prompts/get", {"name": "use_memory"}).json()["result"]
    text = told["messages"][0]["content"]["text"]
    assert "memory_search" in text
    assert "memory_write" in text


def modern(method: str, params: dict[str, Any]) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": meta}}


def test_the_newest_revision_is_served_without_a_handshake(house: House) -> None:
    agent = house.someone()
    headers = rpc_headers() | {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    reply = agent.call("POST", "/mcp", json=modern("tools/list", {}), headers=headers)
    assert reply.status_code == 200, reply.text
    result = reply.json()["result"]
    assert [tool["name"] for tool in result["tools"]] == ALL
    assert result["cacheScope"] == "private"


@pytest.mark.parametrize("version", [PROTOCOL, MODERN, "2025-06-18", None, "1999-01-01"])
@pytest.mark.parametrize("key", [None, "mw_aaaaaaaaaaaaaaaa_" + "0" * 43, "not-a-key"])
def test_no_revision_is_served_without_a_credential(
    house: House, version: str | None, key: str | None
) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    if version is not None:
        headers["MCP-Protocol-Version"] = version
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    for body in (modern("tools/list", {}), {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}):
        reply: httpx.Response = house.http.request("POST", "/mcp", json=body, headers=headers)
        assert reply.status_code == 401, reply.text
        assert reply.headers["WWW-Authenticate"].startswith("Bearer")
        assert reply.json()["code"] == "unauthenticated"


def test_a_session_id_means_nothing(house: House) -> None:
    one, other = house.someone(), house.someone()
    house.tool(one, "memory_write", content="only for one", user_id="alice")
    reply = house.rpc(
        other,
        "tools/call",
        {"name": "memory_search", "arguments": {"query": "only", "user_id": "alice"}},
        **{"Mcp-Session-Id": "0123456789abcdef"},
    )
    assert "only for one" not in reply.text


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_there_is_no_stream_that_would_hold_a_slot(house: House, method: str) -> None:
    agent = house.someone()
    reply = agent.call(method, "/mcp", headers=rpc_headers())
    assert reply.status_code == 405
    assert reply.headers["Allow"] == "POST"
    assert reply.json()["code"] == "method_not_allowed"
    assert house.http.request(method, "/mcp").status_code == 401
