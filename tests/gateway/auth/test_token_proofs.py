"""A bound token needs a proof of its key: for this request, and once."""

from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import Unauthenticated, Unavailable
from core.ids import TenantId, new_uuid
from gateway.auth.dpop import AGE_SECONDS, ALGORITHMS
from gateway.auth.issuers import Issuer
from gateway.auth.jws import VerifyingKey, public_key
from gateway.auth.presented import Presented
from gateway.auth.tokens import TokenVerifier, trusted
from tests.gateway.access.directory import FakeDirectory, make_keyring
from tests.gateway.auth.test_tokens import Seen
from tests.identity.issuer import b64, new_key, proof, public, running_issuer, sign

pytestmark = pytest.mark.requirement("B13")

TENANT = TenantId(new_uuid())
URL = "https://memory.example/v1/recall"
KEY, OTHERS_KEY = new_key("ES256"), new_key("ES256")
RSA_KEY = new_key("RS256")


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)


@pytest.fixture(scope="module")
def issuer():
    with running_issuer("ES256") as opened:
        yield opened


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def seen():
    return Seen()


@pytest.fixture
async def verifier(issuer, clock, seen):
    return TokenVerifier(
        trusted([Issuer.model_validate(issuer.settings())], "https://memory.example"),
        directory=FakeDirectory(),
        keyring=await make_keyring(TENANT),
        clock=clock,
        seen=seen,
    )


def verifying(key) -> VerifyingKey:
    found = public_key(public(key, "k"))
    assert found is not None
    return found


@pytest.fixture
def token(issuer, clock):
    """A token that is bound to a key."""

    def make(key=KEY, **changes):
        now = clock.seconds
        times = {"iat": now, "nbf": now, "exp": now + 600, "tenant": str(TENANT)}
        cnf = {"jkt": verifying(key).thumbprint()}
        return issuer.token(**times, **({"cnf": cnf} | changes))

    return make


@pytest.fixture
def shown(clock):
    """A request with a token and a proof."""

    def make(token, key=KEY, algorithm="ES256", **changes) -> Presented:
        request: dict[str, Any] = {"scheme": "dpop", "method": "POST", "url": URL}
        request |= {name: changes.pop(name) for name in list(changes) if name in request}
        made = proof(
            key, algorithm, changes.pop("bound_to", token), "POST", URL,
            **({"iat": clock.seconds} | changes),
        )  # fmt: skip
        return Presented(token=token, proof=made, **request)

    return make


async def refused(verifier, presented) -> bool:
    try:
        await verifier.principal(presented, "http")
    except Unauthenticated:
        return True
    return False


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
async def test_a_token_with_a_proof_of_its_key_is_accepted(verifier, token, shown, algorithm):
    key = RSA_KEY if algorithm.startswith(("RS", "PS")) else new_key(algorithm)
    principal = await verifier.principal(shown(token(key), key, algorithm), "http")
    assert principal.person == "alice"


async def test_a_bound_token_is_no_bearer_token_with_or_without_its_proof(verifier, token, shown):
    bound = token()
    assert await refused(verifier, Presented(token=bound, method="POST", url=URL))
    assert await refused(verifier, shown(bound, scheme="bearer"))
    assert await refused(verifier, Presented(token=bound, scheme="dpop", method="POST", url=URL))
    assert not await refused(verifier, shown(bound))


async def test_a_bearer_token_is_no_bound_token(verifier, token, shown):
    free = token(cnf=None)
    assert await refused(verifier, shown(free))
    assert not await refused(verifier, Presented(token=free))


async def test_a_proof_is_used_once(verifier, token, shown):
    presented = shown(token())
    await verifier.principal(presented, "http")
    assert await refused(verifier, presented)
    assert await refused(verifier, presented)


async def test_two_clients_may_choose_one_id(verifier, token, shown):
    await verifier.principal(shown(token(), jti="1"), "http")
    await verifier.principal(shown(token(OTHERS_KEY), OTHERS_KEY, jti="1"), "http")
    assert await refused(verifier, shown(token(), jti="1"))


async def test_without_a_place_to_remember_no_bound_token_is_accepted(verifier, token, shown, seen):
    seen.down = True
    with pytest.raises(Unavailable):
        await verifier.principal(shown(token()), "http")


async def test_what_does_not_verify_is_not_remembered(verifier, token, shown, seen):
    await refused(verifier, shown(token(), key=OTHERS_KEY))
    await refused(verifier, shown(token(), htu="https://memory.example/v1/memories"))
    assert seen.used == set()


