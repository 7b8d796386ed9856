"""An operation of the HTTP API as a value: what it takes, what it may answer, who answers.

Rules this module keeps:
- Everything the API has is in one list of these. Routing, parsing, the OpenAPI document and the
  tests over all routes read that list, so a route cannot be in one and not in another.
- A handler gets a request that is authenticated and parsed. It calls one guarded path and shapes
  the reply; it decides nothing.
- What fails between authentication and the path is recorded here, once, as the path would have.
"""

import contextlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

from pydantic import BaseModel
from starlette.requests import Request

from core.errors import Invalid, NotFound, PreconditionFailed
from core.model import Json
from core.scope import Action, Call
from gateway.front.body import check_text, field_name, parse_body, read_body
from gateway.front.edge import passage_of
from gateway.front.limits import BODY_BYTES, KIB, Limits
from gateway.front.security import values
from gateway.front.wire import Wire, read
from gateway.gate import Gate, Once
from gateway.guard.identifiers import MAX_LENGTH

IDEMPOTENCY_KEY = "Idempotency-Key"
MAX_QUERY_BYTES = 8 * KIB
MAX_PARAMETERS = 32
MAX_SPELLED = MAX_LENGTH + 16
"""Characters of a name in a path: an identifier, behind the word that says of what kind."""

_NAME = re.compile(r"[A-Za-z0-9_.~-]{1,64}")
_ENCODED = re.compile(rb"(?:[^%\x00-\x20\x7f-\xff]|%[0-9A-Fa-f]{2})+")
_ONCE = re.compile(r"[\x20-\x7e]{1,128}")
_ETAG = re.compile(r'"([1-9][0-9]{0,8})"')
_JSON = re.compile(r"application/json(?:\s*;\s*charset=\"?utf-8\"?)?\s*", re.IGNORECASE)

B = TypeVar("B")
Q = TypeVar("Q")


