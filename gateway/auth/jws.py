"""Compact signatures (RFC 7515), read strictly and verified with joserfc's algorithms.

Rules this module keeps:
- The size is judged before anything is parsed, and the signature before a claim is believed.
- Three segments of strict, canonical base64url; header and claims are JSON objects without a
  member that is there twice. What two parsers could read differently is refused.
- A key comes from us, never from the header: whatever names, holds or fetches one is refused, as is
  what changes how the rest is read (`crit`, `b64`, `zip`, nesting, encryption).
- The algorithm is asymmetric and belongs to the key: RSA of at least 2048 bits, the algorithm's own
  curve. There is no `none` and no HMAC, so a public key is never a secret.
- A refusal says which rule, in a word of ours; nothing of the token is in it.

Source: RFC 7515; RFC 7518, 3.3; RFC 8725 (best current practices); requirement B1.
"""

import base64
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from joserfc import jwk
from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry

MAX_TOKEN_CHARS = 8192
MAX_KID_CHARS = 256
_MAX_RSA_BITS = 8192  # a larger modulus only costs time
_MIN_RSA_BITS = 2048  # RFC 7518, 3.3
_MAX_EXPONENT_CHARS = 6  # base64url of four bytes; a huge exponent only costs time
_SEGMENTS = 3
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)

_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "RSA": ("n", "e"),
    "EC": ("crv", "x", "y"),
    "OKP": ("crv", "x"),
}
"""What a public key is made of, RFC 7518, 6 and RFC 8037, 2; nothing else of a JWK is imported."""
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_ALGORITHMS: Mapping[tuple[str, str], frozenset[str]] = {
    ("RSA", ""): frozenset({"RS256", "PS256"}),
    ("EC", "P-256"): frozenset({"ES256"}),
    ("EC", "P-384"): frozenset({"ES384"}),
    ("OKP", "Ed25519"): frozenset({"EdDSA", "Ed25519"}),
}
ALGORITHMS = frozenset[str]().union(*_ALGORITHMS.values())
"""Every algorithm that there is here."""
_MODELS = {
    # joserfc calls the general name deprecated (RFC 9864); with Ed25519 keys it means the same.
    name: JWSRegistry.algorithms["Ed25519" if name == "EdDSA" else name]
    for name in ALGORITHMS
}
_NEVER = frozenset(
    {"jku", "x5u", "x5c", "crit", "b64", "zip", "cty"}  # keys from elsewhere, other readings
    | {"enc", "epk", "apu", "apv", "iv", "tag", "p2s", "p2c"}  # RFC 7516 and 7518: encryption
)


class Refused(Exception):
    """What was brought proves nothing. `rule` is one of our words, for a log line."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """One compact signature that reads well; nothing in it is proved yet."""

    header: Mapping[str, Any] = field(repr=False)
    claims: Mapping[str, Any] = field(repr=False)
    signed: bytes = field(repr=False)
    signature: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyingKey:
    """A public key, and the algorithms that it may be used with."""

    algorithms: frozenset[str]
    key: jwk.Key = field(repr=False)

    def thumbprint(self) -> str:
        """Return its SHA-256 thumbprint, base64url (RFC 7638)."""
        return self.key.thumbprint()


def parse(text: str) -> Compact:
    """Return the parts of a compact signature. Raises: Refused."""
    if len(text) > MAX_TOKEN_CHARS:
        raise Refused("size")
    segments = text.split(".")
    if len(segments) != _SEGMENTS:
        raise Refused("segments")
    header, claims, signature = (_decoded(segment) for segment in segments)
    signed = text.rpartition(".")[0].encode("ascii")
    return Compact(
        header=json_object(header), claims=json_object(claims), signed=signed, signature=signature
    )


def check_header(
    header: Mapping[str, Any],
    *,
    algorithms: frozenset[str],
    types: frozenset[str],
    own_key: bool = False,
) -> str:
    """Return the algorithm that a header names.

    Args:
        algorithms: those accepted.
        types: media types accepted, lower case, without `application/`; empty text stands for a
            header without `typ`.
        own_key: whether `jwk` may stand in it, as in a proof of possession.

    Raises:
        Refused: another algorithm or type, or a member that must not be there.
    """
    if not _NEVER.isdisjoint(header) or ("jwk" in header and not own_key):
        raise Refused("header-member")
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in algorithms & ALGORITHMS:
        raise Refused("alg")
    kind = header.get("typ", "")
    # An empty `typ` is not the absence of one.
    if not isinstance(kind, str) or ("typ" in header and not kind):
        raise Refused("typ")
    if kind.isascii() and kind.lower().removeprefix("application/") in types:
        return algorithm
    raise Refused("typ")


def key_id(header: Mapping[str, Any]) -> str:
    """Return the header's key id. Raises: Refused (none, not a text, or too long)."""
    kid = header.get("kid")
    if not isinstance(kid, str) or not 0 < len(kid) <= MAX_KID_CHARS:
        raise Refused("kid")
    return kid


