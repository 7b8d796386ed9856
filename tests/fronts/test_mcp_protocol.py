"""What the MCP endpoint answers to what it does not serve: one row a demand of the protocol."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from gateway.front.challenge import FRESH_SECONDS
from gateway.front.edge import encode
from tests.fronts.seats import (
    ISSUER,
    MODERN,
    OLDER,
    REVISIONS,
    Replica,
    Trusted,
    modern,
    modern_body,
    modern_headers,
)
from tests.fronts.seats import replica as open_replica
from tests.house import URL, House, rpc_headers
from tests.live.gateways import Agent

METADATA = f"{URL}/.well-known/oauth-protected-resource/mcp"
SERVED = (None, *REVISIONS)
"""Every revision, and none named."""
TOOLS = modern_body("tools/list", {})
SEARCH = {"name": "memory_search", "arguments": {"query": "tea"}}


def body_for(revision: str | None, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if revision == MODERN:
        return modern_body(method, params)
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def headers_for(revision: str | None, method: str, params: dict[str, Any]) -> dict[str, str]:
    if revision == MODERN:
        return modern_headers(method, params)
    headers = rpc_headers()
    del headers["MCP-Protocol-Version"]
    return headers | ({} if revision is None else {"MCP-Protocol-Version": revision})


def ask(
    agent: Agent, revision: str | None, method: str, params: dict[str, Any], **headers: str
) -> httpx.Response:
    sent = headers_for(revision, method, params) | headers
    return agent.call("POST", "/mcp", json=body_for(revision, method, params), headers=sent)


@pytest.fixture(scope="module")
def tenant(replica: Replica) -> str:
    return replica.house.tenant().tenant


@pytest.fixture(scope="module")
def agent(replica: Replica, tenant: str) -> Agent:
    return replica.sit(tenant)


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("revision", SERVED)
def test_without_a_credential_every_revision_says_where_to_get_one(
    replica: Replica, revision: str | None
) -> None:
    for method in ("tools/list", "tools/call", "initialize", "server/discover", "ping", "x"):
        reply = replica.request(
            "POST",
            "/mcp",
            json=body_for(revision, method, {}),
            headers=headers_for(revision, method, {}),
        )
        assert reply.status_code == 401
        assert reply.headers["WWW-Authenticate"] == (
            f'Bearer resource_metadata="{METADATA}", scope="memory:read memory:write"'
        )


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("revision", SERVED)
def test_a_credential_that_proves_nothing_is_an_invalid_token(
    replica: Replica, tenant: str, revision: str | None
) -> None:
    stranger = Agent(replica.sit(tenant).http, "seat-nobody", tenant)
    reply = ask(stranger, revision, "tools/list", {})
    assert reply.status_code == 401
    assert reply.headers["WWW-Authenticate"] == (
        f'Bearer error="invalid_token", resource_metadata="{METADATA}", '
        'scope="memory:read memory:write"'
    )


@pytest.mark.requirement("B3")
def test_the_metadata_is_of_the_resource_under_whose_path_it_lies(replica: Replica) -> None:
    for path, resource in (("/mcp", f"{URL}/mcp"), ("", URL)):
        reply = replica.get(f"/.well-known/oauth-protected-resource{path}")
        shown = reply.json()
        assert shown["resource"] == resource
        assert shown["authorization_servers"] == [ISSUER]
        assert shown["bearer_methods_supported"] == ["header"]
        assert shown["scopes_supported"] == [
            "admin", "audit", "memory:curate", "memory:forget", "memory:read", "memory:write",
            "privacy",
        ]  # fmt: skip
        assert "ES256" in shown["dpop_signing_alg_values_supported"]
        assert not {"none", "HS256"} & set(shown["dpop_signing_alg_values_supported"])


@pytest.mark.requirement("B3")
def test_without_an_issuer_nothing_is_promised(house: House) -> None:
    shown = house.http.get("/.well-known/oauth-protected-resource/mcp").json()
    assert set(shown) == {"resource", "resource_name", "bearer_methods_supported"}
    reply = house.http.request("POST", "/mcp", json=TOOLS)
    assert reply.headers["WWW-Authenticate"] == f'Bearer resource_metadata="{METADATA}"'
    assert house.http.get("/v1/memories").headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.requirement("B3")
def test_scopes_are_promised_where_an_issuer_can_issue_them(house: House) -> None:
    plain = Trusted("https://plain.example", scopes_required=False)
    with open_replica(house, issuers=[plain]) as other:
        shown = other.get("/.well-known/oauth-protected-resource/mcp").json()
        assert shown["authorization_servers"] == ["https://plain.example"]
        assert "scopes_supported" not in shown
        for path in ("/mcp", "/v1/memories"):
            reply = other.request("POST", path, json={})
            assert "resource_metadata=" in reply.headers["WWW-Authenticate"]
            assert "scope=" not in reply.headers["WWW-Authenticate"]
    with open_replica(house, issuers=[plain, Trusted()]) as both:
        shown = both.get("/.well-known/oauth-protected-resource/mcp").json()
        assert shown["authorization_servers"] == ["https://plain.example", ISSUER]
        assert "scopes_supported" in shown


@pytest.mark.requirement("B3", "B4")
@pytest.mark.parametrize("revision", SERVED)
def test_a_scope_that_is_missing_is_told_whole(
    replica: Replica, tenant: str, revision: str | None
) -> None:
    reader = replica.sit(tenant, scopes=frozenset({"memory:read"}))
    writing = {"name": "memory_write", "arguments": {"content": "likes tea"}}
    batch = {"name": "memory_write_batch", "arguments": {"items": [{"content": "likes tea"}]}}
    for params in (writing, batch):
        reply = ask(reader, revision, "tools/call", params)
        assert reply.status_code == 403
        assert reply.headers["WWW-Authenticate"] == (
            f'Bearer error="insufficient_scope", resource_metadata="{METADATA}", '
            'scope="memory:write"'
        )
        assert reply.json()["id"] == 1
        assert "likes tea" not in reply.text
    assert ask(reader, revision, "tools/call", SEARCH).status_code == 200


@pytest.mark.requirement("B3")
def test_over_http_the_challenge_names_the_scope_of_the_operation(
    replica: Replica, tenant: str
) -> None:
    reader = replica.sit(tenant, scopes=frozenset({"memory:read"}))
    reply = reader.try_write("likes tea")
    metadata = f"{URL}/.well-known/oauth-protected-resource"
    assert reply.status_code == 403
    assert reply.headers["WWW-Authenticate"] == (
        f'Bearer error="insufficient_scope", resource_metadata="{metadata}", scope="memory:write"'
    )
    nobody = replica.request("POST", "/v1/memories", json={})
    assert nobody.headers["WWW-Authenticate"] == (
        f'Bearer resource_metadata="{metadata}", scope="memory:write"'
    )


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("revision", SERVED)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
def test_nothing_but_post(agent: Agent, revision: str | None, method: str) -> None:
    reply = agent.call(method, "/mcp", headers=headers_for(revision, "tools/list", {}))
    assert reply.status_code == 405
    assert reply.headers["Allow"] == "POST"


@pytest.mark.requirement("B3", "B7")
@pytest.mark.parametrize("revision", SERVED)
@pytest.mark.parametrize("origin", ["null", "https://evil.example", f"{URL}.evil.example", ""])
def test_a_page_of_another_site_is_forbidden(
    agent: Agent, revision: str | None, origin: str
) -> None:
    assert ask(agent, revision, "tools/list", {}, Origin=origin).status_code == 403


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("revision", SERVED)
def test_there_are_no_batches(agent: Agent, revision: str | None) -> None:
    one = body_for(revision, "tools/list", {})
    for batch in ([], [one], [one, one], [one, 7]):
        headers = headers_for(revision, "tools/list", {})
        reply = agent.call("POST", "/mcp", json=batch, headers=headers)
        assert reply.status_code == 400, reply.text
        assert reply.json()["error"]["code"] in (-32600, -32602, -32700)


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("revision", SERVED)
@pytest.mark.parametrize(
    "method",
    ["nothing/here", "resources/list", "resources/read", "completion/complete", "tasks/list",
     "logging/setLevel", "subscriptions/listen", "", "Tools/List", "tools/list "],
)  # fmt: skip
def test_a_method_that_is_not_there(agent: Agent, revision: str | None, method: str) -> None:
    reply = ask(agent, revision, method, {})
    error = reply.json()["error"]
    if revision == MODERN and error["code"] != -32602:  # known to the protocol, badly called
        assert reply.status_code == 404
    assert error["code"] in (-32601, -32602)
    if "/here" in method:
        assert error["code"] == -32601


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("revision", ["1999-01-01", "2027-01-01", "2026-07-29", "latest", "0"])
def test_a_revision_that_is_not_served(agent: Agent, revision: str) -> None:
    body = json.loads(json.dumps(TOOLS).replace(MODERN, revision))
    headers = modern_headers("tools/list", {}) | {"MCP-Protocol-Version": revision}
    reply = agent.call("POST", "/mcp", json=body, headers=headers)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert error["code"] == -32022
    assert error["data"]["supported"] == [MODERN]


def mismatches() -> Iterator[tuple[str, dict[str, str | None]]]:
    """Headers that do not agree with the body of a search; None takes one away."""
    for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
        yield f"no {name}", {name: None}
        yield f"empty {name}", {name: ""}
    for value in OLDER:
        yield f"the revision {value}", {"MCP-Protocol-Version": value}
    yield "another revision", {"MCP-Protocol-Version": "2027-01-01"}
    for value in ("tools/list", "TOOLS/CALL", "tools/call/", "tools%2fcall", "initialize"):
        yield f"the method {value}", {"Mcp-Method": value}
    for value in ("memory_get", "MEMORY_SEARCH", "memory_search2", "=?base64?bWVtb3J5X2dldA==?="):
        yield f"the name {value}", {"Mcp-Name": value}


@pytest.mark.requirement("B3", "B8")
@pytest.mark.parametrize(
    "changed", [changed for _, changed in mismatches()], ids=[name for name, _ in mismatches()]
)
def test_headers_and_body_must_agree(agent: Agent, changed: dict[str, str | None]) -> None:
    sent: dict[str, str | None] = {**modern_headers("tools/call", SEARCH), **changed}
    headers = {name: value for name, value in sent.items() if value is not None}
    reply = agent.call("POST", "/mcp", json=modern_body("tools/call", SEARCH), headers=headers)
    assert reply.status_code == 400, reply.text
    assert reply.json()["error"]["code"] == -32020


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("name", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_a_header_given_twice_agrees_with_nothing(
    replica: Replica, agent: Agent, name: str
) -> None:
    sent = modern_headers("tools/call", SEARCH)
    pairs = [*sent.items(), (name, sent[name])]
    pairs += [("Authorization", f"Bearer {agent.key}"), ("Content-Type", "application/json")]
    reply = replica.request(
        "POST", "/mcp", content=encode(modern_body("tools/call", SEARCH)), headers=pairs
    )
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == -32020


@pytest.mark.requirement("B8")
@pytest.mark.parametrize("revision", [None, *OLDER])
def test_a_session_of_somebody_else_is_like_one_that_never_was(
    replica: Replica, agent: Agent, revision: str | None
) -> None:
    hello = {
        "protocolVersion": revision or OLDER[-1],
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    began = ask(agent, revision, "initialize", hello)
    assert began.status_code == 200
    assert "mcp-session-id" not in began.headers
    thief = replica.sit(replica.house.tenant().tenant, "mallory")
    told = []
    for session in ("1868a90c-taken", "made-up", "0" * 32, ""):
        reply = ask(thief, revision, "tools/list", {}, **{"Mcp-Session-Id": session})
        assert reply.status_code == 404
        told.append({**reply.json(), "request_id": ""})
    assert all(each == told[0] for each in told)


@pytest.mark.requirement("B8")
def test_older_revisions_can_be_off_and_the_newest_stays(house: House) -> None:
    with open_replica(house, legacy=False) as strict:
        agent = strict.sit(house.tenant().tenant)
        for revision in (None, *OLDER):
            for method in ("initialize", "tools/list", "ping"):
                reply = ask(agent, revision, method, {})
                assert reply.status_code == 400
                shown = reply.json()
                assert shown["error"]["code"] == -32022
                assert shown["error"]["data"]["supported"] == [MODERN]
                assert shown["id"] == 1
            assert agent.call(
                "POST", "/mcp", content=b"{", headers=headers_for(revision, "x", {})
            ).status_code == 400  # fmt: skip
        assert ask(agent, MODERN, "tools/list", {}).status_code == 200
        nobody = Agent(agent.http, "nobody", "")
        assert ask(nobody, None, "tools/list", {}).status_code == 401


def test_older_revisions_are_served(agent: Agent) -> None:
    for revision in (None, *OLDER):
        reply = ask(agent, revision, "tools/call", SEARCH)
        assert "result" in reply.json(), reply.text


def test_a_step_up_is_as_fresh_as_the_tokens_are() -> None:
    assert FRESH_SECONDS == 300


@pytest.mark.requirement("B3")
@pytest.mark.parametrize("body", [b"", b"{", b"nul", b'"x"', b"7", b"[" * 5000, b"\xff", b"null"])
@pytest.mark.parametrize("revision", SERVED)
def test_what_is_no_message_is_refused_and_not_repeated(
    agent: Agent, revision: str | None, body: bytes
) -> None:
    headers = headers_for(revision, "tools/list", {}) | {"Content-Type": "application/json"}
    reply = agent.call("POST", "/mcp", content=body, headers=headers)
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] in (-32600, -32602, -32700)


@pytest.mark.requirement("B10")
def test_every_reply_is_private_and_not_to_be_stored(replica: Replica, agent: Agent) -> None:
    replies = [modern(agent, "tools/list", {}), modern(agent, "tools/call", SEARCH)]
    replies += [modern(agent, "nothing", {}), replica.get("/v1/memories")]
    replies += [ask(agent, revision, "tools/list", {}) for revision in SERVED]
    replies += [agent.call("GET", "/v1/memories", params={"user_id": "alice"})]
    for reply in replies:
        assert reply.headers.get_list("cache-control") == ["private, no-store"]
    listed = replies[0].json()["result"]
    assert (listed["cacheScope"], listed["ttlMs"]) == ("private", 0)
