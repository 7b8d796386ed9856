"""A personal datum and a secret in every text of every writing route and tool: none is kept."""

import json
import secrets
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx
import pytest

from core.ids import RecallId, TenantId, UserId
from core.model import Owner
from core.ports import Place
from tests.attacks.asks import Stage, ask_of, succeeded
from tests.attacks.positions import ITEMS, bodies, positions, writing
from tests.house import House, key_body
from tests.live.gateways import Agent
from tests.live.test_canaries import found_on_disk

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters alone: where a field's name is expected, they look most like one."""


def datum() -> tuple[str, str]:
    """Return an address that is nobody's, and the word in it to look for."""
    word = f"zq{secrets.token_hex(6)}"  # all begin alike, which makes looking for them fast
    return f"{word}@example.org", word


def secret() -> tuple[str, str]:
    """Return a made-up cloud key, and what to look for."""
    key = "AKIAZQ" + "".join(secrets.choice(ALPHABET) for _ in range(14))
    return key, key[4:]


@pytest.fixture(scope="module")
def stage(house: House) -> Stage:
    """Everything a sample needs, by a key that may use any namespace: names are judged too."""
    made = Stage.of(house)
    body = key_body(namespaces=["*"])
    key = made.admin.call("POST", "/v1/admin/keys", json=body).json()["key"]
    made.agent = Agent(house.http, key, made.agent.tenant, "alice")
    return made


def send(stage: Stage, name: str, fields: dict[str, Any]) -> httpx.Response:
    if name in ITEMS:
        item = {"content": f"one of several {secrets.token_hex(4)}", "user_id": "alice"}
        return ask_of(stage, name, json={"items": [item | fields]})
    whole = {"content": f"something {secrets.token_hex(4)}"} if "content" in fields else {}
    return ask_of(stage, name, json=whole | fields)


def plant(
    stage: Stage, make: Callable[[], tuple[str, str]]
) -> tuple[dict[str, str], dict[str, httpx.Response]]:
    """Send one canary to each place; returns word -> place, and place -> reply."""
    words: dict[str, str] = {}
    replies: dict[str, httpx.Response] = {}
    for number, (name, place, _) in enumerate(writing("")):
        text, word = make()
        fields = next(fields for at, (_, _, fields) in enumerate(writing(text)) if at == number)
        words[word] = f"{name} {place}"
        replies[f"{name} {place}"] = send(stage, name, fields)
    return words, replies


def kept(stage: Stage) -> str:
    """Everything of the tenant that can be read back, opened, but for who people are."""
    shown: list[Any] = []
    for user in ("alice",):
        agent = Agent(stage.house.http, stage.agent.key, stage.agent.tenant, user)
        for memory in agent.listed(limit=200):
            path = f"/v1/memories/{memory['id']}/versions"
            shown += agent.call("GET", path, params=agent.about()).json()["items"]
    shown += [
        key | {"users": [], "owner": None}
        for key in stage.admin.call("GET", "/v1/admin/keys").json()["items"]
    ]
    shown += tenants(stage)
    return json.dumps(shown, ensure_ascii=False)


def tenants(stage: Stage) -> list[Any]:
    """Every tenant of the house, which other tests fill as well; a page has its own cursor."""
    shown: list[Any] = []
    params: dict[str, Any] = {"limit": 200}
    while True:
        page = stage.house.operator.call("GET", "/v1/admin/tenants", params=params).json()
        shown += page["items"]
        if page["next_cursor"] is None:
            return shown
        params["cursor"] = page["next_cursor"]


def found(words: dict[str, str], text: str) -> list[str]:
    return [place for word, place in words.items() if word in text]


NAMES_A_PERSON = ("user_id", "users[]", "create_key owner")
"""Where a person is named on purpose: kept as a keyed hash, or sealed for the administrator."""

NOWHERE = (
    "change_memory user_id", "memory_update user_id", "reveal_memory user_id",
    "write_memory space", "write_memories space", "memory_write space", "memory_write_batch space",
)  # fmt: skip
"""A change or a reveal of nobody that is known, a space that is not there: missing at once."""

VOCABULARY = (
    "put_access_policy", "put_pii_policy", "put_secrets_policy", "explain_access", "put_quotas",
    "create_key addresses",
)  # fmt: skip
"""Where no free text is taken: words of a closed list, and names of what is there, or a refusal."""


KEEPING = frozenset({"write_memory", "write_memories", "change_memory", "memory_write",
                     "memory_write_batch", "memory_update"})  # fmt: skip
