"""`memwarden policy`: a tenant's own access policy from a shell."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.client import AsJson, request, show, show_table
from gateway.cli.documents import read_document
from gateway.cli.exits import failing_plainly

app = typer.Typer(
    help="Show, put and explain the tenant's access policy (tenant admin key).",
    no_args_is_help=True,
)

_POLICY = "/v1/admin/policies/access"


@app.command("get")
def get(as_json: AsJson = False) -> None:
    """Print the policy in force, as `put` takes it; with --json also its version."""
    with failing_plainly():
        reply = request("GET", _POLICY)
        show(reply if as_json else reply["policy"], as_json=True, lines=[])


@app.command("put")
def put(
    file: Annotated[Path, typer.Argument(help="JSON file with the whole policy, or - for stdin.")],
    as_json: AsJson = False,
) -> None:
    """Put a policy in force, whole. One that fails its own cases is refused; the old one stays."""
    with failing_plainly():
        reply = request("PUT", _POLICY, body=read_document(file))
        show(reply, as_json=as_json, lines=[f"policy {reply['version']}"])


@app.command("explain")
def explain(
    action: Annotated[str, typer.Argument(help="Such as memory:item:read.")],
    role: Annotated[list[str] | None, typer.Option(help="Role of the caller; repeat.")] = None,
    key: Annotated[str | None, typer.Option(help="Id of the key that asks.")] = None,
    user: Annotated[str | None, typer.Option(help="Person it is about.")] = None,
    namespace: Annotated[str | None, typer.Option(help="Namespace it is in.")] = None,
    space: Annotated[str | None, typer.Option(help="Space it is in.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a call would be allowed, by which rule, and which rules were looked at."""
    asked: dict[str, Any] = {
        "action": action,
        "roles": role or None,
        "key_id": key,
        "user_id": user,
        "namespace": namespace,
        "space": space,
    }
    with failing_plainly():
        body = {field: value for field, value in asked.items() if value is not None}
        reply = request("POST", f"{_POLICY}/explain", body=body)
        verdict = "allowed" if reply["allowed"] else "denied"
        if not as_json:
            typer.echo(f"{verdict} by {reply['rule']} (policy {reply['policy_version']})")
        show_table(
            reply,
            reply["checked"],
            {
                "subject": lambda row: row["subject"],
                "in": lambda row: row["in"],
                "rule": lambda row: row["rule"],
                "effect": lambda row: row["effect"],
            },
            as_json=as_json,
            none="no rule speaks of it",
        )
