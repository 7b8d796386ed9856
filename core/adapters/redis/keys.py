"""Keys of everything kept in Redis: tuples written so that two never give one key.

Rules this module keeps:
- Each part is written as its length and its bytes, so no part can end another, whatever it holds.
- The tenant comes first, and the nil tenant (the operator's) is a value like any other; there is no
  key without a tenant.
- Whatever an answer depends on is a part: the tenant, the owner or the credential, and the version
  of the policy where a policy decides.
"""

from typing import Literal
from uuid import UUID

from core.ids import TenantId

Purpose = Literal["query", "budget", "dpop"]
Part = str | bytes | UUID


def key(purpose: Purpose, tenant: TenantId, *parts: Part) -> bytes:
    """Return the key of (purpose, tenant, parts): injective over all of them and their types.

    Source: netstrings, D. J. Bernstein, 1997; each with a letter for its type in front.
    """
    return b"mw:" + b"".join(_written(part) for part in (purpose, tenant, *parts))


def _written(part: Part) -> bytes:
    if isinstance(part, UUID):
        kind, data = b"u", part.bytes
    elif isinstance(part, str):
        # surrogatepass: two strings that differ in a lone surrogate are two strings
        kind, data = b"s", part.encode("utf-8", "surrogatepass")
    else:
        kind, data = b"b", part
    return b"%s%d:%s," % (kind, len(data), data)
