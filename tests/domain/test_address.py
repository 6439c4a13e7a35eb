"""Addresses: only the public internet may be dialled."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.http.address import is_public
from ferryman.operations import check
from tests.egress.addresses import ADMITTED, FOUR, REFUSED, list_embeddings
from tests.figures import Tally


@pytest.mark.parametrize("klass", REFUSED)
async def test_what_is_not_the_public_internet_is_refused(klass: str, tally: Tally) -> None:
    missed = []
    for text in REFUSED[klass]:
        answer = await check.check_address({"ip": text})
        refused = answer["verdict"] == "refused" and answer["reason"] is not None
        tally("addresses refused", klass, refused)
        if not refused:
            missed.append(text)
    assert missed == []


@pytest.mark.parametrize("klass", ADMITTED)
async def test_an_address_of_the_public_internet_is_admitted(klass: str, tally: Tally) -> None:
    missed = []
    for text in ADMITTED[klass]:
        admitted = is_public(ip_address(text)) and (await check.check_address({"ip": text}))["verdict"] == "allowed"
        tally("addresses allowed", klass, admitted)
        if not admitted:
            missed.append(text)
    assert missed == []


@given(st.ip_addresses(v=4))
def test_no_address_inside_ipv6_brings_an_ipv4_address_along(address: IPv4Address) -> None:
    assert not any(is_public(ip_address(form)) for form in list_embeddings(str(address)))


@given(st.ip_addresses(v=6))
def test_an_address_with_a_zone_is_refused(address: IPv6Address) -> None:
    assert not is_public(ip_address(f"{address}%eth0"))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_admitted_exactly_outside_the_table(address: IPv4Address) -> None:
    assert is_public(address) is not any(address in IPv4Network(network) for network in FOUR)
