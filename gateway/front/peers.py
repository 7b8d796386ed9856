"""The address that a request came from, put right before anything looks at it.

Rules this module keeps:
- It is the address of the connection, which nobody can choose. `X-Forwarded-For` is read only when
  the connection itself comes from a proxy that the settings name.
- Then the addresses count from the right, where our own proxies wrote: the first that is no proxy
  of ours is the caller's. What stands left of it is the caller's own writing.
- What cannot be read is no address; a credential that is bound to networks is then refused.

Source: RFC 7239, 8.1 (whoever stands before the first proxy can write such a header).
"""

from collections.abc import Iterable, Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.auth.addresses import Address, Network, inside, read_address, read_network
from gateway.front.security import values

FORWARDED = b"x-forwarded-for"
MOST_HOPS = 16
"""Addresses read from the right; more proxies of ours in a row than that are a mistake."""


class Peers:
    """ASGI application around another: gives it the caller's address as its `client`.

    Args:
        app: the application.
        proxies: networks of our own proxies, in CIDR; none by default.

    Raises:
        ValueError: one of them is no network.
    """

    def __init__(self, app: ASGIApp, proxies: Iterable[str] = ()) -> None:
        self._app = app
        self._proxies: Sequence[Network] = tuple(read_network(each) for each in proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request, or the application's start and stop."""
        if self._proxies and scope["type"] == "http":
            peer = self.of(scope)
            scope = {**scope, "client": None if peer is None else (str(peer), 0)}
        await self._app(scope, receive, send)

    def of(self, scope: Scope) -> Address | None:
        """Return the address behind an HTTP request, or None when there is none to be known."""
        peer = read_address((scope.get("client") or (None,))[0])
        said = values(scope["headers"], FORWARDED)
        if not said or not inside(peer, self._proxies):
            return peer
        for written in reversed(",".join(said).rsplit(",", MOST_HOPS)[-MOST_HOPS:]):
            peer = read_address(written.strip(" \t"))
            if not inside(peer, self._proxies):
                return peer
        return None  # nothing but proxies: whose call this is cannot be told
