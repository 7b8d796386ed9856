"""The settings that docs/sso.md shows accept what those providers issue, and no ID token."""

import json
import re
import time
from pathlib import Path
from uuid import UUID

import pytest

from core.errors import Unauthenticated
from core.ids import TenantId
from core.scope import Role
from gateway.access.scopes import SCOPES
from gateway.auth.issuers import Issuer
from gateway.auth.presented import Presented
from gateway.auth.tokens import TokenVerifier, trusted
from gateway.clock import SystemClock
from gateway.settings import load
from tests.gateway.access.directory import FakeDirectory, make_keyring
from tests.gateway.auth.test_tokens import Seen
from tests.identity.issuer import running_issuer, sign

DOCUMENT = (Path(__file__).parents[2] / "docs" / "sso.md").read_text("utf-8")
SHOWN = {
    entry["name"]: entry
    for block in re.findall(r"^```json\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    for entry in json.loads(block)
}
USER, CLIENT = "8f14e45f-ceea-467f-9575-4c8b8b3c1f00", "mcp-client"

# What each provider writes beside times, issuer and audience, as its own documentation shows it.
ISSUED = {
    "keycloak": (
        {"typ": "at+jwt"},
        {
            "typ": "Bearer", "sub": USER, "azp": CLIENT, "sid": "s", "acr": "1", "jti": "j",
            "realm_access": {"roles": ["default-roles-acme", "memory-user"]},
            "scope": "openid memory:read memory:write", "preferred_username": "alice",
        },
    ),
    "entra": (
        {"typ": "JWT", "x5t": "thumbprint"},
        {
            "oid": USER, "sub": "pairwise", "azp": CLIENT, "azpacr": "0", "ver": "2.0",
            "tid": "11111111-2222-3333-4444-555555555555", "roles": ["Memory.User"],
            "scp": "memory:read memory:write", "uti": "u", "rh": "r", "name": "Alice",
        },
    ),
    "okta": (
        {},
        {
            "ver": 1, "jti": "AT.j", "uid": USER, "sub": "alice@acme.example", "cid": CLIENT,
            "scp": ["openid", "memory:read", "memory:write"],
            "groups": ["Everyone", "memory-users"],
        },
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def issuer():
    with running_issuer("RS256") as opened:
        yield opened


@pytest.fixture
async def accepts(issuer):
    """Tell who a provider's token is, by the settings that the document shows."""

    async def ask(name: str, header: dict[str, object], claims: dict[str, object]):
        shown = SHOWN[name]
        # The same settings, for an issuer on loopback that stands for the provider.
        local = {"issuer": issuer.url, "allow_http_loopback": True}
        tenant = TenantId(UUID(shown["tenant"]))
        verifier = TokenVerifier(
            trusted([Issuer.model_validate(shown | local)], "https://memory.example"),
            directory=FakeDirectory(),
            keyring=await make_keyring(tenant),
            clock=SystemClock(),
            seen=Seen(),
        )
        now = int(time.time())  # noqa: TID251 - a provider has a clock of its own
        times = {"iat": now, "exp": now + 300, "auth_time": now}
        said = {"iss": issuer.url, "aud": shown["audience"]} | times | claims
        token = sign(
            {"alg": "RS256", "kid": "RS256"} | header, said, issuer.keys["RS256"][1], "RS256"
        )
        return await verifier.principal(Presented(token=token), "http")

    return ask


def test_every_example_is_a_setting_as_it_stands():
    assert len(load(issuers=list(SHOWN.values())).issuers) == len(SHOWN) == len(ISSUED)


@pytest.mark.requirement("B1")
@pytest.mark.parametrize("name", ISSUED)
async def test_its_access_token_is_accepted(accepts, name):
    header, claims = ISSUED[name]
    principal = await accepts(name, header, claims)
    assert principal.users == {USER}
    assert principal.roles >= {Role.READER, Role.WRITER}
    assert principal.scopes is not None
    assert principal.scopes & SCOPES == {"memory:read", "memory:write"}
    assert principal.fresh


@pytest.mark.requirement("B1")
@pytest.mark.parametrize("name", ISSUED)
@pytest.mark.parametrize(
    "changes",
    [{"aud": CLIENT}, {"nonce": "n"}, {"at_hash": "h"}],
    ids=lambda each: next(iter(each)),
)
async def test_its_id_token_is_not(accepts, name, changes):
    header, claims = ISSUED[name]
    with pytest.raises(Unauthenticated):
        await accepts(name, header, claims | changes)


def test_the_document_lists_exactly_the_fields_and_the_scopes():
    rows = re.findall(r"^\| ((?:`\w+`(?:, | or )?)+) \|", DOCUMENT, re.MULTILINE)
    named = {field for row in rows for field in re.findall(r"`(\w+)`", row)}
    wanted = set(Issuer.model_fields)
    assert wanted <= named
    scopes = set(
        re.findall(
            r"^\| `([\w:]+)` \| (?:read|write|correct|forget|manage|export)", DOCUMENT, re.MULTILINE
        )
    )
    assert scopes == SCOPES
