"""How what a caller names is looked up and logged without standing in clear.

Rules this module keeps:
- People, namespaces and credentials are found and logged by keyed hashes of their names; every
  place that needs one asks here, so that no two places disagree.
- Key ids hold letters and digits alone; the worker's and a stranger's names hold a colon, so that
  neither can pass for a key.
"""

from uuid import UUID

from core.ports import MemberKind, Place, TenantKeys

_NAME = Place(record=UUID(int=0), version=1, field="namespace")
_SPACE = Place(record=UUID(int=0), version=1, field="space")
_MEMBER = Place(record=UUID(int=0), version=1, field="member")
# The record of a namespace's name is nil: the row is made by the statement that takes the sealed
# name, so its id is not known when the name is sealed. Tenant and field still bind it.


def user_key(keys: TenantKeys, user_id: str) -> bytes:
    """Return the 16-byte look-up value of an outside user id."""
    return keys.blind("user", user_id)


def namespace_key(keys: TenantKeys, name: str) -> bytes:
    """Return the 16-byte look-up value of a namespace's name."""
    return keys.blind("namespace", name)


def seal_namespace(keys: TenantKeys, name: str) -> bytes:
    """Return the envelope of a namespace's name that `Directory.ensure` keeps."""
    return keys.seal(_NAME, name.encode())


def open_namespace(keys: TenantKeys, sealed: bytes) -> str:
    """Return the name in an envelope of `Directory.namespace_names`. Raises: Tampered."""
    return keys.open(_NAME, sealed).decode()


def space_key(keys: TenantKeys, name: str) -> bytes:
    """Return the 16-byte look-up value of a space's name."""
    return keys.blind("space", name)


def seal_space(keys: TenantKeys, name: str) -> bytes:
    """Return the envelope of a space's name."""
    return keys.seal(_SPACE, name.encode())


def open_space(keys: TenantKeys, sealed: bytes) -> str:
    """Return the name in an envelope of `Directory.space_names`. Raises: Tampered."""
    return keys.open(_SPACE, sealed).decode()


def member_key(keys: TenantKeys, kind: MemberKind, name: str) -> bytes:
    """Return the 16-byte look-up value of a member of spaces.

    Args:
        name: a key's id, a person's outside id, or a namespace's name.
    """
    return keys.blind("member", f"{kind.value}:{name}")


def seal_member(keys: TenantKeys, name: str) -> bytes:
    """Return the envelope of what a member is called."""
    return keys.seal(_MEMBER, name.encode())


def open_member(keys: TenantKeys, sealed: bytes) -> str:
    """Return the name in an envelope of `MemberRow.name`. Raises: Tampered."""
    return keys.open(_MEMBER, sealed).decode()


def actor_name(keys: TenantKeys, who: str) -> str:
    """Return how the audit log calls a credential: 32 hex digits."""
    return keys.blind("actor", who).hex()


def person_name(keys: TenantKeys, user_id: str) -> str:
    """Return how the audit log calls a person: 32 hex digits."""
    return keys.blind("person", user_id).hex()


def purpose_name(keys: TenantKeys, purpose: str) -> str:
    """Return how the audit log calls the purpose of a reveal: 32 hex digits."""
    return keys.blind("purpose", purpose).hex()
