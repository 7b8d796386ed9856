"""The index on a Qdrant server, with the same points and the same filters as the embedded one.

Rules this module keeps:
- A call that touches points is made of an `OwnedFilter`, so it names tenant and owner; a write
  replaces only points that match it, whatever their ids (Qdrant would overwrite silently).
- One collection per model and dimension, reached through the alias `memories`: a change of model is
  a second collection and a switch of the alias.
- The main graph is off (`m = 0`); links follow the owner (`payload_m`, `is_tenant`), so one owner's
  search never walks through another's points.
- Every call has a deadline; whatever the driver raises leaves here as Unavailable.
- The driver is imported when an index is made: it takes 2 to 4 seconds, and an embedded gateway
  never needs it.

It is held to the contract of the port on a double that speaks the same REST, and on a real server
where the tests are given one.
"""

import asyncio
import re
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import httpx
import numpy as np

from core.adapters.qdrant import fields
from core.adapters.qdrant.fields import sparse
from core.adapters.qdrant.filters import OwnedFilter, owned, payload_of, within
from core.adapters.qdrant.wire import MAX_IDS, MAX_LIMIT, MAX_POINTS
from core.errors import Invalid, Unavailable
from core.ports import IndexHit, Point, Reach

if TYPE_CHECKING:
    from qdrant_client import models as rest

T = TypeVar("T")
ALIAS = "memories"


