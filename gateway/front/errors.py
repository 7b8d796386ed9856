"""The one table from the gateway's errors to what a caller sees, and the form of a problem.

Rules this module keeps:
- A class maps to an HTTP status and a JSON-RPC code here and nowhere else; a test fails on a class
  without a row.
- A problem is built from the error's public sentence and the names of fields. Causes, values and
  stacks are not looked at.
- What failed for no reason that a caller could act on is `unavailable`, whatever it was inside.

Source: RFC 9457 (problem details); RFC 9110, 10.2.3 (Retry-After).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import (
    Conflict,
    ContentRejected,
    Denied,
    GatewayError,
    Invalid,
    NamesInvalid,
    NotFound,
    Outdated,
    PreconditionFailed,
    ScopeMissing,
    StepUpNeeded,
    Throttled,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from core.model import Json

PROBLEM_BASE = "https://memwarden.dev/problems/"
PROBLEM_MEDIA_TYPE = "application/problem+json"

METHOD_NOT_ALLOWED = "method_not_allowed"
"""Code of a 405: the one answer of the router that no error class stands for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """How one class of error looks from outside.

    Args:
        status: HTTP status.
        title: short and the same for every occurrence.
        jsonrpc_code: JSON-RPC's own code where it has one, else `-32000 - (status - 350)`: inside
            the range left to servers and clear of the codes that MCP has taken. Where several
            classes share one, the first says its sentence.
        code: on the wire, where the status speaks another word than the class.
    """

    status: int
    title: str
    jsonrpc_code: int
    code: str | None = None


ROWS: Mapping[type[GatewayError], Row] = {
    Unauthenticated: Row(status=401, title="Not authenticated", jsonrpc_code=-32051),
    Denied: Row(status=403, title="Forbidden", jsonrpc_code=-32053),
    ScopeMissing: Row(status=403, title="Forbidden", jsonrpc_code=-32053),
    StepUpNeeded: Row(
        status=401, title="Not authenticated", jsonrpc_code=-32051, code=Unauthenticated.code
    ),
    NotFound: Row(status=404, title="Not found", jsonrpc_code=-32054),
    Conflict: Row(status=409, title="Conflict", jsonrpc_code=-32059),
    PreconditionFailed: Row(status=412, title="Precondition failed", jsonrpc_code=-32062),
    TooLarge: Row(status=413, title="Too large", jsonrpc_code=-32063),
    Invalid: Row(status=422, title="Invalid request", jsonrpc_code=-32602),
    NamesInvalid: Row(status=422, title="Invalid request", jsonrpc_code=-32602),
    ContentRejected: Row(status=422, title="Content rejected", jsonrpc_code=-32072),
    Throttled: Row(status=429, title="Too many requests", jsonrpc_code=-32079),
    Unavailable: Row(status=503, title="Unavailable", jsonrpc_code=-32603),
    Outdated: Row(status=503, title="Unavailable", jsonrpc_code=-32603),
    GatewayError: Row(status=503, title="Unavailable", jsonrpc_code=-32603),
}
"""Every class of core/errors.py; the root stands for what has no row of its own."""


def row_of(error: GatewayError) -> Row:
    """Return the row of the nearest class of `error` that has one."""
    return next(ROWS[kind] for kind in type(error).__mro__ if kind in ROWS)


def problem(error: GatewayError, request_id: str) -> dict[str, Json]:
    """Return the problem details of `error`.

    Args:
        request_id: ours, as in the reply's `X-Request-Id`.
    """
    row = row_of(error)
    body = _members(row.status, row.code or error.code, row.title, error.detail, request_id)
    match error:
        case Invalid() if error.faults:
            body["errors"] = [
                {"field": fault.field, "message": fault.message} for fault in error.faults
            ]
        case TooLarge() if error.field is not None:
            body["errors"] = [{"field": error.field, "message": error.detail}]
        case ContentRejected():
            body["reasons"] = [
                {"kind": reason.kind, "field": reason.field} for reason in error.reasons
            ]
        case Conflict() if error.resource_id is not None:
            body["id"] = error.resource_id
        case _:
            pass
    return body


def method_not_allowed(request_id: str) -> dict[str, Json]:
    """Return the problem details of a method that a path does not have."""
    return _members(
        405, METHOD_NOT_ALLOWED, "Method not allowed", "This path has no such method.", request_id
    )


def unreadable(request_id: str) -> dict[str, Json]:
    """Return the problem details of bytes that are not HTTP."""
    return _members(400, "invalid", "Bad request", "This is not an HTTP request.", request_id)


def problem_headers(error: GatewayError) -> dict[str, str]:
    """Return the headers that come with `error`, beside the content type and a challenge."""
    match error:
        case Throttled() | Unavailable():
            return {"Retry-After": str(error.retry_after_seconds)}
        case _ if row_of(error).status == ROWS[Unavailable].status:
            return {"Retry-After": "1"}
        case _:
            return {}


def _members(status: int, code: str, title: str, detail: str, request_id: str) -> dict[str, Json]:
    return {
        "type": PROBLEM_BASE + code,
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": request_id,
    }
