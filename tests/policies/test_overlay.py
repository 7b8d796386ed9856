"""A tenant's own policy: what it may say, what refuses it, and what it decides."""

import asyncio
import json

import pytest

from core.errors import Invalid
from core.ids import TenantId, new_uuid
from core.scope import Action, Role
from gateway.access.in_force import Policies
from gateway.access.loader import load
from gateway.access.overlay import MAX_RULES, keyed, parse, version_of
from gateway.access.policy import Asker, Policy
from gateway.resources import data_path
from tests.architecture.source import ROOT
from tests.gateway.access.directory import FakeDirectory, make_keyring

TENANT = TenantId(new_uuid())
BASE = load(data_path("policies", "access"))
KEY = "abcdefgh234567zz"
CONTENT = [action for action in Action if action.object.startswith("memory:")]
APART = [Role.ADMIN, Role.AUDITOR, Role.PRIVACY]


@pytest.fixture(scope="module")
def keys():
    async def made():
        return await (await make_keyring(TENANT)).tenant(TENANT)

    return asyncio.run(made())


@pytest.fixture(scope="module")
def policies():
    nobody = None
    return Policies(BASE, FakeDirectory(), nobody)  # type: ignore[arg-type]  # asked for nothing


def rule(subject="role:reader", place="tenant", action="memory:item:recall", effect="deny", **more):
    obj, _, verb = action.rpartition(":")
    line = {"subject": subject, "in": place, "object": obj, "verb": verb, "effect": effect}
    return {name: value for name, value in (line | more).items() if value is not None}


def case(expect, roles=("reader",), place="tenant", **subject):
    return {
        "case": "It is decided so",
        "subject": {"roles": list(roles)} | subject,
        "in": place,
        "expect": expect,
    }


def person(user_id="alice", roles=("reader",), namespaces=("*",), **more):
    return {"user_id": user_id, "roles": list(roles), "namespaces": list(namespaces)} | more


DENIED = case({"memory:item:recall": "deny"})
GOOD = {"rules": [rule()], "people": [person()], "cases": [DENIED]}


def refused(document) -> list[str]:
    """Return where a document was found at fault."""
    with pytest.raises(Invalid) as caught:
        parse(document)
    return [fault.field for fault in caught.value.faults]


def test_a_document_that_reads_well_is_taken(policies, keys):
    assert policies.compiled(GOOD, keys).is_own
    assert not policies.compiled({"rules": []}, keys).is_own
    assert not policies.compiled({"rules": [], "people": [], "cases": []}, keys).is_own


RULES_AT_FAULT = [
    (rule("role:*"), "rules[0].subject"),
    (rule("*"), "rules[0].subject"),
    (rule("role:king"), "rules[0].subject"),
    (rule("role:operator"), "rules[0].subject"),
    (rule("role:Reader"), "rules[0].subject"),
    (rule("role:reader "), "rules[0].subject"),
    (rule("reader"), "rules[0].subject"),
    (rule(""), "rules[0].subject"),
    (rule("key:"), "rules[0].subject"),
    (rule("key:*"), "rules[0].subject"),
    (rule("key:ABCDEFGH234567ZZ"), "rules[0].subject"),
    (rule(f"key:{KEY}\n"), "rules[0].subject"),
    (rule("user:"), "rules[0].subject"),
    (rule("user:*"), "rules[0].subject"),
    (rule("user:ali\u200bce"), "rules[0].subject"),
    (rule("user:cafe\u0301"), "rules[0].subject"),
    (rule("user: alice"), "rules[0].subject"),
    (rule("group:all"), "rules[0].subject"),
    (rule(place=""), "rules[0].in"),
    (rule(place="*"), "rules[0].in"),
    (rule(place="Tenant"), "rules[0].in"),
    (rule(place="tenant:x"), "rules[0].in"),
    (rule(place="namespace:"), "rules[0].in"),
    (rule(place="namespace:*"), "rules[0].in"),
    (rule(place="space:team\n"), "rules[0].in"),
    (rule(place="space:" + "x" * 129), "rules[0].in"),
    (rule(action="memory:item:dream"), "rules[0].verb"),
    (rule(action="memory:item:*"), "rules[0].verb"),
    (rule(action="memory:*:read"), "rules[0].verb"),
    (rule(effect="ALLOW"), "rules[0].effect"),
    (rule(effect=""), "rules[0].effect"),
    (rule(action="admin:tenant:create", effect="deny"), "rules[0].object"),
    (rule(action="audit:event:read", effect="deny"), "rules[0].object"),
    (rule(action="audit:event:read", effect="allow"), "rules[0].object"),
    (rule(action="admin:key:create", effect="allow"), "rules[0].object"),
    (rule("role:admin", action="admin:policy:write"), "rules[0]"),
    (rule("role:admin", action="admin:policy:read"), "rules[0]"),
    (rule("role:reader", "namespace:a", "admin:key:list"), "rules[0].in"),
    (rule(subject=None), "rules[0]"),
    (rule(effect=None), "rules[0]"),
    (rule(why="because"), "rules[0]"),
    (rule(subject=7), "rules[0]"),
    (rule(verb=["read"]), "rules[0]"),
    ("p, role:reader, tenant, memory:item, read, deny", "rules[0]"),
    (None, "rules[0]"),
]


