"""Pseudonyms over the real gateway: one word for one value of one person, and back again."""

import secrets
from typing import Any

import pytest

import gateway.pseudonyms
from tests.fronts.teams import change, space
from tests.house import House
from tests.live.gateways import Agent
from tests.pseudonyms import PHONE, ROLES, WORD, beside, content, reveal, revealed, word

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


# --- one word for one value -----------------------------------------------------------------------


def test_a_value_in_any_spelling_has_one_word_for_one_person(alice: Agent) -> None:
    spellings = (
        PHONE,
        "13800138000",
        "１３８ ００１３ ８０００",
        "+86 138 0013 8000",
        "一三八零零一三八零零零",
    )
    written = [alice.write(f"{n}: her number is {each}") for n, each in enumerate(spellings)]
    for receipt in written:
        assert receipt["redactions"] == [
            {"kind": "PHONE_NUMBER", "action": "pseudonymize", "field": "content", "count": 1}
        ]
    ids = [receipt["outcomes"][0]["id"] for receipt in written]
    assert len({word(alice, memory) for memory in ids}) == 1
    for memory, each, number in zip(ids, spellings, range(9), strict=False):
        assert revealed(alice, memory)["content"] == f"{number}: her number is {each}"


def test_words_of_two_people_two_kinds_and_two_tenants_have_nothing_in_common(
    house: House, alice: Agent
) -> None:
    bob, stranger = beside(house, alice, "bob"), house.someone("alice", roles=ROLES)
    words = [word(agent, agent.stored(f"call {PHONE}")) for agent in (alice, bob, stranger)]
    words.append(word(alice, alice.stored("write to a13800138000@example.com")))
    assert len(set(words)) == 4
    assert word(bob, bob.stored(f"call {PHONE} at noon")) == words[1]


def test_a_shared_space_has_a_word_of_its_own_for_each_person(
    house: House, admin: Agent, alice: Agent
) -> None:
    body = {"name": "desk", "audience": "members"}
    assert admin.call("POST", "/v1/admin/spaces", json=body).status_code == 201
    bob = beside(house, alice, "bob")
    for user in ("alice", "bob"):
        path = f"/v1/admin/spaces/desk/members/user%3A{user}"
        assert admin.call("PUT", path, json={"role": "writer"}).status_code == 200
    ids = [agent.stored(f"reach me at {PHONE}", space="desk") for agent in (alice, bob)]
    words = [word(agent, memory) for agent, memory in zip((alice, bob), ids, strict=True)]
    own = word(alice, alice.stored(f"reach me at {PHONE}"))
    assert len({*words, own}) == 3
    assert revealed(alice, ids[0])["content"] == f"reach me at {PHONE}"
    # Bob reads it there, and it is not his to reveal; under Alice's name he sees it as she does.
    assert bob.get(ids[0]).status_code == 200
    assert reveal(bob, ids[0]).status_code == 404
    found = alice.recall(f"who is {PHONE}", spaces=["desk"], timeout_ms=5000)
    order = [one["id"] for one in found if one["space"] == "desk"]
    assert order[0] == ids[0]


# --- what is typed --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    [
        "[PHONE_NUMBER p-bcdfghjkmnpqrtvwbcdf]",
        "[EMAIL_ADDRESS p-{word}]",  # mine, of another kind
        "[PHONE_NUMBER p-{foreign}]",
        "［PHONE_NUMBER p-{word}］",
        "[phone_number p-{word}]",
        "[PHONE_NUMBER P-{word}]",
        "[PHONE_NUMBER p-{word}\u200b]",
        "[PHONE_NUMBER  p - {word} ]",
    ],
)
def test_what_is_typed_is_not_left_looking_like_a_pseudonym(
    house: House, alice: Agent, typed: str
) -> None:
    foreign = word(bob := beside(house, alice, "bob"), bob.stored(f"mine is {PHONE}"))
    mine = word(alice, alice.stored(f"mine is {PHONE}"))
    text = typed.format(word=mine, foreign=foreign)
    receipt = alice.write(f"{secrets.token_hex(4)} {text}", metadata={"note": text})
    assert {(one["kind"], one["field"]) for one in receipt["redactions"]} == {
        ("PSEUDONYM", "content"), ("PSEUDONYM", "metadata.note"),
    }  # fmt: skip
    memory = receipt["outcomes"][0]["id"]
    kept = alice.get(memory).json()
    assert not WORD.search(kept["content"] + kept["metadata"]["note"])
    assert "p-" not in kept["content"].casefold()
    assert revealed(alice, memory)["revealed"] == 0


@pytest.fixture
def bob(house: House, admin: Agent, alice: Agent) -> Agent:
    """Another writer of the space that Alice is in, called `desk`."""
    members = {"user_alice": "writer", "user_bob": "writer"}
    space(admin, "desk", "members", **members)
    return beside(house, alice, "bob")


