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
from ferryman.egress.stream import TlsStream
from ferryman.ports.gate import CallPolicy
from tests.egress.certificates import FORGED, HONEST, Forger
from tests.egress.conftest import Answer, GateHarness, reply
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


def strayed(harness: GateHarness) -> list[tuple[str, bytes]]:
    """Return the requests that a server received for another host, or with another host's credential."""
    strays = []
    for certificate, request in harness.requests:
        expected, others = ("NEWS_KEY", "OTHER") if certificate == A else ("OTHER", "NEWS_KEY")
        for_it = f"host: {certificate}\r\n".encode() in request.lower()
        if (
            not for_it
            or KEYS[others].secret.reveal().encode() in request
            or KEYS[expected].secret.reveal().encode() not in request
        ):
            strays.append((certificate, request))
    return strays


async def send_all(harness: GateHarness, *requests: OutboundRequest, at_once: bool = False) -> list[int | None]:
    gate = harness.gate()
    calls = [gate.send(request, CallPolicy(execution=policy(), credentials=KEYS)) for request in requests]
    results = await asyncio.gather(*calls) if at_once else [await call for call in calls]
    return [result.response_status for result in results]


KEEP: Answer = reply(
    b"{}", headers=["connection: keep-alive", "keep-alive: timeout=60", "set-cookie: id=1; Domain=test; Path=/"]
)


@pytest.mark.parametrize("at_once", [False, True], ids=["in turn", "at once"])
async def test_two_hosts_at_one_address_do_not_share_a_connection(at_once: bool, harness: GateHarness, tally: Tally) -> None:
    harness.names.table = {A: [SHARED], B: [SHARED], WILD: [SHARED]}
    async with harness.serve(A, KEEP, address=SHARED):
        statuses = await send_all(harness, TO_A, TO_B, TO_A, TO_WILD, TO_B, TO_A, at_once=at_once)
    passed = statuses == [200, None, 200, None, None, 200] and len(harness.requests) == 3 and strayed(harness) == []
    tally("isolation", "one address, two hosts", passed)
    assert passed


@pytest.mark.parametrize("at_once", [False, True], ids=["in turn", "at once"])
async def test_a_name_that_flips_to_another_host_s_address_delivers_nothing_there(
    at_once: bool, harness: GateHarness, tally: Tally
) -> None:
    harness.names.table = {A: [SHARED], B: [SECOND]}
    async with harness.serve(A, KEEP, address=SHARED), harness.serve(B, KEEP, address=SECOND):
        assert await send_all(harness, TO_A, TO_B, at_once=at_once) == [200, 200]
        harness.names.table = {A: [SECOND], B: [SHARED]}
        assert await send_all(harness, TO_A, TO_B, at_once=at_once) == [None, None]
        harness.names.table = {A: [SECOND, SHARED], B: [SHARED, SECOND]}
        assert await send_all(harness, TO_A, TO_B, at_once=at_once) == [None, None]
    passed = len(harness.requests) == 2 and strayed(harness) == []
    tally("isolation", "flipped addresses", passed)
    assert passed


async def test_a_dead_address_leads_to_the_next_one_and_to_that_host_alone(harness: GateHarness, tally: Tally) -> None:
    harness.names.table = {A: ["25.0.0.200", SHARED]}
    async with harness.serve(A, KEEP, address=SHARED):
        assert await send_all(harness, TO_A) == [200]
    passed = harness.dialer.dialled == [ip_address("25.0.0.200"), ip_address(SHARED)] and strayed(harness) == []
    tally("isolation", "failover", passed)
    assert passed


async def test_a_cookie_of_one_host_reaches_neither_it_nor_another_again(harness: GateHarness, tally: Tally) -> None:
    harness.names.table = {A: [SHARED], B: [SECOND]}
    async with harness.serve(A, KEEP, address=SHARED), harness.serve(B, KEEP, address=SECOND):
        await send_all(harness, TO_A, TO_B, TO_A, TO_B)
    passed = len(harness.requests) == 4 and not any(b"cookie" in request.lower() for _, request in harness.requests)
    tally("isolation", "cookies", passed)
    assert passed


@pytest.mark.parametrize("status", ["300 X", "301 X", "302 X", "303 X", "305 X", "307 X", "308 X", "200 X", "201 X"])
@pytest.mark.parametrize(
    "place", [f"https://{B}/", f"//{B}/", "http://169.254.169.254/", "/again", "https://api.news.test/", ""]
)
async def test_no_redirect_is_followed(status: str, place: str, harness: GateHarness, tally: Tally) -> None:
    harness.names.table = {A: [SHARED], B: [SECOND]}
    away = reply(b"{}", status=status, headers=[f"location: {place}", f"refresh: 0; url={place}"])
    async with harness.serve(A, away, address=SHARED), harness.serve(B, KEEP, address=SECOND):
        statuses = await send_all(harness, TO_A)
    passed = (
        statuses == [int(status[:3])] and len(harness.requests) == 1 and harness.names.lookups == [A] and strayed(harness) == []
    )
    tally("isolation", "redirects", passed)
    assert passed


async def test_an_honest_certificate_is_believed(harness: GateHarness, tmp_path: Path) -> None:
    async with harness.serve(A, KEEP, pem=Forger(harness.authority.path, tmp_path).write(HONEST)):
        assert await send_all(harness, TO_A) == [200]


@pytest.mark.parametrize("kind", FORGED)
async def test_a_certificate_that_proves_nothing_gets_no_request(
    kind: str, harness: GateHarness, tmp_path: Path, tally: Tally
) -> None:
    pem = Forger(harness.authority.path, tmp_path).write(FORGED[kind])
    async with harness.serve(A, KEEP, pem=pem):
        result = await harness.gate().send(TO_A, CallPolicy(execution=policy(), credentials=KEYS))
    outcome = (result.content, result.response_status, result.blocked)
    passed = outcome == ("Error: request failed: the TLS connection could not be made", None, False) and harness.requests == []
    tally("isolation", "certificates", passed)
    assert passed, outcome


async def test_a_connection_that_ended_up_elsewhere_is_closed_before_a_byte_is_sent(harness: GateHarness, tally: Tally) -> None:
    class Astray:
        """Connects to another loopback port than that of the address, and asserts as `DirectDialer` does."""

        async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
            from ferryman.egress.pin import assert_peer

            stream = await TlsStream.connect("127.0.0.1", ours, timeout_s)
            await assert_peer(stream, address, port)
            return stream

    async with harness.serve(A, KEEP):
        ours = harness.dialer.ports[ip_address(SHARED)]
        harness.dialer = Astray()  # type: ignore[assignment]  # a dialer of another kind
        result = await harness.gate().send(TO_A, CallPolicy(execution=policy(), credentials=KEYS))
    passed = result.content == f"Error: DNS resolution failed or blocked for {A}" and harness.requests == []
    tally("isolation", "another peer", passed)
    assert passed
