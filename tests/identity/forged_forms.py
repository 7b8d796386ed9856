"""Forgeries of a token's form, header, key and signature."""

import json
from base64 import b64encode, urlsafe_b64decode

from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from tests.identity.forging import DROP, World, each, one, part, twice
from tests.identity.issuer import MODELS, b64, new_key, proof

_SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_SPOILS = {
    "padding": lambda text: text + "=",
    "a plus sign": lambda text: "+" + text[1:],
    "a percent sign": lambda text: "%" + text[1:],
    "one sign too many": lambda text: text[: len(text) // 4 * 4] + "A",
}
_UNREADABLE = {
    "not JSON": b"{alg:RS256}",
    "a list": b"[]",
    "a text": b'"RS256"',
    "a number": b"7",
    "null": b"null",
    "blank": b" ",
    "with a byte order mark": b"\xef\xbb\xbf{}",
    "in UTF-16": "{}".encode("utf-16"),
    "in broken UTF-8": b'{"kid": "\xff"}',
    "with NaN": b'{"exp": NaN}',
    "with more behind it": b"{} {}",
    "nested without end": b"[" * 4000,
}


def _left_over(token: str) -> str:
    """The same signature, spelled with bits that decoding drops (256 bytes leave four)."""
    return token[:-1] + _SIGNS[_SIGNS.index(token[-1]) | 1]


def _signed_with(token: str, signature: str) -> str:
    return part(token, 2, lambda _: signature)


def _flipped(text: str) -> str:
    raw = bytearray(urlsafe_b64decode(text + "=="))
    raw[100] ^= 1
    return b64(bytes(raw))


def _der(text: str) -> str:
    raw = urlsafe_b64decode(text + "==")
    return b64(encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:])))


FORM = (
    one("segments", "a word", lambda w: "eyJhbGciOiJub25lIn0")
    | one("segments", "two segments", lambda w: w.good().rpartition(".")[0])
    | one("segments", "a trailing dot", lambda w: w.good() + ".")
    | one("segments", "a leading dot", lambda w: "." + w.good())
    | one("segments", "two tokens in one", lambda w: f"{w.good()}.{w.good()}")
    | one("segments", "an encrypted token", lambda w: f"{b64({'alg': 'dir'})}..YQ.YQ.YQ")
    | one("base64", "dots alone", lambda w: "..")
    | each(
        "base64",
        "nothing for {}",
        {"a header": 0, "claims": 1, "a signature": 2},
        lambda w, number: part(w.good(), number, lambda _: ""),
    )
    | each("base64", "{} in the header", _SPOILS, lambda w, spoil: part(w.good(), 0, spoil))
    | each("base64", "{} in the claims", _SPOILS, lambda w, spoil: part(w.good(), 1, spoil))
    | each("base64", "{} in the signature", _SPOILS, lambda w, spoil: part(w.good(), 2, spoil))
    | one("base64", "bits left over", lambda w: _left_over(w.good()))
    | one("size", "more than 8,192 signs", lambda w: w.good(pad="x" * 6000))
    | each("json", "a header that is {}", _UNREADABLE, lambda w, raw: w.signed(raw, w.claims()))
    | each("json", "claims that are {}", _UNREADABLE, lambda w, raw: w.signed(w.header(), raw))
    | each(
        "json",
        "a header with {} twice",
        {"alg": "alg", "kid": "kid", "typ": "typ"},
        lambda w, member: w.signed(twice(w.header(), member), w.claims()),
    )
    | each(
        "json",
        "claims with {} twice",
        {name: name for name in ("sub", "exp", "aud", "iss", "tenant", "groups")},
        lambda w, member: w.signed(w.header(), twice(w.claims(), member)),
    )
    | one("json", "a token in a token", lambda w: w.signed(w.header(), w.good()))
    | one("json", "a token as a text", lambda w: w.signed(w.header(), json.dumps(w.good())))
)


def _hmac(world: World, algorithm: str, secret: bytes) -> str:
    signed = f"{b64(world.header(alg=algorithm))}.{b64(world.claims())}"

    class Key:
        """joserfc refuses such a secret; a forger does not use joserfc."""

        def get_op_key(self, _operation: str) -> bytes:
            return secret

    return f"{signed}.{b64(MODELS[algorithm].sign(signed.encode(), Key()))}"


def _pem(world: World) -> bytes:
    return world.issuer.keys["RS256"][1].as_pem(private=False)  # type: ignore[union-attr]


def _jwk_text(world: World) -> bytes:
    return json.dumps(world.issuer.published["keys"][0]).encode()


def _modulus(world: World) -> bytes:
    return b64encode(str(world.issuer.published["keys"][0]["n"]).encode())


