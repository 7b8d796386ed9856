"""Proof of possession (DPoP): the sender of a bound token proves to hold its key, once a request.

Rules this module keeps:
- A proof is for one method, one URL, one token, and about a minute; its key is the one that the
  token names.
- It is used once, on whatever replica: its id is remembered where every replica looks. When that
  place is away, a bound token gets no answer; it is not taken for a bearer token.
- Only what verifies is remembered, so that nobody fills that place with what they made up.

Source: RFC 9449, 4.3, 7.1 and 11.1; requirement B13.
"""

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from core.ids import TenantId
from gateway.auth.jws import Refused, check_header, number, parse, public_key, verify
from gateway.auth.presented import Presented

ALGORITHMS = frozenset({"ES256", "ES384", "EdDSA", "Ed25519", "RS256", "PS256"})
"""Those that a proof may be signed with."""
AGE_SECONDS = 60.0
"""A proof may have been made so long before, or after by a clock that is ahead."""
REMEMBER_SECONDS = 180
"""Longer than any proof can be used."""

_TYPES = frozenset({"dpop+jwt"})
_MAX_ID_CHARS = 1024
_DEFAULT_PORTS = {"https": 443, "http": 80}


class SeenProofs(Protocol):
    """Where every replica remembers which proofs were used."""

    async def first_use(self, tenant: TenantId, proof: bytes, *, seconds: int) -> bool:
        """Remember a proof for `seconds`; tells whether it was not there before.

        Raises:
            Unavailable: the place is away.
        """
        ...


def check_proof(presented: Presented, token: str, thumbprint: str, now: datetime) -> bytes:
    """Return the id, 32 bytes, by which a proof is remembered; whether it was used is not judged.

    Args:
        presented: the request's proof, method and URL.
        token: the access token it came with.
        thumbprint: of the key that the token is bound to.

    Raises:
        Refused: there is no proof, or it is not one of this key for this request.
    """
    if presented.proof is None:
        raise Refused("no-proof")
    proof = parse(presented.proof)
    algorithm = check_header(proof.header, algorithms=ALGORITHMS, types=_TYPES, own_key=True)
    own = proof.header.get("jwk")
    key = public_key(own) if isinstance(own, dict) else None
    if key is None:
        raise Refused("proof-key")
    verify(proof, algorithm, key)
    if not hmac.compare_digest(key.thumbprint().encode(), thumbprint.encode()):
        raise Refused("proof-key")
    claims = proof.claims
    if claims.get("htm") != presented.method:
        raise Refused("htm")
    url = claims.get("htu")
    if not isinstance(url, str) or _canonical(url) != _canonical(presented.url):
        raise Refused("htu")
    made = number(claims.get("iat"))
    if made is None or abs(now.timestamp() - made) > AGE_SECONDS:
        raise Refused("proof-iat")
    if claims.get("ath") != _digest(token):
        raise Refused("ath")
    identity = claims.get("jti")
    if not isinstance(identity, str) or not 0 < len(identity) <= _MAX_ID_CHARS:
        raise Refused("jti")
    return hashlib.sha256(json.dumps([thumbprint, identity]).encode()).digest()


def _digest(token: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()


def _canonical(url: str) -> tuple[str, str, int, str]:
    """Return what two spellings of one URL have in common; query and fragment do not count.

    Percent signs are left as they are: a client writes the path in the proof as in the request.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as err:
        raise Refused("htu") from err
    scheme = parts.scheme.lower()
    if scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        raise Refused("htu")
    return scheme, parts.hostname.lower(), port or _DEFAULT_PORTS[scheme], parts.path or "/"
