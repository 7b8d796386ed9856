"""The composition root: joins the parts into a gateway that serves.

Rules this module keeps:
- Everything is built once, in order: keys, record, guard, access, index, paths, fronts.
- Three shapes are made of the same parts (`gateway/parts.py`): embedded serves and works, a server
  serves, a worker works (`gateway/worker.py`). What a shape lacks it watches instead
  (`gateway/server/watch.py`).
- What fails here stops the start; the gateway serves when it can answer, the embedder warm.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from importlib.metadata import version

from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp

from core.adapters.postgres.pool import Pool
from core.adapters.postgres.seal import PostgresSealStore
from core.adapters.redis.budget import RedisBudget
from core.adapters.redis.cache import RedisQueryCache
from core.adapters.redis.seen import RedisSeenProofs
from core.errors import Conflict, Unavailable
from core.extract import WholeText
from core.ids import SYSTEM_TENANT
from core.indexer import Indexer
from core.lexicon import Lexicon
from core.ports import Embedder, RecallStages, WriteStages
from gateway.access.refusals import AuditRefusals
from gateway.audit.seal import Sealer
from gateway.auth.authenticator import Authenticator
from gateway.auth.failures import FailureLog
from gateway.auth.keys import KeySmith
from gateway.auth.operator import ensure_operator
from gateway.auth.peppers import LivePeppers
from gateway.auth.tokens import TokenVerifier, trusted
from gateway.auth.upkeep import Upkeep
from gateway.budgets import Budgets
from gateway.clock import SystemClock
from gateway.front.http import create_app
from gateway.front.limits import Limits
from gateway.front.mcp import McpFront
from gateway.front.peers import Peers
from gateway.front.routes_health import Dependency, Readiness
from gateway.front.security import Doors
from gateway.gate import Gate
from gateway.guard.in_force import Guards
from gateway.guard.judged import Tally
from gateway.guard.lanes import GuardLanes
from gateway.guard.normalise import canonical_text
from gateway.guard.overlay import Shipped
from gateway.guard.pii import load_detector
from gateway.guard.pii.ner import ModelMissing
from gateway.guard.shipped import load_shipped
from gateway.parts import PUBLIC_KEY, Connections, Parts, embedder_of, open_parts, warm
from gateway.quotas import QuotaBook
from gateway.server.watch import IndexWatch, SealWatch
from gateway.settings import PREFIX, Settings, SettingsInvalid
from gateway.telemetry import Telemetry, otlp_exporter
from gateway.worker import Beside, background


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A gateway that can answer.

    Args:
        http: the ASGI application: HTTP API, MCP, probes.
        readiness: says `not ready` once it is told to drain.
        operator_key: the operator's credential; blank where this process was given none.
        worker: the indexer, where this process works as well as serves.
    """

    http: ASGIApp
    readiness: Readiness
    operator_key: str = field(repr=False)
    gate: Gate
    telemetry: Telemetry
    worker: Indexer | None

    @property
    def indexer(self) -> Indexer:
        """The indexer of this process. Raises: LookupError, where others do its work."""
        if self.worker is None:
            raise LookupError
        return self.worker


