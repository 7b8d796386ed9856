"""Tenants and API keys as they look on the wire.

Rules this module keeps:
- A credential is in the one reply that made it.
- What a key may do is said in full when it is made; nothing is granted by leaving a field out.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.model import Json
from core.scope import Role, SourceKind
from gateway.front.wire import FromQuery, Identifier, Moment, Shown, Visible, Wire, shown_time
from gateway.front.wire_memory import MAX_PAGE, Cursor
from gateway.gate import KeyInfo, KeySpec, Listed, NewKey, NewTenant, TenantInfo

MAX_LABEL = 128
MAX_GRANTS = 256
MAX_ADDRESSES = 64
MAX_OVERLAP_SECONDS = 7 * 86_400
EVERY = "*"

Label = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LABEL), Visible]
GrantedRole = Literal["reader", "writer", "curator", "admin", "privacy", "auditor"]
Network = Annotated[str, StringConstraints(min_length=1, max_length=64), Visible]
Ceiling = Literal["user_direct", "agent_inferred", "tool_output", "document"]


class TenantBody(Wire):
    """A tenant to make."""

    name: Label


class TenantsQuery(Wire):
    """Which page of tenants."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE), FromQuery] = 100
    cursor: Cursor | None = None


class KeyBody(Wire):
    """An API key to make. `["*"]` is all namespaces, or all people.

    `owner` is the `user_id` of the person whose key it is: it never does what that person may not.
    `addresses` are the networks it may be used from, such as `192.0.2.0/24`; none is anywhere.
    """

    name: Label
    roles: list[GrantedRole] = Field(min_length=1, max_length=len(Role))
    namespaces: list[Identifier] = Field(min_length=1, max_length=MAX_GRANTS)
    users: list[Identifier] = Field(min_length=1, max_length=MAX_GRANTS)
    source_ceiling: Ceiling = "user_direct"
    expires_at: Moment | None = None
    owner: Identifier | None = None
    addresses: list[Network] | None = Field(default=None, min_length=1, max_length=MAX_ADDRESSES)

    def spec(self) -> KeySpec:
        """Return what the key shall be allowed, as the paths take it."""
        return KeySpec(
            name=self.name,
            roles=frozenset(Role(role) for role in self.roles),
            namespaces=None if self.namespaces == [EVERY] else tuple(self.namespaces),
            users=None if self.users == [EVERY] else frozenset(self.users),
            ceiling=SourceKind(self.source_ceiling),
            expires_at=self.expires_at,
            owner=self.owner,
            addresses=None if self.addresses is None else tuple(self.addresses),
        )


class RotateBody(Wire):
    """How long the secret of before still works."""

    overlap_seconds: Annotated[int, Field(ge=0, le=MAX_OVERLAP_SECONDS)] = 0


class NewTenantShown(Shown):
    """A tenant just made, with its administrator's key, shown once."""

    id: str
    name: str
    admin_key: str


class TenantShown(Shown):
    """A tenant."""

    id: str
    name: str
    created_at: str


class TenantsShown(Shown):
    """One page of tenants."""

    items: list[TenantShown]
    next_cursor: str | None


class KeyShown(Shown):
    """An API key, without its secret."""

    id: str
    name: str
    roles: list[GrantedRole]
    namespaces: list[str]
    users: list[str]
    source_ceiling: SourceKind
    expires_at: str | None
    owner: str | None
    addresses: list[str] | None
    created_at: str
    last_used_at: str | None
    revoked_at: str | None


class NewKeyShown(KeyShown):
    """An API key with its secret, shown once."""

    key: str


class KeysShown(Shown):
    """The tenant's keys."""

    items: list[KeyShown]
    next_cursor: str | None


def new_tenant_reply(made: NewTenant) -> dict[str, Json]:
    """Return a tenant just made."""
    return {
        "id": str(made.info.id),
        "name": made.info.name,
        "admin_key": made.admin.credential,
    }


def tenants_reply(page: Listed[TenantInfo]) -> dict[str, Json]:
    """Return one page of tenants."""
    items = [
        {"id": str(each.id), "name": each.name, "created_at": shown_time(each.created_at)}
        for each in page.items
    ]
    return {"items": items, "next_cursor": page.next_cursor}


def key_reply(info: KeyInfo) -> dict[str, Json]:
    """Return an API key, without its secret."""
    spec = info.spec
    return {
        "id": str(info.id),
        "name": spec.name,
        "roles": sorted(role.value for role in spec.roles),
        "namespaces": [EVERY] if spec.namespaces is None else list(spec.namespaces),
        "users": [EVERY] if spec.users is None else sorted(spec.users),
        "source_ceiling": spec.ceiling.value,
        "expires_at": shown_time(spec.expires_at),
        "owner": spec.owner,
        "addresses": None if spec.addresses is None else list(spec.addresses),
        "created_at": shown_time(info.created_at),
        "last_used_at": shown_time(info.last_used_at),
        "revoked_at": shown_time(info.revoked_at),
    }


def new_key_reply(made: NewKey) -> dict[str, Json]:
    """Return an API key with its secret."""
    return key_reply(made.info) | {"key": made.credential}


def keys_reply(keys: list[KeyInfo]) -> dict[str, Json]:
    """Return the tenant's keys."""
    return {"items": [key_reply(each) for each in keys], "next_cursor": None}
