"""From a token to a principal, and every way that leads nowhere."""

import logging
from datetime import UTC, datetime

import pytest
from typing_extensions import override

from core.errors import NotFound, Unauthenticated, Unavailable
from core.ids import TenantId, new_uuid
from core.scope import Role, SourceKind, Standing
from gateway.auth.authenticator import Authenticator
from gateway.auth.claims import understand
from gateway.auth.fetch import Fetcher
from gateway.auth.issuers import Issuer
from gateway.auth.jwks import IssuerKeys
from gateway.auth.jws import Refused
from gateway.auth.keys import KeySmith
from gateway.auth.presented import Presented
from gateway.auth.tokens import TokenVerifier, Trusted, trusted
from gateway.clock import SystemClock
from tests.gateway.access.directory import FakeDirectory, make_keyring
from tests.gateway.auth.rows import PEPPERS
from tests.identity.forged_claims import CLAIMS
from tests.identity.forged_forms import FORMS
from tests.identity.forging import World
from tests.identity.issuer import AUDIENCE, running_issuer

pytestmark = pytest.mark.requirement("B1")

TENANT, OTHER = TenantId(new_uuid()), TenantId(new_uuid())


class Directory(FakeDirectory):
    """Knows two tenants."""

    @override
    async def standing(self, tenant: TenantId) -> Standing:
        self._answer()
        if tenant not in {TENANT, OTHER}:
            raise NotFound
        return Standing(epoch=7, policy="p", quotas="q")


class Seen:
    """Which proofs were used, in a dictionary."""

    def __init__(self) -> None:
        self.used: set[tuple[TenantId, bytes]] = set()
        self.down = False

    async def first_use(self, tenant: TenantId, proof: bytes, *, seconds: int) -> bool:
        if self.down:
            raise Unavailable
        first = (tenant, proof) not in self.used
        self.used.add((tenant, proof))
        return first


class House:
    """A verifier, and what it stands on."""

    def __init__(self, keyring) -> None:
        self.keyring, self.directory, self.seen = keyring, Directory(), Seen()

    def verifier(self, *settings, clock=None) -> TokenVerifier:
        return TokenVerifier(
            trusted([Issuer.model_validate(each) for each in settings], "https://memory.example"),
            directory=self.directory,
            keyring=self.keyring,
            clock=clock or SystemClock(),
            seen=self.seen,
        )

    async def principal(self, token, *settings, clock=None):
        verifier = self.verifier(*settings, clock=clock)
        return await verifier.principal(Presented(token=token), "http")


@pytest.fixture(scope="module")
def world():
    with running_issuer("RS256", "ES256", "EdDSA") as issuer, running_issuer() as hostile:
        hostile.add_key("ES256", "ES256")
        hostile.add_key("EdDSA", "EdDSA")
        issuer.add_key("retired")
        issuer.retire("retired")
        yield World(issuer, hostile, str(TENANT))


@pytest.fixture
async def house():
    return House(await make_keyring(TENANT, OTHER))


@pytest.fixture
def issuer(world):
    return world.issuer


@pytest.fixture
def at_noon():
    """A clock that a test sets, and the seconds it shows."""

    class Clock:
        seconds = float(int(datetime.now(UTC).timestamp()))  # noqa: TID251 - fixed from here on

        def now(self) -> datetime:
            return datetime.fromtimestamp(self.seconds, UTC)

    return Clock()


@pytest.mark.parametrize("kid", ["RS256", "ES256", "EdDSA"])
async def test_a_good_token_is_who_it_says(world, house, issuer, kid):
    principal = await house.principal(world.good(kid), issuer.settings())
    assert principal.tenant == TENANT
    assert principal.users == {"alice"}
    assert principal.person == principal.pinned_user == "alice"
    assert principal.roles == {Role.READER, Role.WRITER, Role.CURATOR, Role.AUDITOR}
    assert principal.namespaces is None
    assert principal.scopes == {
        "memory:read",
        "memory:write",
        "memory:curate",
        "memory:forget",
        "audit",
    }
    assert principal.ceiling is SourceKind.USER_DIRECT
    assert principal.fresh is False
    assert principal.standing == Standing(epoch=7, policy="p", quotas="q")
    assert principal.key_id.startswith("token-")
    assert "alice" not in repr(principal)


