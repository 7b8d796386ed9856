"""The admin API from a shell.

Rules this module keeps:
- Address and credential come from `MEMWARDEN_URL` and `MEMWARDEN_KEY`.
- A problem is shown by its public sentence and its request id; redirects are not followed, so that
  the credential goes to the named host alone.
- What a gateway sends is shown as text: nothing in it styles the terminal or moves its cursor.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

import httpx
import typer

from gateway.cli.exits import USAGE, fail
from gateway.settings import Settings, load

Reply = Any
"""A JSON value of the gateway."""
AsJson = Annotated[bool, typer.Option("--json", help="Print the gateway's raw reply.")]
Columns = Mapping[str, Callable[[Any], object]]
"""Title of a column -> what stands in it for one item."""

_SECONDS = 30.0
_FIRST_ERROR = 400
_WIDE = 10_000  # a pipe has no edge to fold at


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


def part(name: str) -> str:
    """Return `name` as one part of a path; one that a path cannot hold ends the command."""
    if name in {"", ".", ".."} or "/" in name:
        fail("that cannot be a name here", code=USAGE)
    return quote(name, safe="")


def _problem(reply: httpx.Response) -> str:
    try:
        problem = reply.json()
        parts = [f"{problem['status']} {problem['code']}: {problem['detail']}"]
        parts += [f"{fault['field']}: {fault['message']}" for fault in problem.get("errors", ())]
        parts += [f"{each['field']}: {each['kind']}" for each in problem.get("reasons", ())]
        return "; ".join(parts) + f" (request {problem['request_id']})"
    except (ValueError, KeyError, TypeError):
        return f"the gateway answered {reply.status_code}"


def show(reply: Reply, *, as_json: bool, lines: list[str]) -> None:
    """Print `reply` as JSON, or `lines` for a person."""
    if as_json:
        typer.echo(json.dumps(reply, ensure_ascii=False, indent=2))
        return
    for line in lines:
        typer.echo(_plain(line))


def show_table(
    reply: Reply, items: Sequence[Any], columns: Columns, *, as_json: bool, none: str
) -> None:
    """Print `reply` as JSON, or `items` as a table for a person.

    Args:
        none: what to say when there is no item.
    """
    if as_json or not items:
        show(reply, as_json=as_json, lines=[none])
        return
    from rich import box  # noqa: PLC0415 - not needed by every command
    from rich.console import Console  # noqa: PLC0415 - likewise
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in columns:
        table.add_column(title, overflow="fold")
    for item in items:
        # As `Text`, so that brackets in a name are no markup.
        table.add_row(*(Text(_plain(_cell(cell(item)))) for cell in columns.values()))
    Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False).print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)


def _plain(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)
