"""The OpenAPI document validates, is whole, and tells the truth."""

import json

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.routing import Route

from core.scope import Action
from gateway.front.http import OPERATIONS
from tests.gateway.front.samples import MEMORY_ID
from tests.gateway.front.test_http import FULL_WRITE

# What the contract has for later: a recall's record cannot be asked for yet.
WITHOUT_A_ROUTE = {Action.RECALL_READ}


async def document(client):
    return (await client.get("/openapi.json")).json()


async def test_the_document_validates(client):
    OpenAPIV31SpecValidator(await document(client)).validate()


async def test_it_has_every_route_and_nothing_else(client, house):
    found = {
        (method.upper(), path)
        for path, methods in (await document(client))["paths"].items()
        for method in methods
    }
    routed = {
        (method, route.path)
        for route in house.app.routes
        if isinstance(route, Route) and route.path != "/openapi.json"
        for method in (route.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert found == routed
    assert {(op.method, op.path) for op in OPERATIONS} <= found


def test_every_action_has_a_route():
    assert {op.action for op in OPERATIONS} == set(Action) - WITHOUT_A_ROUTE


async def test_every_refusal_is_documented_as_a_problem(client):
    paths = (await document(client))["paths"]
    for operation in OPERATIONS:
        responses = paths[operation.path][operation.method.lower()]["responses"]
        assert {"401", "403", "404", "422", "429", "503"} <= responses.keys()
        assert ("413" in responses) == (operation.body is not None)
        for status, response in responses.items():
            if status >= "400":
                schema = response["content"]["application/problem+json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Problem"}


async def test_nothing_in_it_is_of_the_framework(client):
    text = json.dumps(await document(client))
    assert "HTTPValidationError" not in text
    assert '"input"' not in text


CALLS = [
    ("POST", "/v1/memories", FULL_WRITE),
    ("POST", "/v1/memories/batch", {"items": [{"content": "x"}, {}]}),
    ("GET", "/v1/memories", None),
    ("GET", f"/v1/memories/{MEMORY_ID}", None),
    ("GET", f"/v1/memories/{MEMORY_ID}/versions", None),
    ("PATCH", f"/v1/memories/{MEMORY_ID}", {"tags": []}),
    ("DELETE", f"/v1/memories/{MEMORY_ID}", None),
    ("POST", f"/v1/memories/{MEMORY_ID}/reveal", {"purpose": "x"}),
    ("POST", "/v1/recall", {"query": "?", "format": "text", "explain": True}),
    ("GET", "/v1/audit/events", None),
    ("POST", "/v1/admin/tenants", {"name": "a"}),
    ("GET", "/v1/admin/tenants", None),
    ("DELETE", "/v1/admin/tenants/x", None),
    (
        "POST",
        "/v1/admin/keys",
        {"name": "a", "roles": ["reader"], "namespaces": ["*"], "users": ["*"]},
    ),
    ("GET", "/v1/admin/keys", None),
    ("POST", "/v1/admin/keys/k2/rotate", {}),
    ("DELETE", "/v1/admin/keys/k2", None),
    ("PUT", "/v1/admin/quotas", {"keys": {"default": {"requests_per_minute": 5}}}),
    ("GET", "/v1/admin/quotas", None),
    ("POST", "/v1/guard/preview", {"content": "x", "layer": "working"}),
    ("POST", "/v1/admin/spaces", {"name": "basics", "audience": "members"}),
    ("GET", "/v1/admin/spaces", None),
    ("DELETE", "/v1/admin/spaces/basics", None),
    ("GET", "/v1/admin/spaces/basics/members", None),
    ("PUT", "/v1/admin/spaces/basics/members/key:k2", {"role": "reader"}),
    ("DELETE", "/v1/admin/spaces/basics/members/user%3Aalice", None),
    ("PUT", "/v1/admin/policies/access", {"rules": []}),
    ("GET", "/v1/admin/policies/access", None),
    ("POST", "/v1/admin/policies/access/explain", {"action": "memory:item:read", "roles": []}),
    ("PUT", "/v1/admin/policies/pii", {"profile": "strict"}),
    ("GET", "/v1/admin/policies/pii", None),
    ("PUT", "/v1/admin/policies/secrets", {"rules": []}),
    ("GET", "/v1/admin/policies/secrets", None),
]


def test_every_operation_is_called_below():
    called = {(method, path.count("/"), path.split("/")[2]) for method, path, _ in CALLS}
    assert called == {(op.method, op.path.count("/"), op.path.split("/")[2]) for op in OPERATIONS}


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
async def test_a_reply_has_exactly_the_documented_fields(client, method, path, body):
    reply = await client.request(method, path, json=body)
    shown = await document(client)
    template = next(
        op.path
        for op in OPERATIONS
        if op.method == method
        and op.path.count("/") == path.count("/")
        and all(
            a == b or a.startswith("{")
            for a, b in zip(op.path.split("/"), path.split("/"), strict=True)
        )
    )
    response = shown["paths"][template][method.lower()]["responses"][str(reply.status_code)]
    for name in response.get("headers", {}):
        assert name.lower() in reply.headers
    if "content" not in response:
        assert reply.content == b""
        return
    schema = response["content"]["application/json"]["schema"] | {
        "components": closed(shown["components"])
    }
    Draft202012Validator(schema).validate(reply.json())


def closed(schema):
    """Return `schema` with every object closed, so that an undocumented field is an error."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(each) for name, each in schema.items()}
    if "properties" in found and found.get("type") == "object":
        found.setdefault("additionalProperties", False)
    return found
