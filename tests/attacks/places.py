"""Every place of a request where a caller names something, found in the documents we publish.

Rules this module keeps:
- Routes are read from the OpenAPI document and tools from their input schemas: what is served.
- Each parameter and each field is either known to name nothing, or of a kind that is tried. One
  that is neither fails the tests: whoever adds it says here what it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from typing_extensions import override

from gateway.front.http import OPERATIONS
from gateway.front.openapi import document
from gateway.front.tools import SPECS
from tests.attacks.positions import ITEMS

Where = Literal["path", "query", "body", "items"]

PATHS: Mapping[str, str] = {
    "/v1/admin/tenants/{id}": "tenant",
    "/v1/admin/keys/{id}": "key",
    "/v1/admin/spaces/{name}": "room",
    "/v1/admin/spaces/{name}/members/{member}": "member",
    "/v1/admin/policies/{kind}": "policy",
    "/v1/memories/{id}": "memory",
}
"""What the last part of a path names; the longest beginning of a route counts."""

FIELDS: Mapping[str, str] = {
    "user_id": "person",
    "namespace": "namespace",
    "namespaces": "namespace",
    "space": "space",
    "spaces": "space",
    "session_id": "session",
    "run_id": "session",
    "tag": "tag",
    "tags": "tag",
    "cursor": "cursor",
    "memory_id": "memory",
}
"""What the fields of bodies and queries name."""

PLAIN = frozenset(
    {
        "action", "addresses", "as_of", "audience", "cases", "confidence", "content",
        "created_after", "created_before", "entities", "expires_at", "explain", "extract",
        "format", "from", "importance", "items", "key_id", "keys", "kind", "kinds", "layer",
        "layers", "limit", "max_tokens", "metadata", "min_confidence", "min_score", "name",
        "occurred_at", "outcome", "overlap_seconds", "owner", "people", "persistence",
        "profile", "purpose", "query", "role", "roles", "rules", "source", "source_ceiling",
        "state", "tags_match", "task", "tenant", "timeout_ms", "to", "top_k", "ttl_seconds",
        "users", "wait",
    }
)  # fmt: skip
"""Fields that name nothing that is there or not, or that make what they name."""

MAKES = frozenset({("write", "session"), ("write", "tag")})
"""What a write sets, rather than asks for."""


@dataclass(frozen=True)
class Place:
    """One place of one route or tool that names something.

    Args:
        name: of the operation or the tool.
        field: the part of the path, the parameter or the field.
        kind: what it names.
        many: it takes a list.
    """

    name: str
    where: Where
    field: str
    kind: str
    many: bool = False

    @override
    def __str__(self) -> str:
        return f"{self.name} {self.where} {self.field}"


def unknown() -> list[str]:
    """Return the fields and paths that nobody has said anything of."""
    found = []
    for name, where, field, schema in _fields():
        if where == "path":
            if _kind_of_path(schema["path"], field) is None:
                found.append(f"{name} path {field}")
        elif field not in FIELDS and field not in PLAIN:
            found.append(f"{name} {where} {field}")
    return found


def places() -> Iterator[Place]:
    """Yield every place that names something that is there already, or is not."""
    for name, where, field, schema in _fields():
        kind = _kind_of_path(schema["path"], field) if where == "path" else FIELDS.get(field)
        writes = "write" in name or "change" in name or "update" in name
        if kind is None or (writes and ("write", kind) in MAKES) or name == "create_key":
            continue
        yield Place(name, where, field, kind, many=_is_list(schema))


def _kind_of_path(path: str, field: str) -> str | None:
    upto = path[: path.index(f"{{{field}}}")] + f"{{{field}}}"
    return PATHS.get(upto)


def _fields() -> Iterator[tuple[str, Where, str, dict[str, Any]]]:
    whole = document(OPERATIONS, [], "0")
    for path, methods in whole["paths"].items():
        for operation in methods.values():
            yield from _of_a_route(path, operation, whole["components"]["schemas"])
    for name, spec in SPECS.items():
        for field, schema in spec.model.model_json_schema()["properties"].items():
            yield name, "body", field, schema
    for name, model in ITEMS.items():
        for field, schema in model.model_json_schema()["properties"].items():
            yield name, "items", field, schema


def _of_a_route(
    path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Iterator[tuple[str, Where, str, dict[str, Any]]]:
    name = operation["operationId"]
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            yield name, "path", parameter["name"], {"path": path}
        elif parameter["in"] == "query":
            yield name, "query", parameter["name"], parameter["schema"]
    if "requestBody" in operation:
        ref = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for field, schema in schemas[ref.rpartition("/")[2]].get("properties", {}).items():
            yield name, "body", field, schema


def _is_list(schema: Mapping[str, Any]) -> bool:
    choices = [schema, *schema.get("anyOf", [])]
    return any(choice.get("type") == "array" for choice in choices)
