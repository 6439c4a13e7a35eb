"""SSRF protection: which IP addresses are public. An own table, since the standard library's predicates miss dozens."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address

ANSWERS_MAX = 16  # a name that resolves to more addresses than this is refused
_REFUSED_4 = tuple(
    IPv4Network(text)
    for text in (
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),  # S0-81, S0-82, S0-83
        *("100.64.0.0/10", "169.254.0.0/16", "127.0.0.0/8"),  # S0-84, S0-85, S0-86
        *("0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
# Everything outside 2000::/3 is refused in one rule: loopback (S0-87), unique local (S0-88), link-local (S0-89), mapped,
# compatible, translated and NAT64 forms of IPv4, site-local and multicast all lie there.
_ADMITTED_6 = IPv6Network("2000::/3")
_REFUSED_6 = tuple(IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"))


def is_public(address: Address) -> bool:
    """Tell whether `address` is on the public internet and may be dialled."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    if address.scope_id is not None:
        return False
    return address in _ADMITTED_6 and not any(address in network for network in _REFUSED_6)
