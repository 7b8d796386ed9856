"""The OpenAPI document, made from the same values that route and parse.

Rules this module keeps:
- Every status that an operation can answer is in it, with the shape of its body.
- It is written from the models and the list of operations; nothing is described twice.

Source: OpenAPI 3.1; RFC 9457.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gateway.front.errors import PROBLEM_MEDIA_TYPE
from gateway.front.operation import IDEMPOTENCY_KEY, MAX_SPELLED, Operation
from gateway.front.routes_health import Probe
from gateway.front.wire import Problem
from gateway.front.wire_memory import ChangedShown, MemoryShown

JsonObject = dict[str, Any]

_ALWAYS = frozenset({401, 403, 404, 422, 429, 503})
"""What any operation that needs a credential may be refused with."""

_MEANINGS = {
    401: "No credential, or one that proves nothing",
    403: "The credential may not do that, or the request came by a wrong name",
    404: "Missing, or nothing of yours",
    409: "It conflicts with what is there",
    412: "`If-Match` names another version",
    413: "Over a published bound",
    422: "The request is invalid, or the guard rejected its content",
    429: "Over a budget",
    503: "A part that must answer did not",
}
_REF = "#/components/schemas/{model}"


def document(operations: Sequence[Operation], probes: Sequence[Probe], version: str) -> JsonObject:
    """Return the OpenAPI document of an API.

    Args:
        version: of the gateway.
    """
    names, schemas = _schemas(operations, probes)
    paths: dict[str, JsonObject] = {}
    for operation in operations:
        method = operation.method.lower()
        paths.setdefault(operation.path, {})[method] = _operation(operation, names, schemas)
    for probe in probes:
        paths[probe.path] = {"get": _probe(probe, names)}
    shown = {name: schema for name, schema in schemas.items() if not name.endswith("Query")}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Memwarden",
            "summary": "A memory gateway for language-model agents",
            "version": version,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": shown,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def _schemas(
    operations: Iterable[Operation], probes: Iterable[Probe]
) -> tuple[dict[type[BaseModel], str], JsonObject]:
    asked: set[type[BaseModel]] = set()
    told: set[type[BaseModel]] = {Problem}
    for operation in operations:
        asked |= {model for model in (operation.body, operation.query) if model is not None}
        told |= {model for model in (operation.reply,) if model is not None}
    for probe in probes:
        told |= {model for model in probe.replies.values() if model is not None}
    ordered = sorted(asked | told, key=lambda model: model.__name__)
    _, definitions = models_json_schema(
        [(model, "validation") for model in ordered], ref_template=_REF
    )
    return {model: model.__name__ for model in ordered}, definitions["$defs"]


def _operation(
    operation: Operation, names: dict[type[BaseModel], str], schemas: JsonObject
) -> JsonObject:
    found: JsonObject = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.action.object],
        "security": [{"bearer": []}, {"api_key": []}],
        "parameters": _parameters(operation, schemas),
        "responses": _responses(operation, names),
    }
    if operation.body is not None:
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _ref(names[operation.body])}},
        }
    return found


def _parameters(operation: Operation, schemas: JsonObject) -> list[JsonObject]:
    found = [
        {
            "name": part[1:-1],
            "in": "path",
            "required": True,
            "schema": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_SPELLED if part[1:-1] in operation.named else 64,
            },
        }
        for part in operation.path.split("/")
        if part.startswith("{")
    ]
    schema = schemas[operation.query.__name__]
    for name, field in schema.get("properties", {}).items():
        shown = dict(field)
        # In a query string nothing is null: what has no value is left out.
        choices = [each for each in shown.pop("anyOf", []) if each != {"type": "null"}]
        if len(choices) == 1:
            shown = choices[0] | shown
        if shown.get("default", ...) is None:
            del shown["default"]
        shown.pop("title", None)
        found.append({"name": name, "in": "query", "required": False, "schema": shown})
    if operation.once:
        found.append(
            {
                "name": IDEMPOTENCY_KEY,
                "in": "header",
                "required": False,
                "description": "The same key and request have one effect and one reply, for 24 h.",
                "schema": {"type": "string", "pattern": "^[ -~]{1,128}$"},
            }
        )
    if operation.conditional:
        found.append(
            {
                "name": "If-Match",
                "in": "header",
                "required": False,
                "description": "An `ETag` of this memory, or `*`.",
                "schema": {"type": "string"},
            }
        )
    return found


def _responses(operation: Operation, names: dict[type[BaseModel], str]) -> JsonObject:
    told: JsonObject = {"description": operation.summary, "headers": _headers()}
    if operation.reply in {MemoryShown, ChangedShown}:
        told["headers"]["ETag"] = {"schema": {"type": "string"}}
    if operation.reply is not None:
        told["content"] = {"application/json": {"schema": _ref(names[operation.reply])}}
    refused = _ALWAYS | operation.refuses | ({413} if operation.body is not None else set())
    return {str(operation.status): told} | {
        str(status): _refusal(status) for status in sorted(refused)
    }


def _refusal(status: int) -> JsonObject:
    return {
        "description": _MEANINGS[status],
        "headers": _headers() | _refusal_headers(status),
        "content": {PROBLEM_MEDIA_TYPE: {"schema": _ref(Problem.__name__)}},
    }


def _refusal_headers(status: int) -> JsonObject:
    match status:
        case 401:
            return {"WWW-Authenticate": {"schema": {"type": "string"}}}
        case 429 | 503:
            return {"Retry-After": {"schema": {"type": "string", "pattern": "^[1-9][0-9]*$"}}}
        case _:
            return {}


def _headers() -> JsonObject:
    return {"X-Request-Id": {"schema": {"type": "string"}}}


def _probe(probe: Probe, names: dict[type[BaseModel], str]) -> JsonObject:
    responses: JsonObject = {}
    for status, model in probe.replies.items():
        media = PROBLEM_MEDIA_TYPE if status >= 400 else "application/json"  # noqa: PLR2004 - HTTP's own
        content = (
            {"text/plain": {"schema": {"type": "string"}}}
            if model is None
            else {media: {"schema": _ref(names[model])}}
        )
        responses[str(status)] = {
            "description": probe.summary if status < 400 else _MEANINGS[status],  # noqa: PLR2004 - as above
            "headers": _headers(),
            "content": content,
        }
    return {
        "operationId": probe.name,
        "summary": probe.summary,
        "tags": ["health"],
        "security": [],
        "responses": responses | {"403": _refusal(403)},
    }


def _ref(name: str) -> JsonObject:
    return {"$ref": _REF.format(model=name)}
