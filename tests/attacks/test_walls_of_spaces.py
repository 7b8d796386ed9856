"""Two walls stand around a space, each enough alone: the conditions of queries, and of rows."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock
from urllib.parse import quote

import pytest

from core.adapters.postgres import queries
from tests.attacks.test_walls import CONDITIONS, without_row_level_security
from tests.house import House
from tests.live.gateways import Agent

OF_SPACES = (
    *CONDITIONS,
    "m.space = ANY (%(read_same)s::uuid[])",
    "m.space = ANY (%(read_members)s::uuid[])",
    "(m.user_id = %(user)s) IS TRUE",
)


@contextlib.contextmanager
def queries_without_spaces(_house: House) -> Iterator[None]:
    """The queries of memories name nobody and no space."""
    whole = queries.query

    def open_query(name: str) -> Any:
        text: str = whole(name)
        if "memories m" in text:
            for condition in OF_SPACES:
                text = text.replace(condition, "true")
        return text

    with contextlib.ExitStack() as stack:
        for module in ("memories", "search"):
            stack.enter_context(mock.patch(f"core.adapters.postgres.{module}.query", open_query))
        yield


@contextlib.contextmanager
def nothing(_house: House) -> Iterator[None]:
    yield


WALLS: dict[str, Callable[[House], AbstractContextManager[None]]] = {
    "none": nothing,
    "row-level security": without_row_level_security,
    "the queries' own conditions": queries_without_spaces,
}


def member(admin: Agent, method: str, space: str, user: str) -> None:
    path = f"/v1/admin/spaces/{space}/members/{quote(f'user:{user}', safe='')}"
    options = {"json": {"role": "writer"}} if method == "PUT" else {}
    assert admin.call(method, path, **options).status_code in (200, 204)


@pytest.mark.requirement("C1", "C5")
@pytest.mark.parametrize("gone", WALLS)
def test_what_is_in_a_space_stays_there_with_a_wall_gone(house: House, gone: str) -> None:
    """What another person shares with agents alone, what a team has, what one has left."""
    admin = house.tenant()
    alice, bob, carol = (house.agent(admin, name) for name in ("alice", "bob", "carol"))
    for name, audience in (("basics", "same_user"), ("team", "members"), ("left", "same_user")):
        body = {"name": name, "audience": audience}
        assert admin.call("POST", "/v1/admin/spaces", json=body).status_code == 201
    for space, user in (("basics", "alice"), ("basics", "bob"), ("team", "alice"), ("left", "bob")):
        member(admin, "PUT", space, user)
    hers = alice.stored("zqhers about tea", space="basics")
    teams = alice.stored("zqteams about tea", space="team")
    left = bob.stored("zqleft about tea", space="left")
    member(admin, "DELETE", "left", "bob")
    house.indexed()
    foreign = [(bob, hers), (bob, teams), (bob, left), (carol, hers), (carol, teams), (alice, left)]
    with WALLS[gone](house):
        for agent, memory in foreign:
            path = f"/v1/memories/{memory}"
            replies = [
                agent.get(memory),
                agent.call("GET", f"{path}/versions", params=agent.about()),
                agent.call("PATCH", path, json=agent.about(content="mine")),
                agent.call("DELETE", path, params=agent.about()),
            ]
            assert {reply.status_code for reply in replies} == {404}
            said = str(agent.recall("zqhers zqteams zqleft tea", timeout_ms=5000, limit=20))
            said += str(agent.listed())
            assert memory not in said
    assert {memory["id"] for memory in alice.listed()} == {hers, teams}
    member(admin, "PUT", "left", "bob")
    assert bob.get(left).json()["content"] == "zqleft about tea"
