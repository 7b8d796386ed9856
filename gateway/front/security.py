"""What stands between the socket and the routes: names of the host, origins, the credential.

Rules this module keeps:
- A page that rebinds its own name to our address does not get in: `Host` must be a name we were
  told is ours, or the very address the connection came in on.
- A page of another site does not get in: an `Origin` is our own or one we were told of. `null`,
  repeated and malformed values are nobody's.
- One request carries one credential. Two that differ prove nothing.
- Forwarding headers are not read here: whoever connects could write them (gateway/front/peers.py).

Source: RFC 9110, 7.2; RFC 6454, 7; MCP 2026-07-28, transports, security warning.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

from starlette.types import Scope

from core.errors import Denied, Unauthenticated
from gateway.auth.presented import Presented, Scheme

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
MAX_CREDENTIAL_CHARS = 8192

SECURITY_HEADERS: Sequence[tuple[bytes, bytes]] = (
    (b"cache-control", b"private, no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
)
"""On every reply that does not set its own."""

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9_.-]*[a-z0-9])?)(?::\d{1,5})?")
_SCHEMES: dict[str, Scheme] = {"bearer": "bearer", "dpop": "dpop"}
_CREDENTIAL = re.compile(r"[\x21-\x7e]+")

Headers = Iterable[tuple[bytes, bytes]]
"""As ASGI gives them: names in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """By which names the gateway may be addressed, and from which pages.

    Args:
        hosts: lower-case names, each with a port (then it must match) or without (any port).
        origins: `scheme://host[:port]` of pages that may call, beside the gateway's own.
    """

    hosts: frozenset[str] = LOOPBACK
    origins: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, public_url: str | None, *, hosts: Iterable[str] = (), origins: Iterable[str] = ()
    ) -> Self:
        """Return the doors of a gateway that is reached as `public_url`, beside loopback.

        Args:
            hosts, origins: further names and pages.
        """
        names = {host.lower() for host in hosts}
        pages = {origin.lower() for origin in origins}
        if public_url is not None:
            parts = urlsplit(public_url.lower())
            name = parts.hostname or ""
            names.add(f"[{name}]" if ":" in name else name)  # a proxy may stand on another port
            pages.add(f"{parts.scheme}://{parts.netloc}")
        return cls(hosts=LOOPBACK | names, origins=frozenset(pages))

    def admit(self, scope: Scope) -> None:
        """Let an HTTP request in.

        Raises:
            Denied: its `Host` is not ours, or its `Origin` is not welcome.
        """
        hosts = values(scope["headers"], b"host")
        host = hosts[0].lower() if len(hosts) == 1 else ""
        found = _HOST.fullmatch(host)
        if found is None or not self._ours(host, found["name"], scope):
            raise Denied("This host name is not served here.", rule="host")
        origins = values(scope["headers"], b"origin")
        if not origins:
            return
        origin = origins[0].lower() if len(origins) == 1 else "null"
        if origin not in self.origins and origin not in {f"http://{host}", f"https://{host}"}:
            raise Denied("Pages of this origin may not call.", rule="origin")

    def _ours(self, host: str, name: str, scope: Scope) -> bool:
        if not {host, name}.isdisjoint(self.hosts):
            return True
        # A probe calls by address. No web page can: the name it was loaded from stays in `Host`.
        try:
            return ip_address(name.strip("[]")) == ip_address((scope.get("server") or ("",))[0])
        except ValueError:
            return False


def presented(scope: Scope, base: str) -> Presented:
    """Return what the sender of an HTTP request brought to prove who asks.

    Args:
        base: how clients reach the gateway, without a path.

    Raises:
        Unauthenticated: malformed, sent twice, or two that differ.
    """
    headers = scope["headers"]
    scheme, token = credential_of(headers)
    proofs = values(headers, b"dpop")
    if len(proofs) > 1 or not all(_well_formed(proof) for proof in proofs):
        raise Unauthenticated
    path = scope.get("raw_path") or scope["path"].encode()
    return Presented(
        token=token,
        scheme=scheme,
        proof=proofs[0] if proofs else None,
        method=scope["method"],
        url=base.rstrip("/") + path.decode("latin-1"),
        peer=(scope.get("client") or (None,))[0],
    )


def credential_of(headers: Headers) -> tuple[Scheme, str | None]:
    """Return how the caller sent a credential, and the credential; None when there is nothing.

    Raises:
        Unauthenticated: malformed, sent twice, or two that differ.
    """
    authorization, keys = values(headers, b"authorization"), values(headers, b"x-api-key")
    if len(authorization) > 1 or len(keys) > 1:
        raise Unauthenticated
    found: list[tuple[Scheme, str]] = []
    for value in authorization:
        word, _, token = value.partition(" ")
        scheme = _SCHEMES.get(word.lower())
        if scheme is None:
            raise Unauthenticated
        found.append((scheme, token.strip(" ")))
    found += [("key", key) for key in keys]
    if not all(_well_formed(token) for _, token in found) or len({t for _, t in found}) > 1:
        raise Unauthenticated
    return found[0] if found else ("bearer", None)


def values(headers: Headers, name: bytes) -> list[str]:
    """Return every value of the header `name` (lower case), in order."""
    return [value.decode("latin-1") for key, value in headers if key == name]


def _well_formed(token: str) -> bool:
    return len(token) <= MAX_CREDENTIAL_CHARS and _CREDENTIAL.fullmatch(token) is not None