def test_there_are_a_hundred_and_twenty_forgeries_and_more():
    assert len(FORMS | CLAIMS) == len(FORMS) + len(CLAIMS) >= 120


@pytest.mark.parametrize("name", FORMS | CLAIMS)
async def test_a_forgery_is_refused_by_the_rule_that_it_breaks(world, house, issuer, caplog, name):
    forgery = (FORMS | CLAIMS)[name]
    with caplog.at_level(logging.DEBUG, "memwarden.auth"), pytest.raises(Unauthenticated) as err:
        await house.principal(forgery.make(world), issuer.settings())
    assert caplog.messages[-1] == f"a token was refused: {forgery.rule}"
    assert err.value.__cause__ is None


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 61, "nbf": 60, "iat": 60},
        {"exp": -59},
        {"nbf": None, "iat": None},
        {"exp": 600.5},
        {"exp": 86_400, "iat": 0},
    ],
)
async def test_a_clock_may_be_a_minute_off(world, house, issuer, at_noon, changes):
    times = {"exp": 600, "nbf": 0, "iat": 0} | changes
    at = {
        claim: None if offset is None else at_noon.seconds + offset
        for claim, offset in times.items()
    }
    assert await house.principal(world.good(**at), issuer.settings(), clock=at_noon)


@pytest.mark.parametrize(
    "changes", [{"exp": -60}, {"exp": -61}, {"nbf": 61}, {"iat": 61}, {"exp": 86_461}]
)
async def test_and_no_more_than_a_minute(world, house, issuer, at_noon, changes):
    at = {"exp": 600, "nbf": 0, "iat": 0} | changes
    times = {claim: at_noon.seconds + offset for claim, offset in at.items()}
    with pytest.raises(Unauthenticated):
        await house.principal(world.good(**times), issuer.settings(), clock=at_noon)


@pytest.mark.parametrize(
    "audience", [AUDIENCE, [AUDIENCE], ["account", AUDIENCE], "https://memory.example"]
)
async def test_by_default_the_audience_is_where_we_are_reached(world, house, issuer, audience):
    settings = issuer.settings(audience=None)
    assert await house.principal(world.good(aud=audience), settings)
    with pytest.raises(Unauthenticated):
        await house.principal(world.good(aud="https://memory.example/"), settings)


def test_no_issuer_is_trusted_without_an_audience(issuer):
    settings = Issuer.model_validate(issuer.settings())
    keys = IssuerKeys(settings, Fetcher(settings).get)
    for audiences in (frozenset[str](), frozenset({""})):
        with pytest.raises(ValueError, match="audience"):
            Trusted(issuer=settings, keys=keys, audiences=audiences)


@pytest.mark.parametrize("kind", ["at+jwt", "AT+JWT", "application/at+jwt"])
async def test_the_type_is_compared_as_a_media_type(world, house, issuer, kind):
    assert await house.principal(world.headed(typ=kind), issuer.settings())


async def test_a_provider_may_write_another_type_or_none_where_that_is_set(world, house, issuer):
    entra, okta = issuer.settings(types=["JWT"]), issuer.settings(types=[""])
    assert await house.principal(world.good(header={"typ": "JWT", "x5t": "abc"}), entra)
    assert await house.principal(world.good(header={"typ": None}), okta)
    for settings in (entra, okta):
        with pytest.raises(Unauthenticated):
            await house.principal(world.good(), settings)
    with pytest.raises(Unauthenticated):
        await house.principal(world.headed(typ=""), okta)


async def test_groups_become_roles_and_unknown_groups_nothing(world, house, issuer):
    settings = issuer.settings(default_roles=["auditor"])
    for groups, wanted in (
        (["readers", "writers"], {Role.READER, Role.WRITER, Role.AUDITOR}),
        ("readers", {Role.READER, Role.AUDITOR}),
        (["Readers", "readers ", "admin", "operator", "reader"], {Role.AUDITOR}),
        ([], {Role.AUDITOR}),
        (None, {Role.AUDITOR}),
    ):
        principal = await house.principal(world.good(groups=groups), settings)
        assert principal.roles == wanted


