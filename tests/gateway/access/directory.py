"""A directory and a record in dictionaries, for tests of who may do what."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from core.errors import Unavailable
from core.event import AuditEvent
from core.ids import SYSTEM_TENANT, KeyId, NamespaceId, SpaceId, TenantId, UserId, new_uuid
from core.ports import (
    AdminView,
    Audience,
    KeyRow,
    MemberKind,
    MemberRole,
    Members,
    Membership,
    PolicyRow,
    Resolved,
    TenantKeys,
)
from core.scope import OperatorScope, Standing, TenantScope
from gateway.access.names import member_key, space_key
from gateway.vault.epochs import EpochKeys
from gateway.vault.inmemory import MemoryKeyStore
from gateway.vault.kek import StaticKek
from gateway.vault.keyring import KeyringService

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FakeDirectory:
    """Implements `core.ports.Directory` but for administration; counts what it is asked."""

    def __init__(self) -> None:
        self.rows: dict[KeyId, KeyRow] = {}
        self.users: dict[tuple[TenantId, bytes], UserId] = {}
        self.namespaces: dict[tuple[TenantId, bytes], NamespaceId] = {}
        self.sealed: dict[NamespaceId, bytes] = {}
        self.spaces: dict[tuple[TenantId, bytes], tuple[SpaceId, Audience]] = {}
        self.members: dict[tuple[TenantId, bytes, MemberKind, bytes], MemberRole] = {}
        self.standings: dict[TenantId, Standing] = {}
        self.policies: dict[tuple[TenantId, str], PolicyRow] = {}
        self.policies_read = 0
        self.looked_up: list[KeyId] = []
        self.calls = 0
        self.down = False

    async def find_key(self, key: KeyId) -> KeyRow | None:
        self.looked_up.append(key)
        self._answer()
        return self.rows.get(key)

    def share(
        self,
        keys: TenantKeys,
        space: str,
        audience: Audience = Audience.MEMBERS,
        **roles: MemberRole,
    ) -> SpaceId:
        """Make a space and its members, named `kind__name`."""
        key = space_key(keys, space)
        made, _ = self.spaces.setdefault((keys.tenant, key), (SpaceId(new_uuid()), audience))
        for who, role in roles.items():
            kind, _, name = who.partition("__")
            member = member_key(keys, MemberKind(kind), name)
            self.members[keys.tenant, key, MemberKind(kind), member] = role
        return made

    async def resolve(
        self,
        tenant: TenantId,
        user: bytes,
        namespaces: Sequence[bytes] | None,
        members: Members = Members(),
    ) -> Resolved:
        self._answer()
        found = {
            key: namespace
            for (owner, key), namespace in self.namespaces.items()
            if owner == tenant and (namespaces is None or key in namespaces)
        }
        return Resolved(
            user=self.users.get((tenant, user)),
            namespaces=found,
            spaces=tuple(self._memberships(tenant, members)),
            standing=self.standings.get(tenant, Standing()),
        )

    def _memberships(self, tenant: TenantId, members: Members) -> Iterator[Membership]:
        for (owner, key), (space, audience) in self.spaces.items():
            roles = [
                role
                for (there, place, kind, member), role in self.members.items()
                if (there, place) == (owner, key) == (tenant, key)
                and (
                    member in members.keys
                    or (members.every_namespace and kind is MemberKind.NAMESPACE)
                )
            ]
            if roles:
                widest = MemberRole.WRITER if MemberRole.WRITER in roles else MemberRole.READER
                yield Membership(space=space, key=key, audience=audience, role=widest)

    async def standing(self, tenant: TenantId) -> Standing:
        self._answer()
        return self.standings.get(tenant, Standing())

    async def policy(self, tenant: TenantId, kind: str) -> PolicyRow | None:
        self._answer()
        self.policies_read += 1
        return self.policies.get((tenant, kind))

    async def ensure(
        self, tenant: TenantId, user: bytes, namespace: bytes, sealed_name: bytes
    ) -> tuple[UserId, NamespaceId]:
        self._answer()
        person = self.users.setdefault((tenant, user), UserId(new_uuid()))
        place = self.namespaces.setdefault((tenant, namespace), NamespaceId(new_uuid()))
        self.sealed.setdefault(place, sealed_name)
        return person, place

    async def namespace_names(self, tenant: TenantId) -> Mapping[NamespaceId, bytes]:
        self._answer()
        return {
            place: self.sealed[place]
            for (owner, _), place in self.namespaces.items()
            if owner == tenant
        }

    async def space_names(self, tenant: TenantId) -> Mapping[SpaceId, bytes]:
        raise NotImplementedError

    async def key_used(self, keys: Mapping[KeyId, datetime]) -> None:
        raise NotImplementedError

    async def rehash_key(self, key: KeyId, old_mac: bytes, new_mac: bytes, pepper: int) -> bool:
        raise NotImplementedError

    def admin(self, scope: TenantScope | OperatorScope) -> AbstractAsyncContextManager[AdminView]:
        raise NotImplementedError

    def _answer(self) -> None:
        self.calls += 1
        if self.down:
            raise Unavailable


class FakeLog:
    """The two methods of a record that take audit events."""

    def __init__(self) -> None:
        self.events: list[AuditEvent] = []
        self.down = False

    async def append(self, event: AuditEvent) -> None:
        if self.down:
            raise Unavailable
        self.events.append(event)

    async def now(self) -> datetime:
        if self.down:
            raise Unavailable
        return NOON


async def make_keyring(*tenants: TenantId) -> KeyringService:
    """Return a real keyring over dictionaries, with keys for the system and `tenants`."""
    keyring = KeyringService(MemoryKeyStore(), StaticKek(bytes(range(32))), EpochKeys.random())
    for tenant in (SYSTEM_TENANT, *tenants):
        await keyring.create_tenant(tenant)
    return keyring