class ServerIndex:
    """`core.ports.Index` over a Qdrant server.

    Args:
        url: of the server's REST interface.
        api_key: sent with every request; None for a server on a private network.
        model, dimension: of the vectors; they name the collection.
        replication_factor: of a collection made here.
        timeout_seconds: for one call.
        transport: how requests travel; for tests.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None,
        model: str,
        dimension: int = 384,
        replication_factor: int = 1,
        timeout_seconds: float = 5.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        from qdrant_client import AsyncQdrantClient, models  # noqa: PLC0415 - see the rules above
        from qdrant_client.http.exceptions import ApiException  # noqa: PLC0415 - as above

        self._models = models
        self._faults = (ApiException, httpx.HTTPError, OSError, ValueError)
        self._dimension = dimension
        self._timeout = timeout_seconds
        self._replicas = replication_factor
        self.collection = f"memories_{re.sub(r'[^a-z0-9]+', '-', model.lower())}_{dimension}"
        options: dict[str, Any] = {} if transport is None else {"transport": transport}
        self._client = AsyncQdrantClient(
            url=url,
            api_key=api_key,
            prefer_grpc=False,
            check_compatibility=False,
            timeout=max(1, round(timeout_seconds)),
            **options,
        )

    async def prepare(self) -> None:
        """Make the collection, its payload indexes and the alias, where they are missing.

        Raises: Unavailable.
        """
        await self._within_deadline(self._prepare())

    async def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        """Write points of one tenant. Raises: Invalid, Unavailable (some may be written)."""
        by_owner: dict[str, list[rest.PointStruct]] = {}
        for point in points:
            payload = payload_of(tenant, point)
            vectors: dict[str, Any] = {fields.DENSE: self._checked(point.vector)}
            if point.terms:
                indices, weights = sparse(point.terms)
                words = self._models.SparseVector(indices=indices, values=weights)
                vectors[fields.LEXICAL] = words
            by_owner.setdefault(payload["owner"], []).append(
                self._models.PointStruct(id=str(point.id), vector=vectors, payload=payload)
            )
        for owner, made in by_owner.items():
            for start in range(0, len(made), MAX_POINTS):
                await self._within_deadline(
                    self._client.upsert(
                        ALIAS,
                        made[start : start + MAX_POINTS],
                        wait=True,
                        update_filter=self._rest(owned(tenant, owner)),
                    )
                )

    async def remove(self, tenant: str, owner: str, ids: Sequence[UUID]) -> None:
        """Remove those of `ids` that are this owner's. Raises: Unavailable."""
        for start in range(0, len(ids), MAX_IDS):
            chosen = owned(tenant, owner).among(ids[start : start + MAX_IDS])
            selector = self._models.FilterSelector(filter=self._rest(chosen))
            await self._within_deadline(self._client.delete(ALIAS, selector, wait=True))

    async def search(
        self, reach: Reach, *, limit: int, also: Sequence[UUID] = ()
    ) -> list[IndexHit]:
        """Return the nearest `limit` within `reach`, and those of `also` within it, best first.

        Raises: Invalid (nothing or too much is asked for), Unavailable.
        """
        if not 0 < limit <= MAX_LIMIT or len(also) > MAX_IDS:
            raise Invalid("A search asks for too many points, or for none.")
        seen = within(reach)
        asked = [(limit, seen)] + ([(len(also), seen.among(also))] if also else [])
        requests = [
            self._models.QueryRequest(
                query=self._checked(reach.vector),
                using=fields.DENSE,
                filter=self._rest(where),
                limit=most,
                with_payload=["pointer"],
            )
            for most, where in asked
        ]
        found = await self._within_deadline(self._client.query_batch_points(ALIAS, requests))
        try:
            hits = {
                UUID(str(point.id)): IndexHit(
                    id=UUID(str(point.id)),
                    pointer=str((point.payload or {})["pointer"]),
                    score=float(point.score),
                )
                for answer in found
                for point in answer.points
            }
        except (KeyError, ValueError) as err:
            raise Unavailable from err
        return sorted(hits.values(), key=lambda hit: -hit.score)

    async def count(self, tenant: str, owner: str) -> int:
        """Return how many points one owner has. Raises: Unavailable."""
        where = self._rest(owned(tenant, owner))
        found = await self._within_deadline(
            self._client.count(ALIAS, count_filter=where, exact=True)
        )
        return int(found.count)

    async def empty(self) -> bool:
        """Return True when the index holds no point at all. Raises: Unavailable."""
        info = await self._within_deadline(self._client.get_collection(ALIAS))
        return not info.points_count

    async def ready(self) -> bool:
        """Return True when the index answers."""
        try:
            await self._within_deadline(self._client.get_collection(ALIAS))
        except Unavailable:
            return False
        return True

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _rest(self, where: OwnedFilter) -> "rest.Filter":
        made: rest.Filter = self._models.Filter.model_validate(where.to_rest())
        return made

    def _checked(self, vector: np.ndarray) -> list[float]:
        if vector.shape != (self._dimension,) or not np.isfinite(vector).all():
            raise Invalid("A vector of the index has another dimension, or is not finite.")
        values: list[float] = vector.tolist()
        return values

    async def _within_deadline(self, call: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._timeout):
                return await call
        except self._faults as err:
            raise Unavailable from err

    async def _prepare(self) -> None:
        models = self._models
        if not await self._client.collection_exists(self.collection):
            await self._client.create_collection(
                self.collection,
                vectors_config={
                    fields.DENSE: models.VectorParams(
                        size=self._dimension, distance=models.Distance.COSINE
                    )
                },
                # No modifier: Qdrant would count every tenant's texts into one owner's scores.
                sparse_vectors_config={fields.LEXICAL: models.SparseVectorParams()},
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                replication_factor=self._replicas,
            )
        for name in fields.KEYWORDS:
            is_owner = name == fields.OWNER
            keyword = models.KeywordIndexParams(
                type=models.KeywordIndexType.KEYWORD, is_tenant=is_owner, enable_hnsw=is_owner
            )
            await self._client.create_payload_index(self.collection, name, keyword, wait=True)
        for name in fields.NUMBERS:
            number = models.FloatIndexParams(type=models.FloatIndexType.FLOAT, enable_hnsw=False)
            await self._client.create_payload_index(self.collection, name, number, wait=True)
        aliases = (await self._client.get_aliases()).aliases
        if ALIAS not in {alias.alias_name for alias in aliases}:
            alias = models.CreateAlias(collection_name=self.collection, alias_name=ALIAS)
            operation = models.CreateAliasOperation(create_alias=alias)
            await self._client.update_collection_aliases([operation])
