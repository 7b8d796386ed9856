"""`memwarden tenant` and `memwarden key`: the admin API from a shell."""

from typing import Annotated

import typer

from gateway.cli.client import request, show
from gateway.cli.exits import failing_plainly

tenants = typer.Typer(help="Make, list and erase tenants (operator key).", no_args_is_help=True)
keys = typer.Typer(
    help="Make, list, rotate and revoke API keys (tenant admin key).", no_args_is_help=True
)

AsJson = Annotated[bool, typer.Option("--json", help="Print the gateway's raw reply.")]


@tenants.command("create")
def tenant_create(name: str, as_json: AsJson = False) -> None:
    """Make a tenant; prints its admin key, which is shown only this once."""
    with failing_plainly():
        made = request("POST", "/v1/admin/tenants", body={"name": name})
        lines = [f"tenant {made['id']}", f"admin key {made['admin_key']}"]
        show(made, as_json=as_json, lines=lines)


@tenants.command("list")
def tenant_list(as_json: AsJson = False) -> None:
    """List all tenants."""
    with failing_plainly():
        items = []
        cursor = None
        while True:
            page = request("GET", "/v1/admin/tenants", params={"cursor": cursor})
            items += page["items"]
            cursor = page.get("next_cursor")
            if cursor is None:
                break
        lines = [f"{item['id']}  {item['name']}" for item in items]
        show({"items": items}, as_json=as_json, lines=lines or ["no tenant yet"])


@tenants.command("erase")
def tenant_erase(
    tenant_id: str,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a tenant and everything in it but its audit trail."""
    if not yes:
        typer.confirm(f"Erase tenant {tenant_id} for good?", abort=True)
    with failing_plainly():
        reply = request("DELETE", f"/v1/admin/tenants/{tenant_id}")
        show(reply, as_json=as_json, lines=["erased"])


@keys.command("create")
def key_create(
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
    expires_at: Annotated[str | None, typer.Option(help="RFC 3339 time of its end.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make an API key; it is shown only this once."""
    body = {
        "name": name,
        "roles": role,
        "namespaces": namespace or ["*"],
        "users": user or ["*"],
        "source_ceiling": ceiling,
    }
    if expires_at is not None:
        body["expires_at"] = expires_at
    with failing_plainly():
        made = request("POST", "/v1/admin/keys", body=body)
        show(made, as_json=as_json, lines=[f"key id {made['id']}", f"key {made['key']}"])


@keys.command("list")
def key_list(as_json: AsJson = False) -> None:
    """List the tenant's keys; never a secret."""
    with failing_plainly():
        reply = request("GET", "/v1/admin/keys")
        lines = [
            f"{item['id']}  {item['name']}  {','.join(item['roles'])}"
            + ("  revoked" if item.get("revoked_at") else "")
            for item in reply["items"]
        ]
        show(reply, as_json=as_json, lines=lines or ["no key yet"])


@keys.command("rotate")
def key_rotate(
    key_id: str,
    overlap_seconds: Annotated[
        int, typer.Option(min=0, max=604_800, help="How long the old secret still works.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Give a key a new secret; it is shown only this once."""
    with failing_plainly():
        made = request(
            "POST", f"/v1/admin/keys/{key_id}/rotate", body={"overlap_seconds": overlap_seconds}
        )
        show(made, as_json=as_json, lines=[f"key {made['key']}"])


@keys.command("revoke")
def key_revoke(key_id: str, as_json: AsJson = False) -> None:
    """End a key at once."""
    with failing_plainly():
        reply = request("DELETE", f"/v1/admin/keys/{key_id}")
        show(reply, as_json=as_json, lines=["revoked"])
