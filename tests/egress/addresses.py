"""Addresses: what may not be dialled, by class, and what may."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_network

from tests.egress.urls import notations

INSIDE = ["169.254.169.254", "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "0.0.0.0", "8.8.8.8"]
FOUR = [
    *(
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
    ),
    *("192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "233.252.0.0/24", "240.0.0.0/4", "255.255.255.255/32"),
]
SIX = [
    *(
        "::/128",
        "::1/128",
        "::/96",
        "100::/64",
        "100:0:0:1::/64",
        "2001::/32",
        "2001:1::/48",
        "2001:2::/48",
        "2001:3::/32",
        "2001:4:112::/48",
    ),
    *(
        "2001:10::/28",
        "2001:20::/28",
        "2001:30::/28",
        "2001:db8::/32",
        "2620:4f:8000::/48",
        "3fff::/20",
        "4000::/3",
        "5f00::/16",
        "6000::/3",
    ),
    *(
        "8000::/1",
        "fc00::/7",
        "fd00:ec2::/32",
        "fd20:ce::/32",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
        "ff02::/16",
        "64:ff9b:1::/48",
    ),
]


def ends(networks: list[str]) -> list[str]:
    """Return the first, the second, a middle and the last address of each network."""
    texts: list[str] = []
    for text in networks:
        network = ip_network(text)
        size = network.num_addresses
        texts += (str(network[index % size]) for index in dict.fromkeys((0, 1, size // 2, size - 1)))
    return list(dict.fromkeys(texts))


def list_embeddings(text: str) -> list[str]:
    """Return every IPv6 address that brings an IPv4 address along."""
    number = int(IPv4Address(text))
    forms = (
        number,  # compatible
        0xFFFF << 32 | number,  # mapped
        0xFFFF << 48 | number,  # translated
        0x64FF9B << 96 | number,  # NAT64
        0x64FF9B0001 << 80 | number,  # NAT64 of a site
        0x2002 << 112 | number << 80,  # 6to4
        0x20010000 << 96 | (number ^ 0xFFFFFFFF),  # Teredo, the client
        0x20010000 << 96 | number << 64 | 0x1234,  # Teredo, the server
        0xFE80 << 112 | 0x5EFE << 32 | number,  # ISATAP
    )
    return [str(IPv6Address(form)) for form in forms]


REFUSED: dict[str, list[str]] = {
    "IPv4 reserved": ends(FOUR),
    "IPv6 reserved": ends(SIX),
    "IPv4 inside IPv6": [form for address in INSIDE for form in list_embeddings(address)],
    "zones": [
        f"{address}%{zone}"
        for address in ("fe80::1", "2606:4700::1111", "::1", "2a00::1")
        for zone in ("eth0", "1", "25eth0", "0")
    ],
    "other notations": [
        *dict.fromkeys(form for address in INSIDE[:4] for form in notations(address) if form != address),
        *(
            "",
            " ",
            "localhost",
            "8.8.8.8 ",
            " 8.8.8.8",
            "8.8.8.8\n",
            "8.8.8.8/32",
            "8.8.8",
            "8.8.8.8.8",
            "8.8.8.256",
            "８.8.8.8",
            "[::1]",
        ),
        *(
            "2606:4700::1111/128",
            "2606:4700:::1111",
            "[2606:4700::1111]",
            "2606:4700::1111]",
            "1::2::3",
            "12345::",
            "nonsense",
            "None",
        ),
    ],
}
ADMITTED: dict[str, list[str]] = {
    "IPv4 beside the reserved": [
        *(
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
        ),
        *(
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0",
            "192.0.3.0",
            "192.31.195.255",
            "192.31.197.0",
        ),
        *(
            "192.52.192.255",
            "192.52.194.0",
            "192.88.98.255",
            "192.88.100.0",
            "192.167.255.255",
            "192.169.0.0",
            "192.175.47.255",
            "192.175.49.0",
        ),
        *("198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255"),
    ],
    "IPv4 of services": [
        *(
            "1.1.1.1",
            "8.8.8.8",
            "9.9.9.9",
            "13.107.42.14",
            "34.120.1.1",
            "52.94.236.248",
            "104.16.132.229",
            "140.82.121.4",
            "142.250.74.36",
        ),
        *(
            "151.101.1.69",
            "185.199.108.153",
            "199.36.153.8",
            "216.58.206.14",
            "100.0.0.1",
            "172.217.16.142",
            "192.30.255.113",
            "25.0.0.9",
        ),
    ],
    "IPv6 of services": [
        *(
            "2001:200::1",
            "2001:4860:4860::8888",
            "2001:67c:2e8::1",
            "2003::1",
            "2400:cb00::1",
            "2600::",
            "2606:4700:4700::1111",
            "2620:fe::fe",
        ),
        *(
            "2620:4f:7fff:ffff::1",
            "2620:4f:8001::",
            "2a00:1450:4001:80e::200e",
            "2a03:2880::1",
            "2c0f:f248::1",
            "2001:db7:ffff::1",
            "2001:db9::1",
        ),
        *(
            "2003:ffff::1",
            "2001:201:ffff::1",
            "3ffe::1",
            "3fff:1000::",
            "2A00:1450:4001:80E::200E",
            "2000::1",
            "2620:0:2d0:200::7",
        ),
    ],
}
