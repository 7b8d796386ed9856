"""The `memwarden` command, and what its exit codes mean.

Rules this module keeps:
- A failure is one plain sentence on stderr and a code: 1 it did not work, 2 wrong usage or
  unreadable input, 78 unsafe or missing settings (sysexits.h, EX_CONFIG).
- Nothing heavy is imported before it is needed: `memwarden --help` answers at once.
- A credential comes from the environment, never from an argument that `ps` would show.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli import audit, guard, keys, policies, quotas, spaces, tenants, users
from gateway.cli.exits import fail, failing_plainly

app = typer.Typer(
    name="memwarden",
    help="A memory gateway for language-model agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(tenants.app, name="tenant")
app.add_typer(keys.app, name="key")
app.add_typer(spaces.app, name="space")
app.add_typer(policies.app, name="policy")
app.add_typer(quotas.app, name="quota")
app.add_typer(users.app, name="user")
app.add_typer(audit.app, name="audit")
app.add_typer(guard.app, name="guard")

Data = Annotated[Path, typer.Option("--data", help="Data folder; made on first use.")]
Keys = Annotated[
    Path | None,
    typer.Option("--keys", help="Keys folder; by default in your state directory, outside DATA."),
]


@app.command()
def up(
    data: Data,
    keys: Keys = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")] = 8700,
    ready_file: Annotated[
        Path | None,
        typer.Option(help="Written (mode 0600) with URL, operator key and pid once it serves."),
    ] = None,
    until_eof: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Start an embedded gateway: PostgreSQL, Valkey and Qdrant Edge under DATA."""
    from gateway.cli import up as embedded  # noqa: PLC0415 - heavy

    with failing_plainly():
        embedded.run(
            embedded.UpOptions(
                data=data,
                keys=keys,
                host=host,
                port=port,
                ready_file=ready_file,
                until_eof=until_eof,
            )
        )


Config = Annotated[
    Path | None,
    typer.Option("--config", help="TOML file of settings; the environment wins over it."),
]
ReadyFile = Annotated[
    Path | None, typer.Option(help="Written (mode 0600) once it runs; removed at the end.")
]
UntilEof = Annotated[bool, typer.Option(hidden=True)]


@app.command()
def serve(config: Config = None, ready_file: ReadyFile = None, until_eof: UntilEof = False) -> None:
    """Serve on PostgreSQL, Valkey and Qdrant servers that the settings name."""
    from gateway.cli import serve as server  # noqa: PLC0415 - heavy

    with failing_plainly():
        server.run(server.ServeOptions(config=config, ready_file=ready_file, until_eof=until_eof))


@app.command()
def worker(
    config: Config = None, ready_file: ReadyFile = None, until_eof: UntilEof = False
) -> None:
    """Index and seal for `memwarden serve`; several may run."""
    from gateway.cli import worker as working  # noqa: PLC0415 - heavy

    with failing_plainly():
        working.run(
            working.WorkerOptions(config=config, ready_file=ready_file, until_eof=until_eof)
        )


@app.command()
def migrate(config: Config = None) -> None:
    """Bring the databases to the shape that this release needs."""
    from gateway.cli import migrate as migrating  # noqa: PLC0415 - heavy

    with failing_plainly():
        record, keys = migrating.run(config)
    typer.echo(f"applied {record} migrations of the record and {keys} of the key store")


@app.command()
def keygen(
    folder: Annotated[Path, typer.Argument(help="Private folder; what is there is kept.")],
) -> None:
    """Make the root key, an epoch key and the operator's credential that server mode needs."""
    from gateway.cli import migrate as migrating  # noqa: PLC0415 - heavy

    with failing_plainly():
        made = migrating.keygen(folder)
    typer.echo(f"made {', '.join(made)}" if made else "nothing was missing")


@app.command()
def mcp(
    data: Annotated[
        Path | None, typer.Option("--data", help="Data folder of an embedded gateway.")
    ] = None,
    keys: Keys = None,
    user: Annotated[str, typer.Option(help="With --data: whose memory it is.")] = "me",
) -> None:
    """Serve MCP over stdio: a bridge to MEMWARDEN_URL with MEMWARDEN_KEY, or to --data DIR."""
    from gateway.cli import stdio  # noqa: PLC0415 - heavy

    with failing_plainly():
        stdio.run(data=data, keys=keys, user=user)


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed  # noqa: PLC0415 - rarely asked for

    typer.echo(installed("memwarden"))


def run() -> None:
    """Run the command line; the entry point of the package."""
    try:
        app()
    except KeyboardInterrupt:
        fail("interrupted", code=130)
    except BrokenPipeError:  # the reader of our output went away
        sys.exit(1)