async def test_a_claim_is_found_by_its_path_and_a_dot_is_part_of_a_name(world, house, issuer):
    nested = issuer.settings(roles_claim=["realm_access", "roles"])
    token = world.good(groups=None, realm_access={"roles": ["readers"]})
    assert (await house.principal(token, nested)).roles == {Role.READER}
    flat = issuer.settings(roles_claim="realm_access.roles")
    assert (await house.principal(token, flat)).roles == set()
    token = world.good(**{"realm_access.roles": ["readers"]})
    assert (await house.principal(token, flat)).roles == {Role.READER}


@pytest.mark.requirement("B2")
async def test_an_issuer_of_one_tenant_speaks_for_no_other(world, house, issuer):
    settings = issuer.settings(tenant=str(OTHER), tenant_claim=None)
    principal = await house.principal(world.good(tid=str(TENANT)), settings)
    assert principal.tenant == OTHER


@pytest.mark.requirement("B2")
async def test_several_issuers_each_verify_their_own(world, house, issuer):
    hostile = world.hostile
    both = (
        issuer.settings(tenant=str(TENANT), tenant_claim=None),
        hostile.settings(name="second", tenant=str(OTHER), tenant_claim=None),
    )
    assert (await house.principal(world.good(), *both)).tenant == TENANT
    assert (await house.principal(hostile.token(), *both)).tenant == OTHER
    for token in (
        hostile.token(iss=issuer.url),
        issuer.token(iss=hostile.url),
        hostile.token("ES256", iss=issuer.url),
    ):
        with pytest.raises(Unauthenticated):
            await house.principal(token, *both)


async def test_who_may_act_for_everybody_is_said_by_a_claim(world, house, issuer):
    settings = issuer.settings(users={"claim": "groups", "values": ["support"]})
    assert (await house.principal(world.good(groups=["support"]), settings)).users is None
    assert (await house.principal(world.good(groups=["supporters"]), settings)).users == {"alice"}
    assert (await house.principal(world.good(groups=None), settings)).users == {"alice"}


async def test_the_person_may_stand_in_another_claim(world, house, issuer):
    settings = issuer.settings(user_claim="oid")
    principal = await house.principal(world.good(oid="a1b2"), settings)
    assert (principal.users, principal.person) == ({"a1b2"}, "a1b2")
    for oid in (None, 7, "", "*"):
        with pytest.raises(Unauthenticated):
            await house.principal(world.good(oid=oid), settings)


async def test_namespaces_are_those_of_the_claim_within_those_of_the_setting(world, house, issuer):
    fixed = issuer.settings(namespaces=["support", "sales"])
    assert (await house.principal(world.good(), fixed)).namespaces == ("support", "sales")
    claimed = fixed | {"namespaces_claim": "ns"}
    for value, wanted in (
        (["sales", "secret", "sales"], ("sales",)),
        ("support", ("support",)),
        (None, ()),
    ):
        assert (await house.principal(world.good(ns=value), claimed)).namespaces == wanted
    free = issuer.settings(namespaces_claim="ns")
    assert (await house.principal(world.good(ns=["x"]), free)).namespaces == ("x",)
    for odd in ("*", 7, ["a", "\n"]):
        with pytest.raises(Unauthenticated):
            await house.principal(world.good(ns=odd), free)


async def test_scopes_are_whole_words_and_a_provider_may_have_none(world, house, issuer):
    for value, wanted in (
        ("memory:read", {"memory:read"}),
        ("memory:reader openid", {"memory:reader", "openid"}),
        ("", set()),
        (None, set()),
        (["memory:read", "audit"], {"memory:read", "audit"}),
    ):
        principal = await house.principal(world.good(scope=value), issuer.settings())
        assert principal.scopes == wanted
    okta = issuer.settings(scope_claim="scp")
    assert (await house.principal(world.good(scp=["audit"]), okta)).scopes == {"audit"}
    without = issuer.settings(scopes_required=False)
    assert (await house.principal(world.good(), without)).scopes is None


async def test_only_a_proof_of_identity_minutes_ago_is_fresh(world, house, issuer, at_noon):
    now = at_noon.seconds
    for proved, wanted in ((now, True), (now - 300, True), (now - 301, False), (None, False)):
        token = world.good(auth_time=proved, iat=now, exp=now + 600)
        principal = await house.principal(token, issuer.settings(), clock=at_noon)
        assert principal.fresh is wanted


