"""`memwarden space`: shared spaces from a shell."""

from enum import StrEnum
from typing import Annotated

import typer

from gateway.cli.client import AsJson, part, request, show, show_table
from gateway.cli.exits import failing_plainly

app = typer.Typer(
    help="Make, list, share and delete spaces (tenant admin key).", no_args_is_help=True
)

_SPACES = "/v1/admin/spaces"
Name = Annotated[str, typer.Argument(help="The space's name.")]
Member = Annotated[
    str, typer.Argument(help="key:<id>, user:<user_id> or namespace:<name>.", show_default=False)
]


class Audience(StrEnum):
    """Who shares what in it."""

    SAME_USER = "same_user"
    MEMBERS = "members"


class MemberRole(StrEnum):
    """What a member may do in it."""

    READER = "reader"
    WRITER = "writer"


@app.command("create")
def create(
    name: Name,
    audience: Annotated[
        Audience,
        typer.Option(help="same_user: agents share one person; members: people share everything."),
    ],
    as_json: AsJson = False,
) -> None:
    """Make a space; nobody is a member of it yet."""
    with failing_plainly():
        made = request("POST", _SPACES, body={"name": name, "audience": audience.value})
        show(made, as_json=as_json, lines=[f"space {made['id']}"])


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List the tenant's spaces, oldest first."""
    with failing_plainly():
        reply = request("GET", _SPACES)
        show_table(
            reply,
            reply["items"],
            {
                "space": lambda item: item["name"],
                "audience": lambda item: item["audience"],
                "created": lambda item: item["created_at"],
                "id": lambda item: item["id"],
            },
            as_json=as_json,
            none="no space yet",
        )


@app.command("delete")
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a space with every memory in it."""
    if not yes:
        typer.confirm(f"Delete the space {name} and everything in it?", abort=True)
    with failing_plainly():
        reply = request("DELETE", f"{_SPACES}/{part(name)}")
        show(reply, as_json=as_json, lines=[f"deleted, with {reply['deleted']} memories"])


@app.command("share")
def share(
    name: Name,
    member: Member,
    role: Annotated[MemberRole, typer.Option(help="What they may do.")] = MemberRole.READER,
    as_json: AsJson = False,
) -> None:
    """Make somebody a member, or give a member another role."""
    with failing_plainly():
        reply = request(
            "PUT", f"{_SPACES}/{part(name)}/members/{part(member)}", body={"role": role.value}
        )
        show(reply, as_json=as_json, lines=[f"{member} is a {role.value} of {name}"])


@app.command("unshare")
def unshare(name: Name, member: Member, as_json: AsJson = False) -> None:
    """End a membership, at once."""
    with failing_plainly():
        reply = request("DELETE", f"{_SPACES}/{part(name)}/members/{part(member)}")
        show(reply, as_json=as_json, lines=[f"{member} is no member of {name} any more"])


@app.command("members")
def members(name: Name, as_json: AsJson = False) -> None:
    """List the members of a space, oldest first."""
    with failing_plainly():
        reply = request("GET", f"{_SPACES}/{part(name)}/members")
        show_table(
            reply,
            reply["items"],
            {"member": lambda item: item["member"], "role": lambda item: item["role"]},
            as_json=as_json,
            none="no member yet",
        )