class Nothing(Wire):
    """No body, or no parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask(Generic[B, Q]):
    """One authenticated and parsed request.

    Args:
        names: parts of the path.
        once: from `Idempotency-Key`, where the operation takes it.
        version: from `If-Match`, where the operation takes it; None for any.
        started: monotonic seconds when the request came in.
    """

    gate: Gate
    call: Call
    names: Mapping[str, str] = field(repr=False)
    body: B = field(repr=False)
    query: Q = field(repr=False)
    once: Once | None
    version: int | None
    started: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a handler answers: a JSON value, or None for no content.

    Args:
        version: of the memory shown, for its `ETag`.
        access_version: the version token of a change that took a right away (a key revoked or
            rotated without overlap, a member or a space gone, a policy or quotas put), for
            `X-Access-Version`: `mint_version` of the epoch that its transaction leaves.
    """

    body: Json = field(repr=False)
    version: int | None = None
    access_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One method of one path.

    Args:
        path: a template; a part in braces is an id.
        action: what it is in the policy's and the audit log's words.
        handler: answers it.
        name: its `operationId`.
        body: what is sent; None for nothing.
        query: which parameters it takes.
        reply: what comes back; None for no content.
        status: of success.
        refuses: statuses of refusals beside those that any authenticated call may get.
        once: takes `Idempotency-Key`.
        conditional: takes `If-Match`.
        body_bytes: bound of the body.
        named: parts of the path that are names as callers spell them, percent-encoded; every other
            part is an id.
    """

    method: str
    path: str
    action: Action
    handler: Callable[[Ask[Any, Any]], Awaitable[Answer]]
    name: str
    summary: str
    body: type[Wire] | None = None
    query: type[Wire] = Nothing
    reply: type[BaseModel] | None = None
    status: int = 200
    refuses: frozenset[int] = frozenset()
    once: bool = False
    conditional: bool = False
    body_bytes: int = BODY_BYTES
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """A request as far as any JSON API would read it: whole and well-formed, not yet understood.

    Args:
        raw: the body's bytes.
    """

    query: Mapping[str, Json] = field(repr=False)
    body: Mapping[str, Json] = field(repr=False)
    raw: bytes = field(repr=False)

    @property
    def user_id(self) -> str | None:
        """The person the request names, for the record of its refusal."""
        named = self.body.get("user_id", self.query.get("user_id"))
        return named if isinstance(named, str) else None


async def collect(operation: Operation, request: Request, limits: Limits) -> Collected:
    """Read the request.

    Raises:
        Invalid, TooLarge, HangUp, ClientGone: it is malformed, over a bound, late, or gone.
    """
    query = query_values(operation.query, request.scope["query_string"])
    if operation.body is None:
        return Collected(query=query, body={}, raw=b"")
    headers = request.scope["headers"]
    _check_type(headers)
    raw = await read_body(
        request.receive,
        content_length(headers),
        limit=operation.body_bytes,
        seconds=limits.body_seconds,
    )
    return Collected(query=query, body=await parse_body(raw), raw=raw)


def understand(
    operation: Operation, request: Request, collected: Collected, gate: Gate, call: Call
) -> Ask[Any, Any]:
    """Return the request as `operation` takes it.

    Raises:
        Invalid, TooLarge: a parameter, a header or a field is not what the operation takes.
        NotFound: a part of the path cannot be anybody's id.
        PreconditionFailed: `If-Match` names what no version can be.
    """
    headers = request.scope["headers"]
    names: dict[str, str] = dict(request.path_params)
    ids = [name for part, name in names.items() if part not in operation.named]
    if not all(_NAME.fullmatch(name) for name in ids):
        raise NotFound
    for part in operation.named & names.keys():
        names[part] = _spelled(operation, part, request)
    key = _idempotency_key(headers) if operation.once else None
    stands_for = f"{operation.method} {request.scope['path']}\n".encode() + collected.raw
    return Ask(
        gate=gate,
        call=call,
        names=names,
        query=read(operation.query, collected.query),
        body=None if operation.body is None else read(operation.body, collected.body),
        once=None if key is None else Once(key=key, request=stands_for),
        version=_expected_version(headers) if operation.conditional else None,
        started=passage_of(request.scope).started,
    )


def _spelled(operation: Operation, part: str, request: Request) -> str:
    """Return a part of the path that is a name, decoded once, here: who decodes it more leniently
    would make two spellings one, or of a broken one another name.

    Raises: Invalid.
    """
    at = operation.path.split("/").index("{" + part + "}")
    raw = request.scope["raw_path"].partition(b"?")[0].split(b"/")[at]
    if _ENCODED.fullmatch(raw):
        with contextlib.suppress(UnicodeDecodeError):
            return check_text(unquote_to_bytes(raw).decode(), part)
    raise Invalid("This is not percent-encoded UTF-8.", field=part)


def query_values(model: type[Wire], raw: bytes) -> dict[str, Json]:
    """Return the parameters of a query string, each once.

    Raises:
        Invalid: malformed, not UTF-8, too long, or a parameter given twice.
    """
    if not raw:
        return {}
    try:
        pairs = parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except ValueError:  # UnicodeDecodeError included
        pairs = None
    if pairs is None or len(raw) > MAX_QUERY_BYTES:
        raise Invalid("The query string is malformed or too long.", field="query")
    found: dict[str, Json] = {}
    for name, value in pairs:
        shown = name if name in _parameters(model) else field_name(name)
        if name in found:
            raise Invalid("This parameter is given twice.", field=shown)
        found[name] = check_text(value, shown)
    return found


def _parameters(model: type[Wire]) -> frozenset[str]:
    return frozenset(info.alias or name for name, info in model.model_fields.items())


def _idempotency_key(headers: list[tuple[bytes, bytes]]) -> str | None:
    found = values(headers, IDEMPOTENCY_KEY.lower().encode())
    if not found:
        return None
    if len(found) > 1 or not _ONCE.fullmatch(found[0]):
        raise Invalid("This must be 1 to 128 printable ASCII characters.", field=IDEMPOTENCY_KEY)
    return found[0]


def _expected_version(headers: list[tuple[bytes, bytes]]) -> int | None:
    """Return the version that `If-Match` names, or None when any will do.

    A weak tag never matches (RFC 9110, 13.1.1), and a memory has one version at a time, so of a
    list of tags none is taken for it.
    """
    found = values(headers, b"if-match")
    if not found or found == ["*"]:
        return None
    tag = _ETAG.fullmatch(found[0]) if len(found) == 1 else None
    if tag is None:
        raise PreconditionFailed
    return int(tag[1])


def _check_type(headers: list[tuple[bytes, bytes]]) -> None:
    if not all(_JSON.fullmatch(each) for each in values(headers, b"content-type")):
        raise Invalid("The body must be application/json.", field="Content-Type")
    if any(each.lower() != "identity" for each in values(headers, b"content-encoding")):
        raise Invalid("The body must not be compressed.", field="Content-Encoding")


def content_length(headers: list[tuple[bytes, bytes]]) -> int | None:
    """Return how many bytes the body is said to have, or None when nothing usable is said."""
    found = values(headers, b"content-length")
    if len(found) == 1 and found[0].isascii() and found[0].isdigit():
        return int(found[0][:18])
    return None