"""Ways by which a text becomes a memory: HTTP and MCP, one and many, new and changed."""


@pytest.mark.requirement("D4")
def test_the_places_are_those_of_every_way_in() -> None:
    places = Counter(name for name, _, _ in writing(""))
    assert {*KEEPING, "preview_guard", "put_pii_policy", "put_secrets_policy"} <= places.keys()
    assert sum(places[name] for name in KEEPING) >= 40
    free = {name for name, model in bodies().items() if any(positions(ITEMS.get(name, model), ""))}
    asked = {"recall", "memory_search"}  # a question is cleaned: see below
    ids_alone = {"memory_get", "memory_forget", "rotate_key"}
    assert free - places.keys() <= asked | ids_alone


@pytest.mark.requirement("D4")
def test_a_personal_datum_anywhere_is_transformed_or_refused(house: House, stage: Stage) -> None:
    embedded_before = len(house.embedder.seen)
    words, replies = plant(stage, datum)
    assert len(words) >= 100
    accepted = {place: reply for place, reply in replies.items() if succeeded(reply)}
    refused = {place: reply for place, reply in replies.items() if place not in accepted}
    for place, reply in accepted.items():
        if not place.endswith(NAMES_A_PERSON) and not place.startswith("explain_access"):
            assert '"EMAIL_ADDRESS"' in reply.text, (place, reply.text)
    for place, reply in refused.items():
        if not place.endswith(NOWHERE) and not place.startswith(VOCABULARY):
            assert "EMAIL_ADDRESS" in reply.text, (place, reply.text)
    assert found(words, "".join(reply.text for reply in refused.values())) == []
    assert found(words, kept(stage)) == []
    assert found(words, "\n".join(house.embedder.seen[embedded_before:])) == []
    house.indexed()
    assert found_on_disk(house.folder / "data", list(words)) == []


@pytest.mark.requirement("D4")
def test_a_secret_anywhere_refuses_the_call(house: House, stage: Stage) -> None:
    embedded_before = len(house.embedder.seen)
    before = kept(stage)
    words, replies = plant(stage, secret)
    assert len(words) >= 100
    for place, reply in replies.items():
        if place.startswith("explain_access"):  # asks, and keeps nothing
            continue
        if place.startswith("preview_guard"):  # as well, but says what a write would do
            assert reply.json()["decision"] == "reject", place
            assert "SECRET.CLOUD_KEY" in reply.text, (place, reply.text)
            continue
        assert not succeeded(reply), place
        if not place.endswith(NOWHERE) and not place.startswith(VOCABULARY):
            assert "SECRET.CLOUD_KEY" in reply.text or "cloud key" in reply.text, (
                place,
                reply.text,
            )
    assert found(words, "".join(reply.text for reply in replies.values())) == []
    assert kept(stage) == before
    assert house.embedder.seen[embedded_before:] == []
    assert found_on_disk(house.folder / "data", list(words)) == []


@pytest.mark.requirement("D4")
@pytest.mark.parametrize("make", [datum, secret], ids=["datum", "secret"])
def test_a_question_is_cleaned_before_it_is_embedded_or_recorded(
    house: House, stage: Stage, make: Callable[[], tuple[str, str]]
) -> None:
    text, word = make()
    reply = ask_of(stage, "recall", json={"query": f"whose is {text} then"})
    assert reply.status_code == 200, reply.text
    over_mcp = ask_of(stage, "memory_search", json={"query": f"whose is {text} then"})
    assert succeeded(over_mcp)
    assert not any(word in seen for seen in house.embedder.seen)
    with house.below("recalls") as connection:
        rows = connection.execute(
            "SELECT id, user_id, sealed FROM recalls WHERE tenant = %s", [stage.agent.tenant]
        ).fetchall()
    opened = [house.run(opened_recall(house, stage.agent.tenant, *row)) for row in rows]
    asked = [record["query"] for record in opened]
    assert sum("whose is" in query for query in asked) >= 2
    assert not any(word in query for query in asked)


async def opened_recall(
    house: House, tenant: str, recall: RecallId, user: UserId, sealed: bytes
) -> dict[str, Any]:
    owner = Owner(tenant=TenantId(UUID(tenant)), id=user)
    keys = await house.gateway.gate.keyring.owner(owner)
    assert keys is not None
    data: dict[str, Any] = json.loads(
        keys.open(Place(record=recall, version=1, field="recall"), sealed)
    )
    return data
