"""A tenant's own policies for personal data and for secrets, on real engines."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest

from tests.house import House
from tests.live.gateways import Agent

MAIL, CARD, PHONE = "rosa@harbour.example", "4111 1111 1111 1111", "+49 30 901820"
KEY = "AKIAQ3EGR7HX2B5KZ4TW"
BADGE = {
    "id": "badge",
    "kind": "SECRET.TOKEN",
    "pattern": "badge-[0-9]{6,8}",
    "keywords": ["badge-"],
}
SEEN = {"case": "a badge", "text": "use badge-483920", "rejected": "SECRET.TOKEN"}


def put(admin: Agent, kind: str, **document: Any) -> httpx.Response:
    return admin.call("PUT", f"/v1/admin/policies/{kind}", json=document)


def shown(admin: Agent, kind: str) -> dict[str, Any]:
    reply = admin.call("GET", f"/v1/admin/policies/{kind}")
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def asks(admin: Agent, *rules: dict[str, Any], **kinds: dict[str, Any]) -> str:
    """Put a policy for personal data; returns its version."""
    case = {"case": "plain", "text": "likes tea", "kept": "likes tea"}
    reply = put(admin, "pii", kinds=kinds, rules=list(rules), cases=[case])
    assert reply.status_code == 200, reply.text
    version: str = reply.json()["version"]
    return version


def content(agent: Agent, text: str, **fields: Any) -> str:
    memory = agent.stored(text, **fields)
    kept: str = agent.get(memory).json()["content"]
    return kept


def ends_in(agent: Agent, memory: str) -> timedelta:
    shown = agent.get(memory).json()
    return datetime.fromisoformat(shown["expires_at"]) - written(shown)


def written(memory: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(memory["created_at"])


@pytest.fixture
def admin(house: House) -> Agent:
    return house.tenant()


@pytest.fixture
def agent(house: House, admin: Agent) -> Agent:
    return house.agent(admin, "alice", namespaces=["support", "hr"])


@pytest.mark.requirement("C12")
def test_a_policy_is_whole_and_versioned_and_comes_back_as_it_was_put(admin: Agent) -> None:
    assert shown(admin, "pii")["policy"] == {"kinds": {}, "rules": [], "cases": []}
    assert shown(admin, "secrets")["policy"] == {"rules": [], "cases": []}
    before = shown(admin, "pii")["version"]
    document = {
        "profile": "strict",
        "kinds": {"EMAIL_ADDRESS": {"action": "allow"}},
        "cases": [{"case": "stays", "text": MAIL, "kept": MAIL}],
    }
    reply = put(admin, "pii", **document)
    assert reply.status_code == 200, reply.text
    assert len(reply.headers["x-access-version"]) > 20
    assert shown(admin, "pii") == {"version": reply.json()["version"], "policy": document}
    assert reply.json()["version"] != before
    assert put(admin, "pii").json()["version"] == before


@pytest.mark.requirement("C12")
def test_one_that_fails_its_lint_or_its_cases_is_refused_and_the_old_one_stays(
    admin: Agent, agent: Agent
) -> None:
    good = {"rules": [BADGE], "cases": [SEEN]}
    version = put(admin, "secrets", **good).json()["version"]
    for bad, field in (
        ({"rules": [BADGE | {"pattern": "badge-[0-9]+"}], "cases": [SEEN]}, "rules[0].pattern"),
        ({"rules": [BADGE], "cases": [SEEN | {"text": "no badge"}]}, "cases[0]"),
        ({"rules": [BADGE]}, "cases"),
    ):
        reply = put(admin, "secrets", **bad)
        assert (reply.status_code, reply.json()["code"]) == (422, "invalid")
        assert [fault["field"] for fault in reply.json()["errors"]] == [field]
    assert shown(admin, "secrets") == {"version": version, "policy": good}
    refused = agent.try_write("my badge-483920 is at home")
    assert refused.json()["reasons"] == [{"kind": "SECRET.TOKEN", "field": "content"}]


def test_a_refusal_repeats_nothing_of_the_policy_and_it_is_logged_nowhere(
    house: House, admin: Agent
) -> None:
    case = {"case": "leaks", "text": f"key {KEY}", "kept": f"key {KEY}"}
    reply = put(admin, "pii", profile="observe", cases=[case])
    assert reply.status_code == 422
    assert KEY not in reply.text
    tried = put(admin, "pii", profile="observe", cases=[case | {"rejected": "SECRET.CLOUD_KEY"}])
    assert tried.status_code == 422
    fits = {"case": "a key", "text": f"key {KEY}", "rejected": "SECRET.CLOUD_KEY"}
    assert put(admin, "pii", profile="observe", cases=[fits]).status_code == 200
    assert KEY not in "".join(house.log)
    with house.below("policies") as connection:
        rows = connection.execute(
            "SELECT sealed FROM policies WHERE tenant = %s", [admin.tenant]
        ).fetchall()
    assert rows
    assert all(KEY.encode() not in row[0] for row in rows)


@pytest.mark.requirement("D7")
def test_what_is_done_depends_on_kind_namespace_source_and_layer(
    admin: Agent, agent: Agent
) -> None:
    asks(
        admin,
        {"kinds": ["EMAIL_ADDRESS"], "namespaces": ["hr"], "action": "reject"},
        {"kinds": ["EMAIL_ADDRESS"], "sources": ["document"], "action": "redact"},
        {"kinds": ["EMAIL_ADDRESS"], "layers": ["working"], "action": "observe"},
        EMAIL_ADDRESS={"action": "allow"},
    )
    text = f"write to {MAIL}"
    assert content(agent, text) == text
    assert content(agent, f"{text} a", source={"kind": "document"}) == "write to [EMAIL_ADDRESS] a"
    assert content(agent, f"{text} b", namespace="support") == f"{text} b"
    refused = agent.try_write(text, namespace="hr")
    assert refused.json()["reasons"] == [{"kind": "EMAIL_ADDRESS", "field": "content"}]
    observed = agent.write(f"{text} c", layer="working")
    assert observed["redactions"] == [
        {"kind": "EMAIL_ADDRESS", "action": "observe", "field": "content", "count": 1}
    ]
    # Every other kind is treated as shipped.
    assert content(agent, f"call {PHONE}") == "call [PHONE_NUMBER]"


@pytest.mark.requirement("D7")
def test_a_source_above_the_ceiling_is_lowered_before_the_policy_decides(
    house: House, admin: Agent
) -> None:
    asks(
        admin,
        {"sources": ["document"], "kinds": ["EMAIL_ADDRESS"], "action": "redact"},
        EMAIL_ADDRESS={"action": "allow"},
    )
    reader = house.agent(admin, "alice", source_ceiling="document")
    claimed = {"kind": "user_direct"}
    assert content(reader, f"to {MAIL}", source=claimed) == "to [EMAIL_ADDRESS]"


@pytest.mark.requirement("D7")
def test_a_change_is_judged_where_its_memory_stands_by_who_said_it_first(
    admin: Agent, agent: Agent, house: House
) -> None:
    asks(
        admin,
        {"namespaces": ["hr"], "kinds": ["EMAIL_ADDRESS"], "action": "reject"},
        {"sources": ["document"], "kinds": ["EMAIL_ADDRESS"], "action": "redact"},
        EMAIL_ADDRESS={"action": "allow"},
    )
    hr = agent.stored("likes tea", namespace="hr")
    read = agent.stored("likes cake", namespace="support", source={"kind": "document"})
    said = agent.stored("likes milk", namespace="support")
    outcomes = {}
    for name, memory in (("hr", hr), ("read", read), ("said", said)):
        reply = agent.call(
            "PATCH", f"/v1/memories/{memory}", json=agent.about(content=f"{name} to {MAIL}")
        )
        outcomes[name] = reply.status_code, agent.get(memory).json()["content"]
    assert outcomes == {
        "hr": (422, "likes tea"),
        "read": (200, "read to [EMAIL_ADDRESS]"),
        "said": (200, f"said to {MAIL}"),
    }
    over_mcp = house.tool(
        agent, "memory_update", memory_id=hr, user_id="alice", content=f"again {MAIL}"
    )
    assert over_mcp["isError"] is True


def test_a_question_is_cleaned_as_strictly_as_where_it_is_asked(
    house: House, admin: Agent, agent: Agent
) -> None:
    asks(
        admin,
        {"namespaces": ["hr"], "kinds": ["EMAIL_ADDRESS"], "action": "redact"},
        EMAIL_ADDRESS={"action": "allow"},
    )
    memory = agent.stored(f"Kim answers at {MAIL}", namespace="support")
    before = len(house.embedder.seen)
    found = agent.recall(f"who answers at {MAIL}", namespaces=["support"])
    assert [item["id"] for item in found] == [memory]
    assert any(MAIL in text for text in house.embedder.seen[before:])
    before = len(house.embedder.seen)
    agent.recall(f"who then answers at {MAIL}", namespaces=["support", "hr"])
    agent.recall(f"who else answers at {MAIL}")  # in all that the key may use
    assert not any(MAIL in text for text in house.embedder.seen[before:])


@pytest.mark.requirement("D7")
def test_what_a_policy_lets_expire_does_so_and_no_update_lengthens_it(
    admin: Agent, agent: Agent
) -> None:
    asks(admin, EMAIL_ADDRESS={"action": "expire", "expire_seconds": 3600})
    hour = timedelta(seconds=3600)
    text = f"write to {MAIL}"
    memory = agent.stored(text)
    assert agent.get(memory).json()["content"] == text
    assert hour - timedelta(seconds=60) < ends_in(agent, memory) <= hour
    began = written(agent.get(memory).json())
    later = (began + 3 * hour).isoformat()
    changes: list[dict[str, Any]] = [
        {"expires_at": later},
        {"expires_at": None},
        {"content": "write to Rosa"},
        {"importance": 0.9},
    ]
    for change in changes:
        reply = agent.call("PATCH", f"/v1/memories/{memory}", json=agent.about(**change))
        assert reply.status_code == 200, reply.text
        assert ends_in(agent, memory) <= hour, change
    asks(admin, EMAIL_ADDRESS={"action": "allow"})
    reply = agent.call("PATCH", f"/v1/memories/{memory}", json=agent.about(expires_at=None))
    assert ends_in(agent, memory) <= hour
    sooner = (began + hour / 2).isoformat()
    agent.call("PATCH", f"/v1/memories/{memory}", json=agent.about(expires_at=sooner))
    assert ends_in(agent, memory) <= hour / 2


@pytest.mark.requirement("D7")
def test_a_repeat_or_a_change_may_bring_an_end_and_takes_none_away(
    admin: Agent, agent: Agent
) -> None:
    asks(admin, EMAIL_ADDRESS={"action": "allow"})
    text = f"write to {MAIL}"
    memory, other = agent.stored(text), agent.stored("likes tea")
    assert agent.get(memory).json()["expires_at"] is None
    asks(admin, EMAIL_ADDRESS={"action": "expire", "expire_seconds": 600})
    assert agent.get(memory).json()["expires_at"] is None  # what is kept stays as it was guarded
    assert agent.stored(text) == memory
    soon = timedelta(seconds=660)  # the ten minutes run from the repeat or the change
    assert ends_in(agent, memory) <= soon
    change = agent.about(content=f"likes tea with {MAIL}")
    assert agent.call("PATCH", f"/v1/memories/{other}", json=change).status_code == 200
    assert ends_in(agent, other) <= soon
    asks(admin, EMAIL_ADDRESS={"action": "expire", "expire_seconds": 6000})
    assert agent.stored(text) == memory
    assert ends_in(agent, memory) <= soon


def test_the_record_itself_keeps_nothing_beyond_its_end(
    house: House, admin: Agent, agent: Agent
) -> None:
    asks(admin, EMAIL_ADDRESS={"action": "expire", "expire_seconds": 600})
    memory = agent.stored(f"write to {MAIL}")
    for longer in ("NULL", "expires_at + interval '1 second'"):
        with pytest.raises(psycopg.errors.CheckViolation), house.below("memories") as connection:
            connection.execute(f"UPDATE memories SET expires_at = {longer} WHERE id = %s", [memory])


def test_to_observe_reports_everything_and_changes_nothing_but_the_class(
    house: House, admin: Agent, agent: Agent
) -> None:
    assert put(admin, "pii", profile="observe").status_code == 200
    text = f"Rosa pays with {CARD}, writes from {MAIL}"
    kept = agent.write(text)
    assert {one["action"] for one in kept["redactions"]} == {"observe"}
    assert {"CREDIT_CARD", "EMAIL_ADDRESS"} <= {one["kind"] for one in kept["redactions"]}
    (outcome,) = kept["outcomes"]
    assert outcome["sensitivity"] == "sensitive"
    assert agent.get(outcome["id"]).json()["content"] == text
    assert ends_in(agent, outcome["id"]) <= timedelta(hours=24)
    space = {"name": f"team {admin.tenant}", "audience": "members"}
    assert admin.call("POST", "/v1/admin/spaces", json=space).status_code == 201
    path = f"/v1/admin/spaces/{space['name']}/members/user:alice"
    assert admin.call("PUT", path, json={"role": "writer"}).status_code == 200
    shared = agent.try_write(f"all pay with {CARD}", space=space["name"])
    assert shared.json()["reasons"] == [{"kind": "SPACE.SENSITIVE", "field": "content"}]
    mild = agent.write(f"answers at {MAIL}", tags=[MAIL])
    assert mild["outcomes"][0]["sensitivity"] == "personal"
    assert agent.get(mild["outcomes"][0]["id"]).json()["tags"] == [MAIL]
    secret = agent.try_write(f"the key is {KEY}")
    assert secret.json()["reasons"] == [{"kind": "SECRET.CLOUD_KEY", "field": "content"}]
    hidden = "tea" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore")
    assert agent.try_write(hidden).json()["reasons"] == [
        {"kind": "HIDDEN_TEXT", "field": "content"}
    ]


@pytest.mark.requirement("D7")
def test_another_tenants_policy_never_applies_to_mine(
    house: House, admin: Agent, agent: Agent
) -> None:
    neighbour = house.someone()
    asks(admin, EMAIL_ADDRESS={"action": "allow"})
    assert put(admin, "secrets", rules=[BADGE], cases=[SEEN]).status_code == 200
    for number in range(3):
        assert content(agent, f"{number} to {MAIL}") == f"{number} to {MAIL}"
        assert content(neighbour, f"{number} to {MAIL}") == f"{number} to [EMAIL_ADDRESS]"
    assert neighbour.try_write("my badge-483920").status_code == 201
    assert agent.try_write("my badge-483920").status_code == 422
    assert put(admin, "secrets").status_code == 200
    assert agent.try_write("my badge-483920").status_code == 201


@pytest.mark.requirement("C2")
def test_another_tenants_policy_in_the_place_of_mine_opens_nothing(
    house: House, admin: Agent, agent: Agent
) -> None:
    other = house.tenant()
    mine, theirs = (
        asks(admin, EMAIL_ADDRESS={"action": "allow"}),
        asks(other, PHONE_NUMBER={"action": "allow"}),
    )
    with house.below("policies", "access_standings") as connection:
        (before,) = connection.execute(
            "SELECT sealed FROM policies WHERE tenant = %s AND kind = 'pii'", [admin.tenant]
        ).fetchone() or (b"",)
        connection.execute(
            "UPDATE policies m SET sealed = t.sealed, version = t.version FROM policies t"
            " WHERE m.tenant = %s AND m.kind = 'pii' AND t.tenant = %s AND t.kind = 'pii'",
            [admin.tenant, other.tenant],
        )
        connection.execute(
            "UPDATE access_standings SET pii = %s WHERE tenant = %s", [theirs, admin.tenant]
        )
    for _ in range(2):
        assert agent.try_write("likes tea").status_code == 503  # and not as shipped
        asked = agent.call("POST", "/v1/recall", json=agent.about(query="tea"))
        assert asked.status_code == 503
    with house.below("policies", "access_standings") as connection:
        connection.execute(
            "UPDATE policies SET sealed = %s, version = %s WHERE tenant = %s AND kind = 'pii'",
            [before, mine, admin.tenant],
        )
        connection.execute(
            "UPDATE access_standings SET pii = %s WHERE tenant = %s", [mine, admin.tenant]
        )
    assert content(agent, f"to {MAIL}") == f"to {MAIL}"


def test_nobodys_own_rules_keep_them_from_mending_these(admin: Agent, agent: Agent) -> None:
    everything = {
        "id": "all",
        "kind": "SECRET.TOKEN",
        "pattern": "[a-z]{1,9}",
        "keywords": ["ea"],
    }
    case = {"case": "tea", "text": "tea", "rejected": "SECRET.TOKEN"}
    assert put(admin, "secrets", rules=[everything], cases=[case]).status_code == 200
    assert agent.try_write("likes tea").status_code == 422
    mended = {"case": "tea", "text": "tea", "kept": "tea"}
    assert put(admin, "secrets", rules=[], cases=[mended]).status_code == 200
    assert agent.try_write("likes tea").status_code == 201


def test_what_a_policy_names_is_guarded_as_shipped(admin: Agent) -> None:
    for document in (
        {"cases": [{"case": KEY, "text": "tea", "kept": "tea"}]},
        {"cases": [{"case": "tea", "text": "tea", "kept": "tea", "namespace": KEY}]},
        {
            "rules": [{"action": "redact", "namespaces": [KEY]}],
            "cases": [{"case": "tea", "text": "tea", "kept": "tea"}],
        },
    ):
        reply = put(admin, "pii", **document)
        assert (reply.status_code, reply.json()["code"]) == (422, "content_rejected")
        assert KEY not in reply.text


def test_it_is_audited_and_administrators_alone_put_and_read_it(house: House, admin: Agent) -> None:
    version = asks(admin, EMAIL_ADDRESS={"action": "allow"})
    shown(admin, "pii")
    auditor = house.agent(admin, roles=["auditor"])
    events = auditor.events()
    assert {(event["action"], event["object"]) for event in events} >= {
        ("admin:policy:write", f"pii:{version}"),
        ("admin:policy:read", "pii"),
    }
    for role in ("reader", "writer", "curator", "privacy", "auditor"):
        one = house.agent(admin, roles=[role])
        for kind in ("pii", "secrets"):
            assert put(one, kind).status_code == 403
            assert one.call("GET", f"/v1/admin/policies/{kind}").status_code == 403
    assert put(house.operator, "pii").status_code == 403


def test_a_write_that_a_new_policy_overtakes_is_not_kept(
    house: House, admin: Agent, agent: Agent
) -> None:
    asks(admin, EMAIL_ADDRESS={"action": "allow"})
    begun, go_on = asyncio.Event(), asyncio.Event()
    engine = house.embedder.passages

    async def slow(texts: Any) -> Any:
        begun.set()
        await go_on.wait()
        return await engine(texts)

    async def both() -> tuple[httpx.Response, httpx.Response]:
        house.embedder.passages = slow  # type: ignore[method-assign]
        try:
            writing = asyncio.create_task(
                house.client.post(
                    "/v1/memories",
                    json=agent.about(content=f"to {MAIL}"),
                    headers={"X-API-Key": agent.key},
                )
            )
            await begun.wait()
            putting = await house.client.put(
                "/v1/admin/policies/pii", json={}, headers={"X-API-Key": admin.key}
            )
            go_on.set()
            return putting, await writing
        finally:
            house.embedder.passages = engine  # type: ignore[method-assign]

    putting, writing = house.run(both())
    assert putting.status_code == 200
    assert writing.status_code == 503
    assert agent.listed() == []
