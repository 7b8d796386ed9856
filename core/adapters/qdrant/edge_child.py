"""The process that alone opens the embedded index.

    python -m core.adapters.qdrant.edge_child --socket PATH --data DIR [--shards 2]
        [--dimension 384] [--model NAME]

Rules this module keeps:
- One process has the folder: a lock is taken before anything in it is looked at, and who does not
  get it leaves (exit code 75) without touching a file.
- It serves one request at a time. Edge holds the interpreter while it works, which is why it has a
  process of its own; the gateway must never wait for it inside its own loop.
- Every call that reads or changes points names one tenant and one owner, or is refused.
- It compacts only while nobody asks, and flushes then too unless very much has changed.
- It says what failed by name and never what it was asked.
"""

import argparse
import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from core.adapters.qdrant.edge_store import Shards
from core.adapters.qdrant.wire import Frame, Malformed, pack_frame, read_frame

_LOG = logging.getLogger("edge")
_EX_SOFTWARE = 70
_EX_TEMPFAIL = 75
# sysexits.h
_TEND_EVERY_SECONDS = 1.0
_QUIET_TO_FLUSH_SECONDS = 30.0
_MOST_UNFLUSHED = 20_000
"""Updates that a start after `kill -9` may have to read again from Edge's log; some 60 µs each."""
_QUIET_TO_COMPACT_SECONDS = 60.0
_LONGEST_UNCOMPACTED_SECONDS = 3600.0
"""A process that is never left alone for a minute compacts after this, in the first short pause."""
_PAUSE_SECONDS = 0.2
_PROBES = frozenset({"ping", "info"})
_LONGEST_END_SECONDS = 2.0
_BACKLOG = 64


class Service:
    """Answers requests over the shards, and tends them between requests."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._last_request = self._last_compaction = time.monotonic()
        self._serving: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}
        self._operations: dict[str, Callable[[Frame], object]] = {
            "ping": lambda _: True,
            "info": self._info,
            "upsert": lambda ask: shards.upsert(ask["filter"], ask["points"]),
            "remove": lambda ask: shards.remove(ask["filter"]),
            "count": lambda ask: shards.count(ask["filter"]),
            "search": lambda ask: shards.search(
                ask["filter"], ask["vector"], ask["limit"], ask["also"]
            ),
            "flush": lambda _: shards.flush(),
            "compact": lambda _: shards.compact(at_least=1),
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection until it ends."""
        self._serving[writer] = asyncio.current_task()
        with contextlib.suppress(ConnectionError, Malformed):
            while (ask := await read_frame(reader)) is not None:
                if reader.at_eof():
                    break  # whoever asked has given up waiting
                writer.write(pack_frame(self.answer(ask)))
                await writer.drain()
        del self._serving[writer]
        writer.close()

    async def end(self) -> None:
        """End every connection; what was answered has been sent."""
        tasks = [task for task in self._serving.values() if task is not None]
        for writer in self._serving:
            writer.close()
        if tasks:
            await asyncio.wait(tasks, timeout=_LONGEST_END_SECONDS)

    def answer(self, ask: Frame) -> Frame:
        """Return the reply to one request."""
        try:
            operation = self._operations[ask["op"]]
            if ask["op"] not in _PROBES:
                self._last_request = time.monotonic()
            return {"ok": operation(ask)}
        except (KeyError, TypeError, Malformed):
            return {"fault": "malformed"}
        except Exception as err:  # noqa: BLE001 - the driver raises nothing narrower
            _LOG.warning("an operation failed: %s", type(err).__name__)
            return {"fault": "failed"}
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as err:  # noqa: BLE001 - a panic; what the driver holds may be half done
            _LOG.critical("the driver panicked: %s", type(err).__name__)
            raise SystemExit(_EX_SOFTWARE) from None

    async def tend(self) -> None:
        """Flush and compact, for ever, while nobody asks."""
        while True:
            await asyncio.sleep(_TEND_EVERY_SECONDS)
            try:
                self._tend_once(time.monotonic())
            except Exception as err:  # noqa: BLE001 - such as a full disk; tried again
                _LOG.warning("tending failed: %s", type(err).__name__)

    def _tend_once(self, now: float) -> None:
        quiet = now - self._last_request
        if quiet > _QUIET_TO_FLUSH_SECONDS or self._shards.dirty > _MOST_UNFLUSHED:
            self._shards.flush()
        overdue = now - self._last_compaction > _LONGEST_UNCOMPACTED_SECONDS
        if quiet > (_PAUSE_SECONDS if overdue else _QUIET_TO_COMPACT_SECONDS):
            self._shards.compact()
            self._last_compaction = now

    def _info(self, _: Frame) -> Frame:
        return {"empty": self._shards.points() == 0, "made_anew": self._shards.made_anew}


async def run(listener: socket.socket, shards: Shards) -> None:
    """Open the shards, serve at `listener` until SIGTERM or SIGINT, and close them."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    shards.open()
    if shards.made_anew:
        _LOG.warning("the index is made anew: %s", shards.made_anew)
    service = Service(shards)
    server = await asyncio.start_unix_server(service.serve, sock=listener, backlog=_BACKLOG)
    tending = asyncio.create_task(service.tend())
    await stop.wait()
    tending.cancel()
    server.close()
    await service.end()
    shards.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the process; returns its exit code."""
    parser = argparse.ArgumentParser(prog="edge_child", description=__doc__)
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--shards", type=int, default=2, choices=range(1, 17))
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--model", default="")
    asked = parser.parse_args(arguments)
    os.umask(0o077)
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    asked.data.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(asked.data / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _LOG.error("another process has the index")
        return _EX_TEMPFAIL
    shards = Shards(asked.data, shards=asked.shards, dimension=asked.dimension, model=asked.model)
    # The lock is ours, so whoever left a socket there is gone.
    asked.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(asked.socket))  # nobody can connect before `run` listens
    asked.socket.chmod(0o600)
    try:
        asyncio.run(run(listener, shards))
    finally:
        asked.socket.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