@pytest.mark.requirement("C12")
@pytest.mark.requirement("C3")
@pytest.mark.parametrize(("line", "where"), RULES_AT_FAULT, ids=range(len(RULES_AT_FAULT)))
def test_a_rule_that_is_not_exactly_one_refuses_the_document(line, where):
    assert refused({"rules": [line], "cases": [DENIED]})[0] == where


DOCUMENTS_AT_FAULT = [
    ({}, "rules"),
    ({"cases": [DENIED]}, "rules"),
    (GOOD | {"rules": {}}, "rules"),
    (GOOD | {"rules": None}, "rules"),
    (GOOD | {"rules": [rule()] * (MAX_RULES + 1)}, "rules"),
    (GOOD | {"rules": [rule(), rule()]}, "rules[1]"),
    (GOOD | {"rules": [rule(), rule(effect="allow")]}, "rules[1]"),
    (GOOD | {"more": 1}, "more"),
    (GOOD | {"b4d": 1}, "?"),
    (GOOD | {"cases": []}, "cases"),
    (GOOD | {"rules": [], "cases": []}, "cases"),
    (GOOD | {"rules": [rule(), rule(action="memory:item:list")]}, "rules[1]"),
    (GOOD | {"cases": [case({"memory:item:recall": "allow"})]}, "rules[0]"),
    (GOOD | {"cases": [case({"memory:item:recall": "deny"}, ["writer"])]}, "rules[0]"),
    (GOOD | {"cases": [case({"memory:item:read": "deny"})]}, "rules[0]"),
    (GOOD | {"cases": [case({})]}, "cases[0].expect"),
    (GOOD | {"cases": [case({"memory:item:dream": "deny"})]}, "cases[0].expect"),
    (GOOD | {"cases": [case({"memory:item:recall": "perhaps"})]}, "cases[0].expect"),
    (GOOD | {"cases": [case({"memory:item:recall": True})]}, "cases[0].expect"),
    (GOOD | {"cases": [DENIED | {"why": "x"}]}, "cases[0]"),
    (GOOD | {"cases": [DENIED | {"case": ""}]}, "cases[0].case"),
    (GOOD | {"cases": [DENIED | {"case": 1}]}, "cases[0]"),
    (GOOD | {"cases": [DENIED | {"in": "everywhere"}]}, "cases[0].in"),
    (GOOD | {"cases": [DENIED | {"subject": {}}]}, "cases[0].subject"),
    (GOOD | {"cases": [DENIED | {"subject": []}]}, "cases[0].subject"),
    (
        GOOD | {"cases": [case({"memory:item:recall": "deny"}, ["operator"])]},
        "cases[0].subject.roles",
    ),
    (GOOD | {"cases": [case({"memory:item:recall": "deny"}, key="*")]}, "cases[0].subject.key"),
    (GOOD | {"cases": [case({"memory:item:recall": "deny"}, key=7)]}, "cases[0].subject.key"),
    (
        GOOD | {"cases": [case({"memory:item:recall": "deny"}, user_id="*")]},
        "cases[0].subject.user_id",
    ),
    (GOOD | {"people": [person(), person()]}, "people[1]"),
    (GOOD | {"people": [person(user_id="*")]}, "people[0].user_id"),
    (GOOD | {"people": [person(user_id=7)]}, "people[0].user_id"),
    (GOOD | {"people": [person(roles=["king"])]}, "people[0].roles"),
    (GOOD | {"people": [person(roles=["operator"])]}, "people[0].roles"),
    (GOOD | {"people": [person(roles=["reader", "reader"])]}, "people[0].roles"),
    (GOOD | {"people": [person(namespaces=["*", "a"])]}, "people[0].namespaces[0]"),
    (GOOD | {"people": [person(namespaces=["a", "a"])]}, "people[0].namespaces"),
    (GOOD | {"people": [person(namespaces=["a\n"])]}, "people[0].namespaces[0]"),
    (GOOD | {"people": [person() | {"namespaces": "*"}]}, "people[0].namespaces"),
    (GOOD | {"people": [person(why="x")]}, "people[0]"),
    (GOOD | {"people": [{"user_id": "alice"}]}, "people[0]"),
    (GOOD | {"people": "alice"}, "people"),
]


