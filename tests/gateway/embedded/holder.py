"""A gateway in little, as a program that a test may kill: it holds engines until its input ends.

Run as `python holder.py ROOT [UID]` with a JSON object {data, keys, home, tmp} on the first line of
its input. ROOT is where the packages are found; UID is whom to become first. It answers with one
line of JSON: the URLs and the seconds it took, or what it was refused with. Only the standard
library and gateway.embedded are imported.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path


def tell(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main() -> None:
    root = sys.argv[1]
    sys.path.insert(0, root)
    if len(sys.argv) > 2:
        uid = int(sys.argv[2])
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    from gateway.embedded.engines import EmbeddedEngines  # noqa: PLC0415 - found by now only
    from gateway.embedded.places import Places  # noqa: PLC0415 - as above

    asked = json.loads(sys.stdin.readline())

    async def hold() -> None:
        began = time.monotonic()
        async with EmbeddedEngines.start(
            Path(asked["data"]),
            Path(asked["keys"]) if asked["keys"] else None,
            Places(home=Path(asked["home"]), tmp=Path(asked["tmp"])),
            on_death=lambda name: tell({"died": name}),
            with_edge=False,
        ) as engines:
            engines.describe("http://127.0.0.1:1")
            told: dict[str, object] = {
                "seconds": time.monotonic() - began,
                "pid": os.getpid(),
                "data": str(engines.data.path),
                "database_url": engines.database_url("memwarden_owner"),
                "redis_url": engines.redis_url,
                "runtime": str(engines.edge_socket.parent.parent),
                "keys": str(engines.keys.path),
            }
            tell(told)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

    try:
        asyncio.run(hold())
    except Exception as err:  # noqa: BLE001 - told to the test, which judges it
        tell({"refused": type(err).__name__, "why": str(err)})


main()
