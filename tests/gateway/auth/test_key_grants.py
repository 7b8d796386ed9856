"""Whose key it is, and from where it may be used."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Tampered, Unauthenticated
from core.ids import KeyId
from core.scope import Role
from gateway.auth.addresses import inside, is_network, read_address, read_network
from gateway.auth.authenticator import Authenticator
from gateway.auth.grants import Grants, _place, open_grants
from gateway.auth.keys import KeySmith
from gateway.auth.presented import Presented
from tests.gateway.access.directory import FakeDirectory, make_keyring
from tests.gateway.auth.rows import PEPPERS, TENANT, edited, issue

pytestmark = pytest.mark.requirement("B12")


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT)


async def door_to(keyring, grants: Grants):
    directory = FakeDirectory()
    credential, row = await issue(keyring, grants)
    directory.rows[row.id] = row
    return credential, row, Authenticator(directory, KeySmith(PEPPERS), keyring)


async def test_a_key_says_whose_it_is(keyring):
    credential, _, door = await door_to(keyring, Grants(name="a", owner="王芳"))
    principal = await door.authenticate(Presented(token=credential), "http")
    assert principal.person == "王芳"
    assert "王芳" not in repr(principal)
    credential, _, door = await door_to(keyring, Grants(name="a"))
    assert (await door.authenticate(Presented(token=credential), "http")).person is None


HOME = ("192.0.2.0/24", "203.0.113.9", "2001:db8::/32")


@pytest.mark.parametrize(
    "peer",
    [
        "192.0.2.0",
        "192.0.2.255",
        "203.0.113.9",
        "2001:db8:1::1",
        "2001:0DB8:0001::0001",
        "::ffff:192.0.2.7",
        "2001:db8::1%eth0",
    ],
)
async def test_a_bound_key_works_from_its_networks_however_they_are_spelled(keyring, peer):
    credential, _, door = await door_to(keyring, Grants(name="a", addresses=HOME))
    assert await door.authenticate(Presented(token=credential, peer=peer), "http")


@pytest.mark.parametrize(
    "peer",
    [
        None,
        "",
        "192.0.3.0",
        "203.0.113.8",
        "2001:db9::1",
        "::1",
        "127.0.0.1",
        "::192.0.2.7",
        "192.0.2",
        "192.0.2.07",
        "192.0.2.7, 10.0.0.1",
        "localhost",
        "192.0.2.7/32",
        "0xc0.0.2.7",
        "1" * 10_000,
    ],
)
async def test_from_elsewhere_it_proves_nothing_and_looks_like_any_wrong_key(keyring, peer):
    credential, row, door = await door_to(keyring, Grants(name="a", addresses=HOME))
    other = KeySmith(PEPPERS).mint().credential
    wrong = f"mw_{row.id}_{other.rpartition('_')[2]}"
    refusals = []
    for token in (credential, wrong, other):
        with pytest.raises(Unauthenticated) as refused:
            await door.authenticate(Presented(token=token, peer=peer), "http")
        refusals.append((refused.value.detail, refused.value.code, refused.value.args))
    assert len(set(refusals)) == 1


async def test_whoever_edits_owner_or_networks_in_the_database_ends_the_key(keyring):
    _, row, _ = await door_to(keyring, Grants(name="a", owner="alice", addresses=HOME))
    _, other = await issue(keyring, Grants(name="a"))
    with pytest.raises(Tampered):
        open_grants(await keyring.tenant(TENANT), edited(row, grants=other.grants))
    assert b"alice" not in row.grants
    assert b"192.0.2" not in row.grants


async def test_a_key_sealed_before_owners_and_networks_were_among_its_grants_still_opens(keyring):
    directory = FakeDirectory()
    credential, row = await issue(keyring, Grants(name="a"))
    before = b'{"name":"old","namespaces":["support"],"users":["alice"]}'
    place = _place(row.id, row.roles, row.ceiling, row.expires_at)
    row = edited(row, grants=(await keyring.tenant(TENANT)).seal(place, before))
    directory.rows[row.id] = row
    door = Authenticator(directory, KeySmith(PEPPERS), keyring)
    principal = await door.authenticate(Presented(token=credential, peer="192.0.2.1"), "http")
    assert principal.namespaces == ("support",)
    assert principal.users == frozenset({"alice"})
    assert principal.person is None


@given(
    owner=st.none() | st.text(),
    addresses=st.none() | st.lists(st.sampled_from(HOME)).map(tuple),
    users=st.none() | st.frozensets(st.text()),
)
def test_grants_read_as_they_were_written(owner, addresses, users):
    grants = Grants(name="a", users=users, owner=owner, addresses=addresses)
    assert Grants.from_bytes(grants.to_bytes()) == grants


OLD = {"name": "a", "namespaces": None, "users": None}


@pytest.mark.parametrize(
    "edit",
    [
        {"owner": "alice"},
        {"addresses": None},
        {"owner": None, "addresses": None, "roles": []},
        {"owner": 5, "addresses": None},
        {"owner": None, "addresses": "192.0.2.0/24"},
        {"owner": None, "addresses": [5]},
        {"owner": None, "addresses": {}},
    ],
)
def test_grants_with_half_of_the_new_fields_open_nothing(edit):
    with pytest.raises(Tampered):
        Grants.from_bytes(json.dumps(OLD | edit).encode())


@pytest.mark.parametrize(
    "written",
    [
        "",
        "*",
        "192.0.2.1/24",
        "192.0.2.0/33",
        "192.0.2",
        "192.0.2.0/24 ",
        "192.0.2.0/255.255.255.0/8",
        "2001:db8::1/32",
        "::ffff:192.0.2.0/120",
        "example.org",
        "１９２.0.2.0/24",
        "1" * 65,
    ],
)
def test_what_is_no_network_is_refused(written):
    with pytest.raises(ValueError, match=r"."):
        read_network(written)
    assert not is_network(written)


def test_everywhere_is_no_proxy():
    assert not is_network("0.0.0.0/0")
    assert not is_network("::/0")
    assert is_network("10.0.0.0/8")


@given(st.ip_addresses(), st.ip_addresses(network="10.0.0.0/8"))
def test_an_address_is_inside_by_its_number_alone(any_address, ours):
    network = read_network("10.0.0.0/8")
    assert inside(read_address(str(ours)), [network])
    mapped = read_address(f"::ffff:{ours}")
    assert mapped == ours
    plain = getattr(any_address, "ipv4_mapped", None) or any_address
    assert inside(read_address(str(any_address)), [network]) is (
        plain.version == 4 and int(plain) >> 24 == 10
    )


async def test_an_operators_key_can_be_bound_too(keyring):
    directory = FakeDirectory()
    credential, row = await issue(
        keyring,
        Grants(name="operator", addresses=("192.0.2.0/24",)),
        tenant=None,
        roles=frozenset({Role.OPERATOR}),
    )
    directory.rows[KeyId(row.id)] = row
    door = Authenticator(directory, KeySmith(PEPPERS), keyring)
    principal = await door.authenticate(Presented(token=credential, peer="192.0.2.1"), "http")
    assert principal.roles == frozenset({Role.OPERATOR})
    with pytest.raises(Unauthenticated):
        await door.authenticate(Presented(token=credential, peer="192.0.3.1"), "http")
