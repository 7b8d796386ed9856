"""`memwarden user`: what is asked about one person, from a shell.

Rules this module keeps:
- What is shown of a person is asked for by its purpose, and the gateway has it on record first.
"""

from typing import Annotated

import typer

from gateway.cli.client import AsJson, part, request, show
from gateway.cli.exits import failing_plainly

app = typer.Typer(help="What is kept about a person (role privacy).", no_args_is_help=True)


@app.callback()
def user() -> None:
    """Keep `reveal` a command of its own, though it is the only one."""


@app.command("reveal")
def reveal(
    memory: Annotated[str, typer.Argument(help="Id of the memory.", metavar="MEMORY")],
    purpose: Annotated[
        str, typer.Option(help="Why, such as the number of a ticket; names nobody.")
    ],
    user_id: Annotated[
        str | None, typer.Option("--user", help="Whose memory; by default the key's own person.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a memory as it was written, with the values behind its pseudonyms."""
    body = {"purpose": purpose} | ({} if user_id is None else {"user_id": user_id})
    with failing_plainly():
        reply = request("POST", f"/v1/memories/{part(memory)}/reveal", body=body)
        values = "1 value" if reply["revealed"] == 1 else f"{reply['revealed']} values"
        record = f"event {reply['audit']['event_id']}, purpose {reply['purpose']}"
        lines = [
            *str(reply["content"]).splitlines(),
            *(f"{name}: {value}" for name, value in reply["metadata"].items()),
            f"({values} shown; on record: {record})",
        ]
        show(reply, as_json=as_json, lines=lines)
