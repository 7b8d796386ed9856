"""Every tool and every route, for every role and scope: a list shows what a call is allowed."""

import csv
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from core.scope import Action, Role
from gateway.access.scopes import SCOPE_OF, SCOPES
from gateway.front.http import MCP_PATH, OPERATIONS, create_app
from gateway.front.operation import Operation
from gateway.front.tools import SPECS
from gateway.resources import data_path
from gateway.telemetry import Telemetry
from tests.attacks.asks import SAMPLES, TOOL_SAMPLES, Stage, ask_of, succeeded
from tests.fronts.seats import Replica, modern
from tests.live.gateways import Agent

OPERATOR = "admin:tenant"
LOOK_ALIKE = frozenset(
    {"memory", "memory:", "memory:*", "*", "MEMORY:READ", "memory:read ", "memory:reads", "admin*",
     "memory:write:all", "memory.read", "audit:", ""}
)  # fmt: skip


def allowed_by_role(role: Role, action: Action) -> bool:
    """Read the policy's file by itself: who is allowed what, and nothing else."""
    with data_path("policies", "access", "policy.csv").open(encoding="utf-8") as lines:
        rows = [[part.strip() for part in row] for row in csv.reader(lines) if len(row) > 4]
    wanted = ["p", f"role:{role.value}", "tenant", action.object, action.verb, "allow"]
    return wanted in rows


def scopes_for(action: Action) -> Iterator[frozenset[str] | None]:
    """None for an API key; then tokens with all, none, the one, the others, and look-alikes."""
    needed = frozenset({SCOPE_OF[action]}) if action in SCOPE_OF else frozenset()
    yield from (None, SCOPES, frozenset(), needed, SCOPES - needed, LOOK_ALIKE)


def allowed(role: Role, scopes: frozenset[str] | None, action: Action) -> bool:
    if action.object == OPERATOR:
        return role is Role.OPERATOR and scopes is None
    return allowed_by_role(role, action) and (scopes is None or SCOPE_OF[action] in scopes)


def seat(replica: Replica, stage: Stage, role: Role, scopes: frozenset[str] | None) -> Agent:
    about: dict[str, Any] = {"roles": frozenset({role}), "scopes": scopes}
    if role is Role.OPERATOR:
        about |= {"tenant": None, "users": None, "person": None}
    return replica.sit(stage.admin.tenant, **about)


@pytest.fixture
def stage(replica: Replica) -> Stage:
    return Stage.of(replica.house)


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_route_is_for_the_roles_and_scopes_of_its_action(
    replica: Replica, stage: Stage, operation: Operation
) -> None:
    done = 0
    for role in Role:
        for scopes in scopes_for(operation.action):
            may = allowed(role, scopes, operation.action)
            agent = seat(replica, stage, role, scopes)
            reply = ask_of(stage, operation.name, by=agent)
            if operation.name == "write_memories" and reply.status_code == 200:
                has_scope = scopes is None or SCOPE_OF[operation.action] in scopes
                assert has_scope or not allowed_by_role(role, operation.action)
                refused = {result.get("code") for result in reply.json()["results"]}
                assert refused == ({None} if may else {"forbidden"}), (role, scopes)
                done += may
            elif not may:
                assert reply.status_code == 403, (role, scopes, reply.text)
                assert reply.json()["code"] == "forbidden"
                lacks = allowed_by_role(role, operation.action) and operation.action in SCOPE_OF
                assert lacks == (
                    "insufficient_scope" in reply.headers.get("WWW-Authenticate", "")
                ), (role, scopes, reply.headers)
            else:  # what it takes may be gone by then
                assert done or succeeded(reply) or reply.status_code == 200, reply.text
                assert reply.status_code not in (401, 403), (role, scopes, reply.text)
                done += 1
    assert done, "nobody may do it"


@pytest.mark.requirement("B4")
@pytest.mark.parametrize("role", list(Role))
def test_a_list_of_tools_is_what_may_be_called(replica: Replica, stage: Stage, role: Role) -> None:
    every = [None, SCOPES, frozenset[str](), LOOK_ALIKE, *(frozenset({each}) for each in SCOPES)]
    for number, scopes in enumerate([*every, *(SCOPES - {each} for each in SCOPES)]):
        stage.memory = stage.agent.stored(f"she has {number} cups")
        agent = seat(replica, stage, role, scopes)
        listed = modern(agent, "tools/list", {}).json()["result"]["tools"]
        older = replica.house.rpc(agent, "tools/list", {}).json()["result"]["tools"]
        shown = {tool["name"] for tool in listed}
        assert [tool["name"] for tool in older] == [tool["name"] for tool in listed]
        assert shown == {
            name for name, spec in SPECS.items() if allowed(role, scopes, spec.action)
        }, (role, scopes)
        callable_ = set()
        for name in SPECS:  # memory_forget is the last: what it takes is there until then
            arguments = TOOL_SAMPLES[name](stage)
            if name == "memory_update":
                arguments["content"] = f"she has {number} black cups"
            params = {"name": name, "arguments": arguments}
            reply = modern(agent, "tools/call", params)
            if reply.status_code == 403:
                continue
            result = reply.json()["result"]
            told = result.get("structuredContent", {}).get("results", [])
            if any(one.get("error", {}).get("code") == "forbidden" for one in told):
                continue
            if not result["isError"]:
                callable_.add(name)
            else:
                assert "may not" in result["content"][0]["text"], (name, result)
        assert callable_ == shown, (role, scopes)


@pytest.mark.requirement("B4")
def test_everything_served_has_an_action_that_somebody_may_do() -> None:
    actions: dict[str, Any] = {each.name: each.action for each in OPERATIONS}
    actions |= {spec.name: spec.action for spec in SPECS.values()}
    assert len(actions) == len(OPERATIONS) + len(SPECS)
    for name, action in actions.items():
        assert isinstance(action, Action), name
        assert any(allowed_by_role(role, action) for role in Role), name
        assert (action in SCOPE_OF) != (action.object == OPERATOR), name
    assert {operation.name for operation in OPERATIONS} == set(SAMPLES)
    assert set(SPECS) == set(TOOL_SAMPLES)


@pytest.mark.requirement("B4")
def test_a_route_that_is_in_no_list_is_not_served() -> None:
    nothing: Any = None
    app: Any = create_app(
        nothing,
        authenticator=nothing,
        failures=nothing,
        telemetry=Telemetry(CollectorRegistry()),
        readiness=nothing,
        version="0",
        mcp=_unreached,
    )
    paths = {getattr(route, "path", "?") for route in app.routes}
    open_to_all = {probe.path for probe in app.probes} | {"/openapi.json"}
    assert paths == {operation.path for operation in OPERATIONS} | open_to_all | {MCP_PATH}
    assert open_to_all == {
        "/healthz", "/readyz", "/metrics", "/openapi.json",
        "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
    }  # fmt: skip


async def _unreached(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError
