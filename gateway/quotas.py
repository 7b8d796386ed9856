"""A tenant's quotas: what they say, where they are kept, and how an administrator puts them.

Rules this module keeps:
- What is not named is not limited by the tenant; `null` lifts what a default would limit. Nobody is
  unlimited because something did not load: then the call is refused.
- Quotas are kept sealed under the tenant's key and bound to their version, which hashes them; that
  version is read with every credential, so that new quotas hold on every replica with the commit.
- What is cached is immutable: a tenant's quotas of one version.
"""

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, Self
from uuid import UUID

from core.errors import NotFound, Outdated, Tampered, Unavailable
from core.ids import TenantId
from core.ports import Directory, Keyring, Place, PolicyRow
from core.scope import Action, Call
from gateway.access.version_token import mint_version
from gateway.gate import Gate
from gateway.recording import record
from gateway.refusing import refusing

KIND = "quotas"
DEFAULT = "default"
"""Stands for every key, or every person, that is not named."""
MOST_CACHED = 1024
_VERSION_BYTES = 8

Measure = Literal["requests_per_minute", "writes_per_minute", "stored_memories", "concurrency"]
Allowance = Mapping[str, int | None]
"""Measure -> limit; None is unlimited, what is left out is for the next default to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """What one tenant may spend.

    Args:
        tenant: of the tenant as a whole.
        keys: of single keys by id, and of `default`.
        users: of each person, under `default`.
    """

    tenant: Allowance = field(default_factory=dict)
    keys: Mapping[str, Allowance] = field(default_factory=dict)
    users: Mapping[str, Allowance] = field(default_factory=dict)

    def of_key(self, key: str, measure: Measure, otherwise: int | None = None) -> int | None:
        """Return the limit of one key; `otherwise` where neither it nor the default has one."""
        for place in (self.keys.get(key, {}), self.keys.get(DEFAULT, {})):
            if measure in place:
                return place[measure]
        return otherwise

    def of_user(self, measure: Measure) -> int | None:
        """Return the limit of each person."""
        return self.users.get(DEFAULT, {}).get(measure)

    def to_bytes(self) -> bytes:
        """Return the JSON form that is sealed, the same for the same quotas."""
        values = {
            "tenant": dict(self.tenant),
            "keys": {name: dict(each) for name, each in self.keys.items()},
            "users": {name: dict(each) for name, each in self.users.items()},
        }
        return json.dumps(values, sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return what `to_bytes` wrote. Raises: Tampered (anything else)."""
        try:
            values = json.loads(data)
            made = cls(tenant=values["tenant"], keys=values["keys"], users=values["users"])
            whole = made.to_bytes() == data
        except (ValueError, LookupError, TypeError, AttributeError) as err:
            raise Tampered from err
        if not whole:
            raise Tampered
        return made


NONE = Quotas()
"""Of a tenant that has put none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """A tenant's quotas and their version; empty when it has put none.

    Args:
        access_version: the version token of having put them; None when they were only read.
    """

    quotas: Quotas
    version: str
    access_version: str | None = None


class QuotaBook:
    """Reads the quotas in force, each version once.

    Args:
        directory: keeps them sealed.
        keyring: opens them.
        most: versions kept in memory.
    """

    def __init__(self, directory: Directory, keyring: Keyring, *, most: int = MOST_CACHED) -> None:
        self._directory = directory
        self._keyring = keyring
        self._most = most
        self._opened: OrderedDict[tuple[TenantId, str], Quotas] = OrderedDict()

    async def read(self, tenant: TenantId, version: str) -> Quotas:
        """Return a tenant's quotas of `version`, which is what its standing says.

        Raises:
            Outdated: others are in force by now.
            Unavailable: they are not there, do not open, or their keeper does not answer.
        """
        if not version:
            return NONE
        known = self._opened.get((tenant, version))
        if known is not None:
            self._opened.move_to_end((tenant, version))
            return known
        row = await self._directory.policy(tenant, KIND)
        if row is None or row.version != version:
            raise Outdated
        try:
            keys = await self._keyring.tenant(tenant)
            found = _opened(row, keys.open(_place(version), row.sealed))
        except (Tampered, NotFound) as err:
            raise Unavailable from err
        self._opened[tenant, version] = found
        while len(self._opened) > self._most:
            self._opened.popitem(last=False)
        return found


async def put(gate: Gate, call: Call, quotas: Quotas) -> InForce:
    """Put quotas in force, whole. Raises: Denied, Throttled, Unavailable."""
    action = Action.QUOTA_WRITE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        keys = await gate.keyring.tenant(scope.tenant)
        data = quotas.to_bytes()
        version = _version(data)
        row = PolicyRow(kind=KIND, version=version, sealed=keys.seal(_place(version), data))
        async with gate.directory.admin(scope) as view:
            await view.put_policy(row)
            epoch = await view.epoch()
            await record(view, scope, version)
        token = mint_version(keys, epoch)
        return InForce(quotas=quotas, version=version, access_version=token)


async def get(gate: Gate, call: Call) -> InForce:
    """Return the quotas in force. Raises: Denied, Throttled, NotFound (tampered), Unavailable."""
    action = Action.QUOTA_READ
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            row = await view.policy(KIND)
            await record(view, scope, KIND)
        if row is None:
            return InForce(quotas=NONE, version="")
        opened = _opened(row, keys.open(_place(row.version), row.sealed))
        return InForce(quotas=opened, version=row.version)


def _opened(row: PolicyRow, data: bytes) -> Quotas:
    if _version(data) != row.version:
        raise Tampered
    return Quotas.from_bytes(data)


def _version(data: bytes) -> str:
    return sha256(data).hexdigest()[: 2 * _VERSION_BYTES]


def _place(version: str) -> Place:
    # Quotas have no UUID of their own; the version stands for one, so that none opens as another.
    record = UUID(bytes=sha256(f"{KIND}:{version}".encode()).digest()[:16])
    return Place(record=record, version=1, field="quotas")
