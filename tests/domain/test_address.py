"""Addresses: only the public internet may be dialled."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.address import public

REFUSED = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4", "192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24", "::/8", "64:ff9b::/96"),
    *("64:ff9b:1::/48", "100::/64", "2001::/32", "2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32"),
    *("2002::/16", "2620:4f:8000::/48", "3fff::/20", "4000::/3", "5f00::/16", "fc00::/7", "fd20:ce::/32", "fe80::/10"),
    *("fec0::/10", "ff00::/8"),
]
ADMITTED = [
    *("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1"),
    *("169.253.255.255", "169.255.0.1", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "192.0.1.1"),
    *("192.0.3.1", "198.17.255.255", "198.20.0.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "2001:200::1"),
    *("2001:4860:4860::8888", "2606:4700::1111", "2a00:1450:4001::1", "2620:4f:7fff::1", "3ffe::1", "2003::1"),
    *("2400::1", "2600::1", "2c00::1"),
]


@pytest.mark.parametrize("network", REFUSED)
def test_the_first_and_the_last_address_of_a_reserved_network_are_refused(network: str) -> None:
    parsed = ip_network(network)
    assert not public(parsed[0])
    assert not public(parsed[-1])


@pytest.mark.parametrize("text", ADMITTED)
def test_an_address_of_the_public_internet_is_admitted(text: str) -> None:
    assert public(ip_address(text))


@given(st.ip_addresses(v=4))
def test_no_address_inside_ipv6_brings_an_ipv4_address_along(address: IPv4Address) -> None:
    number = int(address)
    for form in (
        number,  # compatible
        0xFFFF << 32 | number,  # mapped
        0xFFFF << 48 | number,  # translated
        0x64FF9B << 96 | number,  # NAT64
        0x2002 << 112 | number << 80,  # 6to4
        0x20010000 << 96 | (number ^ 0xFFFFFFFF),  # Teredo
        0xFE80 << 112 | 0x5EFE << 32 | number,  # ISATAP
    ):
        assert not public(IPv6Address(form))


@given(st.ip_addresses(v=6, network="fe80::/10"))
def test_an_address_with_a_zone_is_refused(address: IPv6Address) -> None:
    assert not public(ip_address(f"{address}%eth0"))
    assert not public(ip_address("2606:4700::1111%1"))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_admitted_exactly_outside_the_table(address: IPv4Address) -> None:
    inside = any(address in IPv4Network(each) for each in REFUSED if ":" not in each)
    assert public(address) is not inside
