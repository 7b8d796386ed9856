"""One guarded GET: how an issuer's keys and metadata are read.

Rules this module keeps:
- https, with the host's certificate verified; plain HTTP on loopback alone, where that is allowed.
- The address is judged when it is dialled, and the one judged is the one dialled: no second look-up
  that could answer differently. An address of ours is dialled only for a host that the settings
  name; a link-local one (instance metadata of clouds) never.
- No redirect, no proxy of the environment, no cookie, no credential: nothing of a caller is sent.
- At most 100 KiB in at most 3 seconds, and 200 is the only success.

Source: RFC 8725, 3.10 (SSRF); CWE-918; requirement B6.
"""

import asyncio
import functools
import ipaddress
import socket
import ssl
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

import httpcore
import httpx
from typing_extensions import override

from gateway.auth.issuers import Issuer, url_allowed

MAX_BYTES = 100 * 1024
MAX_SECONDS = 3.0
_OK = 200
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: an IPv4 address inside
_SHARED: Final = ipaddress.IPv4Network("100.64.0.0/10")  # RFC 6598: a provider's inside
_FAULTS = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
    OSError,  # TimeoutError and ssl.SSLError are kinds of it
    ValueError,
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class FetchFailed(Exception):
    """Nothing usable came back. Says nothing of where or what."""


class Fetcher:
    """Reads what one issuer publishes.

    Args:
        issuer: its settings say which hosts may stand in our own network, and who vouches for them.
    """

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self._tls = _tls(issuer)
        named = [url for url in (issuer.issuer, issuer.jwks_uri) if url is not None]
        self._dialer = _Dialer(
            inside=frozenset(_host(url) for url in named),
            private=issuer.allow_private_addresses,
            loopback=issuer.allow_http_loopback,
        )

    async def get(self, url: str) -> bytes:
        """Return the body at `url`. Raises: FetchFailed."""
        if not url_allowed(url, allow_http_loopback=self._issuer.allow_http_loopback):
            raise FetchFailed
        try:
            async with asyncio.timeout(MAX_SECONDS), self._pool() as pool:
                return await _read(pool, url)
        except _FAULTS as err:
            raise FetchFailed from err

    def _pool(self) -> httpcore.AsyncConnectionPool:
        # A connection a read: there is one in ten minutes.
        return httpcore.AsyncConnectionPool(
            ssl_context=self._tls, max_connections=1, network_backend=self._dialer
        )


async def _read(pool: httpcore.AsyncConnectionPool, url: str) -> bytes:
    headers = [(b"Accept", b"application/json"), (b"Connection", b"close")]
    async with pool.stream("GET", url, headers=headers) as response:
        encoded = any(name.lower() == b"content-encoding" for name, _ in response.headers)
        if response.status != _OK or encoded:
            raise FetchFailed
        body = bytearray()
        async for part in response.aiter_stream():
            body += part
            if len(body) > MAX_BYTES:
                raise FetchFailed
        return bytes(body)


class _Dialer(httpcore.AsyncNetworkBackend):
    """Dials addresses that it has judged.

    Args:
        inside: hosts that may stand at the addresses which the two flags allow.
        private, loopback: whether such addresses may be dialled for them.
    """

    def __init__(self, *, inside: frozenset[str], private: bool, loopback: bool) -> None:
        self._inside = inside
        self._private = private
        self._loopback = loopback
        self._backend = httpcore.AnyIOBackend()

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # the whole read has one deadline
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await self._addresses(host, port)
        for address in addresses:
            # One that must not be dialled, among others that may, is a name that is being rebound.
            if not self._allowed(host.lower(), address):
                raise httpcore.ConnectError
        fault: Exception = httpcore.ConnectError()
        for address in addresses:
            try:
                return await self._backend.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as err:
                fault = err
        raise fault

    async def _addresses(self, host: str, port: int) -> list[Address]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in found))

    def _allowed(self, host: str, address: Address) -> bool:
        real = _real(address)
        if real.is_link_local or real.is_multicast or real.is_unspecified:
            return False
        if real.is_loopback:
            return self._loopback and host in self._inside
        if real.is_reserved:
            return False
        if real.is_private or (real.version == 4 and real in _SHARED):  # noqa: PLR2004 - its name
            return self._private and host in self._inside
        return real.is_global


def _real(address: Address) -> Address:
    """Return the address that is reached; an IPv4 one may be written inside an IPv6 one."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").lower()


def _tls(issuer: Issuer) -> ssl.SSLContext:
    if issuer.ca_file is None:
        return _public_authorities()
    return ssl.create_default_context(cafile=str(issuer.ca_file))


@functools.cache
def _public_authorities() -> ssl.SSLContext:
    # Those that httpx ships; a variable of the environment does not change them.
    return httpx.create_ssl_context(trust_env=False)
