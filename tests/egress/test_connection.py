"""One connection: how often and for how long it is tried, by which protocol, and what is told of each way to fail."""

from __future__ import annotations

import asyncio
import gzip
from ipaddress import ip_address

import httpcore
import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.http.address import Address
from ferryman.domain.http.request import InboundResponse
from ferryman.egress.pin import PeerNotPinnedError
from ferryman.egress.send import Sending, send
from ferryman.egress.tls import create_context
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import PUBLIC, Answer, GateHarness, reply
from tests.egress.plants import VALUES, credential, outbound, policy

KEYS = {"NEWS_KEY": credential(VALUES["prefixed"])}
CALL = CallPolicy(execution=policy(), credentials=KEYS)
OK = b"HTTP/1.1 200 OK\r\n"


async def exchange(harness: GateHarness, *, within_s: float = 5, body_max: int = 1_000, **fields: object) -> InboundResponse:
    """Send one request as it is after the checks, without the gate's own deadline."""
    ready = await harness.gate().prepare(outbound(**fields), CALL)
    tls = create_context(harness.authority.path)
    async with asyncio.timeout(10):
        alone = Sending(prepared=ready.prepared, body_max=body_max, within_s=within_s, owner="o")
        return await send(alone, ready.addresses, dialer=harness.dialer, tls=tls)


async def fail(harness: GateHarness, **fields: object) -> Refusal:
    with pytest.raises(CallRefusedError) as refused:
        await exchange(harness, **fields)  # type: ignore[arg-type]  # a table of fields
    return refused.value.refusal


def write(content: bytes) -> Answer:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()

    return answer


async def test_a_response_is_returned_with_its_status_and_headers_as_they_came(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply(b"tea", status="418 I'm a teapot", headers=["X-One: \xe9", "x-one: b"])):
        inbound = await exchange(harness)
    names = (("content-length", "3"), ("X-One", "Ã©"), ("x-one", "b"))
    assert (inbound.status, inbound.headers) == (418, names)
    assert (inbound.body, inbound.size_bytes, inbound.cut) == (b"tea", 3, False)


async def test_a_request_names_its_host_once_and_asks_for_no_second_one(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply()):
        await exchange(harness)
    head = harness.requests[0][1].lower().partition(b"\r\n\r\n")[0]
    assert head.startswith(b"post /v1/items?page=1 http/1.1\r\nhost: api.news.test\r\n")
    assert (head.count(b"\r\nhost:"), head.count(b"\r\nconnection:"), b"\r\nconnection: close" in head) == (1, 1, True)


async def test_no_other_protocol_is_offered_to_a_server_that_prefers_one(harness: GateHarness) -> None:
    chosen = []

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        chosen.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await reply()(request, writer)

    async with harness.serve("api.news.test", answer):
        await exchange(harness)
    assert chosen == ["http/1.1"]


async def test_a_request_that_was_not_answered_is_sent_once(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", write(b"")):
        assert await fail(harness) == refusal.report_failure("the answer was not valid HTTP")
    assert len(harness.requests) == len(harness.dialer.dialled) == 1


async def test_an_address_that_refuses_is_dialled_once(harness: GateHarness) -> None:
    assert await fail(harness) == refusal.report_failure("the connection was refused")
    assert harness.dialer.dialled == [ip_address(PUBLIC)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"hello\r\n\r\n", "the answer was not valid HTTP"),
        (OK + b"bad header: x\r\n\r\n", "the answer was not valid HTTP"),
        (OK + b"content-length: 10\r\n\r\nab", "the answer was not valid HTTP"),
        (OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n", "the answer was not valid HTTP"),
        (OK + b"content-length: 2\r\ncontent-encoding: zstd\r\n\r\nab", "the answer's content coding is not accepted"),
        (OK + b"content-length: 2\r\ncontent-encoding: gzip\r\n\r\nab", "the answer's content coding is broken"),
    ],
)
async def test_a_broken_answer_is_told_by_its_kind(answer: bytes, expected: str, harness: GateHarness) -> None:
    async with harness.serve("api.news.test", write(answer)):
        assert await fail(harness) == refusal.report_failure(expected)


class FaultyDialer:
    """Dials nothing: raises its fault."""

    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    async def dial(self, _: Address, __: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        raise self.fault


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (PeerNotPinnedError("another peer"), refusal.refuse_address("api.news.test")),
        (httpcore.ConnectTimeout(), refusal.report_timeout(7)),
        (httpcore.ConnectError("nobody"), refusal.report_failure("the connection was refused")),
        (httpcore.ReadError("reset"), refusal.report_failure("the connection broke")),
        (ConnectionResetError("reset"), refusal.report_failure("the connection broke")),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_connection_that_is_not_made_is_told_by_its_kind(
    fault: Exception, expected: Refusal, harness: GateHarness
) -> None:
    harness.dialer = FaultyDialer(fault)  # type: ignore[assignment]  # a dialer of another kind
    assert await fail(harness, within_s=7) == expected


async def test_a_handshake_that_fails_is_told_apart_from_an_address_that_refuses(harness: GateHarness) -> None:
    async with harness.serve("other.wild.test", reply()):
        assert await fail(harness) == refusal.report_failure("the TLS connection could not be made")


async def test_a_server_that_never_answers_ends_by_the_deadline_of_one_step(harness: GateHarness) -> None:
    async def silent(_: bytes, __: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with harness.serve("api.news.test", silent):
        assert await fail(harness, within_s=0.2) == refusal.report_timeout(0.2)


async def test_the_size_that_a_peer_announced_is_told_of_a_response_that_was_cut(harness: GateHarness) -> None:
    for announced, size in ((10**15 - 1, 10**15 - 1), (10**15, 5_000), (5_000, 5_000)):
        async with harness.serve("api.news.test", reply(b"b" * 5_000, length=announced)):
            inbound = await exchange(harness, body_max=10)
        assert (inbound.cut, inbound.body, inbound.size_bytes) == (True, b"b" * 10, size)


async def test_of_a_response_that_was_cut_and_announced_no_size_what_was_read_is_told(harness: GateHarness) -> None:
    chunked = OK + b"transfer-encoding: chunked\r\n\r\n1388\r\n" + b"b" * 5_000 + b"\r\n0\r\n\r\n"
    async with harness.serve("api.news.test", write(chunked)):
        inbound = await exchange(harness, body_max=10)
    assert (inbound.cut, inbound.size_bytes) == (True, 5_000)


async def test_others_run_while_a_bomb_is_decoded(harness: GateHarness) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    packed = gzip.compress(b"\0" * 10_000_000)
    async with harness.serve("api.news.test", reply(packed, headers=["content-encoding: gzip"])):
        counting = asyncio.create_task(count())
        inbound = await exchange(harness, body_max=9_000_000)
        counting.cancel()
    assert (len(inbound.body), turns > 9_000_000 // 65_536) == (9_000_000, True)
