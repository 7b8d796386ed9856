"""Forgeries of what a token says, all of them signed by the issuer's own key or a hostile one."""

import json
from typing import Any

from core.ids import new_uuid
from tests.identity.forging import DROP, World, each, now, one


def _raw(world: World, member: str, value: str) -> str:
    text = json.dumps(world.claims(**{member: "@"})).replace('"@"', value)
    return world.signed(world.header(), text)


def _in(value: Any) -> Any:
    """An integer is so many seconds from now; everything else stands for itself."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return now() + value if whole else value


WHO = (
    each(
        "iss",
        "an issuer that is {}",
        {
            "missing": lambda w: DROP,
            "null": lambda w: None,
            "empty": lambda w: "",
            "a number": lambda w: 7,
            "a list": lambda w: [w.issuer.url],
            "followed by a slash": lambda w: w.issuer.url + "/",
            "followed by a fragment": lambda w: w.issuer.url + "#",
            "in capitals": lambda w: w.issuer.url.upper(),
            "two": lambda w: f"{w.issuer.url} {w.hostile.url}",
            "another": lambda w: w.hostile.url,
        },
        lambda w, change: w.saying(iss=change(w)),
    )
    | one("iss", "a hostile issuer's own token", lambda w: w.hostile.token(tenant=w.tenant))
    | one(
        "signature",
        "a hostile issuer's token in our issuer's name",
        lambda w: w.hostile.token(tenant=w.tenant, iss=w.issuer.url),
    )
    | each(
        "aud",
        "an audience that is {}",
        {
            "missing": lambda ours: DROP,
            "null": lambda ours: None,
            "empty": lambda ours: "",
            "an empty list": lambda ours: [],
            "another": lambda ours: "https://other.example",
            "others": lambda ours: ["https://other.example", "account"],
            "the beginning of ours": lambda ours: ours[:-1],
            "ours and a slash": lambda ours: ours + "/",
            "ours in capitals": lambda ours: ours.upper(),
            "ours among words": lambda ours: f"{ours} https://other.example",
            "a number": lambda ours: 1,
            "an object": lambda ours: {"aud": ours},
            "ours beside a number": lambda ours: [ours, 7],
            "ours in a list in a list": lambda ours: [[ours]],
            "a wildcard": lambda ours: "*",
        },
        lambda w, change: w.saying(aud=change(w.issuer.audience)),
    )
    | each(
        "sub",
        "a subject that is {}",
        {
            "missing": DROP,
            "null": None,
            "empty": "",
            "a number": 7,
            "a list": ["alice"],
            "true": True,
            "two lines": "alice\nbob",
            "followed by a NUL": "alice\0",
            "everybody": "*",
            "written backwards": "alice\u202ebob",
            "holding an invisible sign": "al\u200bice",
            "holding a lone surrogate": "alice\ud800",
            "preceded by a space": " alice",
            "not composed": "e\u0301",
            "129 signs long": "a" * 129,
        },
        lambda w, value: w.saying(sub=value),
    )
    | each(
        "client",
        "a client that is {}",
        {"a number": 7, "a list": ["agent"], "empty": "", "holding a control sign": "agent\x1b"},
        lambda w, value: w.saying(client_id=value),
    )
    | one("client", "two clients", lambda w: w.saying(azp="another"))
    | each(
        "tenant",
        "a tenant that is {}",
        {
            "missing": lambda own: DROP,
            "null": lambda own: None,
            "empty": lambda own: "",
            "a name": lambda own: "acme",
            "nil": lambda own: "00000000-0000-0000-0000-000000000000",
            "a number": lambda own: 7,
            "an object": lambda own: {"id": own},
            "a list": lambda own: [own],
            "in capitals": lambda own: own.upper(),
            "in braces": lambda own: f"{{{own}}}",
            "without hyphens": lambda own: own.replace("-", ""),
        },
        lambda w, change: w.saying(tenant=change(w.tenant)),
    )
    | one("no-tenant", "a tenant that never was", lambda w: w.saying(tenant=str(new_uuid())))
)

WHEN = (
    each(
        "exp",
        "an end that is {}",
        {
            "missing": DROP,
            "null": None,
            "a text": "9999999999",
            "true": True,
            "a list": [1],
            "61 seconds ago": -61,
            "an hour ago": -3600,
            "zero": 0.0,
            "negative": -1.0,
        },
        lambda w, value: w.saying(exp=_in(value)),
    )
    | each(
        "nbf",
        "a beginning that is {}",
        {"null": None, "a text": "0", "true": True, "an hour from now": 3600},
        lambda w, value: w.saying(nbf=_in(value)),
    )
    | each(
        "iat",
        "an issue that is {}",
        {"null": None, "a text": "0", "false": False, "an hour from now": 3600},
        lambda w, value: w.saying(iat=_in(value)),
    )
    | one("exp", "an end beyond all numbers", lambda w: _raw(w, "exp", "1e999"))
    | one("exp", "an end of four thousand digits", lambda w: _raw(w, "exp", "9" * 4000))
    | one("lifetime", "an end in the year 10000", lambda w: w.saying(exp=253_402_300_800))
    | one("lifetime", "a life of 25 hours", lambda w: w.saying(exp=_in(25 * 3600)))
    | one("lifetime", "a life nearly over", lambda w: w.saying(iat=_in(-25 * 3600)))
    | one("lifetime", "a life of unknown age", lambda w: w.saying(iat=DROP, exp=_in(90_000)))
)

WHAT = (
    each(
        "not-an-access-token",
        "{} in the claims",
        {name: {name: "x"} for name in ("nonce", "at_hash", "c_hash", "s_hash")}
        | {"events": {"events": {}}}
        | {f"the type {kind!r}": {"typ": kind} for kind in ("ID", "Refresh", "Logout", "", None)},
        lambda w, members: w.saying(**members),
    )
    | each(
        "cnf",
        "a binding that is {}",
        {
            "null": None,
            "a text": "key",
            "empty": {},
            "a certificate": {"x5t#S256": "a" * 43},
            "a key": {"jwk": {}},
            "two": {"jkt": "a" * 43, "x5t#S256": "a" * 43},
            "a number": {"jkt": 7},
            "too short": {"jkt": "a" * 42},
            "spelled in capitals": {"JKT": "a" * 43},
        },
        lambda w, value: w.saying(cnf=value),
    )
    | one("scheme", "a bound token as a bearer's", lambda w: w.saying(cnf={"jkt": "a" * 43}))
    | each(
        "act",
        "an agent that is {}",
        {
            "a text": "agent",
            "null": None,
            "a list": [{"sub": "agent"}],
            "nobody": {},
            "a number": {"sub": 7},
        },
        lambda w, value: w.saying(act=value),
    )
    | each(
        "roles",
        "roles that are {}",
        {"a number": 7, "an object": {}, "numbers": [7], "endless": ["x"] * 1001},
        lambda w, value: w.saying(groups=value),
    )
    | each(
        "scope",
        "scopes that are {}",
        {
            "a number": 7,
            "an object": {},
            "words in a list": ["memory:read audit"],
            "two spaces apart": "memory:read  audit",
            "a tab apart": "memory:read\taudit",
            "quoted": 'memory:"read"',
        },
        lambda w, value: w.saying(scope=value),
    )
    | each(
        "auth_time",
        "a proof of identity that is {}",
        {"a text": "now", "null": None, "tomorrow": 86_400},
        lambda w, value: w.saying(auth_time=_in(value)),
    )
)

CLAIMS = WHO | WHEN | WHAT
