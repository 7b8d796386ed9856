"""`memwarden quota`: a tenant's quotas from a shell.

Rules this module keeps:
- `set` changes the one limit it names and puts the rest back as it was read.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.client import AsJson, Reply, request, show_table
from gateway.cli.documents import read_document
from gateway.cli.exits import USAGE, fail, failing_plainly

app = typer.Typer(help="Show and put the tenant's quotas (tenant admin key).", no_args_is_help=True)

_QUOTAS = "/v1/admin/quotas"
MEASURES = ("requests_per_minute", "writes_per_minute", "stored_memories", "concurrency")
UNLIMITED, DEFAULT = "none", "default"


@app.command("get")
def get(as_json: AsJson = False) -> None:
    """Show the quotas in force."""
    with failing_plainly():
        _show(request("GET", _QUOTAS), as_json=as_json)


@app.command("put")
def put(
    file: Annotated[Path, typer.Argument(help="JSON file with all quotas, or - for stdin.")],
    as_json: AsJson = False,
) -> None:
    """Put quotas in force, whole: what is left out is not limited any more."""
    with failing_plainly():
        _show(request("PUT", _QUOTAS, body=read_document(file)), as_json=as_json)


@app.command("set")
def set_one(
    whose: Annotated[
        str, typer.Argument(help="tenant, key:<id>, key:default or user:default.", metavar="WHOSE")
    ],
    measure: Annotated[str, typer.Argument(help=", ".join(MEASURES) + ".", metavar="MEASURE")],
    limit: Annotated[str, typer.Argument(help="A whole number, or none.", metavar="LIMIT")],
    as_json: AsJson = False,
) -> None:
    """Change one limit and leave the others."""
    with failing_plainly():
        if measure not in MEASURES:
            fail(f"a measure is one of {', '.join(MEASURES)}", code=USAGE)
        if limit != UNLIMITED and not (limit.isascii() and limit.isdigit()):
            fail("a limit is a whole number, or none", code=USAGE)
        kind, _, name = whose.partition(":")
        if whose != "tenant" and (kind not in {"key", "user"} or not name):
            fail("name tenant, key:<id>, key:default or user:default", code=USAGE)
        quotas = request("GET", _QUOTAS)
        quotas.pop("version", None)
        place = quotas["tenant"]
        if whose != "tenant":
            place = quotas[f"{kind}s"].setdefault(name, {})
        place[measure] = None if limit == UNLIMITED else int(limit)
        _show(request("PUT", _QUOTAS, body=quotas), as_json=as_json)


def _show(reply: Reply, *, as_json: bool) -> None:
    rows: list[tuple[str, dict[str, Any]]] = [("tenant", reply["tenant"])]
    rows += [(f"key:{name}", each) for name, each in reply["keys"].items()]
    rows += [(f"user:{name}", each) for name, each in reply["users"].items()]
    limits = [(whose, measure, value) for whose, each in rows for measure, value in each.items()]
    show_table(
        reply,
        limits,
        {
            "whose": lambda row: row[0],
            "measure": lambda row: row[1],
            "limit": lambda row: UNLIMITED if row[2] is None else row[2],
        },
        as_json=as_json,
        none="nothing is limited",
    )
