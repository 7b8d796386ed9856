"""Networks from which a credential may be used.

Rules this module keeps:
- An address and a network compare as numbers, never as text: `10.0.0.1` has one value however it
  is written, and an IPv4 address that came in over an IPv6 socket is that IPv4 address.
- What cannot be read as an address is inside no network.
- A network with bits set behind its prefix is refused: whoever wrote it meant something else.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

MAX_WRITTEN = 64
"""Characters of an address or a network that are read at all; the longest has 43."""


def read_address(written: str | None) -> Address | None:
    """Return an address, or None when there is none in `written`.

    Args:
        written: IPv4 or IPv6, without a port; an IPv6 zone (`%eth0`) is dropped.
    """
    if written is None or len(written) > MAX_WRITTEN:
        return None
    try:
        address = ip_address(written.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def read_network(written: str) -> Network:
    """Return a network; a single address is a network of one.

    Raises:
        ValueError: it is none, has bits behind its prefix, or is IPv4 written as IPv6.
    """
    if len(written) > MAX_WRITTEN or not written.isascii():
        raise ValueError("not a network")
    network = ip_network(written, strict=True)
    if isinstance(network, IPv6Network) and network.network_address.ipv4_mapped is not None:
        raise ValueError("an IPv4 network is written as such")
    return network


def is_network(written: str) -> bool:
    """Return whether `read_network` takes it, and it is not the whole of a family."""
    try:
        return read_network(written).prefixlen > 0
    except ValueError:
        return False


def inside(address: Address | None, networks: Iterable[Network]) -> bool:
    """Return whether `address` is in one of `networks`; one of the other family is in none."""
    return address is not None and any(address in network for network in networks)