@pytest.mark.usefixtures("bob")
@pytest.mark.parametrize(("first", "then"), [({"space": "desk"}, {}), ({}, {"space": "desk"})])
def test_a_word_stands_for_nothing_across_the_edge_of_a_shared_space(
    alice: Agent, first: dict[str, str], then: dict[str, str]
) -> None:
    """Both are about Alice: what she kept for herself is not for whoever is in the space."""
    said = content(alice, alice.stored(f"call {PHONE}", **first))
    receipt = alice.write(f"noted: {said}", **then)
    assert [one["kind"] for one in receipt["redactions"]] == ["PSEUDONYM"]
    memory = receipt["outcomes"][0]["id"]
    assert content(alice, memory) == "noted: call [PHONE_NUMBER]"
    assert revealed(alice, memory)["revealed"] == 0


def test_a_word_of_who_changes_a_memory_stands_for_nothing_in_anothers(
    alice: Agent, bob: Agent
) -> None:
    said = content(bob, bob.stored(f"call {PHONE}", space="desk"))
    memory = alice.stored("call me at noon", space="desk")
    changed = change(bob, memory, content=f"noted: {said}")
    assert changed.status_code == 200, changed.text
    assert content(alice, memory) == "noted: call [PHONE_NUMBER]"
    assert revealed(alice, memory)["revealed"] == 0


def test_a_recalled_text_that_is_written_again_keeps_its_pseudonyms(alice: Agent) -> None:
    first = alice.stored(f"her sister is at {PHONE}")
    again = alice.write(f"noted: {content(alice, first)}")
    assert again["redactions"] == []
    second = again["outcomes"][0]["id"]
    assert word(alice, second) == word(alice, first)
    alice.forget(first)
    assert revealed(alice, second)["content"] == f"noted: her sister is at {PHONE}"


def test_a_word_of_a_forgotten_memory_stands_for_nothing(house: House, alice: Agent) -> None:
    first = alice.stored(f"her brother is at {PHONE}")
    said = content(alice, first)
    alice.forget(first)
    receipt = alice.write(f"noted: {said}")
    assert [one["kind"] for one in receipt["redactions"]] == ["PSEUDONYM"]
    assert content(alice, receipt["outcomes"][0]["id"]) == "noted: her brother is at [PHONE_NUMBER]"
    with house.below("pseudonyms") as connection:
        left = connection.execute(
            "SELECT count(*) FROM pseudonyms WHERE tenant = %s", [alice.tenant]
        ).fetchone()
    assert left == (0,)


@pytest.mark.parametrize("field", ["tags", "session_id", "task", "namespace"])
def test_a_pseudonym_is_no_name(alice: Agent, field: str) -> None:
    typed = "[PHONE_NUMBER p-bcdfghjkmnpqrtvwbcdf]"
    reply = alice.try_write("likes tea", **{field: [typed] if field == "tags" else typed})
    assert reply.status_code in (403, 422)
    if reply.json()["code"] == "content_rejected":
        assert {one["kind"] for one in reply.json()["reasons"]} == {"PSEUDONYM"}


def test_a_word_is_known_in_the_namespace_it_was_written_in(alice: Agent) -> None:
    said = content(alice, alice.stored(f"call {PHONE}", namespace="main"))
    elsewhere = alice.write(said, namespace="side")
    assert [one["kind"] for one in elsewhere["redactions"]] == ["PSEUDONYM"]


