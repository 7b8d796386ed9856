"""Shared spaces and their members, asked for as an administrator and as agents would."""

import dataclasses
from typing import Any
from urllib.parse import quote

import httpx

from tests.house import House
from tests.live.gateways import Agent


def space(admin: Agent, name: str, audience: str, **members: str) -> str:
    """Make a space with members, by `<kind>_<name>` and role; returns its id."""
    made = admin.call("POST", "/v1/admin/spaces", json={"name": name, "audience": audience})
    assert made.status_code == 201, made.text
    for member, role in members.items():
        assert share(admin, name, member.replace("_", ":", 1), role).status_code == 200
    id_: str = made.json()["id"]
    return id_


def share(admin: Agent, name: str, member: str, role: str) -> httpx.Response:
    path = f"/v1/admin/spaces/{name}/members/{quote(member, safe='')}"
    return admin.call("PUT", path, json={"role": role})


def unshare(admin: Agent, name: str, member: str) -> httpx.Response:
    return admin.call("DELETE", f"/v1/admin/spaces/{name}/members/{quote(member, safe='')}")


def change(agent: Agent, memory: str, **fields: Any) -> httpx.Response:
    return agent.call("PATCH", f"/v1/memories/{memory}", json=agent.about(**fields))


def said(found: list[dict[str, Any]]) -> set[tuple[str, str | None]]:
    """What was found, and in which space."""
    return {(one["content"], one["space"]) for one in found}


@dataclasses.dataclass
class Team:
    """Alice and Bob with a key each, who share a space, and Carol who reads it."""

    admin: Agent
    alice: Agent
    bob: Agent
    carol: Agent
    space: str

    @classmethod
    def of(cls, house: House) -> "Team":
        admin = house.tenant()
        alice, bob, carol = (
            house.agent(admin, name, users=[name]) for name in ("alice", "bob", "carol")
        )
        members = {"user_alice": "writer", "user_bob": "writer", "user_carol": "reader"}
        return cls(admin, alice, bob, carol, space(admin, "team", "members", **members))


def key_of(agent: Agent) -> str:
    return agent.key.split("_")[1]
