"""Responses that are read as they arrive: every part once and in order, within every bound, after all checks."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from ipaddress import ip_address

import brotli
import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import InboundResponse
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import PUBLIC, Answer, GateHarness, reply, wait_for_transports
from tests.egress.plants import VALUES, credential, outbound, policy
from tests.egress.test_reuse import KeepingServer, serve
from tests.egress.upstreams import CHUNKED, endless, packed, raw

CREDENTIALS = {"NEWS_KEY": credential(VALUES["prefixed"])}
HOST = "api.news.test"
EVENT = b"data: one\n\n"
MB = 1_000_000


@dataclass
class Collector:
    """A reader that has enough after `most` bytes, or where `wants_body` is false; it notes each part."""

    most: int = 10 * MB
    wants_body: bool = True
    status: int = 0
    headers: Sequence[tuple[str, str]] = ()
    parts: list[bytes] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> bool:
        self.status, self.headers = status, headers
        return self.wants_body

    async def feed(self, content: bytes) -> bool:
        self.parts.append(content)
        self.came.set()
        return len(self.body) < self.most

    @property
    def body(self) -> bytes:
        return b"".join(self.parts)


def chunk(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


def build_call(body_max: int | None = None, execution_id: str | None = None) -> CallPolicy:
    return CallPolicy(execution=policy(), credentials=CREDENTIALS, body_max=body_max, execution_id=execution_id)


async def stream(
    harness: GateHarness,
    answer: Answer,
    reader: Collector,
    *,
    idle_s: float | None = None,
    within_s: float = 600,
    body_max: int | None = None,
) -> InboundResponse:
    async with harness.serve(HOST, answer):
        gate = harness.gate(within_s=within_s)
        return await gate.stream(outbound(), build_call(body_max), reader, idle_s=idle_s)


async def refuse(harness: GateHarness, answer: Answer, reader: Collector, **limits: float) -> str:
    with pytest.raises(CallRefusedError) as refused:
        await stream(harness, answer, reader, **limits)  # type: ignore[arg-type]
    return refused.value.refusal.message


async def test_a_part_is_read_before_the_next_one_is_sent(harness: GateHarness) -> None:
    reader = Collector()

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(b"a"))
        await reader.came.wait()  # nothing more is sent before
        writer.write(chunk(b"b") + b"0\r\n\r\n")

    inbound = await stream(harness, answer, reader)
    assert (reader.body, inbound.body, inbound.size_bytes, inbound.cut) == (b"ab", b"", 2, False)


async def test_the_reader_is_given_the_head_first(harness: GateHarness) -> None:
    reader = Collector()
    await stream(harness, reply(b"no", status="404 Not Found", headers=["x-mark: y"]), reader)
    assert (reader.status, ("x-mark", "y") in reader.headers, reader.body) == (404, True, b"no")


async def test_a_reader_may_want_no_body(harness: GateHarness) -> None:
    reader = Collector(wants_body=False)
    inbound = await stream(harness, endless(CHUNKED, chunk(b"x" * 4_096)), reader)
    assert (reader.parts, inbound.status) == ([], 200)


async def test_a_reader_that_has_enough_ends_an_endless_response(harness: GateHarness) -> None:
    reader = Collector(most=len(EVENT))
    inbound = await stream(harness, endless(CHUNKED, chunk(EVENT), pause_s=0.0), reader)
    assert (reader.body[: len(EVENT)], inbound.cut) == (EVENT, False)


async def test_a_reader_that_never_has_enough_is_fed_no_more_than_the_limit(harness: GateHarness) -> None:
    reader = Collector(most=10 * MB)
    inbound = await stream(harness, endless(CHUNKED, chunk(b"x" * 4_096)), reader, body_max=100_000)
    assert (len(reader.body), inbound.cut) == (100_000, True)


async def test_silence_between_two_parts_is_limited(harness: GateHarness) -> None:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + chunk(EVENT))
        await asyncio.Event().wait()

    reader = Collector()
    assert await refuse(harness, answer, reader, idle_s=0.05) == "Error: request timed out (0.05s)"
    assert reader.body == EVENT


async def test_a_response_that_goes_on_ends_with_the_time_of_the_call(harness: GateHarness) -> None:
    reader = Collector()
    answer = endless(CHUNKED, chunk(b": still here\n\n"), pause_s=0.01)
    assert await refuse(harness, answer, reader, idle_s=60, within_s=0.5) == "Error: request timed out (0.5s)"
    assert reader.parts


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("deflate", None), ("br", brotli.compress)])
async def test_a_content_coding_is_undone(harness: GateHarness, coding: str, pack: object) -> None:
    body = b"".join(b"data: %d\n\n" % number for number in range(50_000))
    sent = pack(body) if callable(pack) else packed([body], 15)
    reader = Collector()
    await stream(harness, reply(sent, headers=[f"content-encoding: {coding}"]), reader, body_max=MB)
    assert reader.body == body


async def test_what_a_coding_holds_is_read_as_far_as_it_came(harness: GateHarness) -> None:
    reader = Collector()
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        first = packer.compress(EVENT) + packer.flush(zlib.Z_SYNC_FLUSH)
        writer.write(CHUNKED.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n") + chunk(first))
        while not reader.body:
            await reader.came.wait()
            reader.came.clear()
        writer.write(chunk(packer.compress(EVENT) + packer.flush()) + b"0\r\n\r\n")

    await stream(harness, answer, reader)
    assert reader.body == EVENT * 2


@pytest.mark.parametrize("coding", ["gzip", "br"])
async def test_a_decompression_bomb_is_fed_up_to_the_limit_alone(harness: GateHarness, coding: str) -> None:
    bomb = packed(b"\0" * MB for _ in range(50)) if coding == "gzip" else brotli.compress(b"\0" * 50 * MB, quality=1)
    reader = Collector(most=100 * MB)
    inbound = await stream(harness, reply(bomb, headers=[f"content-encoding: {coding}"]), reader, body_max=300_000)
    assert (len(reader.body), inbound.cut) == (300_000, True)
    assert max(map(len, reader.parts)) <= 300_000


async def test_a_coding_that_ends_too_early_is_a_failure(harness: GateHarness) -> None:
    sent = gzip.compress(EVENT * 100)[:-9]
    message = await refuse(harness, reply(sent, headers=["content-encoding: gzip"]), Collector())
    assert message == "Error: request failed: the answer's content coding is broken"


async def test_a_body_that_breaks_off_is_a_failure_after_its_parts(harness: GateHarness) -> None:
    reader = Collector()
    message = await refuse(harness, raw(CHUNKED + chunk(EVENT)), reader)
    assert (message, reader.body) == ("Error: request failed: the answer was not valid HTTP", EVENT)


async def test_what_a_reader_refuses_is_the_refusal(harness: GateHarness) -> None:
    class Refusing(Collector):
        async def feed(self, content: bytes) -> bool:
            raise CallRefusedError(refusal.report_failure("the answer is no answer"))

    assert await refuse(harness, reply(), Refusing()) == "Error: request failed: the answer is no answer"


async def test_a_credential_in_the_request_is_never_sent(harness: GateHarness) -> None:
    reader = Collector()
    leaking = outbound(body={"text": VALUES["prefixed"]})
    async with harness.serve(HOST, reply()):
        with pytest.raises(CallRefusedError) as refused:
            await harness.gate().stream(leaking, build_call(), reader)
    assert (refused.value.refusal.reason, harness.requests, harness.names.lookups) == ("credential_leak", [], [])


async def test_a_private_address_is_never_dialled(harness: GateHarness) -> None:
    harness.names.table = {HOST: ["10.0.0.1"]}
    with pytest.raises(CallRefusedError) as refused:
        await harness.gate().stream(outbound(), build_call(), Collector())
    assert (refused.value.refusal.reason, harness.dialer.dialled) == ("dns_validation_failed", [])


async def test_the_log_has_the_line_of_any_call(harness: GateHarness) -> None:
    await stream(harness, reply(b"12345"), Collector())
    ((_, line),) = harness.log.lines
    assert (line["status"], line["size_bytes"], line["blocked"], line["method"]) == (200, 5, False, "POST")


async def test_what_was_read_is_presented_as_any_response_is(harness: GateHarness) -> None:
    secret = CREDENTIALS["NEWS_KEY"].secret.reveal()
    inbound = InboundResponse(status=200, headers=(), body=f"key {secret}".encode(), size_bytes=0)
    result = await harness.gate().present(outbound(), build_call(), inbound)
    assert result.content.endswith('status="200">key [redacted:NEWS_KEY]</tool_response>')
    assert (result.ok, harness.dialer.dialled) == (True, [])


BODY = b"HTTP/1.1 404 Not Found\r\ncontent-length: 5\r\n\r\nhello"
ANSWERS = {
    "a body that was read to its end": (CHUNKED + chunk(EVENT) + b"0\r\n\r\n", Collector(), 1),
    "a body whose end came with what was enough": (CHUNKED + chunk(EVENT) + b"0\r\n\r\n", Collector(most=1), 1),
    "a body that goes on": (CHUNKED + chunk(EVENT), Collector(most=1), 2),
    "a short body that is not wanted": (BODY, Collector(wants_body=False), 1),
    "a long body that is not wanted": (CHUNKED + chunk(b"x" * 2_000), Collector(wants_body=False), 2),
}


@pytest.mark.parametrize("kind", ANSWERS)
async def test_a_connection_is_used_again_after_the_end_of_a_body_alone(harness: GateHarness, kind: str) -> None:
    sent, reader, connections = ANSWERS[kind]
    server = KeepingServer(answer=lambda connection, request: sent)
    async with serve(harness, server):
        gate = harness.gate(within_s=600)
        for _ in range(2):
            await gate.stream(outbound(), build_call(execution_id="e"), replace(reader, parts=[]))
        await gate.idle.aclose()
    assert len(server.requests) == connections


class Waiting(Collector):
    """A reader that has enough, and says so once the end has been sent."""

    ended = asyncio.Event()

    async def feed(self, content: bytes) -> bool:
        await super().feed(content)
        await self.ended.wait()
        return False


async def test_an_end_that_comes_after_what_was_enough_is_waited_for(harness: GateHarness) -> None:
    reader, connections = Waiting(), list[int]()

    async def handle(stream_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(1)
        with suppress(asyncio.IncompleteReadError, OSError):
            while head := await stream_reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                await stream_reader.readexactly(length)
                writer.write(CHUNKED + chunk(EVENT))
                await reader.came.wait()
                writer.write(b"0\r\n\r\n")
                reader.ended.set()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(harness.authority.issue(HOST))
    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    harness.dialer.ports[ip_address(PUBLIC)] = server.sockets[0].getsockname()[1]
    gate = harness.gate(within_s=600)
    for _ in range(2):
        await gate.stream(outbound(), build_call(execution_id="e"), reader)
    await gate.idle.aclose()
    server.close()
    await wait_for_transports()
    assert connections == [1]
