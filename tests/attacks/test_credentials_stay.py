"""A caller's credential goes nowhere: it is used up by authentication."""

import inspect

import pytest

from core.ports import Embedder
from tests.house import House


@pytest.mark.requirement("B5")
def test_a_credential_is_in_no_log_span_metric_reply_or_file(house: House) -> None:
    agent = house.someone()
    secret = agent.key.rpartition("_")[2]
    replies = [
        agent.try_write("uses the blue mug").text,
        agent.try_write("uses the blue mug", nonsense=1).text,
        agent.try_write(f"my key is {agent.key}").text,  # a text that quotes it is refused
        agent.call("GET", "/v1/memories", params={"user_id": "alice"}).text,
        agent.call("GET", "/v1/nothing").text,
        house.rpc(agent, "tools/list", {}).text,
        str(house.tool(agent, "memory_search", query="mug", user_id="alice")),
        str(house.tool(agent, "memory_search", query=agent.key, user_id="alice")),
        str(agent.events()),
        house.http.get("/metrics").text,
    ]
    assert not [reply for reply in replies if secret in reply]
    assert secret not in house.traces()
    assert not [line for line in house.log if secret in line]
    needle = secret.encode()
    holders = [
        path
        for path in (house.folder / "data").rglob("*")
        if path.is_file() and not path.is_symlink() and needle in path.read_bytes()
    ]
    assert holders == []


@pytest.mark.requirement("B5")
def test_what_calls_out_has_no_way_to_get_the_callers_credential() -> None:
    """The embedder, the one part that may call another host, is given texts alone."""
    for name in ("passages", "query"):
        parameters = list(inspect.signature(getattr(Embedder, name)).parameters)
        assert parameters in (["self", "texts"], ["self", "text"])
