"""Valkey as a private child.

- No TCP port; a socket in a 0700 folder, and one user with a password besides. The nameless user is
  off.
- The configuration comes through standard input and holds only the password's digest: it is on no
  disk.
- Nothing is written to disk: no snapshots, no append-only file, no slow log, no crash report with
  clients' arguments.
- `noeviction`: budgets must not vanish because a cache grew; a full memory refuses writes instead.
- That user keeps to its data: no KEYS, FLUSHALL, CONFIG, DEBUG, MONITOR nor anything else of the
  server's own.
"""

import asyncio
import contextlib
import hashlib
import signal
from pathlib import Path
from urllib.parse import quote

from gateway.embedded.children import Child
from gateway.embedded.folder import DataFolder
from gateway.embedded.places import RuntimeFolder
from gateway.embedded.wheels import Binaries

USER = "memwarden"
_CONFIGURATION = """\
port 0
unixsocket "{socket}"
unixsocketperm 700
daemonize no
dir "{folder}"
databases 1
maxclients 256
save ""
appendonly no
maxmemory 64mb
maxmemory-policy noeviction
slowlog-log-slower-than -1
latency-tracking no
crash-log-enabled no
crash-memcheck-enabled no
hide-user-data-from-log yes
enable-debug-command no
enable-module-command no
enable-protected-configs no
loglevel warning
user default off
user {user} on #{digest} ~* &* +@all -@dangerous -@admin +info
"""


def valkey_child(
    binaries: Binaries, data: DataFolder, runtime: RuntimeFolder, password: str
) -> tuple[Child, str]:
    """Return the child to start and the URL, with the password, at which it will be."""
    folder = runtime.private("valkey", engine=True)
    socket = folder / "valkey.sock"
    digest = hashlib.sha256(password.encode()).hexdigest()

    async def ready() -> bool:
        return await _answers(socket, password)

    child = Child(
        name="Valkey",
        argv=(str(binaries.valkey_server), "-"),
        cwd=folder,
        log=data.logs / "valkey.log",
        alive=data.alive,
        account=runtime.account,
        feed=_CONFIGURATION.format(socket=socket, folder=folder, user=USER, digest=digest).encode(),
        ready=ready,
        socket=socket,
        stop_signal=signal.SIGTERM,
        # It keeps nothing, so there is nothing to wait for.
        death_signal=signal.SIGKILL,
    )
    return child, f"unix://{USER}:{quote(password, safe='')}@{quote(str(socket))}?db=0"


async def _answers(socket: Path, password: str) -> bool:
    try:
        reader, writer = await asyncio.open_unix_connection(socket)
    except OSError:
        return False
    try:
        writer.write(f"AUTH {USER} {password}\r\nPING\r\n".encode())
        return await reader.readexactly(12) == b"+OK\r\n+PONG\r\n"
    except (OSError, asyncio.IncompleteReadError):
        return False
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
