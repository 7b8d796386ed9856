"""`memwarden policy`: a tenant's own policies from a shell.

Rules this module keeps:
- What a check says is what the server would say: places and sentences, none of the texts.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.client import AsJson, request, show, show_table
from gateway.cli.documents import read_document
from gateway.cli.exits import FAILED, failing_plainly

app = typer.Typer(
    help="Show, put, check and explain the tenant's own policies (tenant admin key).",
    no_args_is_help=True,
)

_POLICIES = "/v1/admin/policies"


class PolicyKind(StrEnum):
    """What a policy is about."""

    ACCESS = "access"
    PII = "pii"
    SECRETS = "secrets"


class GuardKind(StrEnum):
    """What a policy of the guard is about."""

    PII = "pii"
    SECRETS = "secrets"


Kind = Annotated[PolicyKind, typer.Option(help="Which policy.")]


@app.command("get")
def get(kind: Kind = PolicyKind.ACCESS, as_json: AsJson = False) -> None:
    """Print the policy in force, as `put` takes it; with --json also its version."""
    with failing_plainly():
        reply = request("GET", f"{_POLICIES}/{kind.value}")
        show(reply if as_json else reply["policy"], as_json=True, lines=[])


@app.command("put")
def put(
    file: Annotated[Path, typer.Argument(help="JSON file with the whole policy, or - for stdin.")],
    kind: Kind = PolicyKind.ACCESS,
    as_json: AsJson = False,
) -> None:
    """Put a policy in force, whole. One that fails its own cases is refused; the old one stays."""
    with failing_plainly():
        reply = request("PUT", f"{_POLICIES}/{kind.value}", body=read_document(file))
        show(reply, as_json=as_json, lines=[f"policy {reply['version']}"])


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="JSON file with the whole policy, or - for stdin.")],
    kind: Annotated[GuardKind, typer.Option(help="Which policy.")] = GuardKind.PII,
) -> None:
    """Lint a policy of the guard and try its cases, with no server; exit code 1 if refused."""
    # Imported here: the guard is heavy, and the other commands only talk to a server.
    from gateway.guard.overlay import parse, try_cases, version_of  # noqa: PLC0415
    from gateway.guard.pii import load_detector  # noqa: PLC0415
    from gateway.guard.policy_file import PolicyInvalid  # noqa: PLC0415
    from gateway.guard.shipped import load_shipped  # noqa: PLC0415
    from gateway.settings import load  # noqa: PLC0415

    with failing_plainly():
        document = read_document(file)
        settings = load()
        shipped = load_shipped(load_detector(settings.ner_model), pii_policy=settings.pii_policy)
        try:
            own = parse(kind.value, document, shipped, shipped.guard)
            try_cases(kind.value, own)
        except PolicyInvalid as err:
            for fault in err.faults:
                sys.stderr.write(f"memwarden: {fault.field}: {fault.message}\n")
            raise typer.Exit(FAILED) from None
        typer.echo(f"policy {version_of(document)}: {len(own.cases)} cases come out as they say")


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
        reply = request("POST", f"{_POLICIES}/access/explain", body=body)
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