async def test_an_agent_for_a_person_has_the_roles_that_both_have(world, house, issuer):
    settings = issuer.settings(default_roles=["auditor"])
    own = await house.principal(world.good(), settings)
    for groups, wanted in (
        (["readers", "writers"], {Role.READER, Role.WRITER}),
        (["everything"], {Role.READER, Role.WRITER, Role.CURATOR, Role.AUDITOR}),
        ([], set()),
        (None, set()),
    ):
        actor = {"sub": "assistant"} | ({} if groups is None else {"groups": groups})
        principal = await house.principal(world.good(act=actor), settings)
        assert principal.roles == wanted
        assert principal.person == "alice"
        assert principal.key_id != own.key_id
    weak = world.good(groups=["readers"], act={"sub": "assistant", "groups": ["everything"]})
    assert (await house.principal(weak, settings)).roles == {Role.READER, Role.AUDITOR}


def test_claims_that_name_another_issuer_are_refused_where_they_are_read(world, issuer):
    """The issuer was found by this very name; whoever finds it otherwise is stopped here."""
    settings = Issuer.model_validate(issuer.settings())
    claims = world.claims(iss=world.hostile.url)
    with pytest.raises(Refused, match="iss"):
        understand(claims, settings, frozenset({issuer.audience}), datetime.now(UTC))  # noqa: TID251 - the issuer's clock


async def test_who_acted_before_gives_no_rights(world, house, issuer):
    actor = {"sub": "assistant", "act": {"sub": "boss", "groups": ["everything"]}}
    assert (await house.principal(world.good(act=actor), issuer.settings())).roles == set()


async def test_its_name_in_the_log_is_of_issuer_client_and_subject(world, house, issuer):
    async def name(**changes):
        return (await house.principal(world.good(**changes), issuer.settings())).key_id

    first = await name()
    assert await name(jti="another", scope="audit") == first
    others = {
        await name(sub="bob"),
        await name(client_id="b"),
        await name(client_id=None),
        await name(sub="agent5:alice,"),
        await name(tenant=str(OTHER)),
    }
    assert len(others | {first}) == 6
    assert await name(client_id=None, azp="agent") == first


async def test_a_tenant_that_is_gone_accepts_no_token(world, house, issuer):
    erased = TenantId(new_uuid())  # its keys are the first to go, and its rights with the rest
    with pytest.raises(Unauthenticated):
        await house.principal(world.good(tenant=str(erased)), issuer.settings())
    await house.keyring.create_tenant(erased)
    with pytest.raises(Unauthenticated):
        await house.principal(world.good(tenant=str(erased)), issuer.settings())


async def test_without_the_record_there_is_no_answer(world, house, issuer):
    house.directory.down = True
    with pytest.raises(Unavailable):
        await house.principal(world.good(), issuer.settings())


@pytest.mark.requirement("B6")
async def test_without_the_issuers_keys_no_token_is_accepted(house):
    with running_issuer() as away:
        token, settings = away.token(tenant=str(TENANT)), away.settings()
    with pytest.raises(Unavailable):
        await house.principal(token, settings)


async def test_a_key_and_a_token_do_not_pass_for_one_another(world, house, issuer):
    door = Authenticator(
        house.directory, KeySmith(PEPPERS), house.keyring, tokens=house.verifier(issuer.settings())
    )
    token = world.good()
    assert (await door.authenticate(Presented(token=token), "mcp")).channel == "mcp"
    for presented in (
        Presented(token=token, scheme="key"),
        Presented(token=token, scheme="dpop"),
        Presented(token=f"mw_{token}"),
        Presented(token=None),
    ):
        with pytest.raises(Unauthenticated):
            await door.authenticate(presented, "http")
    bare = Authenticator(house.directory, KeySmith(PEPPERS), house.keyring)
    with pytest.raises(Unauthenticated):
        await bare.authenticate(Presented(token=token), "http")


@pytest.mark.requirement("B5")
async def test_a_token_is_sent_to_nobody(world, house, issuer):
    token = world.good()
    await house.principal(token, issuer.settings())
    secrets = token.split(".")
    said = "\n".join(f"{asked.path}\n{asked.headers}" for asked in issuer.asked)
    assert issuer.asked
    assert not [part for part in secrets if part in said]
    assert "authorization" not in said.lower()
