"""Two people through one caching proxy: neither gets what was answered to the other."""

import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.attacks.asks import Stage
from tests.fronts.seats import MODERN, Replica, modern_body, modern_headers
from tests.live.gateways import Agent


@dataclass
class CachingProxy:
    """A shared cache that knows nothing of credentials, and keeps whatever it may.

    It keeps answers to GET by their URL, and answers to MCP requests by their body, as gateways of
    tools do: as long as an answer's own words allow.

    Args:
        heedless: keeps everything: what a shared cache would do to answers that say nothing.
    """

    replica: Replica
    heedless: bool = False
    kept: dict[str, httpx.Response] = field(default_factory=dict)
    hits: int = 0

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        asked = json.dumps([method, path, options.get("params"), options.get("json")])
        if asked in self.kept:
            self.hits += 1
            return self.kept[asked]
        headers = dict(options.pop("headers"))
        headers["Authorization"] = f"Bearer {headers.pop('X-API-Key')}"
        reply = self.replica.request(method, path, headers=headers, **options)
        if self.heedless or self._may_keep(method, reply):
            self.kept[asked] = reply
        return reply

    def _may_keep(self, method: str, reply: httpx.Response) -> bool:
        said = reply.headers.get("Cache-Control", "")
        if {"private", "no-store", "no-cache"} & {part.strip() for part in said.split(",")}:
            return False
        if method == "GET":
            return reply.status_code in (200, 404)  # by heuristic, RFC 9111, 4.2.2
        result = reply.json().get("result", {})
        return bool(result.get("cacheScope") != "private" or result.get("ttlMs", 1) > 0)


def through(proxy: CachingProxy, agent: Agent) -> Agent:
    return Agent(proxy, agent.key, agent.tenant, agent.user)  # type: ignore[arg-type]  # as a client


MCP_ASKS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "use_memory"}),
    ("server/discover", {}),
    ("tools/call", {"name": "memory_search", "arguments": {"query": "secret"}}),
]


def answers(proxy: CachingProxy, agent: Agent, stage: Stage) -> list[str]:
    """Everything that can be read, as `agent` gets it through the proxy."""
    asks = through(proxy, agent)
    paths = ("/v1/memories", "/v1/audit/events", f"/v1/memories/{stage.memory}", "/v1/admin/keys")
    replies = [asks.call("GET", path) for path in paths]
    replies += [
        asks.call(
            "POST", "/mcp", json=modern_body(method, params), headers=modern_headers(method, params)
        )
        for method, params in MCP_ASKS
    ]
    return [reply.text for reply in replies]


@pytest.fixture
def two(replica: Replica) -> tuple[Stage, Agent, Agent]:
    stage = Stage.of(replica.house)
    anna, boris = (replica.sit(stage.admin.tenant, name) for name in ("anna", "boris"))
    anna.stored("a secret of anna")
    boris.stored("a secret of boris")
    return stage, anna, boris


@pytest.mark.requirement("B10")
def test_no_answer_to_one_is_given_to_the_other(
    replica: Replica, two: tuple[Stage, Agent, Agent]
) -> None:
    stage, anna, boris = two
    proxy = CachingProxy(replica)
    for _ in range(2):
        assert "of boris" not in "".join(answers(proxy, anna, stage))
        assert "of anna" not in "".join(answers(proxy, boris, stage))
    assert proxy.hits == 0


@pytest.mark.requirement("B10")
def test_a_cache_that_did_not_heed_would_be_seen(
    replica: Replica, two: tuple[Stage, Agent, Agent]
) -> None:
    stage, anna, boris = two
    proxy = CachingProxy(replica, heedless=True)
    answers(proxy, anna, stage)
    assert "a secret of anna" in "".join(answers(proxy, boris, stage))


@pytest.mark.requirement("B10")
def test_the_newest_revision_marks_its_results_private(
    replica: Replica, two: tuple[Stage, Agent, Agent]
) -> None:
    _, anna, _ = two
    for method, params in MCP_ASKS[:4]:
        reply = anna.call(
            "POST", "/mcp", json=modern_body(method, params), headers=modern_headers(method, params)
        )
        assert reply.status_code == 200, (MODERN, method, reply.text)
        result = reply.json()["result"]
        assert result.get("cacheScope", "private") == "private", method
        assert result.get("ttlMs", 0) == 0, method
