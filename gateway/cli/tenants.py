"""`memwarden tenant`: the operator's part of the admin API from a shell."""

from typing import Annotated, Any

import typer

from gateway.cli.client import AsJson, part, request, show, show_table
from gateway.cli.exits import failing_plainly

app = typer.Typer(help="Make, list and erase tenants (operator key).", no_args_is_help=True)


@app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="What to call it; no other tenant is called so.")],
    as_json: AsJson = False,
) -> None:
    """Make a tenant; prints its admin key, which is shown only this once."""
    with failing_plainly():
        made = request("POST", "/v1/admin/tenants", body={"name": name})
        lines = [f"tenant {made['id']}", f"admin key {made['admin_key']}"]
        show(made, as_json=as_json, lines=lines)


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List all tenants, oldest first."""
    with failing_plainly():
        items: list[Any] = []
        cursor = None
        while True:
            page = request("GET", "/v1/admin/tenants", params={"cursor": cursor})
            items += page["items"]
            cursor = page.get("next_cursor")
            if cursor is None:
                break
        show_table(
            {"items": items},
            items,
            {
                "tenant": lambda item: item["id"],
                "name": lambda item: item["name"],
                "created": lambda item: item["created_at"],
            },
            as_json=as_json,
            none="no tenant yet",
        )


@app.command("erase")
def erase(
    tenant_id: Annotated[str, typer.Argument(help="Its id, as `list` shows it.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a tenant and everything in it but its audit trail."""
    if not yes:
        typer.confirm(f"Erase tenant {tenant_id} for good?", abort=True)
    with failing_plainly():
        reply = request("DELETE", f"/v1/admin/tenants/{part(tenant_id)}")
        show(reply, as_json=as_json, lines=[f"erased, with {reply['deleted']} memories"])
