"""Words of pseudonyms and what is kept of them: to the character, and for their person alone."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core import pseudonyms
from core.errors import ContentRejected, Invalid, Tampered
from core.ids import MemoryId, NamespaceId, SpaceId, TenantId, UserId, new_uuid
from core.model import Details, Owner, Query
from core.placeholders import Entry, Mark, placeholder, token_of, word_of, words_in
from core.ports import SealedPseudonym
from gateway.guard.guard import Guard
from gateway.guard.marks import Marker
from gateway.guard.normalise import Normalised
from gateway.guard.pii.finding import Finding
from gateway.guard.policy import parse_pii_policy
from gateway.guard.rules import load_secret_rules
from gateway.resources import data_path
from gateway.vault.inmemory import memory_keyring
from gateway.vault.owner_keys import UnwrappedOwnerKeys

POLICY = parse_pii_policy(
    """
version: "t"
defaults: {action: allow, sensitivity: none}
kinds:
  PHONE_NUMBER: {action: pseudonymize}
  EMAIL_ADDRESS: {action: pseudonymize}
"""
)
ALICE, BOB = UserId(new_uuid()), UserId(new_uuid())
MEMORY, NAMESPACE = MemoryId(new_uuid()), NamespaceId(new_uuid())
MARK = Mark(kind="PHONE_NUMBER", canonical="13800138000", value="x", spelling="x")


class Letters:
    """A detector of a made-up kind: runs of Q, with what overlaps them; runs of Z only once
    something has been replaced, and then a little of what stands before them too.
    """

    def detect(
        self, normalised: Normalised, _asked: frozenset[str] = frozenset()
    ) -> tuple[Finding, ...]:
        return tuple(self._found(normalised.original))

    def _found(self, text: str) -> Iterator[Finding]:
        for run in re.finditer("Q+", text):
            yield _finding("PHONE_NUMBER", run.start(), run.end())
            yield _finding("EMAIL_ADDRESS", max(0, run.start() - 2), run.end() - len(run[0]) // 2)
        if " p-" in text:
            for run in re.finditer("Z+", text):
                yield _finding("EMAIL_ADDRESS", max(0, run.start() - 3), run.end())


def _finding(kind: str, start: int, end: int) -> Finding:
    return Finding(kind=kind, start=start, end=end, score=1.0, recognizer="t")


GUARD = Guard(load_secret_rules(data_path("policies", "secrets.yaml")), POLICY, Letters())


@dataclass
class World:
    """Keys of two people of one tenant, of one of another, and of a space about each."""

    alice: UnwrappedOwnerKeys
    bob: UnwrappedOwnerKeys
    elsewhere: UnwrappedOwnerKeys
    space: UnwrappedOwnerKeys
    alice_in_space: UnwrappedOwnerKeys


@pytest.fixture(scope="module")
def world() -> World:
    return asyncio.run(made())


async def made() -> World:
    keyring = memory_keyring()
    here, there = TenantId(new_uuid()), TenantId(new_uuid())
    for tenant in (here, there):
        await keyring.create_tenant(tenant)
    space = SpaceId(new_uuid())
    return World(
        alice=await keyring.ensure_owner(Owner(tenant=here, id=ALICE)),
        bob=await keyring.ensure_owner(Owner(tenant=here, id=BOB)),
        elsewhere=await keyring.ensure_owner(Owner(tenant=there, id=ALICE)),
        space=await keyring.ensure_owner(Owner(tenant=here, id=space, is_space=True)),
        alice_in_space=await keyring.ensure_owner(
            Owner(tenant=here, id=space, is_space=True, person=ALICE)
        ),
    )


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.requirement("D6")
def test_a_word_is_of_one_person_one_kind_and_one_value(world: World) -> None:
    words = [
        pseudonyms.word(keys, person, mark)
        for keys, person in (
            (world.alice, ALICE), (world.bob, BOB), (world.elsewhere, ALICE),
            (world.space, ALICE), (world.space, BOB),
        )
        for mark in (
            MARK,
            Mark(kind="PHONE_NUMBER", canonical="13800138001", value="x", spelling="x"),
            Mark(kind="ID_NUMBER", canonical="13800138000", value="x", spelling="x"),
        )
    ]  # fmt: skip
    assert len(set(words)) == len(words) == 15
    again = Mark(kind="PHONE_NUMBER", canonical="13800138000", value="y", spelling="z")
    assert pseudonyms.word(world.alice, ALICE, again) == words[0]
    # A space is searched by its own key, and its memories are under that of (space, person).
    assert pseudonyms.word(world.alice_in_space, ALICE, MARK) == words[9]


@pytest.mark.requirement("D6")
@given(st.binary(min_size=10, max_size=10))
def test_a_word_holds_no_digit_and_no_vowel_and_reads_back(token: bytes) -> None:
    word = word_of(token)
    assert re.fullmatch("[bcdfghjkmnpqrtvw]{20}", word)
    assert token_of(word) == token
    assert words_in(f"a {placeholder('PHONE_NUMBER', word)} b") == [("PHONE_NUMBER", word)]


@pytest.mark.requirement("D6")
@pytest.mark.parametrize(
    "text",
    [
        "[PHONE_NUMBER p-bcdfghjkmnpqrtvwbcd]", "[PHONE_NUMBER p-bcdfghjkmnpqrtvwbcdff]",
        "[PHONE_NUMBER p-bcdfghjkmnpqrtvwbcda]", "[PHONE_NUMBER  p-bcdfghjkmnpqrtvwbcdf]",
        "[phone_number p-bcdfghjkmnpqrtvwbcdf]", "PHONE_NUMBER p-bcdfghjkmnpqrtvwbcdf",
        "[PHONE_NUMBER p-bcdfghjkmnpqrtvwbcdf", "[PHONE_NUMBER]", "[PHONE_NUMBER ****1111]",
    ],
)  # fmt: skip
def test_what_has_not_the_shape_is_no_placeholder(text: str) -> None:
    assert words_in(text) == []


# --- what is put in place, and back ---------------------------------------------------------------

texts = st.text(st.sampled_from("ab 中é\u0301👩\u200d🏽１\n\ufe0fQQQZ"), min_size=1, max_size=40)


@st.composite
def drafts(draw: st.DrawFn) -> tuple[str, Details]:
    json_values = st.recursive(
        texts | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("k"), inner),
        max_leaves=4,
    )
    return draw(texts), Details(
        metadata=draw(st.dictionaries(st.sampled_from(["a", "b", "c d"]), json_values, max_size=2)),
        entities=tuple(draw(st.lists(texts, max_size=2))),
        source_ref=draw(st.none() | texts),
    )


def through(world: World, content: str, details: Details) -> None:
    """Guard, settle, keep, open and restore a draft."""
    fields = {
        "content": content,
        "metadata": dict(details.metadata),
        "entities": list(details.entities),
        "source.ref": details.source_ref,
    }
    try:
        checked = GUARD.check(fields)
    except (Invalid, ContentRejected):  # nothing to see, or too well hidden
        assume(False)
    kept = checked.fields
    done = pseudonyms.settled(
        kept["content"],
        Details(
            metadata=kept["metadata"],
            entities=tuple(kept["entities"]),
            source_ref=kept["source.ref"],
        ),
        marks=checked.marks,
        known={},
        keys=world.alice,
        person=ALICE,
    )
    assert done.redactions == ()
    shown = json.dumps([done.content, done.details.metadata, done.details.entities])
    assert "Q" not in shown + str(done.details.source_ref).replace("PHONE", "")
    entries = pseudonyms.entries(done.content, done.details, done.originals)
    sealed = pseudonyms.sealed(entries, world.alice, memory=MEMORY, version=1, namespace=NAMESPACE)
    opened = pseudonyms.opened(rows(sealed), world.alice)
    originals = pseudonyms.originals(done.content, done.details, opened)
    again, restored, _ = pseudonyms.restored(done.content, done.details, originals)
    assert (again, restored) == (content, details)


def rows(sealed: dict[bytes, bytes], **changed: object) -> list[SealedPseudonym]:
    of = {
        "memory": MEMORY, "version": 1, "namespace": NAMESPACE, "space": None, "user": ALICE,
    }  # fmt: skip
    return [
        SealedPseudonym(**(of | {"token": token, "sealed": envelope} | changed))  # type: ignore[arg-type]  # by name
        for token, envelope in sealed.items()
    ]


@pytest.mark.requirement("D5")
@settings(max_examples=300)
@given(drafts())
def test_what_is_restored_is_what_was_written(world: World, draft: tuple[str, Details]) -> None:
    through(world, *draft)


@pytest.mark.long
@pytest.mark.requirement("D5")
@settings(max_examples=10_000)
@given(drafts())
def test_what_is_restored_is_what_was_written_ten_thousand_times(
    world: World, draft: tuple[str, Details]
) -> None:
    through(world, *draft)


@pytest.mark.requirement("D6")
@pytest.mark.parametrize(
    "changed",
    [
        {"memory": MemoryId(new_uuid())}, {"version": 2}, {"namespace": NamespaceId(new_uuid())},
        {"token": b"0123456789"},
    ],
)  # fmt: skip
def test_an_entry_opens_where_it_was_sealed_and_nowhere_else(
    world: World, changed: dict[str, object]
) -> None:
    word = pseudonyms.word(world.alice, ALICE, MARK)
    sealed = pseudonyms.sealed(
        {word: Entry(kind="PHONE_NUMBER", value="x")},
        world.alice,
        memory=MEMORY,
        version=1,
        namespace=NAMESPACE,
    )
    assert pseudonyms.opened(rows(sealed), world.alice)[word].value == "x"
    with pytest.raises(Tampered):
        pseudonyms.opened(rows(sealed, **changed), world.alice)
    for keys in (world.bob, world.elsewhere, world.alice_in_space):
        with pytest.raises(Tampered):
            pseudonyms.opened(rows(sealed), keys)


@pytest.mark.requirement("D6")
def test_a_query_has_the_words_of_who_is_asked_and_of_nobody_without_a_key(world: World) -> None:
    marker = Marker()
    text = f"who is {marker.put('PHONE_NUMBER', '138-0013-8000', '138-0013-8000')}"
    query = Query(text="").saying(text, marker.marks)
    asked = [
        pseudonyms.settled_query(query, keys, person).text
        for keys, person in ((world.alice, ALICE), (world.bob, BOB), (world.space, ALICE))
    ]
    assert len(set(asked)) == 3
    assert asked[0] == f"who is [PHONE_NUMBER p-{pseudonyms.word(world.alice, ALICE, MARK)}]"
    assert pseudonyms.settled_query(query, None, ALICE).text == "who is [PHONE_NUMBER]"
    assert pseudonyms.settled_query(query, world.space, None).text == "who is [PHONE_NUMBER]"
    assert "8000" not in repr(query) + repr(marker.marks) + str(marker.marks)


@pytest.mark.requirement("D6")
@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_what_is_sealed_of_a_word_reads_back(value: str, spelled: dict[str, str]) -> None:
    value = value.encode("utf-8", "ignore").decode()
    spelled = {k: v for k, v in spelled.items() if not re.search("[\ud800-\udfff]", k + v)}
    entry = Entry(kind="PHONE_NUMBER", value=value, spelled=spelled)
    assert Entry.from_bytes(entry.to_bytes()) == entry
