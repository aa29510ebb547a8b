"""Check the address of a webhook: public ones may receive, private ones never.

An IPv6 address may stand for an IPv4 address behind a translator or a tunnel. What is translated
today (mapped addresses, NAT64) is looked at as the IPv4 address that is reached. Forms that nobody
needs any more are refused as such.
"""

from __future__ import annotations

from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_network,
)

IpAddress = IPv4Address | IPv6Address

_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
_ISATAP = 0x5EFE


def _networks(*texts: str) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(text) for text in texts)


_KEYS_OF_CLOUDS = _networks(
    "100.100.100.200/32",  # Alibaba
    "168.63.129.16/32",  # Azure, a public address
    "192.0.0.192/32",  # Oracle
    "fd00:42::42/128",  # Scaleway
    "fd00:c1::a9fe:a9fe/128",  # Oracle
    "fd00:ec2::/32",  # Amazon
    "fd20:ce::254/128",  # Google
)
"""Where clouds tell a machine its keys, beside link-local addresses."""

_OF_OLD = _networks(
    "::/96",  # IPv4-compatible, loopback and the unspecified address among them
    "::ffff:0:0:0/96",  # IPv4-translated
    "64:ff9b:1::/48",  # NAT64 of a site: which IPv4 address is meant is not known
    "2001::/32",  # Teredo
    "2002::/16",  # 6to4
    "fec0::/10",  # site-local
)
"""Forms of IPv6 that hold an IPv4 address, or were given up, and are no receiver today."""

_RESERVED = _networks(
    "192.0.0.0/24",
    "192.88.99.0/24",  # relays of 6to4
    "2001::/23",
    "2001:db8::/32",
    "3fff::/20",
)
"""Not public, beside what every version of Python says."""


def reached(address: IpAddress) -> IpAddress:
    """The address that is reached: of a mapped one, and one behind NAT64, the IPv4 address."""
    if not isinstance(address, IPv6Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else address


def is_never_allowed(address: IpAddress) -> bool:
    """Return whether no receiver is at an address, in whatever network it stands."""
    found = reached(address)
    if isinstance(found, IPv6Address) and (int(found) >> 32) & 0xFDFF_FFFF == _ISATAP:
        return True
    return (
        found.is_link_local
        or found.is_multicast
        or found.is_unspecified
        or _is_in(found, _KEYS_OF_CLOUDS)
        or (_is_in(found, _OF_OLD) and not found.is_loopback)
    )


def is_public(address: IpAddress) -> bool:
    """Return whether everybody on the Internet means the same by an address."""
    found = reached(address)
    if isinstance(found, IPv6Address) and found not in _UNICAST:
        return False
    return found.is_global and not _is_in(found, _RESERVED)


def _is_in(address: IpAddress, networks: tuple[IPv4Network | IPv6Network, ...]) -> bool:
    return any(address in network for network in networks)
