"""Whose keys a memory is under, and under whose name."""

import pytest

from core.errors import ContentRejected, Denied
from core.ids import KeyId, NamespaceId, SpaceId, TenantId, UserId, new_uuid
from core.model import Owner, Sensitivity
from core.owners import admit, author_of, owner_into
from core.scope import Action, Decision, Principal, Role, Scope, Spaces, Trail

TENANT, USER = TenantId(new_uuid()), UserId(new_uuid())
TEAM, BASICS = SpaceId(new_uuid()), SpaceId(new_uuid())


def principal(
    key: str = "k2", *, person: str | None = None, scopes: frozenset[str] | None = None
) -> Principal:
    return Principal(
        tenant=TENANT,
        key_id=KeyId(key),
        roles=frozenset({Role.WRITER}),
        namespaces=None,
        users=None,
        person=person,
        scopes=scopes,
    )


def scope(into: SpaceId | None, writable: Spaces) -> Scope:
    return Scope(
        tenant=TENANT,
        user=USER,
        namespaces=frozenset({NamespaceId(new_uuid())}),
        writable=writable,
        into=into,
        action=Action.MEMORY_WRITE,
        decision=Decision(rule="r", policy_version="v"),
        principal=principal(),
        trail=Trail(actor="a", on_behalf_of=None, request_id="q", trace_id=""),
    )


@pytest.mark.requirement("A19")
@pytest.mark.parametrize(
    ("who", "author"),
    [
        (principal(), "key:k2"),
        (principal(person="alice"), "key:k2"),  # a key is its own, whoever owns it
        (principal("token-0f", person="alice", scopes=frozenset({"memory:write"})), "user:alice"),
        (principal("token-0f", person="alice"), "user:alice"),  # its issuer knows no scopes of ours
        (principal("token-0f", scopes=frozenset()), "key:token-0f"),  # a token of nobody
    ],
)
def test_the_author_is_the_credentials(who, author):
    assert author_of(who) == author


def test_a_write_is_owned_where_it_goes():
    both = Spaces(same_user=frozenset({BASICS}), members=frozenset({TEAM}))
    person = Owner(tenant=TENANT, id=USER)
    assert owner_into(scope(None, both)) == person
    assert owner_into(scope(BASICS, both)) == person
    team = Owner(tenant=TENANT, id=TEAM, is_space=True, person=USER)
    assert owner_into(scope(TEAM, both)) == team


@pytest.mark.parametrize("into", [TEAM, BASICS])
def test_a_space_that_may_not_be_written_to_owns_no_write(into):
    with pytest.raises(Denied):
        owner_into(scope(into, Spaces()))


@pytest.mark.parametrize("label", Sensitivity)
def test_what_is_special_or_sensitive_enters_no_space_of_people(label):
    admit(label, Owner(tenant=TENANT, id=USER))
    team = Owner(tenant=TENANT, id=TEAM, is_space=True, person=USER)
    if label in {Sensitivity.NONE, Sensitivity.PERSONAL}:
        admit(label, team)
        return
    with pytest.raises(ContentRejected) as refused:
        admit(label, team)
    assert refused.value.reasons[0].kind == "SPACE.SENSITIVE"
