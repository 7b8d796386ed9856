"""Every label under which a key is derived, each with its parent, its use and who shreds it.

Rules this module keeps:
- One use, one label; no label is used twice, and none is spelled anywhere else.
- What must die with a person hangs from the owner. What must still be found while an erasure is
  resumed after a crash hangs from the tenant.
- `docs/keys.md` shows exactly this table; a test compares them.
"""

from dataclasses import dataclass
from enum import Enum, StrEnum, unique
from functools import cache


class Parent(StrEnum):
    """The secret that a label derives from."""

    ROOT = "root KEK"
    EPOCH = "epoch key"
    TENANT_KEK = "tenant KEK"
    TENANT_LOOKUP = "tenant look-up secret"
    OWNER_DEK = "owner DEK"
    OWNER_LOOKUP = "owner look-up secret"


class Shredder(StrEnum):
    """What makes everything under a label useless."""

    OWNER = "erasing the owner"
    TENANT = "erasing the tenant"
    EPOCH = "the end of the epoch"
    NEVER = "nobody: it wraps, and goes with the deployment"


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """One row of the table."""

    info: str
    parent: Parent
    use: str
    shredder: Shredder


def _root(name: str, use: str) -> LabelFacts:
    return LabelFacts(f"memwarden/1/root/{name}", Parent.ROOT, use, Shredder.NEVER)


def _epoch(name: str, use: str) -> LabelFacts:
    return LabelFacts(f"memwarden/1/epoch/{name}", Parent.EPOCH, use, Shredder.EPOCH)


def _tenant_kek(name: str, use: str) -> LabelFacts:
    return LabelFacts(f"memwarden/1/tenant/{name}", Parent.TENANT_KEK, use, Shredder.TENANT)


def _tenant(name: str, use: str) -> LabelFacts:
    return LabelFacts(f"memwarden/1/tenant/{name}", Parent.TENANT_LOOKUP, use, Shredder.TENANT)


def _owner_dek(name: str, use: str) -> LabelFacts:
    return LabelFacts(f"memwarden/1/owner/{name}", Parent.OWNER_DEK, use, Shredder.OWNER)


def _owner(name: str, use: str) -> LabelFacts:
    return LabelFacts(f"memwarden/1/owner/{name}", Parent.OWNER_LOOKUP, use, Shredder.OWNER)


@unique
class Label(Enum):
    """The labels, by parent."""

    ROOT_ID = _root("id", "public id of the root KEK in headers and rows")
    ROOT_WRAP_KEY = _root("wrap-key", "wraps tenant secrets and service secrets")
    ROOT_WRAP_COMMITMENT = _root("wrap-commitment", "commits those wraps to the root KEK")
    EPOCH_WRAP_KEY = _epoch("wrap-key", "second wrap of every tenant's and owner's secrets")
    EPOCH_WRAP_COMMITMENT = _epoch("wrap-commitment", "commits that wrap to the epoch key")
    TENANT_WRAP_KEY = _tenant_kek("wrap-key", "wraps owner secrets")
    TENANT_WRAP_COMMITMENT = _tenant_kek("wrap-commitment", "commits that wrap to the tenant KEK")
    TENANT_RECORD_KEY = _tenant_kek("record-key", "seals what belongs to the tenant, not a person")
    TENANT_RECORD_COMMITMENT = _tenant_kek("record-commitment", "commits those envelopes")
    TENANT_POINT_ID = _tenant("point-id", "ids of points in the index")
    TENANT_POINTER = _tenant("pointer", "pointer from a point to its memory")
    TENANT_BLIND_USER = _tenant("blind/user", "look-up of outside user ids")
    TENANT_BLIND_NAMESPACE = _tenant("blind/namespace", "look-up of namespace names")
    TENANT_BLIND_SPACE = _tenant("blind/space", "look-up of spaces' names")
    TENANT_BLIND_MEMBER = _tenant("blind/member", "look-up of members of spaces")
    TENANT_BLIND_AUTHOR = _tenant("blind/author", "who wrote a memory, to count what each keeps")
    TENANT_BLIND_TENANT = _tenant("blind/tenant", "look-up of tenants' names, by the operator")
    TENANT_BLIND_ACTOR = _tenant("blind/actor", "credentials in the audit log")
    TENANT_BLIND_PERSON = _tenant("blind/person", "people in the audit log")
    TENANT_BLIND_PURPOSE = _tenant("blind/purpose", "purposes of reveals in the audit log")
    TENANT_BLIND_IDEMPOTENCY = _tenant("blind/idempotency", "idempotency keys and their bodies")
    TENANT_WORD_TENANT = _tenant("word/tenant", "tenant in a point's payload")
    TENANT_WORD_OWNER = _tenant("word/owner", "owner in a point's payload")
    TENANT_WORD_USER = _tenant("word/user", "user in a point's payload")
    TENANT_WORD_NAMESPACE = _tenant("word/namespace", "namespace in a point's payload")
    TENANT_WORD_SPACE = _tenant("word/space", "space in a point's payload")
    OWNER_RECORD_KEY = _owner_dek("record-key", "seals what is kept of the owner")
    OWNER_RECORD_COMMITMENT = _owner_dek("record-commitment", "commits those envelopes to the DEK")
    OWNER_DIGEST_CONTENT = _owner("digest/content", "finds the same text again")
    OWNER_DIGEST_QUERY = _owner("digest/query", "finds an embedded query in the cache")
    OWNER_BLIND_TAG = _owner("blind/tag", "look-up of tags")
    OWNER_BLIND_SESSION = _owner("blind/session", "look-up of session ids")
    OWNER_BLIND_PSEUDONYM = _owner("blind/pseudonym", "words of placeholders in texts")
    OWNER_TERMS = _owner("terms", "lexical tokens")
    OWNER_ROTATION = _owner("rotation", "orthogonal transform of vectors (obfuscation)")

    @property
    def info(self) -> bytes:
        """The HKDF info string."""
        return self.value.info.encode()


_BY_INFO = {label.value.info: label for label in Label}


@cache
def lookup(owner_or_tenant: str, use: str, name: str) -> Label:
    """Return the label of one kind of look-up value, such as ("owner", "blind", "tag").

    Raises:
        LookupError: the table has no such label; add it there first.
    """
    try:
        return _BY_INFO[f"memwarden/1/{owner_or_tenant}/{use}/{name}"]
    except KeyError as err:
        raise LookupError("no such key label: gateway/vault/labels.py lists them") from err


@unique
class ServiceKey(StrEnum):
    """Independent random secrets of a deployment, wrapped by the root KEK; not derived."""

    AUDIT_WRITER = "audit-writer"
    AUDIT_CHECKPOINT = "audit-checkpoint"


PEPPER = "pepper"
"""Name of the one service secret whose versions are told apart outside: API keys carry them."""
