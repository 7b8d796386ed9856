"""What stands behind a pseudonym, against whoever has the files, another key, or no right to it."""

import json
import secrets
from uuid import UUID

import pytest

from core.ids import TenantId, UserId
from core.model import Owner
from tests.attacks.test_walls import without_row_level_security
from tests.house import House, text_of
from tests.live.gateways import Agent, wait_until
from tests.live.test_canaries import found_on_disk
from tests.pseudonyms import PHONE, ROLES, beside, content, reveal, revealed, word

pytestmark = pytest.mark.requirement("D6")


@pytest.fixture
def house(hiding: House) -> House:
    return hiding


@pytest.fixture
def admin(house: House) -> Agent:
    return house.tenant()


@pytest.fixture
def alice(house: House, admin: Agent) -> Agent:
    return house.agent(admin, "alice", roles=ROLES)


# --- who has the files ----------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 20, -1])
def test_a_changed_value_is_not_revealed(house: House, alice: Agent, at: int) -> None:
    memory = alice.stored(f"call {PHONE}")
    with house.below("pseudonyms") as connection:
        found = connection.execute("SELECT sealed FROM pseudonyms WHERE memory = %s", [memory])
        ((sealed,),) = found.fetchall()
        broken = bytearray(sealed)
        broken[at] ^= 1
        connection.execute(
            "UPDATE pseudonyms SET sealed = %s WHERE memory = %s", [bytes(broken), memory]
        )
    reply = reveal(alice, memory)
    assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
    (event,) = alice.events(action="memory:item:reveal")
    assert (event["outcome"], event["count"]) == ("tampered", 0)
    # Nor does its word stand for anything in a text that is written now.
    again = alice.write(f"noted: {content(alice, memory)}")
    assert [one["kind"] for one in again["redactions"]] == ["PSEUDONYM"]


SWAPPED = """
UPDATE pseudonyms a SET sealed = b.sealed FROM pseudonyms b
 WHERE b.tenant = a.tenant AND b.memory = a.memory AND b.token <> a.token AND a.memory = %s"""
ONE_LEFT = """
DELETE FROM pseudonyms WHERE memory = %s AND token <> (
  SELECT token FROM pseudonyms WHERE memory = %s ORDER BY token LIMIT 1)"""
PUT = """
UPDATE pseudonyms SET sealed = (SELECT sealed FROM pseudonyms WHERE memory = %s AND version = 1
                                  ORDER BY token LIMIT 1)
 WHERE memory = %s AND version = %s"""


@pytest.mark.parametrize("what", ["word", "memory", "version", "person"])
def test_a_value_that_was_moved_is_not_revealed(house: House, alice: Agent, what: str) -> None:
    memory = alice.stored(f"call {PHONE} or 13500135000")
    others = {
        "memory": alice.stored(f"then call {PHONE}"),
        "person": beside(house, alice, "bob").stored(f"call {PHONE}"),
        "version": memory,
    }
    patch = alice.about(metadata={"x": "y"})
    assert alice.call("PATCH", f"/v1/memories/{memory}", json=patch).status_code == 200
    assert revealed(alice, memory)["revealed"] == 2
    with house.below("pseudonyms") as connection:
        if what == "word":
            done = connection.execute(SWAPPED, [memory])
        else:
            connection.execute(ONE_LEFT, [memory, memory])
            done = connection.execute(PUT, [others[what], memory, 2])
        assert done.rowcount > 0
    assert reveal(alice, memory).status_code == 404


def test_a_value_is_under_its_persons_key_and_goes_with_it(house: House, alice: Agent) -> None:
    memory = alice.stored(f"call {PHONE}")
    with house.below("pseudonyms") as connection:
        found = connection.execute("SELECT user_id FROM pseudonyms WHERE memory = %s", [memory])
        ((user,),) = found.fetchall()
    owner = Owner(tenant=TenantId(UUID(alice.tenant)), id=UserId(user))
    assert house.run(house.gateway.gate.keyring.destroy_owner(owner)) > 0
    assert reveal(alice, memory).status_code == 404
    assert PHONE not in text_of(reveal(alice, memory))


def test_no_value_is_readable_anywhere_but_in_a_reveal(house: House, alice: Agent) -> None:
    phones = [f"139{secrets.randbelow(10**8):08d}" for _ in range(12)]
    ids = [
        alice.stored(f"a friend, {phone}", metadata={"deep": [phone]}, entities=[phone])
        for phone in phones
    ]
    for phone, memory in zip(phones, ids, strict=True):
        assert alice.recall(f"who has {phone}", timeout_ms=5000)[0]["id"] == memory
        alice.call("GET", f"/v1/memories/{memory}/versions", params=alice.about())
    house.indexed()
    shown = [revealed(alice, memory) for memory in ids]
    assert [one["metadata"]["deep"] for one in shown] == [[phone] for phone in phones]
    for memory in ids[:6]:
        alice.forget(memory)
    said = "\n".join([*house.log, house.traces(), json.dumps(alice.events()), *house.embedder.seen])
    assert [phone for phone in phones if phone in said] == []
    assert found_on_disk(house.folder / "data", phones) == []


def test_a_word_is_found_where_it_may_stand_so_the_search_above_would_find_a_value(
    house: House, alice: Agent
) -> None:
    memory = alice.stored(f"a friend, {PHONE}")
    assert any(word(alice, memory) in seen for seen in house.embedder.seen)


# --- who has no right to it -----------------------------------------------------------------------


