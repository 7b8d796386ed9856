"""`python -m gateway.cli` is the `memwarden` command."""

from gateway.cli.main import run

run()