ALGORITHM = (
    each(
        "alg",
        "the algorithm {}, signed",
        {name: name for name in ("none", "None", "NONE", "nOnE")},
        lambda w, name: w.headed(alg=name),
    )
    | one(
        "alg",
        "none, and a signature of a zero",
        lambda w: part(w.headed(alg="none"), 2, lambda _: "AA"),
    )
    | one("base64", "none, unsigned", lambda w: part(w.headed(alg="none"), 2, lambda _: ""))
    | each(
        "alg",
        "{} with the public key as its secret",
        {name: name for name in ("HS256", "HS384", "HS512")},
        lambda w, name: _hmac(w, name, _pem(w)),
    )
    | one("alg", "HS256 with the public JWK", lambda w: _hmac(w, "HS256", _jwk_text(w)))
    | one("alg", "HS256 with the modulus", lambda w: _hmac(w, "HS256", _modulus(w)))
    | each(
        "alg",
        "{}, which is not accepted",
        {name: name for name in ("RS384", "RS512", "PS256", "PS512")},
        lambda w, name: w.signed(w.header(alg=name), w.claims(), algorithm=name),
    )
    | each(
        "alg",
        "an algorithm that is {}",
        {
            "missing": DROP,
            "null": None,
            "empty": "",
            "a list": ["RS256"],
            "a number": 256,
            "in lower case": "rs256",
            "followed by a space": "RS256 ",
            "for encryption": "RSA-OAEP",
            "for money": "ES256K",
        },
        lambda w, value: w.headed(alg=value),
    )
    | each(
        "key-alg",
        "{}",
        {
            "RS256 with a curve's key": ("RS256", "ES256"),
            "RS256 with an Edwards key": ("RS256", "EdDSA"),
            "ES256 with an RSA key": ("ES256", "RS256"),
            "EdDSA with an RSA key": ("EdDSA", "RS256"),
            "EdDSA with a curve's key": ("EdDSA", "ES256"),
        },
        lambda w, pair: w.signed(w.header(pair[0], kid=pair[1]), w.claims(), kid=pair[0]),
    )
)


def _own_key(world: World, **changes: object) -> str:
    key = world.hostile.keys["RS256"][1]
    header = world.header(jwk=key.as_dict(private=False), **changes)
    return world.signed(header, world.claims(), key=key)


def _proof_as_token(world: World) -> str:
    key, said = world.issuer.keys["ES256"][1], world.claims()
    return proof(key, "ES256", "x", "POST", "x", header_typ="at+jwt", header_kid="ES256", **said)


HEADER = (
    one("header-member", "a key of its own", _own_key)
    | one("header-member", "a key of its own and no key id", lambda w: _own_key(w, kid=DROP))
    | each(
        "header-member",
        "{} in the header",
        {
            "jku": {"jku": "https://evil.example/keys"},
            "x5u": {"x5u": "https://evil.example/certificate"},
            "x5c": {"x5c": ["MIIB"]},
            "crit": {"crit": ["exp"]},
            "nothing critical": {"crit": []},
            "b64": {"b64": False},
            "zip": {"zip": "DEF"},
            "cty": {"cty": "JWT"},
            "enc": {"enc": "A256GCM"},
            "epk": {"epk": {}},
            "p2c": {"p2c": 1_000_000_000},
        },
        lambda w, members: w.headed(**dict(members)),  # type: ignore[call-overload]
    )
    | each(
        "kid",
        "a key id that is {}",
        {
            "missing": DROP,
            "null": None,
            "empty": "",
            "zero": 0,
            "a list": ["RS256"],
            "an object": {"kid": "RS256"},
            "257 signs long": "k" * 257,
        },
        lambda w, value: w.headed(kid=value),
    )
    | each(
        "kid-unknown",
        "a key id that is {}",
        {
            "a path": "../../../../dev/null",
            "a file": "/etc/passwd",
            "SQL": "x' UNION SELECT 'secret' --",
            "a command": "| sleep 10",
            "an address": "http://169.254.169.254/latest",
            "ours and a NUL": "RS256\0",
            "ours in another case": "rs256",
            "ours and a space": "RS256 ",
            "nobody's": "nobody",
            "a lone surrogate": "\ud800",
        },
        lambda w, value: w.headed(kid=value),
    )
    | each(
        "typ",
        "a type that is {}",
        {
            "missing": DROP,
            "null": None,
            "empty": "",
            "a number": 1,
            "a list": ["at+jwt"],
            "any token's": "JWT",
            "an ID token's": "id_token+jwt",
            "a logout token's": "logout+jwt",
            "a proof's": "dpop+jwt",
            "followed by a space": "at+jwt ",
            "followed by a parameter": "at+jwt; v=1",
            "of another tree": "text/at+jwt",
            "twice in the tree": "application/application/at+jwt",
            "spelled with a wide letter": "\uff41t+jwt",
        },
        lambda w, value: w.headed(typ=value),
    )
    | one("header-member", "a proof for a token", _proof_as_token)
)


def _with_key(world: World, kid: str, key: object) -> str:
    return world.signed(world.header(kid), world.claims(), kid=kid, key=key)  # type: ignore[arg-type]


def _others(world: World, number: int, text: str) -> str:
    return part(world.good(), number, lambda _: text)


SIGNATURE = (
    one("signature", "one bit of the signature", lambda w: part(w.good(), 2, _flipped))
    | one("signature", "half a signature", lambda w: part(w.good(), 2, lambda text: text[:172]))
    | one("signature", "a signature of zeros", lambda w: _others(w, 2, b64(bytes(256))))
    | one("signature", "a signature in DER", lambda w: part(w.good("ES256"), 2, _der))
    | each(
        "signature",
        "zeros for a signature with {}",
        {"a curve": "ES256", "Edwards' curve": "EdDSA"},
        lambda w, kid: part(w.good(kid), 2, lambda _: b64(bytes(64))),
    )
    | one(
        "signature", "another token's signature", lambda w: _others(w, 2, w.good(x=1).split(".")[2])
    )
    | one("signature", "other claims", lambda w: _others(w, 1, b64(w.claims(sub="mallory"))))
    | one("signature", "another header", lambda w: _others(w, 0, b64(w.header(x=1))))
    | each(
        "signature",
        "a hostile issuer's key with our id {}",
        {kid: kid for kid in ("RS256", "ES256", "EdDSA")},
        lambda w, kid: _with_key(w, kid, w.hostile.keys[kid][1]),
    )
    | one("signature", "a key just made", lambda w: _with_key(w, "EdDSA", new_key("EdDSA")))
    | one("kid-unknown", "a key rotated out", lambda w: w.good("retired"))
)

FORMS = FORM | ALGORITHM | HEADER | SIGNATURE
