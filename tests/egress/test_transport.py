"""Transport: one request on one connection, over real TLS, whatever the peer does."""

from __future__ import annotations

import asyncio
import gzip
import logging
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from ipaddress import ip_address

import brotli
import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.owners.plan import GURU, PRO, Plan
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import PUBLIC, GateHarness, reply
from tests.egress.plants import VALUES, credential, outbound, policy

KEYS = {"NEWS_KEY": credential(VALUES["prefixed"], hosts=("api.news.test", "*.wild.test"))}
SMALL = replace(PRO, response_bytes=20_000)
Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


async def send(harness: GateHarness, answer: Answer, *, within_s: float = 5, **fields: object) -> ToolCallResult:
    async with harness.serve("api.news.test", answer):
        return await harness.gate(within_s=within_s).send(
            outbound(**fields), CallPolicy(execution=policy(plan=SMALL), credentials=KEYS)
        )


async def test_a_certificate_for_another_name_gets_no_request(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply()):
        gate = harness.gate()
        assert (await gate.send(outbound(), CallPolicy(execution=policy(), credentials=KEYS))).response_status == 200
        other = await gate.send(outbound(url="https://other.wild.test/"), CallPolicy(execution=policy(), credentials=KEYS))
    assert other.content == "Error: request failed: the TLS connection could not be made"
    assert not other.blocked
    assert len(harness.requests) == 1


async def test_the_server_name_of_the_tls_handshake_is_the_host_and_the_address_is_the_one_that_was_resolved(
    harness: GateHarness,
) -> None:
    assert (await send(harness, reply())).response_status == 200
    assert harness.server_names == ["api.news.test"]
    assert harness.dialer.dialled == [ip_address(PUBLIC)]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
async def test_a_redirect_is_an_answer_and_is_not_followed(status: str, harness: GateHarness) -> None:
    result = await send(harness, reply(b"elsewhere", status=status, headers=["location: https://other.wild.test/"]))
    assert result.response_status == int(status[:3])
    assert len(harness.requests) == 1
    assert harness.names.lookups == ["api.news.test"]


async def test_a_cookie_is_not_kept(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply(headers=["set-cookie: a=b; Path=/"])):
        gate = harness.gate()
        for _ in range(2):
            await gate.send(outbound(), CallPolicy(execution=policy(), credentials=KEYS))
    assert all(b"cookie" not in request.lower() for _, request in harness.requests)


