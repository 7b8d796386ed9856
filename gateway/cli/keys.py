"""`memwarden key`: API keys from a shell."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.client import AsJson, part, request, show, show_table
from gateway.cli.exits import failing_plainly

app = typer.Typer(
    help="Make, list, rotate and revoke API keys (tenant admin key).", no_args_is_help=True
)

KeyId = Annotated[str, typer.Argument(help="Its id, as `list` shows it.")]


@app.command("create")
def create(  # noqa: PLR0913, PLR0917 - an argument is an option of the command
    name: Annotated[str, typer.Option(help="What to call it.")],
    role: Annotated[
        list[str],
        typer.Option(help="reader, writer, curator, admin, privacy or auditor; repeat for more."),
    ],
    namespace: Annotated[
        list[str] | None, typer.Option(help="Namespace it may use, the default first; or '*'.")
    ] = None,
    user: Annotated[
        list[str] | None, typer.Option(help="Person it may act for; or '*' for everybody.")
    ] = None,
    ceiling: Annotated[
        str, typer.Option(help="user_direct, agent_inferred, tool_output or document.")
    ] = "user_direct",
    owner: Annotated[
        str | None,
        typer.Option(help="Person whose key it is; it never does what that person may not."),
    ] = None,
    address: Annotated[
        list[str] | None,
        typer.Option(help="Network it may be used from, such as 192.0.2.0/24; repeat for more."),
    ] = None,
    expires_at: Annotated[str | None, typer.Option(help="RFC 3339 time of its end.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make an API key; it is shown only this once."""
    body: dict[str, Any] = {
        "name": name,
        "roles": role,
        "namespaces": namespace or ["*"],
        "users": user or ["*"],
        "source_ceiling": ceiling,
    }
    optional = {"owner": owner, "addresses": address or None, "expires_at": expires_at}
    body |= {field: value for field, value in optional.items() if value is not None}
    with failing_plainly():
        made = request("POST", "/v1/admin/keys", body=body)
        show(made, as_json=as_json, lines=[f"key id {made['id']}", f"key {made['key']}"])


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List the tenant's keys, newest first; never a secret."""
    with failing_plainly():
        reply = request("GET", "/v1/admin/keys")
        show_table(
            reply,
            reply["items"],
            {
                "key": lambda item: item["id"],
                "name": lambda item: item["name"],
                "roles": lambda item: item["roles"],
                "namespaces": lambda item: item["namespaces"],
                "users": lambda item: item["users"],
                "owner": lambda item: item["owner"],
                "from": lambda item: item["addresses"] or "anywhere",
                "last used": lambda item: item["last_used_at"],
                "ends": _end,
            },
            as_json=as_json,
            none="no key yet",
        )


def _end(item: Any) -> str:  # noqa: ANN401 - a JSON value of the gateway
    if item["revoked_at"]:
        return f"revoked {item['revoked_at']}"
    return str(item["expires_at"] or "-")


@app.command("rotate")
def rotate(
    key_id: KeyId,
    overlap_seconds: Annotated[
        int, typer.Option(min=0, max=604_800, help="How long the old secret still works.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Give a key a new secret; it is shown only this once."""
    with failing_plainly():
        made = request(
            "POST",
            f"/v1/admin/keys/{part(key_id)}/rotate",
            body={"overlap_seconds": overlap_seconds},
        )
        show(made, as_json=as_json, lines=[f"key {made['key']}"])


@app.command("revoke")
def revoke(key_id: KeyId, as_json: AsJson = False) -> None:
    """End a key at once."""
    with failing_plainly():
        reply = request("DELETE", f"/v1/admin/keys/{part(key_id)}")
        show(reply, as_json=as_json, lines=["revoked"])


@app.command("rotate-pepper")
def rotate_pepper(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Data folder of an embedded gateway; else the settings say."),
    ] = None,
    keys: Annotated[
        Path | None, typer.Option("--keys", help="Its keys folder, when not the default.")
    ] = None,
) -> None:
    """Make a new pepper for API keys, beside the gateway, which may run: no key ends by it.

    Each key is hashed under it when it is next used; new keys are within some minutes.
    """
    from gateway.cli import attach  # noqa: PLC0415 - heavy

    with failing_plainly():
        version = asyncio.run(attach.rotate_pepper(data, keys))
    typer.echo(f"pepper {version}")
