"""A list goes on while others write."""

import pytest

from tests.house import House


@pytest.mark.parametrize("namespaces", [["*"], ["main", "side"]])
def test_a_list_goes_on_when_a_namespace_is_first_written_to(
    house: House, namespaces: list[str]
) -> None:
    agent = house.someone(namespaces=namespaces)
    written = [agent.stored(f"note {number}", namespace="main") for number in range(4)]
    asked = agent.about(limit=2)
    first = agent.call("GET", "/v1/memories", params=asked).json()
    agent.stored("elsewhere", namespace="side")
    params = asked | {"cursor": first["next_cursor"]}
    second = agent.call("GET", "/v1/memories", params=params)
    assert second.status_code == 200, second.text
    ids = [item["id"] for item in [*first["items"], *second.json()["items"]]]
    assert ids == written[::-1]


def test_a_cursor_of_one_namespace_is_none_of_another(house: House) -> None:
    agent = house.someone()
    for number in range(3):
        agent.stored(f"note {number}", namespace="main")
    asked = agent.about(limit=1, namespace="main")
    cursor = agent.call("GET", "/v1/memories", params=asked).json()["next_cursor"]
    for other in (agent.about(limit=1, namespace="side"), agent.about(limit=1)):
        reply = agent.call("GET", "/v1/memories", params=other | {"cursor": cursor})
        assert reply.status_code == 422
