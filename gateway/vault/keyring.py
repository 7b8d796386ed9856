"""The keyring: fetches wrapped keys, unwraps them, and forgets them again.

Rules this module keeps:
- An unwrapped key lives here at most 300 seconds. When the key store or the root KEK is gone,
  cached keys serve until then; after that the answer is Unavailable.
- A key that does not unwrap is Unavailable, not Tampered: nothing of a person's is judged by it.
- Every wrap is bound to whose key it is, and to its version.
- What is kept about a person in a space whose members are people has a DEK of its own, random, of
  (space, person), and the look-up secret of the space.
- Making a key is safe under races between processes: add if there is none, then read what is there.
- Service secrets are random and independent: a new root KEK voids none of them.
"""

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from weakref import WeakValueDictionary

from core.errors import Conflict, NotFound, Tampered, Unavailable
from core.ids import TenantId
from core.model import Owner
from gateway.vault.cache import KeyCache
from gateway.vault.envelope import ROOT_ID_BYTES, Versions
from gateway.vault.epochs import Epochs
from gateway.vault.kek import Kek
from gateway.vault.labels import PEPPER, ServiceKey
from gateway.vault.owner_keys import (
    OWNER_SECRET_BYTES,
    OwnerVersionKey,
    SealCount,
    UnwrappedOwnerKeys,
)
from gateway.vault.rows import (
    KeyState,
    KeyStore,
    OwnerKeyRow,
    OwnerVersion,
    ServiceKeyRow,
    TenantKeyRow,
    belongs,
)
from gateway.vault.secret import SECRET_BYTES, Secret
from gateway.vault.services import ServiceSecrets
from gateway.vault.tenant_keys import TENANT_SECRET_BYTES, TenantVersionKey, UnwrappedTenantKeys
from gateway.vault.tlv import encode

LONGEST_CACHE_SECONDS = 300.0
_FLUSH_SECONDS = 30.0
_SERVICE_KEYS_CACHED = 64
_TRIES = 4
_LOG = logging.getLogger(__name__)