async def test_every_call_has_a_connection_of_its_own(harness: GateHarness) -> None:
    async def two(_: bytes, writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"
        writer.write(head + b"true" + head + b"evil")
        await writer.drain()

    async with harness.serve("api.news.test", two):
        gate = harness.gate()
        results = [await gate.send(outbound(), CallPolicy(execution=policy(), credentials=KEYS)) for _ in range(2)]
    assert all(">true<" in result.content for result in results)
    assert len(harness.requests) == 2


async def test_the_host_header_is_the_name_and_the_path_goes_out_as_judged(harness: GateHarness) -> None:
    await send(harness, reply(), url="https://API.news.test:443/a/../b//%2e%2E/{x}?q=a|b#frag")
    head = harness.requests[0][1]
    assert head.startswith(b"POST /a/../b//%2e%2E/{x}?q=a|b HTTP/1.1\r\n")
    assert b"\r\nhost: api.news.test\r\n" in head.lower()


async def test_the_environment_has_no_say(harness: GateHarness, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", "/dev/null")
    monkeypatch.setenv("SSLKEYLOGFILE", f"{tmp_path}/keys")
    assert (await send(harness, reply())).response_status == 200


@pytest.mark.parametrize("coding", ["zstd", "gzip, gzip", "gzip, br", "br, br", "deflate, gzip", "x", "compress"])
async def test_another_content_coding_is_refused(coding: str, harness: GateHarness) -> None:
    result = await send(harness, reply(gzip.compress(b"x"), headers=[f"content-encoding: {coding}"]))
    assert result.content == "Error: request failed: the answer's content coding is not accepted"


PACKED = {
    "GZip": gzip.compress(b"plain"),
    "Deflate": zlib.compress(b"plain"),
    "deflate": zlib.compress(b"plain", wbits=-15),
    "BR": brotli.compress(b"plain"),
}


@pytest.mark.parametrize("coding", PACKED)
async def test_the_codings_that_are_asked_for_are_undone(coding: str, harness: GateHarness) -> None:
    result = await send(harness, reply(PACKED[coding], headers=[f"content-encoding: {coding}"]))
    assert ">plain<" in result.content
    assert result.response_size_bytes == len(PACKED[coding])


async def test_a_gzip_bomb_is_read_to_the_limit_and_no_further(harness: GateHarness) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join([*(packer.compress(b"a" * 1_000_000) for _ in range(50)), packer.flush()])
    result = await send(harness, reply(bomb, headers=["content-encoding: gzip"]))
    assert 'truncated="true"' in result.content
    assert len(result.content) < 21_000
    assert result.response_size_bytes == len(bomb)


async def test_broken_gzip_is_a_failed_request(harness: GateHarness) -> None:
    result = await send(harness, reply(b"not gzip at all", headers=["content-encoding: gzip"]))
    assert result.content == "Error: request failed: the answer's content coding is broken"


async def test_a_body_longer_than_the_plan_is_cut(harness: GateHarness) -> None:
    result = await send(harness, reply(b"b" * 30_000))
    assert result.response_size_bytes == 30_000
    assert result.content.endswith("b... (truncated)</tool_response>")


@pytest.mark.parametrize("plan", [GURU, PRO], ids=["guru", "pro"])
@pytest.mark.parametrize("more", [0, 1])
async def test_as_many_bytes_are_read_as_the_plan_has_and_no_more(plan: Plan, more: int, harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply(b"b" * (plan.response_bytes + more))):
        inbound = await harness.gate().fetch(outbound(), CallPolicy(execution=policy(plan=plan), credentials=KEYS))
    assert (len(inbound.body), inbound.cut) == (plan.response_bytes, bool(more))


async def test_a_body_is_cut_at_a_byte_and_half_a_character_is_replaced(harness: GateHarness) -> None:
    result = await send(harness, reply(("a" + "ä" * 15_000).encode()))
    assert result.content.endswith("ä\ufffd... (truncated)</tool_response>")
    assert result.content.count("ä") == (SMALL.response_bytes - 1) // 2


async def test_a_body_is_cut_to_the_plan_before_it_is_neutralized(harness: GateHarness) -> None:
    result = await send(harness, reply(b"Human:\n" * 3_000))
    # 2,857 lines are what 20,000 bytes hold; each becomes longer when its role is taken apart
    assert result.content.count("Human") == SMALL.response_bytes // len("Human:\n")
    assert len(result.content) > SMALL.response_bytes + 2_000


@pytest.mark.parametrize("part", ["head", "body"])
async def test_a_drip_ends_by_the_deadline(part: str, harness: GateHarness) -> None:
    async def drip(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + (b"content-length: 99999\r\n\r\n" if part == "body" else b"x-a: "))
        for _ in range(400):
            writer.write(b"a")
            await writer.drain()
            await asyncio.sleep(0.01)

    result = await send(harness, drip, within_s=1)
    assert (result.content, result.blocked) == ("Error: request timed out (1s)", False)


async def test_a_silent_server_ends_by_the_deadline(harness: GateHarness) -> None:
    async def silent(_: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    assert (await send(harness, silent, within_s=1)).content == "Error: request timed out (1s)"


BROKEN = {
    "nothing": b"",
    "no HTTP": b"hello\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
    "too short": b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nab",
    "bad chunk": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "bad header": b"HTTP/1.1 200 OK\r\nbad header: x\r\n\r\n",
    "long head": b"HTTP/1.1 200 OK\r\nx-a: " + b"a" * 1_000_000 + b"\r\n\r\n",
    "bad status": b"HTTP/1.1 999999 OK\r\n\r\n",
    "upgrade": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
}


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_broken_answer_is_a_failed_request(kind: str, harness: GateHarness) -> None:
    async def broken(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(BROKEN[kind])
        await writer.drain()

    result = await send(harness, broken)
    assert not result.blocked
    assert result.content.startswith(("Error: request failed: ", "<tool_response"))
    assert harness.log.lines[-1][1]["fault"] is None


async def test_a_dead_address_is_a_failed_request(harness: GateHarness) -> None:
    result = await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=KEYS))
    assert (result.content, result.blocked) == ("Error: request failed: the connection was refused", False)


async def test_a_name_with_punycode_is_called(harness: GateHarness) -> None:
    harness.names.table = {"xn--a.wild.test": [PUBLIC]}
    async with harness.serve("xn--a.wild.test", reply()):
        result = await harness.gate().send(
            outbound(url="https://xn--a.wild.test/"), CallPolicy(execution=policy(), credentials=KEYS)
        )
    assert result.response_status == 200


async def test_no_library_writes_the_request_to_the_log(harness: GateHarness, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await send(harness, reply())
    assert VALUES["prefixed"] not in caplog.text
    assert "HTTP Request" not in caplog.text
