"""A loopback double of the part of Qdrant's REST interface that we use.

It keeps points in memory, evaluates the filters of the request itself, and records every request.
What it cannot prove is Qdrant's own behaviour; where QDRANT_URL is set the same tests run there.
"""

import json
import re
from typing import Any
from uuid import UUID

import httpx
import numpy as np

from core.adapters.inmemory.index import passes

Body = dict[str, Any]


class RestDouble:
    """Answers as a Qdrant server with one collection would; `transport` leads to it."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Body]] = []
        self.points: dict[str, Body] = {}
        self.collections: set[str] = set()
        self.aliases: dict[str, str] = {}
        self.transport = httpx.MockTransport(self.handle)

    async def handle(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(await request.aread() or b"{}")
        method, path = request.method, request.url.path
        self.requests.append((method, path, body))
        result = self._answer(method, path, body)
        if result is None:
            return httpx.Response(404, json={"status": {"error": "Not found"}, "time": 0.0})
        return httpx.Response(200, json={"result": result, "status": "ok", "time": 0.0})

    def _answer(self, method: str, path: str, body: Body) -> Any:
        if path.endswith("/exists"):
            return {"exists": path.split("/")[2] in self.collections}
        if (method, path) == ("GET", "/aliases"):
            known = self.aliases.items()
            return {"aliases": [{"alias_name": a, "collection_name": c} for a, c in known]}
        if (method, path) == ("POST", "/collections/aliases"):
            for action in body["actions"]:
                made = action["create_alias"]
                self.aliases[made["alias_name"]] = made["collection_name"]
            return True
        found = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        name, rest = (found[1], found[2] or "") if found else ("", "")
        if method == "PUT" and rest in ("", "/index"):
            self.collections.add(name)
            return True if rest == "" else {"operation_id": 1, "status": "completed"}
        if self.aliases.get(name) not in self.collections:
            return None
        return self._points(method, rest, body)

    def _points(self, method: str, rest: str, body: Body) -> Any:
        if (method, rest) == ("GET", ""):
            return collection_info(len(self.points))
        if (method, rest) == ("PUT", "/points"):
            for point in body["points"]:
                old = self.points.get(point["id"])
                if old is None or self._passes(body["update_filter"], old):
                    self.points[point["id"]] = point
            return {"operation_id": 1, "status": "completed"}
        if rest == "/points/delete":
            for point in self._found(body["filter"]):
                del self.points[point["id"]]
            return {"operation_id": 1, "status": "completed"}
        if rest == "/points/count":
            return {"count": len(self._found(body["filter"]))}
        if rest == "/points/query/batch":
            return [{"points": self._search(ask)} for ask in body["searches"]]
        return None

    def _search(self, ask: Body) -> list[Body]:
        assert ask["using"] == "dense"
        query = ask["query"]["nearest"] if isinstance(ask["query"], dict) else ask["query"]
        scored = [
            {
                "id": point["id"],
                "version": 1,
                "score": float(np.dot(point["vector"]["dense"], query)),
                "payload": {name: point["payload"][name] for name in ask["with_payload"]},
            }
            for point in self._found(ask["filter"])
        ]
        return sorted(scored, key=lambda point: -point["score"])[: ask["limit"]]

    def _found(self, where: Body) -> list[Body]:
        return [point for point in self.points.values() if self._passes(where, point)]

    def _passes(self, where: Body, point: Body) -> bool:
        # The client spells out what is not set; the server takes that for not given.
        return passes(given(where), UUID(point["id"]), point["payload"])


def given(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: given(part) for name, part in value.items() if part is not None}
    return [given(part) for part in value] if isinstance(value, list) else value


def collection_info(count: int) -> Body:
    optimizers = {"deleted_threshold": 0.2, "vacuum_min_vector_number": 1000}
    return {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": count,
        "segments_count": 1,
        "config": {
            "params": {"vectors": {"dense": {"size": 384, "distance": "Cosine"}}},
            "hnsw_config": {"m": 0, "ef_construct": 100, "full_scan_threshold": 10000},
            "optimizer_config": {
                **optimizers,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
            "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
        },
        "payload_schema": {},
    }
