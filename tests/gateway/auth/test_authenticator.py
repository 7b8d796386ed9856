"""From a credential to a principal, and all the ways that lead nowhere."""

from datetime import timedelta, timezone

import pytest

from core.errors import Tampered, Unauthenticated, Unavailable
from core.ids import TenantId, new_uuid
from core.scope import Role, SourceKind
from gateway.auth.authenticator import Authenticator
from gateway.auth.grants import Grants, open_grants
from gateway.auth.keys import KeySmith
from gateway.auth.presented import Presented
from tests.gateway.access.directory import NOON, FakeDirectory, make_keyring
from tests.gateway.auth.rows import PEPPERS, TENANT, edited, issue
from tests.gateway.auth.test_keys import FORGED

pytestmark = pytest.mark.requirement("B12")

GRANTS = Grants(name="agent", namespaces=("support", "sales"), users=frozenset({"alice", "李雷"}))
OTHER = TenantId(new_uuid())


@pytest.fixture
async def keyring():
    return await make_keyring(TENANT, OTHER)


@pytest.fixture
def directory():
    return FakeDirectory()


@pytest.fixture
def door(directory, keyring):
    return Authenticator(directory, KeySmith(PEPPERS), keyring)


@pytest.fixture
async def key(directory, keyring):
    """A credential in use, and its row."""
    credential, row = await issue(keyring, GRANTS, expires_at=NOON + timedelta(days=1))
    directory.rows[row.id] = row
    return credential, row


async def test_a_principal_is_what_the_row_says(door, key):
    credential, row = key
    principal = await door.authenticate(Presented(token=credential), "mcp")
    assert principal.tenant == TENANT
    assert principal.key_id == row.id
    assert principal.roles == {Role.READER}
    assert principal.namespaces == ("support", "sales")
    assert principal.users == {"alice", "李雷"}
    assert principal.ceiling is SourceKind.USER_DIRECT
    assert principal.channel == "mcp"


async def test_a_principal_keeps_names_to_itself(door, key):
    shown = repr(await door.authenticate(Presented(token=key[0]), "http"))
    assert "alice" not in shown
    assert "support" not in shown


async def test_an_operator_key_has_no_tenant(door, directory, keyring):
    credential, row = await issue(
        keyring, Grants(name="operator"), tenant=None, roles=frozenset({Role.OPERATOR})
    )
    directory.rows[row.id] = row
    principal = await door.authenticate(Presented(token=credential), "http")
    assert principal.tenant is None
    assert principal.namespaces is None


@pytest.mark.parametrize("credential", FORGED, ids=range(len(FORGED)))
async def test_a_forged_credential_is_refused_without_a_look_up(door, directory, credential):
    with pytest.raises(Unauthenticated):
        await door.authenticate(Presented(token=credential), "http")
    assert directory.looked_up == []


async def _refused(door, credential):
    with pytest.raises(Unauthenticated) as caught:
        await door.authenticate(Presented(token=credential), "http")
    return caught.value


async def test_unknown_wrong_expired_and_revoked_look_alike(door, directory, key):
    credential, row = key
    other = KeySmith(PEPPERS).mint().credential
    errors = [await _refused(door, other)]
    errors.append(await _refused(door, f"mw_{row.id}_{other.rpartition('_')[2]}"))
    directory.rows[row.id] = edited(row, usable=False)  # expired by the database's time
    errors.append(await _refused(door, credential))
    directory.rows[row.id] = edited(row, usable=False, revoked_at=NOON)
    errors.append(await _refused(door, credential))
    assert len({(type(one), one.detail, one.code, str(one), one.args) for one in errors}) == 1
    assert credential not in repr(errors)


async def test_a_revoked_key_ends_at_once(door, directory, key):
    credential, row = key
    assert await door.authenticate(Presented(token=credential), "http")
    directory.rows[row.id] = edited(row, usable=False, revoked_at=NOON)
    await _refused(door, credential)


async def test_an_old_secret_works_in_its_overlap_alone(door, directory, key):
    credential, row = key
    new = KeySmith(PEPPERS).remint(row)
    rotated = edited(row, secret_mac=new.secret_mac, previous_mac=row.secret_mac)
    directory.rows[row.id] = rotated
    assert await door.authenticate(Presented(token=credential), "http")
    assert await door.authenticate(Presented(token=new.credential), "http")
    directory.rows[row.id] = edited(rotated, previous_mac=None)
    await _refused(door, credential)
    assert await door.authenticate(Presented(token=new.credential), "http")


@pytest.mark.parametrize(
    "edit",
    [
        {"roles": frozenset({Role.READER, Role.ADMIN})},
        {"roles": frozenset()},
        {"ceiling": SourceKind.OPERATOR},
        {"expires_at": None},
        {"expires_at": NOON + timedelta(days=365)},
        {"tenant": OTHER},
        {"tenant": None},
        {"tenant": None, "roles": frozenset({Role.OPERATOR})},
        {"grants": b""},
        {"grants": bytes(100)},
    ],
)
async def test_whoever_edits_a_row_in_the_database_ends_the_key(door, directory, key, edit):
    credential, row = key
    directory.rows[row.id] = edited(row, **edit)
    await _refused(door, credential)


async def test_grants_moved_to_another_key_end_it(door, directory, keyring, key):
    credential, row = key
    _, wide = await issue(keyring, Grants(name="all"))
    directory.rows[row.id] = edited(row, grants=wide.grants)
    await _refused(door, credential)


async def test_a_tenant_key_is_never_an_operator(door, directory, keyring):
    credential, row = await issue(keyring, GRANTS, roles=frozenset({Role.OPERATOR, Role.READER}))
    directory.rows[row.id] = row
    await _refused(door, credential)


async def test_a_key_of_a_tenant_without_keys_proves_nothing(door, directory, keyring, key):
    credential, row = key
    directory.rows[row.id] = edited(row, tenant=TenantId(new_uuid()))
    await _refused(door, credential)


async def test_a_directory_that_does_not_answer_is_unavailable(door, directory, key):
    directory.down = True
    with pytest.raises(Unavailable):
        await door.authenticate(Presented(token=key[0]), "http")


@pytest.mark.parametrize(
    "grants",
    [
        GRANTS,
        Grants(name="all"),
        Grants(name="nothing", namespaces=(), users=frozenset()),
        Grants(name='a "name"\n', namespaces=("*",), users=frozenset({"\U0001f600"})),
    ],
)
def test_grants_read_as_they_were_written(grants):
    assert Grants.from_bytes(grants.to_bytes()) == grants


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        b'{"name":"a","namespaces":null}',
        b'{"name":"a","namespaces":null,"users":null,"roles":["admin"]}',
        b'{"name":1,"namespaces":null,"users":null}',
        b'{"name":"a","namespaces":"support","users":null}',
        b'{"name":"a","namespaces":[1],"users":null}',
        b'{"name":"a","namespaces":null,"users":{"alice":1}}',
    ],
)
def test_grants_that_read_otherwise_open_nothing(data):
    with pytest.raises(Tampered):
        Grants.from_bytes(data)


async def test_grants_open_whatever_the_time_zone_of_the_expiry(keyring, key):
    _, row = key
    there = row.expires_at.astimezone(timezone(timedelta(hours=8)))
    keys = await keyring.tenant(TENANT)
    assert open_grants(keys, edited(row, expires_at=there)) == GRANTS