@pytest.mark.requirement("C12")
@pytest.mark.parametrize(
    ("document", "where"), DOCUMENTS_AT_FAULT, ids=range(len(DOCUMENTS_AT_FAULT))
)
def test_a_document_is_taken_whole_or_not_at_all(document, where):
    assert refused(document)[0] == where


@pytest.mark.parametrize("document", [doc for doc, _ in DOCUMENTS_AT_FAULT[:12]], ids=range(12))
def test_a_fault_does_not_echo_what_was_written(document):
    sesame = document | {"rules": [rule("role:sesame"), rule(place="namespace:se*\u200bsame")]}
    with pytest.raises(Invalid) as caught:
        parse(sesame)
    assert "same" not in f"{caught.value} {caught.value.faults}".replace("this same", "")


@pytest.mark.requirement("C20")
@pytest.mark.parametrize("role", [*APART, Role.OPERATOR])
@pytest.mark.parametrize("action", CONTENT)
@pytest.mark.parametrize("place", ["tenant", "namespace:a", "space:a"])
def test_no_document_lets_those_who_run_a_tenant_read_content(role, action, place):
    line = rule(f"role:{role.value}", place, action.value, "allow")
    expected = {"rules": [line], "cases": [case({action.value: "allow"}, ["reader"], place)]}
    assert "rules[0].subject" in refused(expected)


@pytest.mark.requirement("C20")
@pytest.mark.parametrize("role", [Role.ADMIN, Role.AUDITOR])
@pytest.mark.parametrize("action", CONTENT)
@pytest.mark.parametrize("subject", ["role:curator", f"key:{KEY}", "user:alice"])
def test_what_a_document_allows_counts_for_nobody_who_runs_the_tenant(
    policies, keys, role, action, subject
):
    document = {
        "rules": [rule(subject, "tenant", action.value, "allow")],
        "cases": [case({action.value: "allow"}, ["curator"], key=KEY, user_id="alice")],
    }
    policy = policies.compiled(document, keys)
    plain, apart = frozenset({Role.CURATOR}), frozenset({Role.CURATOR, role})
    asker = {"key": KEY, "person": "alice"}
    assert policy.judge(Asker.of(keys, plain, **asker), action).allowed
    before = Policy(BASE).judge(Asker(roles=apart), action).allowed
    assert policy.judge(Asker.of(keys, apart, **asker), action).allowed is before
    assert policy.anywhere(Asker.of(keys, apart, **asker), action).allowed is before


@pytest.mark.requirement("C20")
@pytest.mark.parametrize("action", [a for a in Action if not a.object.startswith("memory:")])
@pytest.mark.parametrize("subject", ["role:reader", "role:auditor", f"key:{KEY}", "user:alice"])
def test_no_document_gives_administration_or_the_log_to_anybody(action, subject):
    line = rule(subject, "tenant", action.value, "allow")
    assert "rules[0].object" in refused({"rules": [line], "cases": [DENIED]})


def judged(policies, keys, document, roles, action, place=None, **who):
    policy = policies.compiled(document, keys)
    places = () if place is None else (keyed(keys, place),)
    return policy.judge(Asker.of(keys, frozenset(roles), **who), action, *places)


@pytest.mark.requirement("C2")
def test_a_deny_in_a_place_beats_an_allow_in_the_tenant_and_the_other_way_round(policies, keys):
    read, write = Action.MEMORY_READ, Action.MEMORY_WRITE
    document = {
        "rules": [
            rule("role:reader", "namespace:a", read.value),
            rule("role:writer", "tenant", write.value),
            rule(f"key:{KEY}", "namespace:a", write.value, "allow"),
        ],
        "cases": [
            case({read.value: "deny"}, place="namespace:a"),
            case({write.value: "deny"}, ["writer"]),
            case({write.value: "allow"}, [], "namespace:a", key=KEY),
        ],
    }
    ask = (policies, keys, document)
    assert judged(*ask, {Role.READER}, read).allowed
    assert judged(*ask, {Role.READER}, read, "namespace:b").allowed
    assert judged(*ask, {Role.READER}, read, "space:a").allowed
    assert judged(*ask, {Role.READER}, read, "namespace:a").rule == "rules[0]"
    assert judged(*ask, (), write, "namespace:a", key=KEY).rule == "rules[2]"
    assert not judged(*ask, (), write, "namespace:b", key=KEY).allowed
    assert not judged(*ask, (), write, key=KEY).allowed
    assert judged(*ask, {Role.WRITER}, write, "namespace:a", key=KEY).rule == "rules[1]"


