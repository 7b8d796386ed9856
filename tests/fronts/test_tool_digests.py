"""What a model is told of the tools is reviewed: a change shows here before it ships.

To accept a change: read what the failing test shows, then put its digests into tool_digests.json.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.front.mcp import INSTRUCTIONS, USE_MEMORY
from tests.fronts.seats import Replica, modern

PINNED = Path(__file__).with_name("tool_digests.json")


def digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def told(replica: Replica) -> dict[str, str]:
    """The digest of everything that a client or a model reads of us before it calls."""
    tenant = replica.house.tenant().tenant
    shown: dict[str, str] = {"instructions": digest(INSTRUCTIONS), "use_memory": digest(USE_MEMORY)}
    for kind, user, users in (("", "alice", None), (" of one person", "alice", {"alice"})):
        agent = replica.sit(tenant, user, users=None if users is None else frozenset(users))
        tools = modern(agent, "tools/list", {}).json()["result"]["tools"]
        shown |= {f"{tool['name']}{kind}": digest(tool) for tool in tools}
    return shown


@pytest.mark.requirement("B15")
def test_what_a_model_is_told_is_what_was_reviewed(replica: Replica) -> None:
    now = told(replica)
    assert now == json.loads(PINNED.read_text(encoding="utf-8")), json.dumps(now, indent=2)


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from nodes(each)
    elif isinstance(value, list):
        for each in value:
            yield from nodes(each)


@pytest.mark.requirement("B15")
def test_no_schema_refers_to_anything_outside(replica: Replica) -> None:
    agent = replica.sit(replica.house.tenant().tenant)
    tools = modern(agent, "tools/list", {}).json()["result"]["tools"]
    assert len(tools) >= 6
    for tool in tools:
        for node in nodes([tool["inputSchema"], tool["outputSchema"]]):
            assert not {"$ref", "$dynamicRef", "$recursiveRef", "$schema", "$id"} & node.keys()
        assert "://" not in json.dumps(tool)
