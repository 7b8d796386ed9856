"""The operator's credential, made once for a deployment.

Rules this module keeps:
- It is kept with the keys before the record knows it: a crash between the two is mended by the next
  start, and never leaves a credential that nobody holds.
- Making it leaves an audit event in the system's chain.
"""

from collections.abc import Callable

from core.event import AuditEvent
from core.ids import SYSTEM_TENANT, EventId, KeyId, new_uuid
from core.ports import Directory, Keyring, KeyRow
from core.scope import Action, Call, Principal, Role, SourceKind
from gateway.access.enforcer import Enforcer
from gateway.auth.grants import Grants, seal_grants
from gateway.auth.keys import KeySmith, parse_credential

MADE = "admin:operator:create"
_NAME = "operator"
_BOOTSTRAP = Principal(
    tenant=None,
    key_id=KeyId("operator:bootstrap"),
    roles=frozenset({Role.OPERATOR}),
    namespaces=None,
    users=None,
)


async def ensure_operator(
    directory: Directory,
    access: Enforcer,
    keyring: Keyring,
    smith: KeySmith,
    *,
    keep: Callable[[str, Callable[[], bytes]], bytes],
) -> str:
    """Return the operator's credential, made and registered if it is not there.

    Args:
        keep: keeps a named secret: (name, factory) -> what was kept first.

    Raises:
        Unavailable: the record or the keys did not answer.
    """
    credential = keep(_NAME, lambda: smith.mint().credential.encode()).decode()  # noqa: PLW0108 - a call of a call
    parsed = parse_credential(credential)
    if parsed is None:
        raise ValueError("the operator key in the keys folder is damaged")
    if await directory.find_key(parsed.key_id) is not None:
        return credential
    minted = smith.adopt(credential)
    call = Call(principal=_BOOTSTRAP, request_id="start")
    scope = await access.operator_scope(call, Action.TENANT_CREATE)
    keys = await keyring.tenant(SYSTEM_TENANT)
    async with directory.admin(scope) as view:
        await view.insert_key(
            KeyRow(
                id=minted.key_id,
                tenant=None,
                roles=_BOOTSTRAP.roles,
                ceiling=SourceKind.USER_DIRECT,
                grants=seal_grants(
                    keys,
                    Grants(name=_NAME),
                    key_id=minted.key_id,
                    roles=_BOOTSTRAP.roles,
                    ceiling=SourceKind.USER_DIRECT,
                    expires_at=None,
                ),
                secret_mac=minted.secret_mac,
                previous_mac=None,
                pepper_version=minted.pepper_version,
                created_at=view.now,
                expires_at=None,
                revoked_at=None,
                usable=True,
            )
        )
        await view.record(
            AuditEvent.of(
                scope, event_id=EventId(new_uuid()), at=view.now, object=minted.key_id, action=MADE
            )
        )
    return credential