class KeyringService:
    """Implements `core.ports.Keyring`, and hands service secrets to the gateway.

    Args:
        store: where wrapped keys are kept.
        kek: wraps tenants' and service secrets.
        epochs: wrap everything of tenants and owners once more.
        cache_seconds: how long a key stays unwrapped; over 0, at most 300.
        max_owners, max_tenants: how many stay unwrapped at once.
        monotonic: seconds, never going back.
    """

    def __init__(
        self,
        store: KeyStore,
        kek: Kek,
        epochs: Epochs,
        *,
        cache_seconds: float = LONGEST_CACHE_SECONDS,
        max_owners: int = 10_000,
        max_tenants: int = 1_000,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 0 < cache_seconds <= LONGEST_CACHE_SECONDS:
            raise ValueError("keys are cached for at most 300 seconds")
        self._store = store
        self._kek = kek
        self._epochs = epochs
        self._monotonic = monotonic
        self._tenants: KeyCache[TenantId, UnwrappedTenantKeys] = KeyCache(
            ttl_seconds=cache_seconds, size=max_tenants, monotonic=monotonic
        )
        self._owners: KeyCache[Owner, UnwrappedOwnerKeys] = KeyCache(
            ttl_seconds=cache_seconds, size=max_owners, monotonic=monotonic
        )
        self._services: KeyCache[str, ServiceSecrets] = KeyCache(
            ttl_seconds=cache_seconds, size=_SERVICE_KEYS_CACHED, monotonic=monotonic
        )
        # Counts outlive the cache: keys evicted in use must go on counting in the same place.
        self._counts: WeakValueDictionary[OwnerVersion, SealCount] = WeakValueDictionary()
        self._dirty: dict[OwnerVersion, SealCount] = {}
        self._flushed = monotonic()

    async def tenant(self, tenant: TenantId) -> UnwrappedTenantKeys:
        """Return the tenant's keys. Raises: NotFound (no such tenant), Unavailable."""
        keys = await self._tenants.get(tenant, partial(self._load_tenant, tenant))
        if keys is None:
            raise NotFound
        return keys

    async def create_tenant(self, tenant: TenantId) -> UnwrappedTenantKeys:
        """Make the tenant's first key version. Raises: Conflict, Unavailable."""
        context = _tenant_context(tenant, 1)
        wrapped = await self._kek.wrap(secrets.token_bytes(TENANT_SECRET_BYTES), context)
        epoch = self._epochs.current()
        row = TenantKeyRow(
            version=1,
            wrapped=self._epochs.wrap(epoch, wrapped, context),
            kek_id=self._kek.id,
            epoch=epoch,
            state=KeyState.ACTIVE,
        )
        if not await self._store.add_tenant_key(tenant, row):
            raise Conflict("The tenant has keys already.")
        return await self.tenant(tenant)

    async def owner(self, owner: Owner) -> UnwrappedOwnerKeys | None:
        """Return the owner's keys, or None when it has none. Raises: Unavailable."""
        return await self._owners.get(owner, partial(self._load_owner, owner))

    async def ensure_owner(self, owner: Owner) -> UnwrappedOwnerKeys:
        """Return the owner's keys, made if there are none; one version however many ask at once.

        Raises:
            NotFound: no such tenant.
            Unavailable: the key store or a provider of keys does not answer.
        """
        keys = await self.owner(owner)
        tries = 0
        # A plain look-up already under way may answer, with None, for the one that makes them.
        while keys is None:
            if tries == _TRIES:
                raise Unavailable("An owner's keys could not be made.")
            tries += 1
            keys = await self._owners.get(owner, partial(self._make_owner, owner))
        return keys

    async def destroy_owner(self, owner: Owner) -> int:
        """Destroy every version of an owner's keys that is not held; returns how many.

        A space without a person takes the keys of everybody in it along. Forgotten here at once;
        other processes forget them within `cache_seconds`.

        Raises: Unavailable.
        """
        destroyed = await self._store.destroy_owner(owner)
        self._owners.drop_all(lambda kept: belongs(kept, owner))
        return destroyed

    async def pepper(self, version: int | None = None) -> tuple[int, bytes]:
        """Return a pepper of API keys and its version; None for the newest, made on first use.

        Raises:
            Unavailable: also when that version is not here.
        """
        peppers = await self.peppers()
        if version is not None and version not in peppers.versions:
            self._services.drop(PEPPER)  # made by another process since
            peppers = await self.peppers()
        return peppers.pepper(version)

    async def peppers(self) -> ServiceSecrets:
        """Return every pepper of API keys, for callers that cannot wait; the first is made here.

        Raises:
            Unavailable: the key store or the root KEK does not answer.
        """
        return await self._service(PEPPER)

    async def rotate_pepper(self) -> int:
        """Make a new pepper of API keys; returns its version.

        Keys go on proving under the older ones. Processes that run hear of it within some minutes,
        or when they meet a key that is hashed under it.

        Raises:
            Conflict: another process rotated at this very moment.
            Unavailable: the key store or the root KEK does not answer.
        """
        await self.peppers()  # so that there is a first one
        self._services.drop(PEPPER)
        version = max((await self.peppers()).versions) + 1
        context = _service_context(PEPPER, version)
        wrapped = await self._kek.wrap(secrets.token_bytes(SECRET_BYTES), context)
        row = ServiceKeyRow(version=version, wrapped=wrapped, kek_id=self._kek.id)
        if not await self._store.add_service_key(PEPPER, row):
            raise Conflict("Another process rotated the pepper just now.")
        self._services.drop(PEPPER)
        return version

    async def service_secret(self, name: ServiceKey | str) -> Secret:
        """Return a service secret, made on first use; its `mac` serves the audit writer.

        Raises:
            ValueError: no such service secret.
            Unavailable: the key store or the root KEK does not answer.
        """
        return (await self._service(ServiceKey(name).value)).newest

    async def service_key(self, name: ServiceKey | str) -> bytes:
        """Return the 32 bytes of a service secret; Ed25519 takes them as its seed.

        Raises: as `service_secret`.
        """
        return bytes((await self.service_secret(name)).value)

    async def flush(self) -> None:
        """Write down how often keys sealed since the last time. Raises: Unavailable."""
        self._flushed = self._monotonic()
        # Taken before the store is asked, so that two flushes never write the same seals down.
        taken = {key: (count, count.take()) for key, count in self._dirty.items()}
        self._dirty.clear()
        if not taken:
            return
        try:
            await self._store.count_seals({key: number for key, (_, number) in taken.items()})
        except BaseException:
            for count, number in taken.values():
                count.put_back(number)
            raise

    async def close(self) -> None:
        """Write down the counts and forget every key."""
        self._tenants.clear()
        self._owners.clear()
        self._services.clear()
        await self.flush()

    async def _load_tenant(self, tenant: TenantId) -> UnwrappedTenantKeys | None:
        rows = await self._store.tenant_keys(tenant)
        keys: dict[int, TenantVersionKey] = {}
        lookup_secret: Secret | None = None
        current: int | None = None
        for row in rows:
            if row.state is KeyState.DESTROYED:
                continue
            both = await self._unwrap_tenant(tenant, row)
            keys[row.version] = TenantVersionKey(
                kek=Secret(both[:SECRET_BYTES]), root=_short(row.kek_id)
            )
            if row.state.seals:
                current, lookup_secret = row.version, Secret(both[SECRET_BYTES:])
        if current is None or lookup_secret is None:
            return None
        return UnwrappedTenantKeys(tenant, keys, lookup_secret, current)

    async def _unwrap_tenant(self, tenant: TenantId, row: TenantKeyRow) -> bytes:
        context = _tenant_context(tenant, row.version)
        try:
            once = self._epochs.unwrap(row.epoch, row.wrapped, context)
            return await self._kek.unwrap(once, context)
        except Tampered as err:
            raise _does_not_unwrap("tenant") from err

    async def _load_owner(self, owner: Owner) -> UnwrappedOwnerKeys | None:
        if self._monotonic() - self._flushed > _FLUSH_SECONDS:
            await self.flush()
        return await self._unwrap_owner(owner, await self._store.owner_keys(owner))

    async def _make_owner(self, owner: Owner) -> UnwrappedOwnerKeys | None:
        tenant = await self.tenant(owner.tenant)
        if owner.person is not None:  # its look-ups are the space's
            await self.ensure_owner(_without_person(owner))
        rows = await self._store.owner_keys(owner)
        if all(row.state is KeyState.DESTROYED for row in rows):
            # A person who comes back gets the next version and shares nothing with the one before.
            version = max((row.version for row in rows), default=0) + 1
            context = _owner_context(owner, version)
            epoch = self._epochs.current()
            wrapped = tenant.wrap(secrets.token_bytes(_secret_bytes(owner)), context)
            row = OwnerKeyRow(
                version=version,
                wrapped=self._epochs.wrap(epoch, wrapped, context),
                tenant_version=tenant.version,
                epoch=epoch,
                op_count=0,
                state=KeyState.ACTIVE,
            )
            await self._store.add_owner_key(owner, row)  # whoever won, the next line reads it
            rows = await self._store.owner_keys(owner)
        return await self._unwrap_owner(owner, rows)

    async def _unwrap_owner(
        self, owner: Owner, rows: Sequence[OwnerKeyRow]
    ) -> UnwrappedOwnerKeys | None:
        living = [row for row in rows if row.state is not KeyState.DESTROYED]
        if not living:
            return None
        try:
            tenant = await self.tenant(owner.tenant)
        except NotFound as err:  # the tenant's keys are destroyed, and its owners' with them
            raise Unavailable("The tenant of these keys has none.") from err
        keys: dict[int, OwnerVersionKey] = {}
        lookup_secret: Secret | None = None
        if owner.person is not None:
            space = await self.owner(_without_person(owner))
            if space is None:
                return None
            lookup_secret = space.lookup_secret
        for row in living:
            context = _owner_context(owner, row.version)
            try:
                once = self._epochs.unwrap(row.epoch, row.wrapped, context)
                unwrapped = tenant.unwrap(row.tenant_version, once, context)
            except Tampered as err:
                raise _does_not_unwrap("owner") from err
            if not owner.is_space or owner.person is None:
                lookup_secret = Secret(unwrapped[-SECRET_BYTES:])  # the newest; rotations carry it
            if owner.is_space and owner.person is None:
                continue  # it seals nothing
            versions = Versions(
                root=tenant.root_of(row.tenant_version),
                tenant=row.tenant_version,
                owner=row.version,
            )
            dek = Secret(unwrapped[:SECRET_BYTES])
            keys[row.version] = OwnerVersionKey(dek=dek, versions=versions)
        newest = living[-1]
        current = newest.version if newest.state.seals and keys else None
        count = None if current is None else self._count(owner, newest)
        assert lookup_secret is not None  # noqa: S101 - `living` is not empty
        return UnwrappedOwnerKeys(owner, keys, lookup_secret, current, count)

    def _count(self, owner: Owner, row: OwnerKeyRow) -> SealCount:
        key = (owner, row.version)
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = SealCount(key, row.op_count, self._dirty)
        else:  # other processes seal under the same key
            count.total = max(count.total, row.op_count + count.pending)
        return count

    async def _service(self, name: str) -> ServiceSecrets:
        found = await self._services.get(name, partial(self._load_service, name))
        if found is None:  # pragma: no cover - the load makes what is missing
            raise Unavailable
        return found

    async def _load_service(self, name: str) -> ServiceSecrets:
        rows = await self._store.service_keys(name)
        if not rows:
            context = _service_context(name, 1)
            wrapped = await self._kek.wrap(secrets.token_bytes(SECRET_BYTES), context)
            made = ServiceKeyRow(version=1, wrapped=wrapped, kek_id=self._kek.id)
            await self._store.add_service_key(name, made)  # as for owners: whoever won
            rows = await self._store.service_keys(name)
        versions: dict[int, Secret] = {}
        for row in rows:
            context = _service_context(name, row.version)
            try:
                versions[row.version] = Secret(await self._kek.unwrap(row.wrapped, context))
            except Tampered as err:
                raise _does_not_unwrap("service") from err
        return ServiceSecrets(versions)


def _does_not_unwrap(kind: str) -> Unavailable:
    # Told without a name: the root KEK or an epoch key is another one, or the row was changed.
    _LOG.error("a stored %s key does not unwrap", kind)
    return Unavailable("A stored key does not unwrap.")


def _short(kek_id: str) -> bytes:
    return sha256(kek_id.encode()).digest()[:ROOT_ID_BYTES]


def _tenant_context(tenant: TenantId, version: int) -> bytes:
    return encode(b"tenant", tenant.bytes, version.to_bytes(8))


def _owner_context(owner: Owner, version: int) -> bytes:
    kind = b"space" if owner.is_space else b"user"
    about = () if owner.person is None else (owner.person.bytes,)
    return encode(b"owner", owner.tenant.bytes, kind, owner.id.bytes, *about, version.to_bytes(8))


def _without_person(owner: Owner) -> Owner:
    return Owner(tenant=owner.tenant, id=owner.id, is_space=owner.is_space)


def _secret_bytes(owner: Owner) -> int:
    """Return how much is random of an owner: a space has no DEK, a person in it no look-ups."""
    return SECRET_BYTES if owner.is_space else OWNER_SECRET_BYTES


def _service_context(name: str, version: int) -> bytes:
    return encode(b"service", name.encode(), version.to_bytes(8))