def test_only_the_privacy_role_reveals(house: House, admin: Agent, alice: Agent) -> None:
    memory = alice.stored(f"call {PHONE}")
    for role in ("reader", "writer", "curator", "auditor", "admin"):
        other = house.agent(admin, "alice", roles=[role])
        reply = reveal(other, memory)
        assert (reply.status_code, reply.json()["code"]) == (403, "forbidden"), role
        assert "8000" not in text_of(reply)
    privacy = house.agent(admin, "alice", roles=["privacy"])
    assert revealed(privacy, memory)["content"] == f"call {PHONE}"
    assert privacy.get(memory).status_code == 403
    elsewhere = house.agent(admin, "alice", roles=["privacy"], namespaces=["side"])
    assert reveal(elsewhere, memory).status_code == 404
    of_others = house.agent(admin, "alice", roles=["privacy"], users=["bob"])
    assert reveal(of_others, memory).status_code == 403


def test_what_is_not_there_for_me_is_not_found_alike(house: House, alice: Agent) -> None:
    memory = alice.stored(f"call {PHONE}")
    gone, expired = alice.stored(f"once {PHONE}"), alice.stored(f"soon {PHONE}", ttl_seconds=1)
    alice.forget(gone)
    wait_until(lambda: alice.get(expired).status_code == 404, what="the expiry")
    bob, stranger = beside(house, alice, "bob"), house.someone("alice", roles=ROLES)
    bob.stored("likes tea")
    stranger.stored("likes tea")
    asked = [
        (bob, memory), (stranger, memory), (alice, gone), (alice, expired),
        (alice, "01900000-0000-7000-8000-000000000000"),
    ]  # fmt: skip
    answers = set()
    for agent, missing in asked:
        reply = reveal(agent, missing)
        answers.add((reply.status_code, reply.json()["code"], reply.json()["detail"]))
    assert len(answers) == 1
    assert next(iter(answers))[:2] == (404, "not_found")


def test_an_expired_value_is_nobodys_though_nobody_swept(house: House, alice: Agent) -> None:
    said = content(alice, alice.stored(f"soon {PHONE}", ttl_seconds=1))
    expired = alice.listed()[0]["id"]
    wait_until(lambda: alice.get(expired).status_code == 404, what="the expiry")
    with house.below("pseudonyms") as connection:
        left = connection.execute(
            "SELECT count(*) FROM pseudonyms WHERE memory = %s", [expired]
        ).fetchone()
    assert left == (1,)
    again = alice.write(f"noted: {said}")
    assert [one["kind"] for one in again["redactions"]] == ["PSEUDONYM"]


def test_without_row_level_security_the_queries_still_name_the_person(
    house: House, alice: Agent
) -> None:
    bob = beside(house, alice, "bob")
    memory, theirs = alice.stored(f"call {PHONE}"), bob.stored(f"mine is {PHONE}")
    with without_row_level_security(house):
        assert reveal(bob, memory).status_code == 404
        assert reveal(alice, theirs).status_code == 404
        receipt = alice.write(f"I saw: {content(bob, theirs)}")
        assert [one["kind"] for one in receipt["redactions"]] == ["PSEUDONYM"]
        assert revealed(alice, memory)["revealed"] == 1


# --- what is on record ----------------------------------------------------------------------------


def test_a_reveal_is_on_record_with_its_purpose_as_a_keyed_hash(
    house: House, admin: Agent, alice: Agent
) -> None:
    memory = alice.stored(f"call {PHONE} or 13500135000")
    first, second = reveal(alice, memory, "ticket seven"), reveal(alice, memory, "ticket seven")
    other = reveal(alice, memory, "ticket eight")
    shown = [reply.json() for reply in (first, second, other)]
    events = {event["event_id"]: event for event in alice.events(action="memory:item:reveal")}
    assert set(events) == {one["audit"]["event_id"] for one in shown}
    for one, reply in zip(shown, (first, second, other), strict=True):
        event = events[one["audit"]["event_id"]]
        assert (event["object"], event["count"], event["outcome"]) == (memory, 2, "ok")
        assert event["request_id"] == reply.headers["X-Request-Id"]
    purposes = alice.events(action="memory:reveal:purpose")
    named = {event["request_id"]: event["object"] for event in purposes}
    assert [named[reply.headers["X-Request-Id"]] for reply in (first, second, other)] == [
        one["purpose"] for one in shown
    ]
    assert shown[0]["purpose"] == shown[1]["purpose"] != shown[2]["purpose"]
    stranger = house.someone("alice", roles=ROLES)
    theirs = reveal(stranger, stranger.stored(f"call {PHONE}"), "ticket seven").json()["purpose"]
    assert theirs != shown[0]["purpose"]
    assert "seven" not in json.dumps(alice.events()) + "\n".join(house.log)


@pytest.mark.parametrize(
    ("purpose", "status", "kind"),
    [
        ("", 422, None),
        ("x" * 201, 422, None),
        (f"asked by {PHONE}", 422, "PHONE_NUMBER"),
        ("password: hT7#kq2Lz9", 422, "SECRET.PASSWORD"),
        ("[PHONE_NUMBER p-bcdfghjkmnpqrtvwbcdf]", 422, "PSEUDONYM"),
    ],
)
def test_a_purpose_is_given_and_names_nobody(
    alice: Agent, purpose: str, status: int, kind: str | None
) -> None:
    memory = alice.stored(f"call {PHONE}")
    reply = reveal(alice, memory, purpose)
    assert reply.status_code == status, reply.text
    assert "8000" not in text_of(reply)
    if kind is not None:
        assert reply.json()["reasons"] == [{"kind": kind, "field": "purpose"}]
    missing = alice.call("POST", f"/v1/memories/{memory}/reveal", json=alice.about())
    assert missing.status_code == 422