def test_an_allow_somewhere_is_found_without_knowing_where(policies, keys):
    write = Action.MEMORY_WRITE
    document = {
        "rules": [rule(f"key:{KEY}", "space:team", write.value, "allow")],
        "cases": [case({write.value: "allow"}, [], "space:team", key=KEY)],
    }
    policy = policies.compiled(document, keys)
    assert policy.anywhere(Asker(roles=frozenset(), key=KEY), write).allowed
    assert not policy.anywhere(Asker(roles=frozenset(), key="other"), write).allowed
    assert not policy.anywhere(Asker(roles=frozenset(), key=KEY), Action.MEMORY_READ).allowed


def test_whoever_acts_for_a_person_may_do_what_both_may(policies, keys):
    document = {
        "rules": [],
        "people": [person("alice", ["reader", "writer"], ["a"]), person("bob", [], [])],
        "cases": [case({"memory:item:read": "deny"}, user_id="bob")],
    }
    ask = (policies, keys, document)
    read, write = Action.MEMORY_READ, Action.MEMORY_WRITE
    for who in ("person", "owner"):
        alice, bob = {who: "alice"}, {who: "bob"}
        assert judged(*ask, {Role.READER}, read, **alice).allowed
        assert judged(*ask, {Role.READER}, read, "namespace:a", **alice).allowed
        assert judged(*ask, {Role.READER}, read, "space:b", **alice).allowed
        assert judged(*ask, {Role.READER}, read, "namespace:b", **alice).rule == (
            "person-outside-namespace"
        )
        assert not judged(*ask, {Role.READER}, write, **alice).allowed
        assert not judged(*ask, {Role.CURATOR}, Action.MEMORY_UPDATE, **alice).allowed
        assert judged(*ask, {Role.READER}, read, **bob).rule == "person-may-not"
        assert not judged(*ask, {Role.READER}, read, "namespace:a", **bob).allowed
    assert judged(*ask, {Role.READER}, read, person="carol").allowed
    assert not judged(*ask, {Role.READER}, read, person="alice", owner="bob").allowed
    assert not judged(*ask, {Role.ADMIN}, Action.KEY_CREATE, owner="alice").allowed
    assert judged(*ask, {Role.ADMIN}, Action.KEY_CREATE).allowed


def test_the_version_is_the_contents_over_the_base(policies, keys):
    version = policies.compiled(GOOD, keys).version
    assert version == version_of(BASE.version, GOOD)
    assert version == version_of(BASE.version, dict(reversed(GOOD.items())))
    other = GOOD | {"people": [person(roles=["writer"])]}
    assert len({version, version_of("other", GOOD), version_of(BASE.version, other)}) == 3
    assert len(version) == 12


TWINS = ["ns/alice", "ns/alice-evil", "ns/../alice", "NS/alice", "ａlice", "alice", "аlice"]


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("kind", ["namespace", "space", "user"])
@pytest.mark.parametrize("name", TWINS, ids=ascii)
def test_a_rule_about_a_name_is_about_no_other(policies, keys, kind, name):
    read = Action.MEMORY_READ
    named = f"{kind}:{name}"
    line = rule(named) if kind == "user" else rule(place=named)
    line["verb"] = "read"
    place = "tenant" if kind == "user" else named
    who = {"user_id": name} if kind == "user" else {}
    document = {
        "rules": [line],
        "cases": [case({read.value: "deny"}, place=place, **who)],
    }
    for other in TWINS:
        where = None if kind == "user" else f"{kind}:{other}"
        asker = {"person": other} if kind == "user" else {}
        ruling = judged(policies, keys, document, {Role.READER}, read, where, **asker)
        assert ruling.allowed is (other != name)


def test_another_tenants_names_are_other_places(policies, keys):
    async def made():
        other = TenantId(new_uuid())
        return await (await make_keyring(other)).tenant(other)

    theirs = asyncio.run(made())
    for name in ("user:alice", "namespace:a", "space:a"):
        assert keyed(keys, name) != keyed(theirs, name)
    assert len({keyed(keys, f"{kind}:a") for kind in ("user", "namespace", "space")}) == 3


def test_the_example_of_the_documents_is_taken(policies, keys):
    text = (ROOT / "docs" / "access.md").read_text("utf-8")
    example = text.partition("PUT /v1/admin/policies/access\n")[2].partition("\n→ 200")[0]
    document = json.loads(example)
    assert len(document["rules"]) == len(document["cases"]) == 3
    assert policies.compiled(document, keys).is_own
