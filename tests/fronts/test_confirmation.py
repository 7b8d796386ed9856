"""What cannot be undone waits for the person: asked for one call, answered once, by nobody else."""

import base64
import random
from datetime import timedelta
from typing import Any

import httpx
import pytest

from core.errors import Unavailable
from core.ids import TenantId
from core.scope import Role
from gateway import confirmation
from tests.fronts.seats import ASKS, Replica, modern
from tests.fronts.seats import replica as open_replica
from tests.house import House
from tests.live.gateways import Agent

YES = {"confirm": {"action": "accept", "content": {"confirm": True}}}
NOT_YES: list[dict[str, Any]] = [
    {"confirm": {"action": "accept", "content": {"confirm": False}}},
    {"confirm": {"action": "accept", "content": {}}},
    {"confirm": {"action": "accept"}},
    {"confirm": {"action": "accept", "content": {"confirm": "true"}}},
    {"confirm": {"action": "accept", "content": {"confirm": 1}}},
    {"confirm": {"action": "decline"}},
    {"confirm": {"action": "cancel"}},
]


class Case:
    """A stale token of Alice's in a tenant of its own, and a memory that it wants to forget."""

    def __init__(self, replica: Replica, **about: Any) -> None:
        self.replica = replica
        self.tenant = replica.house.tenant().tenant
        self.agent = replica.sit(self.tenant, fresh=False, **about)
        self.memory = self.agent.stored("she keeps bees")

    def forget(self, agent: Agent | None = None, **params: Any) -> httpx.Response:
        arguments = params.pop("arguments", {"memory_id": self.memory})
        return self.replica.tool(agent or self.agent, "memory_forget", arguments, **params)

    def asked(self) -> str:
        result = self.forget().json()["result"]
        assert result["resultType"] == "input_required", result
        state: str = result["requestState"]
        return state

    def there(self) -> bool:
        return self.agent.get(self.memory).status_code == 200


def done(reply: httpx.Response) -> bool:
    body = reply.json()
    return "result" in body and body["result"].get("structuredContent", {}).get("deleted") == 1


def refused(reply: httpx.Response) -> bool:
    return reply.status_code == 400 and reply.json()["error"]["code"] == -32602


@pytest.mark.requirement("B11")
def test_a_stale_token_forgets_when_its_person_says_yes_and_only_once(replica: Replica) -> None:
    case = Case(replica)
    asked = case.forget().json()["result"]
    form = asked["inputRequests"]["confirm"]
    assert form["method"] == "elicitation/create"
    assert list(form["params"]["requestedSchema"]["properties"]) == ["confirm"]
    assert case.there()
    reply = case.forget(requestState=asked["requestState"], inputResponses=YES)
    assert done(reply), reply.text
    assert not case.there()
    assert refused(case.forget(requestState=asked["requestState"], inputResponses=YES))


@pytest.mark.requirement("B11")
def test_a_fresh_token_is_not_asked(replica: Replica) -> None:
    case = Case(replica)
    assert done(case.forget(replica.sit(case.tenant, fresh=True)))


@pytest.mark.requirement("B11")
@pytest.mark.parametrize("answers", NOT_YES)
def test_anything_but_yes_does_nothing_and_uses_the_question_up(
    replica: Replica, answers: dict[str, Any]
) -> None:
    case = Case(replica)
    state = case.asked()
    reply = case.forget(requestState=state, inputResponses=answers)
    assert "did not confirm" in reply.text
    assert refused(case.forget(requestState=state, inputResponses=YES))
    assert case.there()


@pytest.mark.requirement("B11")
def test_without_an_answer_the_person_is_asked_again(replica: Replica) -> None:
    case = Case(replica)
    state = case.asked()
    for answers in ({}, {"other": YES["confirm"]}):
        result = case.forget(requestState=state, inputResponses=answers).json()["result"]
        assert result["resultType"] == "input_required"
    assert case.there()


@pytest.mark.requirement("B11")
def test_a_client_that_cannot_ask_is_told_how_else(replica: Replica) -> None:
    case = Case(replica)
    params = {"name": "memory_forget", "arguments": {"memory_id": case.memory}}
    unable: list[dict[str, Any]] = [{}, {"elicitation": {"url": {}}}, {"sampling": {}}]
    for able in unable:
        result = modern(case.agent, "tools/call", params, able=able).json()["result"]
        assert result["isError"], able
        assert "sign in again" in result["content"][0]["text"]
    assert modern(case.agent, "tools/call", params, able={"elicitation": {}}).json()["result"][
        "resultType"
    ] == ("input_required")
    older = replica.house.rpc(case.agent, "tools/call", params)
    assert "sign in again" in older.json()["result"]["content"][0]["text"]
    assert case.there()


@pytest.mark.requirement("B11")
def test_over_http_the_challenge_names_the_step_up(replica: Replica) -> None:
    case = Case(replica)
    reply = case.agent.forget(case.memory)
    assert reply.status_code == 401
    assert reply.headers["WWW-Authenticate"].startswith(
        'Bearer error="insufficient_user_authentication", max_age="300", resource_metadata='
    )
    assert case.there()


