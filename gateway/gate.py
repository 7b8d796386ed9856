"""What the gateway's paths need, in one bundle, and the small values they share with the fronts.

Rules this module keeps:
- The composition root makes one `Gate`; paths take it as an argument, and nothing here is global.
- A front hands over what the caller wrote and gets values back; it decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from core.errors import GatewayError
from core.ids import KeyId, TenantId
from core.ports import Directory, Keyring, RecallStages, RecordStore, WriteStages
from core.ports.budgets import Left, Stored
from core.scope import Action, Call, Principal, Role, SourceKind

if TYPE_CHECKING:
    from gateway.access.enforcer import Enforcer
    from gateway.auth.keys import KeySmith
    from gateway.guard.in_force import Guards
    from gateway.guard.lanes import GuardLanes

T = TypeVar("T")


class Refusals(Protocol):
    """Records what was refused: one audit event, in a transaction of its own."""

    async def record(
        self,
        call: Call,
        action: Action,
        error: GatewayError,
        *,
        user_id: str | None = None,
        outcome: str | None = None,
    ) -> None:
        """Append the event. Raises: Unavailable, and then the caller gets that instead.

        Args:
            user_id: the person the call named, if it named one.
            outcome: what the log says, where that is more than the caller is told.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tightest:
    """The budget of a call that has the least left.

    Args:
        name: whose it is and of what, such as `key-requests`.
    """

    name: str
    left: Left


class Budget(Protocol):
    """How much a principal may spend in a window."""

    async def charge(
        self, call: Call, action: Action, *, units: int = 1, user_id: str | None = None
    ) -> None:
        """Spend what `action` costs, `units` times over.

        Raises: Throttled, Denied (nobody to charge), Unavailable (quotas that cannot be read).

        Args:
            user_id: the person it is about, as the caller named them.
        """
        ...

    async def concurrency(self, who: Principal, action: Action | None) -> int | None:
        """Return how many calls the tenant lets be open at once, None when it does not say.

        Args:
            action: what is asked; None while it is not known.

        Raises: Unavailable.
        """
        ...

    async def stored(self, who: Principal) -> Stored:
        """Return how many memories may be kept in all. Raises: Unavailable."""
        ...

    def tightest(self, request_id: str) -> Tightest | None:
        """Return the budget of a request that has the least left; once, and None for none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Everything the gateway's paths use."""

    access: "Enforcer"
    guards: "Guards"
    lanes: "GuardLanes"
    keys: "KeySmith"
    keyring: Keyring
    directory: Directory
    store: RecordStore
    write: WriteStages
    recall: RecallStages
    refusals: Refusals
    budget: Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """An `Idempotency-Key` and the request it stands for.

    Args:
        key: as the caller sent it, 1 to 128 characters.
        request: method, path and raw body; only a keyed digest of it is kept.
    """

    key: str = field(repr=False)
    request: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySpec:
    """What a new API key shall be allowed; None means all namespaces, people, or addresses.

    Args:
        owner: outside id of the person whose key it is; None for a key of nobody.
        addresses: networks it may be used from, in CIDR.
    """

    name: str
    roles: frozenset[Role]
    namespaces: tuple[str, ...] | None
    users: frozenset[str] | None = field(repr=False)
    ceiling: SourceKind = SourceKind.USER_DIRECT
    expires_at: datetime | None = None
    owner: str | None = field(default=None, repr=False)
    addresses: tuple[str, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInfo:
    """One API key as its tenant's administrator sees it; never the secret.

    Args:
        last_used_at: to the minute, some half a minute late; None before the first use.
    """

    id: KeyId
    spec: KeySpec
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key just made or rotated.

    Args:
        credential: shown once and kept nowhere.
        access_version: the version token of a rotation; None for a new key, which ends no right.
    """

    info: KeyInfo
    credential: str = field(repr=False)
    access_version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantInfo:
    """One tenant as the operator sees it."""

    id: TenantId
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTenant:
    """A tenant just made, with its administrator's credential, shown once."""

    info: TenantInfo
    admin: NewKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a list of memories asks for; names as the caller wrote them.

    Args:
        layer, kind, tag, state, session_id: conditions; None for none.
        limit: 1 to 200.
        cursor: sealed; from the page before, bound to the caller and to these conditions.
    """

    layer: str | None = None
    kind: str | None = None
    tag: str | None = field(default=None, repr=False)
    state: str | None = None
    limit: int = 50
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """What a list of audit events asks for."""

    since: datetime | None = None
    until: datetime | None = None
    user_id: str | None = field(default=None, repr=False)
    action: str | None = None
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[T]):
    """One page and the sealed cursor of the next; None at the end."""

    items: Sequence[T]
    next_cursor: str | None
