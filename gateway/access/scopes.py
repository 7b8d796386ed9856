"""Which OAuth scope of a token each action needs, and what needs a step up.

Rules this module keeps:
- One action needs one scope, compared byte for byte; no scope includes another.
- The operator's actions have no scope: no token does them.

Source: MCP 2026-07-28, authorization; RFC 6749, 3.3.
"""

from collections.abc import Mapping

from core.scope import Action

READ, WRITE, CURATE, FORGET = "memory:read", "memory:write", "memory:curate", "memory:forget"
ADMIN, PRIVACY, AUDIT = "admin", "privacy", "audit"

SCOPES = frozenset({READ, WRITE, CURATE, FORGET, ADMIN, PRIVACY, AUDIT})
"""Every scope there is."""

SCOPE_OF: Mapping[Action, str] = {
    Action.MEMORY_READ: READ,
    Action.MEMORY_LIST: READ,
    Action.MEMORY_RECALL: READ,
    Action.RECALL_READ: READ,
    Action.MEMORY_WRITE: WRITE,
    Action.MEMORY_UPDATE: CURATE,
    Action.MEMORY_FORGET: FORGET,
    Action.MEMORY_REVEAL: PRIVACY,
    Action.KEY_CREATE: ADMIN,
    Action.KEY_LIST: ADMIN,
    Action.KEY_ROTATE: ADMIN,
    Action.KEY_REVOKE: ADMIN,
    Action.SPACE_CREATE: ADMIN,
    Action.SPACE_LIST: ADMIN,
    Action.SPACE_DELETE: ADMIN,
    Action.SPACE_SHARE: ADMIN,
    Action.SPACE_UNSHARE: ADMIN,
    Action.POLICY_READ: ADMIN,
    Action.POLICY_WRITE: ADMIN,
    Action.POLICY_EXPLAIN: ADMIN,
    Action.GUARD_PREVIEW: ADMIN,
    Action.QUOTA_READ: ADMIN,
    Action.QUOTA_WRITE: ADMIN,
    Action.AUDIT_READ: AUDIT,
}
"""What a token must have for an action; an action that is not here is not for tokens."""

STEP_UP = frozenset(
    {
        Action.MEMORY_FORGET,
        Action.MEMORY_REVEAL,
        Action.KEY_CREATE,
        Action.KEY_ROTATE,
        Action.SPACE_SHARE,
        Action.SPACE_DELETE,
        Action.POLICY_WRITE,
        Action.TENANT_ERASE,
    }
)
"""What cannot be undone, shows what was hidden, or lets others in: a token's person must be fresh,
or confirm.
"""


def scopes_of(action: Action) -> frozenset[str]:
    """Return every scope that a token needs for `action`."""
    return frozenset({SCOPE_OF[action]}) if action in SCOPE_OF else frozenset()
