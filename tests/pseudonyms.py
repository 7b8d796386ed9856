"""What tests of pseudonyms share: a policy that asks for them, and how they look."""

import re
from typing import Any

from tests.house import House
from tests.live.gateways import ALL_ROLES, Agent

POLICY = """
version: "tests-1"
defaults: {action: allow, sensitivity: none}
kinds:
  PHONE_NUMBER: {action: pseudonymize}
  EMAIL_ADDRESS: {action: pseudonymize}
  CREDIT_CARD: {action: redact}
"""
PHONE = "138-0013-8000"
WORD = re.compile(r"\[([A-Z_]+) p-([bcdfghjkmnpqrtvw]{20})\]")
ROLES = list(ALL_ROLES)


def beside(house: House, agent: Agent, user: str) -> Agent:
    """The same credential for another person."""
    return Agent(house.http, agent.key, agent.tenant, user)


def content(agent: Agent, memory: str) -> str:
    text: str = agent.get(memory).json()["content"]
    return text


def word(agent: Agent, memory: str) -> str:
    """Return the word of the one pseudonym in a memory."""
    found = WORD.findall(content(agent, memory))
    assert len(found) == 1, content(agent, memory)
    return str(found[0][1])


def reveal(agent: Agent, memory: str, purpose: str = "ticket seven") -> Any:
    path = f"/v1/memories/{memory}/reveal"
    return agent.call("POST", path, json=agent.about(purpose=purpose))


def revealed(agent: Agent, memory: str) -> dict[str, Any]:
    reply = reveal(agent, memory)
    assert reply.status_code == 200, reply.text
    shown: dict[str, Any] = reply.json()
    return shown
