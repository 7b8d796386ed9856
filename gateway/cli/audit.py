"""`memwarden audit`: verify the audit log, and show the key that its heads are signed with.

Rules this module keeps:
- Exit code 0 means whole, 1 tampered with (and where), 2 unreadable: neither the one nor the other.
- The verifying key comes from the keys folder, not from the database that is being verified.
"""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.exits import USAGE, fail, failing_plainly

app = typer.Typer(help="Verify the audit log; print its public key.", no_args_is_help=True)

Data = Annotated[Path, typer.Option("--data", help="Data folder of an embedded gateway.")]
Keys = Annotated[Path | None, typer.Option("--keys", help="Its keys folder, when not the default.")]


@app.command("verify")
def verify(data: Data, keys: Keys = None) -> None:
    """Verify the live log of an embedded gateway, running or not."""
    from gateway.cli import attach  # noqa: PLC0415 - heavy

    with failing_plainly():
        report = asyncio.run(attach.verify(data, keys))
    for finding in report.findings:
        where = "" if finding.sequence is None else f" at sequence {finding.sequence}"
        sys.stderr.write(f"tenant {finding.tenant}{where}: {finding.what}\n")
    typer.echo(
        f"{report.status.name.lower()}: {report.events} events of {report.tenants} tenants, "
        f"{report.heads} signed heads, {report.gaps} gaps"
    )
    raise typer.Exit(report.status.value)


@app.command("public-key")
def public_key(data: Data, keys: Keys = None) -> None:
    """Print the public key of the log's signed heads, as PEM."""
    from gateway.cli import attach  # noqa: PLC0415 - heavy

    with failing_plainly():
        pem = attach.public_key(data, keys)
    if pem is None:
        fail("this folder has not signed anything yet", code=USAGE)
    typer.echo(pem.decode(), nl=False)
