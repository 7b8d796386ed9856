"""Two thousand malformed requests against a whole gateway over a socket."""

from collections import Counter

import psutil
import pytest

from gateway.front.http import OPERATIONS
from tests.gateway.front.malformed import CANARY, NUMBER, attacks
from tests.house import text_of

COUNT = 2000
WARM = 500
ROUTERS = frozenset({404, 405})
"""Also what the router answers by itself, for which nobody was authenticated."""


@pytest.mark.requirement("F6", "D14", "B14", "C13")
def test_malformed_requests_cost_nothing_leak_nothing_and_are_recorded_once(served):
    agent, expected = served.agent, {}
    process, before = psutil.Process(), 0
    for number, attack in enumerate(attacks(list(OPERATIONS), seed=7, count=COUNT)):
        if number % 100 == 0:
            assert no_canary(served.house.traces())
            served.house.spans.clear()  # the collector's memory is not the gateway's
        if number == WARM:
            before = process.memory_info().rss
        reply = agent.call(
            attack.method, attack.path, content=attack.content, headers=attack.headers
        )
        where = f"{attack.about}: {attack.method} {attack.path[:80]} -> {reply.status_code}"
        assert no_canary(text_of(reply)), where
        if reply.status_code == 200 and "/batch" in attack.path:
            items = reply.json()["results"]
            assert all(item["code"] for item in items), where
            expected[reply.headers["x-request-id"]] = len(items)
        else:
            assert 400 <= reply.status_code < 500, where
            assert reply.json()["status"] == reply.status_code
            if reply.status_code not in ROUTERS:
                expected[reply.headers["x-request-id"]] = 1
    grown = process.memory_info().rss - before
    assert grown <= max(0.05 * before, 24 << 20)

    recorded = Counter(event["request_id"] for event in agent.events())
    assert {name: recorded[name] for name in expected} == expected
    logged = "\n".join(served.house.log)
    assert "Traceback" not in logged
    assert no_canary(logged)
    assert no_canary(served.house.traces())
    assert no_canary(agent.call("GET", "/metrics").text)


def no_canary(text):
    return CANARY not in text and NUMBER not in text


def test_good_requests_are_answered_afterwards(served):
    agent = served.agent
    agent.write("the kettle is in the kitchen")
    assert agent.recall("where is the kettle")[0]["content"] == "the kettle is in the kitchen"
