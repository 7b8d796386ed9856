"""The admin API from a shell.

Rules this module keeps:
- Address and credential come from `MEMWARDEN_URL` and `MEMWARDEN_KEY`.
- A problem is shown by its public sentence and its request id; redirects are not followed, so that
  the credential goes to the named host alone.
"""

import json
from typing import Any

import httpx
import typer

from gateway.cli.exits import USAGE, fail
from gateway.settings import Settings, load

Reply = Any
"""A JSON value of the gateway."""

_SECONDS = 30.0
_FIRST_ERROR = 400


def request(
    method: str,
    path: str,
    *,
    body: dict[str, Any] | None = None,
    params: dict[str, Any] | None = None,
    settings: Settings | None = None,
) -> Reply:
    """Call the gateway, and return its JSON reply; ends the command on a problem."""
    settings = settings or load()
    if settings.url is None or settings.key is None:
        fail("set MEMWARDEN_URL and MEMWARDEN_KEY first", code=USAGE)
    asked = {name: value for name, value in (params or {}).items() if value is not None}
    try:
        reply = httpx.request(
            method,
            settings.url.rstrip("/") + path,
            json=body,
            params=asked,
            headers={"Authorization": f"Bearer {settings.key.get_secret_value()}"},
            timeout=_SECONDS,
            follow_redirects=False,
            trust_env=False,
        )
    except httpx.HTTPError as err:
        fail(f"no answer from {settings.url} ({type(err).__name__})")
    if reply.status_code >= _FIRST_ERROR:
        fail(_problem(reply))
    return reply.json() if reply.content else {}


def _problem(reply: httpx.Response) -> str:
    try:
        problem = reply.json()
        parts = [f"{problem['status']} {problem['code']}: {problem['detail']}"]
        parts += [f"{fault['field']}: {fault['message']}" for fault in problem.get("errors", ())]
        return "; ".join(parts) + f" (request {problem['request_id']})"
    except (ValueError, KeyError, TypeError):
        return f"the gateway answered {reply.status_code}"


def show(reply: Reply, *, as_json: bool, lines: list[str]) -> None:
    """Print `reply` as JSON, or `lines` for a person."""
    if as_json:
        typer.echo(json.dumps(reply, ensure_ascii=False, indent=2))
        return
    for line in lines:
        typer.echo(line)
