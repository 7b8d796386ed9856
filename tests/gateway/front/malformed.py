"""Makes requests that no operation can mean, from the list of operations itself.

A route that is added later is attacked without a line here. Every request carries canaries wherever
it has room for a text; none may come back. The same seed makes the same requests.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from gateway.front.openapi import document
from gateway.front.operation import Operation

CANARY = "zq7canary4417"
"""In values and in names."""
NUMBER = "86420135790"
"""A canary of digits alone: what a validator that repeats numbers would repeat."""
BIG = 1 << 20


@dataclass(frozen=True, slots=True)
class Attack:
    """One malformed request.

    Args:
        about: what is wrong with it.
        content: None for no body at all.
    """

    about: str
    method: str
    path: str
    content: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


def attacks(operations: list[Operation], seed: int, count: int) -> Iterator[Attack]:
    """Yield `count` attacks, spread over all operations and over all kinds of wrong."""
    schemas = document(operations, (), "0")["components"]["schemas"]
    dice = random.Random(seed)
    for number in range(count):
        operation = operations[number % len(operations)]
        makers = _BODIES if operation.body is not None and dice.random() < 0.8 else _QUERIES
        yield dice.choice(makers)(_Maker(operation, schemas, dice))


class _Maker:
    def __init__(self, operation: Operation, schemas: dict[str, Any], dice: random.Random) -> None:
        self.operation = operation
        self.dice = dice
        self.schemas = schemas
        self.path = operation.path.replace("{id}", "0198b1c4-5a6b-7c8d-9e0f-112233445566")

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the operation's body."""
        assert self.operation.body is not None
        found: dict[str, Any] = self.schemas[self.operation.body.__name__]
        return found

    @property
    def fields(self) -> dict[str, Any]:
        found: dict[str, Any] = self.schema["properties"]
        return found

    def valid(self) -> dict[str, Any]:
        """Return a body that the operation takes, with a canary wherever a text may stand."""
        schema = self.schema
        names = schema.get("required") or list(schema["properties"])[:2]
        return {name: self._sample(schema["properties"][name]) for name in names}

    def _sample(self, schema: dict[str, Any]) -> Any:
        if "$ref" in schema:
            return self._sample(self.schemas[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return self._sample(schema["anyOf"][0])
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("type") == "array":
            return [self._sample(schema["items"])]
        if schema.get("type") == "object":
            return {n: self._sample(schema["properties"][n]) for n in schema.get("required", [])}
        simple = {"integer": schema.get("minimum", 1), "number": 0.5, "boolean": True}
        return schema.get("const", simple.get(schema.get("type", ""), CANARY))

    def attack(
        self, about: str, *, body: Any = None, raw: bytes | None = None, **headers: str
    ) -> Attack:
        content = json.dumps(body).encode() if raw is None else raw
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Attack(
            about,
            self.operation.method,
            self.path,
            content,
            {"Content-Type": "application/json"} | named,
        )

    def wrong(self) -> Any:
        """Return a value that is of no use to any field."""
        return self.dice.choice(
            [
                {CANARY: CANARY},
                [[CANARY]],
                [{"a": [NUMBER]}],
                {"$ref": CANARY},
                -int(NUMBER),
                {"": None},
                [None],
                float(NUMBER) * 1e40,
            ]
        )


def _text(maker: _Maker) -> str:
    return json.dumps(maker.valid())


def _within(maker: _Maker, insert: str) -> bytes:
    """Return a valid body with `insert` before its closing brace."""
    return (_text(maker)[:-1] + ", " + insert + "}").encode("utf-8", "surrogatepass")


def _wrong_value(maker: _Maker) -> Attack:
    body = maker.valid()
    name = maker.dice.choice([name for name in maker.fields if name != "metadata"])
    body[name] = maker.wrong()
    return maker.attack(f"wrong value of {name}", body=body)


def _too_long(maker: _Maker) -> Attack:
    body = maker.valid()
    name = maker.dice.choice(list(maker.fields))
    body[name] = maker.dice.choice([CANARY * 3000, [CANARY] * 300, {CANARY: CANARY * 3000}])
    return maker.attack(f"too long {name}", body=body)


def _missing(maker: _Maker) -> Attack:
    # Where nothing is required, something that is not there is named instead.
    body = maker.valid()
    if required := maker.schema.get("required"):
        del body[maker.dice.choice(required)]
    return maker.attack("missing field", body=body | {f"x{CANARY}": 1})


_BAD_TEXTS: list[Callable[[_Maker], bytes]] = [
    lambda _: b"",
    lambda _: b"\xff\xfe" + CANARY.encode(),
    lambda maker: _text(maker).encode("utf-16"),
    lambda maker: b"\xef\xbb\xbf" + _text(maker).encode(),
    lambda maker: _text(maker)[:-1].encode(),
    lambda maker: _text(maker).encode() + CANARY.encode(),
    lambda maker: _text(maker).encode() * 2,
    lambda maker: _text(maker).replace('"', "'").encode(),
    lambda _: json.dumps([CANARY]).encode(),
    lambda _: json.dumps(CANARY).encode(),
    lambda _: b"null",
    lambda _: NUMBER.encode(),
    lambda _: b"[" * 100_000,
    lambda _: b'{"a":' * 50_000,
    lambda maker: _within(maker, '"a": ' + "[" * 70 + "]" * 70),
    lambda maker: _within(maker, f'"content": "{CANARY}", "content": "{CANARY}"'),
    lambda maker: _within(maker, f'"a": {{"{CANARY}": 1, "{CANARY}": 2}}'),
    lambda maker: _within(maker, '"a": NaN'),
    lambda maker: _within(maker, '"a": -Infinity'),
    lambda maker: _within(maker, '"a": 1e999'),
    lambda maker: _within(maker, '"a": ' + NUMBER * 3),
    lambda maker: _within(maker, '"a": ' + "9" * 10_000),
    lambda maker: _within(maker, '"a": 01'),
    lambda maker: _within(maker, f'"a": "{CANARY}\\u0000"'),
    lambda maker: _within(maker, f'"a": "{CANARY}\x00"'),
    lambda maker: _within(maker, f'"a": "{CANARY}\\ud800"'),
    lambda maker: _within(maker, f'"a": "{CANARY}\\udc00\\ud800"'),
    lambda maker: _within(maker, f'"{CANARY}\\ud800": 1'),
    lambda maker: _within(maker, f'"a": "{CANARY}\ud800"'),
    lambda maker: _within(maker, f'"a": "{CANARY}\n"'),
    lambda maker: _within(maker, f'"a": "\\x41{CANARY}"'),
    lambda maker: _within(maker, f'"__proto__": {{"{CANARY}": 1}}'),
    lambda maker: _within(maker, f"// {CANARY}\n"),
]


def _bad_text(maker: _Maker) -> Attack:
    number = maker.dice.randrange(len(_BAD_TEXTS))
    return maker.attack(f"bad text {number}", raw=_BAD_TEXTS[number](maker))


def _noise(maker: _Maker) -> Attack:
    raw = bytearray(_text(maker).encode())
    for _ in range(maker.dice.randint(1, 4)):
        raw[maker.dice.randrange(len(raw))] = maker.dice.choice(b'\x00\x80\xff"{}[]:\\,')
    # Noise inside a text can leave it valid, so a field that nobody has stays in any case.
    return maker.attack("noise", raw=bytes(raw[:-1]) + f', "x{CANARY}": 1}}'.encode())


def _oversize(maker: _Maker) -> Attack:
    pad = maker.operation.body_bytes + maker.dice.randint(1, BIG)
    return maker.attack("oversize", raw=b'{"a":"' + b"x" * pad + b'"}')


def _bad_type(maker: _Maker) -> Attack:
    kind = maker.dice.choice(
        [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/json; charset=utf-16",
            f"application/{CANARY}",
            "",
        ]
    )
    return maker.attack("bad content type", body=maker.valid(), Content_Type=kind)


def _compressed(maker: _Maker) -> Attack:
    return maker.attack("compressed", body=maker.valid(), Content_Encoding="gzip")


def _bad_query(maker: _Maker) -> Attack:
    query = maker.dice.choice(
        [
            f"{CANARY}={CANARY}",
            f"user_id=a&user_id={CANARY}",
            "user_id=%00",
            f"user_id=%ff{CANARY}",
            "user_id",
            "&&&",
            f"x={'a' * 9000}",
            "&".join(f"a{n}=1" for n in range(40)),
            f"limit={NUMBER}",
            f"limit=-1&{CANARY}=1",
            f"x{CANARY}[]=1",
            "a=%ed%a0%80",
        ]
    )
    return Attack("bad query", maker.operation.method, f"{maker.path}?{query}", _body(maker))


def _bad_path(maker: _Maker) -> Attack:
    part = maker.dice.choice([CANARY + "%00", "%ff", "..%5c..", "%20", "a" * 500, CANARY + "%0a"])
    path = maker.operation.path.replace("{id}", part)
    path = path if part in path else f"{path}/{part}"
    return Attack("bad path", maker.operation.method, path, _body(maker))


def _bad_header(maker: _Maker) -> Attack:
    headers = {"Idempotency-Key": CANARY * 20, "If-Match": CANARY, "Content-Type": "text/html"}
    return Attack(
        "bad header",
        maker.operation.method,
        f"{maker.path}?{CANARY}=1",
        _body(maker),
        headers,
    )


def _body(maker: _Maker) -> bytes | None:
    return None if maker.operation.body is None else _text(maker).encode()


_BODIES = [
    _wrong_value,
    _wrong_value,
    _too_long,
    _missing,
    _bad_text,
    _bad_text,
    _bad_text,
    _noise,
    _bad_type,
    _compressed,
    _oversize,
]
_QUERIES = [_bad_query, _bad_query, _bad_path, _bad_header]
