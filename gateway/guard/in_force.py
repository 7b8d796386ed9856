"""Which guard checks whose texts: each tenant's own, read when somebody asks.

Rules this module keeps:
- The versions in force are what the tenant's standing said when the credential was verified. A
  policy of one version never changes, so a guard of its versions is kept between requests.
- A policy that is missing, does not open, does not read, or is of another version than it says ends
  the call. What was shipped never stands in for a tenant's own.
- A document is sealed under the tenant's key and bound to its kind and its version: another
  tenant's, another kind's or an older one does not open in its place.
- What an administrator names while changing a policy is checked as shipped, so that nobody's own
  rules keep them from mending these.
"""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NoReturn
from uuid import UUID

from core.errors import NotFound, Outdated, Tampered, Unavailable
from core.ids import TenantId
from core.model import Json
from core.ports import Directory, Keyring, Place, PolicyRow, TenantKeys
from core.scope import Principal
from gateway.guard.guard import Guard
from gateway.guard.overlay import PII, SECRETS, Own, Shipped, parse, try_cases, version_of
from gateway.guard.policy_file import PolicyInvalid
from gateway.version_cache import VersionCache

log = logging.getLogger(__name__)

MAX_TENANTS: Final = 256
"""Tenants whose own guards are kept: with 64 patterns of their own, each is a megabyte."""


class Guards:
    """Finds the guard of a tenant.

    Args:
        shipped: for whoever has no policy of their own, and under everybody's own.
        directory: holds the tenants' own, sealed.
        keyring: opens them.
        clock: monotonic seconds.
        most: tenants kept at once.
    """

    def __init__(
        self,
        shipped: Shipped,
        directory: Directory,
        keyring: Keyring,
        *,
        clock: Callable[[], float] = time.monotonic,
        most: int = MAX_TENANTS,
    ) -> None:
        self.shipped = shipped
        self._directory = directory
        self._keyring = keyring
        self._kept: VersionCache[Guard] = VersionCache(clock=clock, most=most)

    def __len__(self) -> int:
        """How many tenants' own guards are kept."""
        return len(self._kept)

    async def of(self, principal: Principal) -> Guard:
        """Return the guard of what `principal` says and asks.

        Raises:
            Outdated: a policy was replaced since the credential was verified.
            Unavailable: one does not load, or the directory or the keys do not answer.
        """
        tenant, standing = principal.tenant, principal.standing
        if tenant is None or not (standing.pii or standing.secrets):
            return self.shipped.guard
        version = f"{standing.pii}:{standing.secrets}"
        return await self._kept.get(
            tenant, version, partial(self._read, tenant, standing.pii, standing.secrets)
        )

    def compiled(self, kind: str, document: Mapping[str, Json]) -> Own:
        """Return what `document` would be, its cases tried.

        Raises:
            PolicyInvalid: it is refused; each fault names its place, never a value.
        """
        own = parse(kind, document, self.shipped, self.shipped.guard)
        try_cases(kind, own)
        return own

    def opened(self, row: PolicyRow, keys: TenantKeys) -> tuple[Mapping[str, Json], str]:
        """Return the document in `row`, and the version of what was shipped when it was put.

        Raises:
            Tampered: it is not what was put, or not of the version that the row says.
        """
        put = json.loads(keys.open(_place(row.kind, row.version), row.sealed))
        document, shipped = put["document"], put["shipped"]
        if row.version and row.version != version_of(document):
            raise Tampered
        return document, shipped

    def sealed(
        self, kind: str, document: Mapping[str, Json], version: str, keys: TenantKeys
    ) -> PolicyRow:
        """Return `document` as the record keeps it; `version` is empty where it says nothing."""
        put = {"shipped": self.shipped.version, "document": document}
        data = json.dumps(put, ensure_ascii=False).encode()
        return PolicyRow(kind=kind, version=version, sealed=keys.seal(_place(kind, version), data))

    async def _read(self, tenant: TenantId, pii: str, secrets: str) -> Guard:
        rows = []
        for kind, version in ((SECRETS, secrets), (PII, pii)):
            if version:
                row = await self._directory.policy(tenant, kind)
                if row is None:
                    _does_not_load("it is not there", None)
                if row.version != version:
                    raise Outdated
                rows.append(row)
        try:
            keys = await self._keyring.tenant(tenant)
            # Patterns to compile and, after an upgrade, cases to try: not on the event loop.
            return await asyncio.to_thread(self._load, rows, keys)
        except NotFound as err:
            raise Unavailable from err
        except (Tampered, PolicyInvalid, ValueError, KeyError, TypeError) as err:
            _does_not_load(type(err).__name__, err)

    def _load(self, rows: list[PolicyRow], keys: TenantKeys) -> Guard:
        guard = self.shipped.guard
        for row in rows:
            document, shipped = self.opened(row, keys)
            own = parse(row.kind, document, self.shipped, guard)
            if shipped != self.shipped.version:
                # A release brought other rules. What the tenant said comes out of theirs and its
                # own together may have changed, which somebody should see.
                _try_again(row.kind, own)
            guard = own.guard
        return guard


def _place(kind: str, version: str) -> Place:
    record = UUID(bytes=hashlib.sha256(f"{kind}:{version}".encode()).digest()[:16])
    return Place(record=record, version=1, field="policy")


def _try_again(kind: str, own: Own) -> None:
    try:
        try_cases(kind, own)
    except PolicyInvalid as err:
        log.error(  # noqa: TRY400 - a trace would show the cases
            "cases of a tenant's policy fail over this release's: %d", len(err.faults)
        )


def _does_not_load(why: str, cause: Exception | None) -> NoReturn:
    log.error("a guard policy of a tenant does not load: %s", why)
    raise Unavailable from cause
