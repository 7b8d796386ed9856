"""A Scope in the database's words: the settings of its transaction, the parameters of its queries.

Rules this module keeps:
- Row-level security reads the settings, the queries name the parameters: both come from the same
  Scope, by this module alone.
- What a Scope does not have is left out, and what is not set matches no row.
- A transaction may change memories only under an action of `core.scope.WRITING`, and one that only
  reads sees a value behind a placeholder under `MEMORY_REVEAL` alone.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from core.ids import SYSTEM_TENANT, TenantId
from core.scope import WRITING, Action, AnyScope, OperatorScope, Scope, TenantScope

Settings = dict[str, str]


def tenant_of(scope: AnyScope) -> TenantId:
    """Return the one tenant that `scope` stands for; the operator's is the system's own."""
    return SYSTEM_TENANT if isinstance(scope, OperatorScope) else scope.tenant


def scope_settings(scope: Scope) -> Settings:
    """Return what a transaction of memories is given."""
    writing = scope.action in WRITING
    revealing = scope.action is Action.MEMORY_REVEAL
    settings = {
        "app.tenant": str(scope.tenant),
        "app.user_id": str(scope.user),
        "app.namespaces": _ids(scope.namespaces),
        "app.read_same": _ids(scope.readable.same_user),
        "app.read_members": _ids(scope.readable.members),
        "app.action": "write" if writing else "reveal" if revealing else "read",
    }
    if writing:
        settings["app.write_same"] = _ids(scope.writable.same_user)
        settings["app.write_members"] = _ids(scope.writable.members)
    return settings


def scope_parameters(scope: Scope) -> dict[str, Any]:
    """Return what each query of memories names besides."""
    return {
        "tenant": scope.tenant,
        "user": scope.user,
        "namespaces": list(scope.namespaces),
        "read_same": list(scope.readable.same_user),
        "read_members": list(scope.readable.members),
    }


def admin_settings(scope: TenantScope | OperatorScope) -> Settings:
    """Return what a transaction of administration is given; it matches no memory."""
    settings = {
        "app.tenant": str(tenant_of(scope)),
        "app.action": "operate" if isinstance(scope, OperatorScope) else "administer",
    }
    if scope.action is Action.AUDIT_READ:
        settings["app.audit"] = "read"
    return settings


def tenant_settings(tenant: TenantId, action: str = "look") -> Settings:
    """Return what a transaction is given that looks up names of one tenant."""
    return {"app.tenant": str(tenant), "app.action": action}


def _ids(ids: Collection[UUID]) -> str:
    return "{" + ",".join(str(one) for one in ids) + "}" if ids else ""
