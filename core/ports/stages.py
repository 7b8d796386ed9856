"""Caches, tracing, and the bundles that hand ports to the paths."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from core.ports.index import Index
from core.ports.keys import Keyring, OwnerKeys
from core.ports.models import Embedder, Extractor, Tokenizer
from core.ports.record import RecordStore
from core.ports.vectors import Vector


class QueryCache(Protocol):
    """Embedded queries, sealed under the person's key, for minutes. Losing it costs time only."""

    async def get(self, keys: OwnerKeys, embedder: str, text: str) -> Vector | None:
        """Return the cached vector, or None; a fault of the cache is None as well."""
        ...

    async def put(self, keys: OwnerKeys, embedder: str, text: str, vector: Vector) -> None:
        """Keep `vector` for some minutes; a fault of the cache is swallowed and counted."""
        ...


class Spans(Protocol):
    """Tracing, as far as the engine knows it: a named step. Attributes come from an allow-list."""

    def step(self, name: str) -> AbstractAsyncContextManager[None]:
        """Time one step of a path under `name`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStages:
    """What the engine's write needs."""

    extractor: Extractor
    tokenizer: Tokenizer
    embedder: Embedder
    keyring: Keyring
    store: RecordStore
    spans: Spans
    wake_index: "Wake"
    """Called after each commit that queued something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallStages:
    """What the engine's recall needs.

    Args:
        rebuilding: True while the index may lack old memories, so that dense search is incomplete.
        sensitive_candidates: so many of a person's sensitive memories, the newest, are opened and
            compared in this process; 0 leaves them to their words.
    """

    tokenizer: Tokenizer
    embedder: Embedder
    keyring: Keyring
    store: RecordStore
    index: Index
    cache: QueryCache
    spans: Spans
    rebuilding: Callable[[], bool]
    sensitive_candidates: int = 5_000


class Wake(Protocol):
    """Tells the indexer that the outbox has something."""

    def __call__(self) -> None:
        """Wake it; never blocks."""
        ...
