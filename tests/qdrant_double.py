"""A Qdrant server for tests: the part of its REST interface that we use, over one Edge shard.

Run as `python -m tests.qdrant_double --data DIR --key KEY --told FILE`; it listens on a free port
of 127.0.0.1, writes that port to FILE, and ends when its standard input does. Filters go to the
same engine that a server runs, so that what matches is decided by Qdrant. What it cannot show is a
server's clustering and its own faults; where QDRANT_URL is set the contract runs on one.
"""

import argparse
import base64
import contextlib
import hmac
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from typing_extensions import override

from core.adapters.qdrant.edge_store import Shards
from core.adapters.qdrant.wire import Malformed
from tests.core.adapters.qdrant.rest_double import collection_info, given

Body = dict[str, Any]
START_SECONDS = 30.0
_DONE = {"operation_id": 1, "status": "completed"}


class Store:
    """Collections by name; points in one Edge shard, since we only ever use one collection."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._dimension = dimension
        self._lock = threading.Lock()
        self._collections: set[str] = set()
        self._aliases: dict[str, str] = {}
        self._shards = self._open()

    def answer(self, method: str, path: str, body: Body) -> Any:
        """Return the result of one request, or None where there is no such thing."""
        with self._lock:
            return self._answer(method, path, body)

    def _open(self) -> Shards:
        self._folder.mkdir(parents=True, exist_ok=True)
        shards = Shards(self._folder, shards=1, dimension=self._dimension, model="double")
        shards.open()
        return shards

    def _answer(self, method: str, path: str, body: Body) -> Any:
        found = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        if found is None or path == "/collections/aliases":
            return self._named(method, path, body)
        name, rest = found[1], found[2] or ""
        if rest in ("", "/exists", "/index") and (method, rest) != ("GET", ""):
            return self._collection(method, name, rest)
        if self._aliases.get(name) not in self._collections:
            return None
        return self._points(method, rest, body)

    def _named(self, method: str, path: str, body: Body) -> Any:
        if (method, path) == ("GET", "/collections"):
            return {"collections": [{"name": name} for name in sorted(self._collections)]}
        if (method, path) == ("GET", "/aliases"):
            known = self._aliases.items()
            return {"aliases": [{"alias_name": a, "collection_name": c} for a, c in known]}
        if (method, path) == ("POST", "/collections/aliases"):
            for action in body["actions"]:
                made = action["create_alias"]
                self._aliases[made["alias_name"]] = made["collection_name"]
            return True
        return None

    def _collection(self, method: str, name: str, rest: str) -> Any:
        if (method, rest) == ("GET", "/exists"):
            return {"exists": name in self._collections}
        if (method, rest) == ("PUT", ""):
            self._collections.add(name)
            return True
        if (method, rest) == ("DELETE", ""):
            return self._drop(name)
        return _DONE if name in self._collections else None

    def _drop(self, name: str) -> bool:
        self._collections.discard(name)
        self._aliases = {a: c for a, c in self._aliases.items() if c != name}
        self._shards.close()
        self._folder = self._folder.with_name(self._folder.name + "x")
        self._shards = self._open()
        return True

    def _points(self, method: str, rest: str, body: Body) -> Any:
        if (method, rest) == ("GET", ""):
            return collection_info(self._shards.points())
        if (method, rest) == ("PUT", "/points"):
            self._shards.upsert(given(body["update_filter"]), [_point(p) for p in body["points"]])
        elif (method, rest) == ("POST", "/points/delete"):
            self._shards.remove(given(body["filter"]))
        elif (method, rest) == ("POST", "/points/count"):
            return {"count": self._shards.count(given(body["filter"]))}
        elif (method, rest) == ("POST", "/points/query/batch"):
            return [{"points": self._search(ask)} for ask in body["searches"]]
        else:
            return None
        return _DONE

    def _search(self, ask: Body) -> list[Body]:
        if ask["using"] != "dense" or ask["with_payload"] != ["pointer"]:
            raise Malformed
        query = ask["query"]["nearest"] if isinstance(ask["query"], dict) else ask["query"]
        hits = self._shards.search(given(ask["filter"]), _packed(query), ask["limit"], [])
        return [
            {"id": id_, "version": 1, "score": score, "payload": {"pointer": pointer}}
            for id_, pointer, score in hits
        ]


def _point(point: Body) -> Body:
    words = point["vector"].get("lexical")
    return {
        "id": point["id"],
        "vector": _packed(point["vector"]["dense"]),
        "terms": [] if words is None else [words["indices"], words["values"]],
        "payload": point["payload"],
    }


def _packed(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    store: Store
    key: str

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not hmac.compare_digest(self.headers.get("api-key") or "", self.key):
            self._reply(401, {"status": {"error": "Must provide an API key"}})
            return
        try:
            path = self.path.partition("?")[0]
            result = self.store.answer(self.command, path, json.loads(body or b"{}"))
        except (Malformed, KeyError, TypeError, ValueError):
            self._reply(400, {"status": {"error": "Malformed"}})
            return
        if result is None:
            self._reply(404, {"status": {"error": "Not found"}})
        else:
            self._reply(200, {"result": result, "status": "ok"})

    do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 - http.server's names

    def _reply(self, status: int, told: Body) -> None:
        body = json.dumps(told | {"time": 0.0}).encode()
        head = (
            f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.wfile.write(head.encode() + body)  # in one piece: two wait for each other's receipt

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a request holds vectors."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--told", type=Path, required=True)
    parser.add_argument("--dimension", type=int, default=384)
    asked = parser.parse_args()
    _Handler.store, _Handler.key = Store(asked.data, asked.dimension), asked.key
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    fresh = asked.told.with_name(f"{asked.told.name}.new")
    fresh.write_text(str(server.server_address[1]), encoding="ascii")
    fresh.rename(asked.told)
    sys.stdin.buffer.read()
    os._exit(0)  # the shard belongs to a test that is over


@contextlib.contextmanager
def listening(key: str, folder: Path | None = None) -> Iterator[str]:
    """Run a double for the length of the block; gives its URL."""
    with contextlib.ExitStack() as stack:
        if folder is None:
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix="mw-qdrant-"))
            folder = Path(name)
        told = folder / "qdrant.port"
        told.unlink(missing_ok=True)
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.qdrant_double", "--data", str(folder / "points")),
                *("--key", key, "--told", str(told)),
            ],
            stdin=subprocess.PIPE,
        )
        try:
            deadline = time.monotonic() + START_SECONDS
            while not told.exists():
                assert process.poll() is None, "the double ended while it started"
                assert time.monotonic() < deadline, "the double did not start"
                time.sleep(0.01)
            yield f"http://127.0.0.1:{told.read_text(encoding='ascii')}"
        finally:
            process.communicate(timeout=START_SECONDS)


if __name__ == "__main__":
    main()