def verify(compact: Compact, algorithm: str, key: VerifyingKey) -> None:
    """Verify the signature. Raises: Refused."""
    if algorithm not in key.algorithms:
        raise Refused("key-alg")
    model = _MODELS[algorithm]
    try:
        model.check_key(key.key)
        good = model.verify(compact.signed, compact.signature, key.key)
    except (JoseError, ValueError, TypeError) as err:
        raise Refused("signature") from err
    if not good:
        raise Refused("signature")


def public_key(found: Mapping[str, Any]) -> VerifyingKey | None:
    """Return a JSON Web Key as a key to verify with; None when it is not one that we use.

    Args:
        found: as it was published; private parts, another use or a weak size make it unusable.
    """
    kind = found.get("kty")
    names = _MEMBERS.get(kind) if isinstance(kind, str) else None
    if names is None or not _PRIVATE.isdisjoint(found) or not _for_signatures(found):
        return None
    parts = {name: found.get(name) for name in names}
    if not all(isinstance(part, str) and _BASE64URL.fullmatch(part) for part in parts.values()):
        return None
    algorithms = _ALGORITHMS.get((str(kind), str(parts.get("crv", ""))), frozenset())
    if "alg" in found:
        algorithms &= {str(found["alg"])}
    if not algorithms or (kind == "RSA" and not _rsa_sound(str(parts["n"]), str(parts["e"]))):
        return None
    try:
        key = jwk.import_key({"kty": kind} | parts)  # type: ignore[arg-type]  # texts, as checked
        key.get_op_key("verify")  # a point that is not on its curve shows here
    except (JoseError, ValueError, TypeError):
        return None
    return VerifyingKey(algorithms=algorithms, key=key)


def json_object(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`. Raises: Refused (also: a member that is there twice)."""
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as err:
        raise Refused("json") from err
    if not isinstance(value, dict):
        raise Refused("json")
    return value


def number(value: object) -> float | None:
    """Return a NumericDate (RFC 7519, 2), or None for anything else that JSON can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return float(value) if abs(value) < 1 << 53 else None
    return value if math.isfinite(value) else None


def _for_signatures(found: Mapping[str, Any]) -> bool:
    operations = found.get("key_ops", ["verify"])
    listed = isinstance(operations, list) and "verify" in operations
    return found.get("use", "sig") == "sig" and listed


def _rsa_sound(modulus: str, exponent: str) -> bool:
    try:
        bits = int.from_bytes(_decoded(modulus)).bit_length()
    except Refused:
        return False
    return _MIN_RSA_BITS <= bits <= _MAX_RSA_BITS and len(exponent) <= _MAX_EXPONENT_CHARS


def _decoded(segment: str) -> bytes:
    if not _BASE64URL.fullmatch(segment) or len(segment) % 4 == 1:
        raise Refused("base64")
    data = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    if base64.urlsafe_b64encode(data).rstrip(b"=") != segment.encode("ascii"):
        raise Refused("base64")  # bits left over: another spelling of the same bytes
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member is there twice")
    return found


def _no_constant(_text: str) -> NoReturn:
    raise ValueError("not a number of JSON")