@pytest.mark.requirement("B9", "B11")
def test_an_answer_is_of_one_caller_one_call_and_five_minutes(
    replica: Replica, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = Case(replica)
    other = case.agent.stored("she keeps goats")
    state = case.asked()
    elsewhere = replica.sit(house.tenant().tenant, fresh=False)
    colleague = replica.sit(case.tenant, "bob", fresh=False)
    twin = replica.sit(case.tenant, fresh=False)  # Alice by another client
    said: dict[str, Any] = {"requestState": state, "inputResponses": YES}
    for agent in (elsewhere, colleague, twin):
        assert refused(case.forget(agent, **said))
    for arguments in ({"memory_id": other}, {"memory_id": case.memory, "user_id": "alice"}):
        assert refused(case.forget(arguments=arguments, **said))
    update = {"memory_id": case.memory, "content": "she keeps ants"}
    assert refused(replica.tool(case.agent, "memory_update", update, **said))
    assert refused(replica.tool(case.agent, "memory_nothing", {}, **said))
    assert refused(replica.tool(case.agent, "memory_get", {"memory_id": case.memory}, **said))
    now = house.run(house.gateway.gate.store.now())

    async def later() -> Any:
        return now + timedelta(seconds=confirmation.VALID_SECONDS)

    with monkeypatch.context() as patch:
        patch.setattr(house.gateway.gate.store, "now", later)
        assert refused(case.forget(**said))
    assert case.there()
    assert done(case.forget(**said))  # none of that used it up


@pytest.mark.requirement("B9")
def test_a_refused_answer_is_in_the_log(replica: Replica, house: House) -> None:
    admin = house.tenant()
    agent = replica.sit(admin.tenant, fresh=False)
    memory = agent.stored("she keeps bees")
    replica.tool(agent, "memory_forget", {"memory_id": memory}, requestState="made-up")
    auditor = house.agent(admin, roles=["auditor"])
    (event,) = auditor.events(action="memory:item:forget")
    assert event["outcome"] == "invalid"


@pytest.mark.requirement("B9")
def test_another_replica_takes_the_answer_and_the_first_then_does_not(
    replica: Replica, house: House
) -> None:
    with open_replica(house, replica.seats) as second:
        case = Case(replica)
        state = case.asked()
        case.replica = second
        assert done(case.forget(requestState=state, inputResponses=YES))
        case.replica = replica
        assert refused(case.forget(requestState=state, inputResponses=YES))


@pytest.mark.requirement("B9")
def test_nobody_is_asked_where_nobody_could_remember_the_answer(house: House) -> None:
    class Away:
        async def first_use(self, tenant: TenantId, proof: bytes, *, seconds: int) -> bool:
            raise Unavailable

    with open_replica(house, claims=Away()) as lost:
        case = Case(lost)
        reply = case.forget(requestState=case.asked(), inputResponses=YES)
        assert reply.json()["error"]["code"] == -32603
        assert case.there()


def tampered(state: str, other: str, pick: random.Random, count: int) -> list[str]:
    """States that were never asked: bits, bytes, lengths, spellings and mixtures."""
    raw = base64.urlsafe_b64decode(state + "=" * (-len(state) % 4))
    foreign = base64.urlsafe_b64decode(other + "=" * (-len(other) % 4))
    found = [
        "", "=", "e30", "null", "{}", "a" * 9000, state + "A", state + "=", " " + state,
        state + "\n", state[:-1], state[1:], state.swapcase(), state[::-1], state + state,
        state.replace(state[9], "é", 1), "..%2f" + state, "v1." + state,
    ]  # fmt: skip
    while len(found) < count:
        changed = bytearray(raw)
        match pick.randrange(5):
            case 0:
                changed[pick.randrange(len(raw))] ^= 1 << pick.randrange(8)
            case 1:
                del changed[pick.randrange(len(raw))]
            case 2:
                at = pick.randrange(1, len(raw))
                changed = bytearray(raw[:at] + foreign[at:])
            case 3:
                at = pick.randrange(len(state))
                found.append(state[:at] + pick.choice("ABCxyz012-_ !") + state[at + 1 :])
                continue
            case _:
                changed += pick.randbytes(pick.randrange(1, 4))
        found.append(base64.urlsafe_b64encode(bytes(changed)).rstrip(b"=").decode())
    return [each for each in found if each not in (state, other)]


def attack(house: House, first: Replica, count: int) -> None:
    with open_replica(house, first.seats) as second, open_replica(house, first.seats) as third:
        pick = random.Random(count)
        case = Case(first)
        state, other = case.asked(), Case(first).asked()
        replicas = [first, second, third]
        for number, each in enumerate(tampered(state, other, pick, count)):
            case.replica = replicas[number % 3]
            assert refused(case.forget(requestState=each, inputResponses=YES)), each
        assert case.there()
        assert done(case.forget(requestState=state, inputResponses=YES))


@pytest.mark.requirement("B9")
def test_no_altered_state_of_five_hundred_does_anything(replica: Replica, house: House) -> None:
    attack(house, replica, 500)


@pytest.mark.long
@pytest.mark.requirement("B9")
def test_no_altered_state_of_five_thousand_does_anything(replica: Replica, house: House) -> None:
    attack(house, replica, 5000)


@pytest.mark.requirement("B11")
def test_an_api_key_is_made_for_what_it_does_and_never_asked(house: House) -> None:
    agent = house.someone(roles=[role.value for role in (Role.WRITER, Role.CURATOR)])
    memory = agent.stored("she keeps bees")
    reply = modern(
        agent, "tools/call",
        {"name": "memory_forget", "arguments": {"memory_id": memory, "user_id": "alice"}},
        able=ASKS,
    )  # fmt: skip
    assert done(reply)
