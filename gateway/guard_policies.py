"""A tenant's own policies for personal data and for secrets: put and read; each path top to bottom.

Rules this module keeps:
- A policy that fails its lint or its own cases is refused, and the one before stays in force.
- It is swapped whole, in the transaction of its audit event, under a new epoch of the tenant's
  rights: what was guarded under the one before does not commit.
- What is kept already stays as it was guarded; a new policy neither cleans nor reveals it.
- Texts of cases are tried and sealed, and go nowhere else.
"""

import json
from collections.abc import Mapping
from functools import partial

from core.errors import NamesInvalid, TooLarge
from core.model import Json
from core.scope import Action, Call
from gateway.access.version_token import mint_version
from gateway.gate import Gate
from gateway.guard.guard import Guard
from gateway.guard.overlay import EMPTY, MAX_BYTES, Own, version_of
from gateway.guard.policy_file import PolicyInvalid
from gateway.policies import PutPolicy
from gateway.recording import record
from gateway.refusing import refusing

_HEAVY = 1 << 15
"""Characters that a policy counts as, where the guard works: compiling it and trying its cases take
about as long as a text of this length."""


async def put(gate: Gate, call: Call, kind: str, document: Mapping[str, Json]) -> PutPolicy:
    """Put the tenant's policy of a kind in force, whole; one that says nothing leaves what was
    shipped.

    Args:
        kind: `pii` or `secrets` (`gateway.guard.overlay`).
        document: at most 1 MiB as JSON.

    Raises:
        Invalid: it is refused; each fault names its place.
        TooLarge, ContentRejected, Denied, Outdated, Unavailable: nothing was put.
    """
    action = Action.POLICY_WRITE
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        if len(json.dumps(document, ensure_ascii=False).encode()) > MAX_BYTES:
            raise TooLarge("A policy has at most 1 MiB.", field="rules")
        keys = await gate.keyring.tenant(scope.tenant)
        own = await gate.lanes.run(scope.tenant, _HEAVY, partial(_tried, gate, kind, document))
        version = "" if own.empty else version_of(document)
        async with gate.directory.admin(scope) as view:
            await view.put_policy(gate.guards.sealed(kind, document, version, keys))
            await record(
                view, scope, f"{kind}:{_shown(gate, kind, version)}", count=_size(document)
            )
            epoch = await view.epoch()
        return PutPolicy(
            document=document,
            version=_shown(gate, kind, version),
            access_version=mint_version(keys, epoch),
        )


async def get(gate: Gate, call: Call, kind: str) -> PutPolicy:
    """Return the tenant's policy of a kind as it was put, an empty one if none was.

    Raises: Denied, Outdated, NotFound (it was tampered with), Unavailable.
    """
    action = Action.POLICY_READ
    async with refusing(gate, call, action):
        scope = await gate.access.tenant_scope(call, action)
        keys = await gate.keyring.tenant(scope.tenant)
        async with gate.directory.admin(scope) as view:
            row = await view.policy(kind)
            document = EMPTY[kind] if row is None else gate.guards.opened(row, keys)[0]
            await record(view, scope, kind, count=_size(document))
        version = "" if row is None else row.version
        return PutPolicy(document=document, version=_shown(gate, kind, version))


def _tried(gate: Gate, kind: str, document: Mapping[str, Json]) -> Own:
    """Return what a document would be.

    Raises:
        NamesInvalid: it is refused.
        ContentRejected: a name in it holds a secret, or says who somebody is.
    """
    try:
        own = gate.guards.compiled(kind, document)
    except PolicyInvalid as err:
        raise NamesInvalid(err.faults) from None  # the cause holds patterns and texts
    _check_names(gate.guards.shipped.guard, document)
    return own


def _check_names(guard: Guard, document: Mapping[str, Json]) -> None:
    """Check what a document names, as shipped: nobody's own rules keep them from mending these."""
    cases = document.get("cases", [])
    rules = document.get("rules", [])
    namespaces = {name for rule in rules for name in rule.get("namespaces") or ()}
    namespaces |= {case["namespace"] for case in cases if case.get("namespace") is not None}
    guard.check(
        {
            "name": sorted({case["case"] for case in cases}),
            "namespace": sorted(namespaces),
        }
    )


def _shown(gate: Gate, kind: str, version: str) -> str:
    """Return a version as it is told; what was shipped has one too."""
    if version:
        return version
    pii, secrets = gate.guards.shipped.guard.versions
    return pii if kind == "pii" else secrets


def _size(document: Mapping[str, Json]) -> int:
    return len(document.get("rules", [])) + len(document.get("kinds", {}))