FORGED = {
    "for another method": {"htm": "GET"},
    "for a method in lower case": {"htm": "post"},
    "for no method": {"htm": None},
    "for another path": {"htu": "https://memory.example/v1/memories"},
    "for another host": {"htu": "https://evil.example/v1/recall"},
    "for another scheme": {"htu": "http://memory.example/v1/recall"},
    "for another port": {"htu": "https://memory.example:8443/v1/recall"},
    "for a host with a name before it": {"htu": "https://x@memory.example/v1/recall"},
    "for a path with a slash more": {"htu": URL + "/"},
    "for a path in capitals": {"htu": "https://memory.example/V1/recall"},
    "for no address": {"htu": None},
    "for a broken address": {"htu": "https://[memory.example/v1/recall"},
    "for a number": {"htu": 7},
    "for another token": {"ath": b64(bytes(32))},
    "for no token": {"ath": None},
    "without an id": {"jti": None},
    "with an empty id": {"jti": ""},
    "with a number for an id": {"jti": 7},
    "with an endless id": {"jti": "x" * 1025},
    "without a time": {"iat": None},
    "with a text for a time": {"iat": "now"},
    "with true for a time": {"iat": True},
    "without a key": {"header_jwk": None},
    "with an empty key": {"header_jwk": {}},
    "with a text for a key": {"header_jwk": "key"},
    "with another's key": {"header_jwk": OTHERS_KEY.as_dict(private=False)},
    "with its private key": {"header_jwk": KEY.as_dict(private=True)},
    "with a secret for a key": {"header_jwk": {"kty": "oct", "k": "c2VjcmV0"}},
    "of another type": {"header_typ": "JWT"},
    "of an access token's type": {"header_typ": "at+jwt"},
    "of no type": {"header_typ": None},
    "without an algorithm": {"header_alg": None},
    "with the algorithm none": {"header_alg": "none"},
    "with a secret's algorithm": {"header_alg": "HS256"},
    "with another curve's algorithm": {"header_alg": "ES384"},
    "with a key elsewhere": {"header_jku": "https://evil.example"},
    "with a certificate": {"header_x5c": ["MIIB"]},
    "with what is critical": {"header_crit": ["exp"]},
}  # fmt: skip


@pytest.mark.parametrize("changes", FORGED.values(), ids=FORGED)
async def test_a_proof(verifier, token, shown, changes):
    assert await refused(verifier, shown(token(), **changes))
    assert not await refused(verifier, shown(token()))


async def test_a_proof_signed_with_another_key_or_bound_to_another_token(verifier, token, shown):
    assert await refused(verifier, shown(token(), key=OTHERS_KEY))
    own = KEY.as_dict(private=False)
    assert await refused(verifier, shown(token(), key=OTHERS_KEY, header_jwk=own))
    assert await refused(verifier, shown(token(), bound_to=token(sub="bob")))
    assert await refused(verifier, shown(token(OTHERS_KEY), key=KEY))


@pytest.mark.parametrize("text", ["", "x", "a.b", "a.b.c.d", "é", "a" * 9000, "..", "e30.e30.AA"])
async def test_a_proof_that_is_no_signature(verifier, token, text):
    presented = Presented(token=token(), scheme="dpop", proof=text, method="POST", url=URL)
    assert await refused(verifier, presented)


async def test_a_proof_with_a_claim_twice(verifier, token, clock):
    header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": KEY.as_dict(private=False)}
    claims = f'{{"jti":"1","htm":"GET","htm":"POST","htu":"{URL}","iat":{clock.seconds}}}'
    made = sign(header, claims, KEY, "ES256")
    presented = Presented(token=token(), scheme="dpop", proof=made, method="POST", url=URL)
    assert await refused(verifier, presented)


@pytest.mark.parametrize(("age", "good"), [(59, True), (-59, True), (61, False), (-61, False)])
async def test_a_proof_lives_for_a_minute(verifier, token, shown, clock, age, good):
    assert AGE_SECONDS == 60
    assert await refused(verifier, shown(token(), iat=clock.seconds - age)) is not good


@pytest.mark.parametrize(
    "url",
    [
        "HTTPS://MEMORY.EXAMPLE/v1/recall",
        "https://memory.example:443/v1/recall",
        "https://memory.example/v1/recall?query=1",
        "https://memory.example/v1/recall#top",
    ],
)
async def test_an_address_may_be_spelled_otherwise(verifier, token, shown, url):
    assert not await refused(verifier, shown(token(), htu=url))
