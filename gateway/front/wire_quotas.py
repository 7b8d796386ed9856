"""Quotas as they look on the wire.

Rules this module keeps:
- Every limit is a whole number from 0, or null for none; a limit that is left out is for the next
  default to say.
- A limit stands only where it can hold: how much is kept is counted by tenant and by key, how much
  goes on at once by tenant.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from core.model import Json
from gateway.front.wire import Shown, Wire
from gateway.quotas import InForce, Quotas

MAX_LIMIT = 1_000_000_000
MAX_KEYS = 1_000

Limit = Annotated[int, Field(ge=0, le=MAX_LIMIT)] | None
AtOnce = Annotated[int, Field(ge=1, le=MAX_LIMIT)] | None
Named = Annotated[
    str, StringConstraints(pattern=r"^(?:default|[a-z2-7]{16}|token-[0-9a-f]{16,64})$")
]
"""An API key's id, a token's, or `default` for all that are not named."""


class Rates(Wire):
    """Units of requests, and writes, in any 60 seconds."""

    requests_per_minute: Limit = None
    writes_per_minute: Limit = None


class KeyQuota(Rates):
    """What one key may spend, and how many memories it may keep."""

    stored_memories: Limit = None


class TenantQuota(KeyQuota):
    """What the tenant may spend and keep, and how many requests it may have open at once."""

    concurrency: AtOnce = None


class QuotasBody(Wire):
    """Quotas to put in force, whole: what is left out is not limited any more."""

    tenant: TenantQuota = TenantQuota()
    keys: dict[Named, KeyQuota] = Field(default={}, max_length=MAX_KEYS)
    users: dict[Literal["default"], Rates] = Field(default={})

    def quotas(self) -> Quotas:
        """Return them as the paths take them."""
        return Quotas(
            tenant=self.tenant.model_dump(exclude_unset=True),
            keys={name: each.model_dump(exclude_unset=True) for name, each in self.keys.items()},
            users={name: each.model_dump(exclude_unset=True) for name, each in self.users.items()},
        )


class RatesShown(Shown):
    """Limits of rates; one that is left out is not set here."""

    requests_per_minute: int | None = None
    writes_per_minute: int | None = None


class KeyQuotaShown(RatesShown):
    """Limits of one key, or of every key that is not named."""

    stored_memories: int | None = None


class TenantQuotaShown(KeyQuotaShown):
    """Limits of the tenant."""

    concurrency: int | None = None


class QuotasShown(Shown):
    """The quotas in force; `version` is empty while none were put."""

    tenant: TenantQuotaShown
    keys: dict[str, KeyQuotaShown]
    users: dict[str, RatesShown]
    version: str


def quotas_reply(found: InForce) -> dict[str, Json]:
    """Return the quotas in force."""
    quotas = found.quotas
    return {
        "tenant": dict(quotas.tenant),
        "keys": {name: dict(each) for name, each in quotas.keys.items()},
        "users": {name: dict(each) for name, each in quotas.users.items()},
        "version": found.version,
    }
