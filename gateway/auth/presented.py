"""What a caller brought to prove who asks, as a front read it from one request.

Rules this module keeps:
- It is read once, by the front; nothing later looks at headers.
- Nothing of it shows in a repr.
"""

from dataclasses import dataclass, field
from typing import Literal

Scheme = Literal["bearer", "dpop", "key"]
"""`Authorization: Bearer`, `Authorization: DPoP` (RFC 9449), or `X-API-Key`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Presented:
    """One request's credential and what it must match.

    Args:
        token: the credential, without its scheme; None when there was nothing.
        scheme: how it was sent.
        proof: value of the header `DPoP`, or None.
        method: of the HTTP request.
        url: of the request as clients address it, without query and fragment.
        peer: address of the connection's other end, None when the front does not know it.
    """

    token: str | None = field(repr=False)
    scheme: Scheme = "bearer"
    proof: str | None = field(default=None, repr=False)
    method: str = ""
    url: str = field(default="", repr=False)
    peer: str | None = field(default=None, repr=False)
