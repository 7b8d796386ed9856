"""Which policy decides for whom: each tenant's own, read when somebody asks.

Rules this module keeps:
- The version in force is what the tenant's standing said when the credential was verified. A policy
  of that version never changes, so it is the one thing about rights that is kept between requests.
- A policy that is missing, does not open, does not read, or is of another version than it says ends
  the call. The base policy never stands in for a tenant's own.
- A bounded number of tenants is kept (`gateway.version_cache`).
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

from core.errors import Invalid, NotFound, Outdated, Tampered, Unavailable
from core.ids import TenantId
from core.model import Json
from core.ports import Directory, Keyring, Place, PolicyRow, TenantKeys
from core.scope import Principal
from gateway.access.loader import MODEL
from gateway.access.overlay import Overlay, compiled, parse, try_cases, version_of
from gateway.access.policy import Policy
from gateway.access.rules import Rules
from gateway.version_cache import VersionCache

log = logging.getLogger(__name__)

KIND: Final = "access"
MAX_TENANTS: Final = 1_024


class Policies:
    """Finds the policy of a tenant.

    Args:
        base: the rules of the deployment.
        directory: holds the tenants' own, sealed.
        keyring: opens them.
        clock: monotonic seconds.
        most: tenants kept at once.
    """

    def __init__(
        self,
        base: Rules,
        directory: Directory,
        keyring: Keyring,
        *,
        clock: Callable[[], float] = time.monotonic,
        most: int = MAX_TENANTS,
    ) -> None:
        self.base = Policy(base)
        self._directory = directory
        self._keyring = keyring
        self._kept: VersionCache[Policy] = VersionCache(clock=clock, most=most)

    def __len__(self) -> int:
        """How many tenants' own policies are kept."""
        return len(self._kept)

    async def of(self, principal: Principal) -> Policy:
        """Return the policy in force for `principal`.

        Raises:
            Outdated: it was replaced since the credential was verified.
            Unavailable: it does not load, or the directory or the keys do not answer.
        """
        tenant, version = principal.tenant, principal.standing.policy
        if tenant is None or not version:
            return self.base
        return await self._kept.get(tenant, version, partial(self._read, tenant, version))

    def compiled(self, document: Mapping[str, Json], keys: TenantKeys) -> Policy:
        """Return the policy that `document` would be, its cases tried.

        Raises:
            NamesInvalid: it is refused; each fault names its place, never a value.
        """
        version = version_of(self.base.version, document)
        overlay = parse(document)
        policy = compiled(overlay, self.base.base, MODEL, keys, version)
        try_cases(policy, overlay, keys)
        return policy

    def opened(self, row: PolicyRow, keys: TenantKeys) -> tuple[Mapping[str, Json], str]:
        """Return the document in `row`, and the version of the base policy it was put over.

        Raises:
            Tampered: it is not what was put, or not of the version that the row says.
        """
        put = json.loads(keys.open(_place(row.version), row.sealed))
        document, base = put["document"], put["base"]
        if row.version and row.version != version_of(base, document):
            raise Tampered
        return document, base

    def sealed(self, document: Mapping[str, Json], version: str, keys: TenantKeys) -> PolicyRow:
        """Return `document` as the record keeps it."""
        put = json.dumps({"base": self.base.version, "document": document}, ensure_ascii=False)
        return PolicyRow(
            kind=KIND, version=version, sealed=keys.seal(_place(version), put.encode())
        )

    async def _read(self, tenant: TenantId, version: str) -> Policy:
        row = await self._directory.policy(tenant, KIND)
        if row is None:
            _does_not_load("it is not there", None)
        if row.version != version:
            raise Outdated
        try:
            keys = await self._keyring.tenant(tenant)
            # Some thousand keyed hashes: not on the loop that everybody else waits for.
            policy = await asyncio.to_thread(self._load, row, keys)
        except NotFound as err:
            raise Unavailable from err
        except (Tampered, Invalid, ValueError, KeyError, TypeError) as err:
            _does_not_load(type(err).__name__, err)
        return policy

    def _load(self, row: PolicyRow, keys: TenantKeys) -> Policy:
        document, base = self.opened(row, keys)
        current = self.base.version
        overlay = parse(document, with_cases=base != current)
        if base == current:
            return compiled(overlay, self.base.base, MODEL, keys, row.version)
        # A release brought another base policy. Both parts are checked rules; what the tenant said
        # it expects of them together may have changed, which somebody should see.
        policy = compiled(overlay, self.base.base, MODEL, keys, version_of(current, document))
        failing = _failing(policy, overlay, keys)
        if failing:
            log.error("cases of a tenant's access policy fail over this release's: %d", failing)
        return policy


def _place(version: str) -> Place:
    # Bound to its version: an older policy put back under a newer version's name does not open.
    record = UUID(bytes=hashlib.sha256(f"{KIND}:{version}".encode()).digest()[:16])
    return Place(record=record, version=1, field="policy")


def _failing(policy: Policy, overlay: Overlay, keys: TenantKeys) -> int:
    try:
        try_cases(policy, overlay, keys)
    except Invalid as err:
        return len(err.faults)
    return 0


def _does_not_load(why: str, cause: Exception | None) -> NoReturn:
    log.error("the access policy of a tenant does not load: %s", why)
    raise Unavailable from cause