@pytest.mark.parametrize("cases", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_no_word_of_another_person_or_made_up_resolves(
    house: House, alice: Agent, cases: int
) -> None:
    """Typed by Bob: every word of Alice's, and made-up ones; many in each text."""
    bob = beside(house, alice, "bob")
    each, per_text = 40, 250
    theirs = []
    for start in range(each):
        phone = f"1390013{start:04d}"
        theirs.append(word(alice, alice.stored(f"friend {start} is at {phone}")))
    letters = "bcdfghjkmnpqrtvw"
    made_up = ["".join(secrets.choice(letters) for _ in range(20)) for _ in range(cases - each)]
    words = [*theirs, *made_up]
    resolved = 0
    for at in range(0, len(words), per_text):
        some = words[at : at + per_text]
        text = " ".join(f"[PHONE_NUMBER p-{one}]" for one in some)
        memory = bob.stored(f"{at} {text}")
        shown = revealed(bob, memory)
        assert not WORD.search(shown["content"])
        resolved += shown["revealed"]
        assert "1390013" not in shown["content"]
    assert resolved == 0
    assert len(words) == cases


# --- asking ---------------------------------------------------------------------------------------


def test_asking_with_the_value_finds_what_has_its_word(house: House, alice: Agent) -> None:
    memory = alice.stored(f"the plumber answers at {PHONE}")
    for n in range(12):
        alice.stored(f"the neighbour of house {n} answers at 1390013{n:04d}")
    house.indexed()
    for asked in ("13800138000", "１３８-００１３-８０００", f"whose number is {PHONE}?"):
        assert alice.recall(asked, timeout_ms=5000)[0]["id"] == memory
    assert not any("13800138000" in seen or PHONE in seen for seen in house.embedder.seen)
    assert any(word(alice, memory) in seen for seen in house.embedder.seen)


def test_asking_about_nobody_known_makes_nobody_known(house: House, alice: Agent) -> None:
    nobody = beside(house, alice, "carol")
    assert nobody.recall(f"whose number is {PHONE}?", timeout_ms=5000) == []
    assert not any("13800138000" in seen or PHONE in seen for seen in house.embedder.seen)


# --- changing -------------------------------------------------------------------------------------


def test_what_is_restored_is_what_was_written_in_every_field(alice: Agent) -> None:
    fields: dict[str, Any] = {
        "metadata": {"a": f"at {PHONE}", "b": {"c": ["or １３８００１３８０００", 7, None]}},
        "entities": ["kay@example.com", "Kay"],
        "source": {"ref": f"mail to kay@example.com, {PHONE}"},
    }
    text = f"Kay 👩‍👧 née Zoë: {PHONE} or 13800138000, kay@example.com"
    memory = alice.stored(text, **fields)
    kept = alice.get(memory).json()
    assert "kay@" not in str(kept)
    assert "8000" not in str(kept)
    shown = revealed(alice, memory)
    assert shown["content"] == text
    assert shown["metadata"] == fields["metadata"]
    assert shown["entities"] == fields["entities"]
    assert shown["source"]["ref"] == fields["source"]["ref"]
    assert shown["revealed"] == 8
    hidden = ("content", "metadata", "entities", "source", "revealed", "purpose", "audit")
    same = {name: value for name, value in kept.items() if name not in hidden}
    assert {name: shown[name] for name in same} == same


def test_a_change_keeps_what_it_does_not_touch_and_takes_what_it_brings(alice: Agent) -> None:
    memory = alice.stored(f"Kay: {PHONE}", metadata={"home": "１３８００１３８０００", "x": "1"})
    path = f"/v1/memories/{memory}"
    changed = alice.call("PATCH", path, json=alice.about(metadata={"work": "13900139000"}))
    assert changed.status_code == 200, changed.text
    assert {one["action"] for one in changed.json()["redactions"]} == {"pseudonymize"}
    shown = revealed(alice, memory)
    assert shown["content"] == f"Kay: {PHONE}"
    assert shown["metadata"] == {"home": "１３８００１３８０００", "work": "13900139000", "x": "1"}
    said = f"{content(alice, memory)} in the evening"
    changed = alice.call("PATCH", path, json=alice.about(content=said))
    assert changed.json()["redactions"] == []
    assert revealed(alice, memory)["content"] == f"Kay: {PHONE} in the evening"
    changed = alice.call("PATCH", path, json=alice.about(content="Kay: 13700137000"))
    assert revealed(alice, memory)["content"] == "Kay: 13700137000"
    assert revealed(alice, memory)["metadata"]["home"] == "１３８００１３８０００"


def test_a_repeat_adds_its_values_to_those_that_are_there(alice: Agent) -> None:
    memory = alice.stored(f"Kay: {PHONE}", metadata={"a": PHONE})
    again = alice.write("Kay: 13800138000", metadata={"b": "１３８００１３８０００"})
    assert (again["outcomes"][0]["id"], again["outcomes"][0]["status"]) == (memory, "merged")
    shown = revealed(alice, memory)
    assert shown["content"] == "Kay: 13800138000"
    assert shown["metadata"] == {"a": PHONE, "b": "１３８００１３８０００"}


def test_a_text_of_values_alone_is_kept_whole(alice: Agent) -> None:
    for text in (
        " ".join(f"1390{n:07d}" for n in range(2_660)),
        " ".join(PHONE if n % 2 else "13800138000" for n in range(2_200)),
        " ".join("a@b.co" for _ in range(4_600)),
    ):
        memory = alice.stored(text)
        assert revealed(alice, memory)["content"] == text


def test_what_grows_beyond_what_is_kept_is_too_large(
    alice: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = alice.stored(f"call {PHONE}")
    monkeypatch.setattr(gateway.pseudonyms, "MAX_BYTES", 300)
    many = " ".join(f"1390{n:07d}" for n in range(20))
    patch = alice.call("PATCH", f"/v1/memories/{memory}", json=alice.about(content=many))
    for reply in (alice.try_write(many), patch):
        assert (reply.status_code, reply.json()["code"]) == (413, "too_large")
    assert [one["content"] for one in alice.listed()] == [content(alice, memory)]
