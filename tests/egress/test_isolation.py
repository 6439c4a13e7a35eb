"""Isolation: what is for one host reaches no other, whatever names, addresses and certificates they share."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from pathlib import Path

import httpcore
import pytest

from ferryman.domain.credentials.credential import AuthType
from ferryman.domain.http.address import Address
from ferryman.domain.http.request import OutboundRequest
from ferryman.ports.gate import CallPolicy
from tests.egress.certificates import FORGED, HONEST, Forger
from tests.egress.conftest import Answer, World, reply
from tests.egress.plants import VALUES, credential, outbound, policy
from tests.figures import Tally

A, B, WILD = "api.news.test", "other.wild.test", "third.wild.test"
SHARED, SECOND = "25.0.0.9", "25.0.0.10"
KEYS = {
    "NEWS_KEY": credential(VALUES["prefixed"], hosts=(A,)),
    "OTHER": credential(VALUES["github"], "OTHER", hosts=("*.wild.test",), kind=AuthType.HEADER, auth_header_name="X-Api-Key"),
}
TO_A = outbound(url=f"https://{A}/a")
TO_B = outbound(url=f"https://{B}/b", credential="OTHER")
TO_WILD = outbound(url=f"https://{WILD}/c", credential="OTHER")


def strayed(world: World) -> list[tuple[str, bytes]]:
    """The requests that a server received for another host, or with another host's credential."""
    found = []
    for certificate, request in world.requests:
        own, others = ("NEWS_KEY", "OTHER") if certificate == A else ("OTHER", "NEWS_KEY")
        for_it = f"host: {certificate}\r\n".encode() in request.lower()
        if not for_it or KEYS[others].secret.reveal().encode() in request or KEYS[own].secret.reveal().encode() not in request:
            found.append((certificate, request))
    return found


async def sent(world: World, *requests: OutboundRequest, at_once: bool = False) -> list[int | None]:
    gate = world.gate()
    calls = [gate.send(each, CallPolicy(execution=policy(), credentials=KEYS)) for each in requests]
    results = await asyncio.gather(*calls) if at_once else [await each for each in calls]
    return [each.response_status for each in results]


KEEP: Answer = reply(
    b"{}", headers=["connection: keep-alive", "keep-alive: timeout=60", "set-cookie: id=1; Domain=test; Path=/"]
)


@pytest.mark.parametrize("at_once", [False, True], ids=["in turn", "at once"])
async def test_two_hosts_at_one_address_do_not_share_a_connection(at_once: bool, world: World, tally: Tally) -> None:
    world.names.table = {A: [SHARED], B: [SHARED], WILD: [SHARED]}
    async with world.serve(A, KEEP, address=SHARED):
        statuses = await sent(world, TO_A, TO_B, TO_A, TO_WILD, TO_B, TO_A, at_once=at_once)
    passed = statuses == [200, None, 200, None, None, 200] and len(world.requests) == 3 and strayed(world) == []
    tally("isolation", "one address, two hosts", passed)
    assert passed


@pytest.mark.parametrize("at_once", [False, True], ids=["in turn", "at once"])
async def test_a_name_that_flips_to_another_host_s_address_delivers_nothing_there(
    at_once: bool, world: World, tally: Tally
) -> None:
    world.names.table = {A: [SHARED], B: [SECOND]}
    async with world.serve(A, KEEP, address=SHARED), world.serve(B, KEEP, address=SECOND):
        assert await sent(world, TO_A, TO_B, at_once=at_once) == [200, 200]
        world.names.table = {A: [SECOND], B: [SHARED]}
        assert await sent(world, TO_A, TO_B, at_once=at_once) == [None, None]
        world.names.table = {A: [SECOND, SHARED], B: [SHARED, SECOND]}
        assert await sent(world, TO_A, TO_B, at_once=at_once) == [None, None]
    passed = len(world.requests) == 2 and strayed(world) == []
    tally("isolation", "flipped addresses", passed)
    assert passed


async def test_a_dead_address_leads_to_the_next_one_and_to_that_host_alone(world: World, tally: Tally) -> None:
    world.names.table = {A: ["25.0.0.200", SHARED]}
    async with world.serve(A, KEEP, address=SHARED):
        assert await sent(world, TO_A) == [200]
    passed = world.dialer.dialled == [ip_address("25.0.0.200"), ip_address(SHARED)] and strayed(world) == []
    tally("isolation", "failover", passed)
    assert passed


async def test_a_cookie_of_one_host_reaches_neither_it_nor_another_again(world: World, tally: Tally) -> None:
    world.names.table = {A: [SHARED], B: [SECOND]}
    async with world.serve(A, KEEP, address=SHARED), world.serve(B, KEEP, address=SECOND):
        await sent(world, TO_A, TO_B, TO_A, TO_B)
    passed = len(world.requests) == 4 and not any(b"cookie" in request.lower() for _, request in world.requests)
    tally("isolation", "cookies", passed)
    assert passed


@pytest.mark.parametrize("status", ["300 X", "301 X", "302 X", "303 X", "305 X", "307 X", "308 X", "200 X", "201 X"])
@pytest.mark.parametrize(
    "place", [f"https://{B}/", f"//{B}/", "http://169.254.169.254/", "/again", "https://api.news.test/", ""]
)
async def test_no_redirect_is_followed(status: str, place: str, world: World, tally: Tally) -> None:
    world.names.table = {A: [SHARED], B: [SECOND]}
    away = reply(b"{}", status=status, headers=[f"location: {place}", f"refresh: 0; url={place}"])
    async with world.serve(A, away, address=SHARED), world.serve(B, KEEP, address=SECOND):
        statuses = await sent(world, TO_A)
    passed = statuses == [int(status[:3])] and len(world.requests) == 1 and world.names.asked == [A] and strayed(world) == []
    tally("isolation", "redirects", passed)
    assert passed


async def test_an_honest_certificate_is_believed(world: World, tmp_path: Path) -> None:
    async with world.serve(A, KEEP, pem=Forger(world.authority.path, tmp_path).write(HONEST)):
        assert await sent(world, TO_A) == [200]


@pytest.mark.parametrize("kind", FORGED)
async def test_a_certificate_that_proves_nothing_gets_no_request(kind: str, world: World, tmp_path: Path, tally: Tally) -> None:
    pem = Forger(world.authority.path, tmp_path).write(FORGED[kind])
    async with world.serve(A, KEEP, pem=pem):
        result = await world.gate().send(TO_A, CallPolicy(execution=policy(), credentials=KEYS))
    said = (result.content, result.response_status, result.blocked)
    passed = said == ("Error: request failed: the TLS connection could not be made", None, False) and world.requests == []
    tally("isolation", "certificates", passed)
    assert passed, said


async def test_a_connection_that_ended_up_elsewhere_is_closed_before_a_byte_is_sent(world: World, tally: Tally) -> None:
    class Astray:
        """Connects to another loopback port than the one that stands for the address, and asserts as `DirectDialer` does."""

        async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
            from ferryman.egress.pin import assert_peer

            stream = await httpcore.AnyIOBackend().connect_tcp("127.0.0.1", ours, timeout=timeout_s)
            await assert_peer(stream, address, port)
            return stream

    async with world.serve(A, KEEP):
        ours = world.dialer.ports[ip_address(SHARED)]
        world.dialer = Astray()  # type: ignore[assignment]  # a dialer of another kind
        result = await world.gate().send(TO_A, CallPolicy(execution=policy(), credentials=KEYS))
    passed = result.content == f"Error: DNS resolution failed or blocked for {A}" and world.requests == []
    tally("isolation", "another peer", passed)
    assert passed
