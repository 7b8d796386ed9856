"""An administrator asks what the guard would do: told truly, and nothing of the text stays."""

import secrets
from typing import Any

import pytest

from tests.attacks.test_side_doors import TABLES, sinks
from tests.house import House
from tests.live.gateways import Agent
from tests.live.test_canaries import found_on_disk

PATH = "/v1/guard/preview"
SHOWN = {"decision", "content", "findings", "sensitivity", "expires_in_seconds", "policy_version"}


@pytest.fixture
def admin(house: House) -> Agent:
    return house.tenant()


def previewed(admin: Agent, content: str, **fields: Any) -> dict[str, Any]:
    reply = admin.call("POST", PATH, json={"content": content} | fields)
    assert reply.status_code == 200, reply.text
    shown: dict[str, Any] = reply.json()
    return shown


def test_a_text_with_nothing_in_it_is_accepted_as_it_is(admin: Agent) -> None:
    shown = previewed(admin, "she drinks 👩‍👩‍👧 oolong, ｶﾀｶﾅ")
    version = shown.pop("policy_version")
    assert version.startswith("balanced-")
    assert shown == {
        "decision": "accept",
        "content": "she drinks 👩‍👩‍👧 oolong, ｶﾀｶﾅ",
        "findings": [],
        "sensitivity": "none",
        "expires_in_seconds": None,
    }


def test_what_would_be_transformed_is_shown_transformed_and_counted(admin: Agent) -> None:
    shown = previewed(admin, "mail rosa@harbour.example or liu@pier.example, 电话13800138000")
    assert shown.keys() == SHOWN
    assert shown["decision"] == "accept"
    assert shown["content"] == "mail [EMAIL_ADDRESS] or [EMAIL_ADDRESS], 电话[PHONE_NUMBER]"
    assert sorted(one["kind"] for one in shown["findings"]) == ["EMAIL_ADDRESS", "PHONE_NUMBER"]
    assert {(one["kind"], one["count"]) for one in shown["findings"]} == {
        ("EMAIL_ADDRESS", 2),
        ("PHONE_NUMBER", 1),
    }
    assert {one["field"] for one in shown["findings"]} == {"content"}
    assert shown["sensitivity"] == "personal"


def test_what_would_be_refused_is_told_by_kind_and_comes_back_in_no_part(admin: Agent) -> None:
    word = secrets.token_hex(6)
    reply = admin.call("POST", PATH, json={"content": f"my password is {word}-T9! and a cat"})
    shown = reply.json()
    assert shown.keys() == SHOWN - {"content"}
    assert (shown["decision"], shown["sensitivity"]) == ("reject", None)
    assert [(one["kind"], one["action"]) for one in shown["findings"]] == [
        ("SECRET.PASSWORD", "reject")
    ]
    assert word not in reply.text
    assert "a cat" not in reply.text


def test_a_preview_says_what_the_write_then_does(house: House, admin: Agent) -> None:
    agent = house.agent(admin, "alice")
    texts = [
        "write to rosa@harbour.example",
        "her card is 4111 1111 1111 1111, she said",
        "身份证 11010519491231002X",
        "nothing to see",
        "SSN 219-09-9999 and 219 09 9999",
        "\U000e0068\U000e0069\U000e0064\U000e0064\U000e0065\U000e006e hidden",
        "-----BEGIN PRIVATE KEY----- MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
        "cm9zYUBoYXJib3VyLmV4YW1wbGUgaXMgaGVy in base64",
    ]
    for text in texts:
        shown = previewed(admin, text, namespace="main")
        reply = agent.try_write(text)
        assert (shown["decision"] == "accept") == (reply.status_code == 201), text
        if reply.status_code != 201:
            refused = {(one["kind"], one["field"]) for one in reply.json()["reasons"]}
            assert {(one["kind"], one["field"]) for one in shown["findings"]
                    if one["action"] == "reject"} == refused  # fmt: skip
            continue
        (outcome,) = reply.json()["outcomes"]
        assert agent.get(outcome["id"]).json()["content"] == shown["content"]
        assert outcome["sensitivity"] == shown["sensitivity"]
        done = [one for one in shown["findings"] if one["action"] not in {"allow", "expire"}]
        assert done == reply.json()["redactions"]


def test_layer_and_source_are_taken_as_a_write_spells_them(admin: Agent) -> None:
    shown = previewed(
        admin, "on her way", layer="working", source={"kind": "document", "ref": "a@b.example"}
    )
    assert 0 < shown["expires_in_seconds"] <= 3600
    assert [(one["kind"], one["field"]) for one in shown["findings"]] == [
        ("EMAIL_ADDRESS", "source.ref")
    ]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"content": "x" * 32_769}, 413, "content"),
        ({"content": "\u200b\u2060"}, 422, "content"),
        ({"content": "a\0b"}, 422, "content"),
        ({"content": "x", "namespace": "*"}, 422, "namespace"),
        ({"content": "x", "layer": "basement"}, 422, "layer"),
        ({"content": "x", "user_id": "alice"}, 422, "user_id"),
        ({}, 422, "content"),
    ],
)
def test_what_no_write_takes_no_preview_takes(
    admin: Agent, body: dict[str, Any], status: int, field: str
) -> None:
    reply = admin.call("POST", PATH, json=body)
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (status, field)


def test_only_an_administrator_may_ask(house: House, admin: Agent) -> None:
    for roles in (["reader", "writer", "curator"], ["auditor"], ["privacy"]):
        agent = house.agent(admin, "alice", roles=roles)
        assert agent.call("POST", PATH, json={"content": "x"}).status_code == 403, roles
    assert house.operator.call("POST", PATH, json={"content": "x"}).status_code == 403


@pytest.mark.requirement("D14")
def test_that_somebody_asked_is_on_record_and_nothing_of_what(house: House, admin: Agent) -> None:
    auditor = house.agent(admin, "alice", roles=["auditor"])
    since, embedded = len(house.log), len(house.embedder.seen)
    words = [f"zq{secrets.token_hex(8)}" for _ in range(3)]
    accepted, refused, named = words
    previewed(admin, f"{accepted} wrote to {accepted}@harbour.example")
    previewed(admin, f"my password is {refused}-T9!")
    previewed(admin, "x", namespace=named)
    events = [one for one in auditor.events() if one["action"] == "admin:guard:preview"]
    assert [(one["decision"], one["object"], one["outcome"]) for one in events] == [
        ("allow", "guard", "ok")
    ] * 3
    for sink, text in sinks(house, auditor, since).items():
        assert not any(word in text or word.encode().hex() in text for word in words), sink
    assert not any(word in text for word in words for text in house.embedder.seen[embedded:])
    assert found_on_disk(house.folder / "data", words) == []
    with house.below(*TABLES) as connection:
        (kept,) = connection.execute(
            "SELECT count(*) FROM memories WHERE tenant = %s", [admin.tenant]
        ).fetchone() or (None,)
    assert kept == 0


def test_a_preview_is_not_counted_and_a_write_is(house: House, admin: Agent) -> None:
    def counted() -> str:
        return "\n".join(
            line
            for line in house.http.get("/metrics").text.splitlines()
            if line.startswith("memwarden_guard_findings_total")
        )

    before = counted()
    previewed(admin, "IBAN DE89370400440532013000")
    assert counted() == before
    house.agent(admin, "alice").write("IBAN DE89370400440532013000")
    assert counted() != before
    assert 'kind="IBAN_CODE"' in counted()
    assert admin.tenant not in counted()
