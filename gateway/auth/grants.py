"""What an API key may touch, as it is sealed into its row.

Rules this module keeps:
- The names in it (namespaces, people) stand nowhere in clear; they are sealed under the tenant's
  key, and those of an operator's key, which has no tenant, under the system tenant's.
- The envelope is bound to the key's id, its roles, its ceiling and its expiry: whoever edits those
  columns in the database, or moves grants between rows or tenants, ends the key.
- What does not read exactly as it was written opens nothing. Grants that were sealed before owners
  and addresses were among them have neither.
"""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self
from uuid import UUID

from core.errors import Tampered
from core.ids import SYSTEM_TENANT, KeyId, TenantId
from core.ports import KeyRow, Place, TenantKeys
from core.scope import Role, SourceKind

_FIRST = frozenset({"name", "namespaces", "users"})
_FIELDS = _FIRST | {"owner", "addresses"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """The sealed part of an API key.

    Args:
        name: what its administrator calls it.
        namespaces: names it may use, its default first; None means every one of the tenant.
        users: outside ids of people it may act for; None means everybody of the tenant.
        owner: outside id of the person whose key it is; None for a key of nobody.
        addresses: networks it may be used from, in CIDR; None means anywhere.
    """

    name: str
    namespaces: tuple[str, ...] | None = field(default=None, repr=False)
    users: frozenset[str] | None = field(default=None, repr=False)
    owner: str | None = field(default=None, repr=False)
    addresses: tuple[str, ...] | None = field(default=None, repr=False)

    def to_bytes(self) -> bytes:
        """Return the JSON form that is sealed."""
        values = {
            "name": self.name,
            "namespaces": None if self.namespaces is None else list(self.namespaces),
            "users": None if self.users is None else sorted(self.users),
            "owner": self.owner,
            "addresses": None if self.addresses is None else list(self.addresses),
        }
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Return what `to_bytes` wrote, now or before; decode after encode is identity.

        Raises:
            Tampered: anything else, a missing or additional field included.
        """
        try:
            values = json.loads(data)
        except ValueError as err:
            raise Tampered from err
        if not isinstance(values, dict) or values.keys() not in (_FIRST, _FIELDS):
            raise Tampered
        name, owner = values["name"], values.get("owner")
        if not isinstance(name, str) or not isinstance(owner, str | None):
            raise Tampered
        namespaces, users = _texts(values["namespaces"]), _texts(values["users"])
        return cls(
            name=name,
            namespaces=namespaces,
            users=None if users is None else frozenset(users),
            owner=owner,
            addresses=_texts(values.get("addresses")),
        )


def keys_tenant(tenant: TenantId | None) -> TenantId:
    """Return the tenant under whose keys the grants of a key of `tenant` are sealed."""
    return SYSTEM_TENANT if tenant is None else tenant


def seal_grants(
    keys: TenantKeys,
    grants: Grants,
    *,
    key_id: KeyId,
    roles: frozenset[Role],
    ceiling: SourceKind,
    expires_at: datetime | None,
) -> bytes:
    """Return the envelope for `KeyRow.grants`.

    Args:
        keys: of the key's tenant, the system tenant's for an operator's key.
        grants: what to seal.
        key_id, roles, ceiling, expires_at: of the row; other values there will not open it.
    """
    return keys.seal(_place(key_id, roles, ceiling, expires_at), grants.to_bytes())


def open_grants(keys: TenantKeys, row: KeyRow) -> Grants:
    """Return the grants of `row`.

    Raises:
        Tampered: they were not sealed for this row as it stands.
    """
    place = _place(row.id, row.roles, row.ceiling, row.expires_at)
    return Grants.from_bytes(keys.open(place, row.grants))


def _place(
    key_id: KeyId, roles: frozenset[Role], ceiling: SourceKind, expires_at: datetime | None
) -> Place:
    # Keys have no UUID of their own; this one stands for the row's clear columns.
    until = None if expires_at is None else expires_at.astimezone(UTC).isoformat()
    bound = json.dumps(["api-key", 1, key_id, sorted(roles), ceiling, until]).encode()
    record = UUID(bytes=hashlib.sha256(bound).digest()[:16])
    return Place(record=record, version=1, field="grants")


def _texts(values: object) -> tuple[str, ...] | None:
    if values is None:
        return None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise Tampered
    return tuple(values)