@contextlib.asynccontextmanager
async def open_gateway(
    connections: Connections,
    settings: Settings,
    *,
    own_url: str,
    embedder: Embedder | None = None,
    on_step: Callable[[str, float], None] | None = None,
) -> AsyncIterator[Gateway]:
    """Build a gateway, run its background work, and give it until the block ends.

    Args:
        own_url: where it listens; its host is accepted beside `public_url`.
        embedder: instead of the one that the settings name; for tests and benchmarks.
        on_step: told (name, seconds) of every step of every path.

    Raises:
        Unavailable: a part does not answer.
    """
    async with contextlib.AsyncExitStack() as stack:
        telemetry = Telemetry(
            CollectorRegistry(), exporter=otlp_exporter(settings.otlp_endpoint), on_step=on_step
        )
        stack.callback(telemetry.close)
        # What needs a processor and what needs the databases go on side by side.
        guarding = asyncio.create_task(asyncio.to_thread(_shipped, settings, telemetry.found))
        model = embedder or embedder_of(settings)
        loaded = asyncio.create_task(warm(model))
        stack.callback(guarding.cancel)
        parts = await open_parts(connections, model, stack)
        if parts.connections.works:
            _publish(parts)
        cache = RedisQueryCache(connections.redis_url)
        stack.push_async_callback(cache.aclose)
        counter = RedisBudget(connections.redis_url, replicas=connections.replicas)
        stack.push_async_callback(counter.aclose)
        budget = Budgets(
            counter,
            QuotaBook(parts.directory, parts.keyring),
            parts.keyring,
            key_requests=settings.key_requests_per_minute,
            key_writes=settings.key_writes_per_minute,
        )
        indexer = parts.indexer() if connections.works else None
        following = indexer or IndexWatch(parts.outbox, parts.index)
        tokenizer = Lexicon(canonical_text)
        peppers = await LivePeppers.open(parts.keyring)
        smith = KeySmith(peppers)
        upkeep = Upkeep(parts.directory, parts.store.now, peppers)
        lanes = GuardLanes()
        stack.callback(lanes.close)
        gate = Gate(
            access=parts.access,
            guards=Guards(await guarding, parts.directory, parts.keyring),
            lanes=lanes,
            keys=smith,
            keyring=parts.keyring,
            directory=parts.directory,
            store=parts.store,
            write=WriteStages(
                extractor=WholeText(),
                tokenizer=tokenizer,
                embedder=model,
                keyring=parts.keyring,
                store=parts.store,
                spans=telemetry,
                wake_index=following.wake,
            ),
            recall=RecallStages(
                tokenizer=tokenizer,
                embedder=model,
                keyring=parts.keyring,
                store=parts.store,
                index=parts.index,
                cache=cache,
                spans=telemetry,
                rebuilding=lambda: following.rebuilding,
                sensitive_candidates=settings.sensitive_candidates,
            ),
            refusals=AuditRefusals(parts.store, parts.keyring, parts.access),
            budget=budget,
        )
        operator_key = await _operator(parts, smith)
        failures = FailureLog(parts.keyring, parts.store)
        sealer = await parts.sealer() if connections.works else None
        telemetry.watch_index(lambda: float(following.pending))
        telemetry.watch_audit(lambda: float(0 if sealer is None else len(sealer.broken)))
        seen = RedisSeenProofs(parts.connections.redis_url)
        stack.push_async_callback(seen.aclose)
        mcp = McpFront(gate, version("memwarden"), claims=seen, legacy=settings.mcp_legacy == "on")
        await stack.enter_async_context(mcp.run())
        beside: list[Beside] = [
            failures.run,
            upkeep.run,
            lambda stop: parts.writer.run(parts.seals, stop),
        ]
        if isinstance(following, IndexWatch):
            beside.append(following.run)
        await stack.enter_async_context(background(indexer, sealer, beside))
        await loaded
        readiness = _readiness(parts, cache, sealer)
        public_url = settings.public_url or own_url
        tokens = _tokens(parts, settings, public_url, seen)
        http = create_app(
            gate,
            authenticator=Authenticator(parts.directory, smith, parts.keyring, tokens=tokens),
            failures=failures,
            telemetry=telemetry,
            readiness=readiness,
            version=version("memwarden"),
            doors=Doors.of(settings.public_url, origins=settings.allowed_origins),
            limits=Limits(
                request_seconds=settings.request_seconds,
                requests_per_tenant=settings.tenant_concurrency,
            ),
            public_url=public_url,
            issuers=settings.issuers,
            mcp=mcp,
        )
        yield Gateway(
            http=Peers(http, settings.trusted_proxies),
            readiness=readiness,
            operator_key=operator_key,
            gate=gate,
            telemetry=telemetry,
            worker=indexer,
        )


@contextlib.asynccontextmanager
async def open_seal_store(url: str) -> AsyncIterator[PostgresSealStore]:
    """Give the sealing side of the record at `url`, for whoever verifies the log.

    Raises: Unavailable.
    """
    pool = Pool(url, name="verify", connections=2)
    await pool.open()
    try:
        yield PostgresSealStore(pool)
    finally:
        await pool.close()


def _shipped(settings: Settings, tally: Tally) -> Shipped:
    try:
        detector = load_detector(settings.ner_model)
    except ModelMissing as err:
        raise SettingsInvalid((f"{PREFIX}NER_MODEL: {err}",)) from None
    return load_shipped(detector, pii_policy=settings.pii_policy, tally=tally)


def _publish(parts: Parts) -> None:
    """Keep the key that verifies the log's heads where the other keys are."""
    if parts.connections.keep is not None:
        parts.connections.keep(PUBLIC_KEY, parts.signer.public_pem.encode)


async def _operator(parts: Parts, smith: KeySmith) -> str:
    """Return the operator's credential, registered; blank where nobody gave this process one."""
    keep = parts.connections.keep
    if keep is None:
        return ""
    made = ensure_operator(parts.directory, parts.access, parts.keyring, smith, keep=keep)
    try:
        return await made
    except Conflict:  # another replica registered it between our look and our insert
        return keep("operator", bytes).decode()


def _tokens(
    parts: Parts, settings: Settings, public_url: str, seen: RedisSeenProofs
) -> TokenVerifier | None:
    """Return what verifies access tokens; None where no issuer is trusted."""
    if not settings.issuers:
        return None
    return TokenVerifier(
        trusted(settings.issuers, public_url),
        directory=parts.directory,
        keyring=parts.keyring,
        clock=SystemClock(),
        seen=seen,
    )


def _readiness(parts: Parts, cache: RedisQueryCache, sealer: Sealer | None) -> Readiness:
    sealed = SealWatch(parts.seals)

    async def postgres() -> None:
        await parts.store.now()

    async def keys() -> None:
        await parts.keyring.tenant(SYSTEM_TENANT)

    async def qdrant() -> None:
        if not await parts.index.ready():
            raise Unavailable

    async def audit() -> None:
        if sealer is None:
            await sealed.check()
        elif sealer.broken:  # somebody changed the log below the gateway: page a person
            raise Unavailable

    return Readiness(
        (
            Dependency(name="postgres", check=postgres),
            Dependency(name="keys", check=keys),
            Dependency(name="audit", check=audit, required=False),
            Dependency(name="index", check=qdrant, required=False),
            Dependency(name="cache", check=cache.ping, required=False),
        )
    )
