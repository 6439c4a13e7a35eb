"""The client over the real gate: what leaves is checked, what comes is bounded, and only a call is noted as sent."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ferryman.domain.approvals.form import HttpForm
from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import SecretPlaceholder, Template
from ferryman.ports.gate import CallPolicy
from ferryman.tools.mcp.gate_transport import GateTransport
from ferryman.tools.mcp.protocol import AnswerTooLargeError, Completed, HttpStatusError, McpClient, read_descriptor
from tests.egress.conftest import GateHarness, authority, harness, reply  # noqa: F401 - fixtures
from tests.egress.plants import VALUES, credential, policy
from tests.egress.test_reuse import KeepingServer, serve
from tests.egress.upstreams import CHUNKED, endless

HOST = "api.news.test"
URL = f"https://{HOST}/mcp"
KEY = credential(VALUES["prefixed"])
TOOL = read_descriptor({"name": "t", "inputSchema": {"type": "object"}})
LONG = 600.0


def build_transport(harness: GateHarness, *, url: str = URL, **fields: Any) -> GateTransport:  # noqa: F811
    call = CallPolicy(
        execution=policy(server_urls=(URL,)), credentials={"NEWS_KEY": KEY}, **{"execution_id": "e", "within_s": LONG, **fields}
    )
    headers = {"Authorization": Template(("Bearer ", SecretPlaceholder("NEWS_KEY")))}
    gate = harness.gate(within_s=LONG)
    return GateTransport(gate=gate, url=url, tool="stage__t", headers=headers, call=call)


def build_client(transport: GateTransport) -> McpClient:
    return McpClient(transport, owner="o", revision="2026-07-28")


def write_response(message: Any, *, stream: bool) -> bytes:
    text = json.dumps(message)
    body = f"data: {text}\n\n".encode() if stream else text.encode()
    kind = "text/event-stream" if stream else "application/json"
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


RESULT = {"content": [{"type": "text", "text": "done"}], "tools": []}


@pytest.mark.parametrize("stream", [False, True])
async def test_requests_of_one_client_share_a_connection(harness: GateHarness, stream: bool) -> None:  # noqa: F811
    server = KeepingServer()

    def answer(connection: int, number: int) -> bytes:
        request = json.loads(server.requests[connection][number - 1].partition(b"\r\n\r\n")[2])
        return write_response({"jsonrpc": "2.0", "id": request["id"], "result": RESULT}, stream=stream)

    server.answer = answer
    transport = build_transport(harness)
    client = build_client(transport)
    async with serve(harness, server):
        await client.list_tools()
        outcome = await client.call_tool(TOOL, {"a": 1})
        await transport.gate.idle.aclose()  # type: ignore[attr-defined]
    assert (isinstance(outcome, Completed), server.counts) == (True, [2])
    head, _, body = server.requests[0][1].partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    assert f"authorization: bearer {KEY.secret.reveal()}".lower().encode() in lines
    assert {b"mcp-method: tools/call", b"mcp-name: t", b"mcp-protocol-version: 2026-07-28"} <= set(lines)
    assert json.loads(body)["params"]["arguments"] == {"a": 1}


async def test_only_a_call_is_noted_as_sent(harness: GateHarness) -> None:  # noqa: F811
    transport = build_transport(harness)
    async with harness.serve(HOST, reply(b"no", status="500 Oops")):
        with pytest.raises(HttpStatusError):
            await build_client(transport).list_tools()
        before = transport.call.sending.begun
        with pytest.raises(HttpStatusError):
            await build_client(transport).call_tool(TOOL, {})
    assert (before, transport.call.sending.begun) == (False, True)


class Denying:
    """A person who denies everything."""

    def needs_form(self, *, host: str, method: str) -> bool:
        return True

    async def confirm(self, form: HttpForm, *, host: str, method: str) -> None:
        raise CallRefusedError(refusal.refuse_denied("no"))


async def test_only_a_call_waits_for_a_person(harness: GateHarness) -> None:  # noqa: F811
    transport = build_transport(harness, confirm=Denying())
    async with harness.serve(HOST, reply(b"no", status="500 Oops")):
        with pytest.raises(HttpStatusError):
            await build_client(transport).list_tools()
        with pytest.raises(CallRefusedError, match="denied"):
            await build_client(transport).call_tool(TOOL, {})
    assert len(harness.requests) == 1


@pytest.mark.parametrize("place", ["argument", "name", "header", "state"])
async def test_a_credential_never_leaves(harness: GateHarness, place: str) -> None:  # noqa: F811
    secret = KEY.secret.reveal()
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}} if place == "header" else {}}
    tool = read_descriptor({"name": secret if place == "name" else "t", "inputSchema": schema})
    client = build_client(build_transport(harness))
    with pytest.raises(CallRefusedError) as refused:
        await client.call_tool(
            tool,
            {"a": secret} if place in ("argument", "header") else {},
            request_state=secret if place == "state" else None,
        )
    assert (refused.value.refusal.reason, harness.names.lookups) == ("credential_leak", [])


async def test_another_url_than_the_server_s_is_refused(harness: GateHarness) -> None:  # noqa: F811
    transport = build_transport(harness, url=f"https://{HOST}/other")
    with pytest.raises(CallRefusedError):
        await build_client(transport).list_tools()
    assert harness.dialer.dialled == []


async def test_a_redirect_is_not_followed(harness: GateHarness) -> None:  # noqa: F811
    answer = reply(b"", status="307 Temporary Redirect", headers=["location: https://other.wild.test/"])
    async with harness.serve(HOST, answer):
        with pytest.raises(HttpStatusError) as error:
            await build_client(build_transport(harness)).list_tools()
    assert (error.value.status, len(harness.requests)) == (307, 1)


async def test_an_endless_answer_ends_at_its_bound(harness: GateHarness) -> None:  # noqa: F811
    head = CHUNKED.replace(b"\r\n\r\n", b"\r\ncontent-type: application/json\r\n\r\n")
    async with harness.serve(HOST, endless(head, b"ffff\r\n" + b" " * 0xFFFF + b"\r\n")):
        with pytest.raises(AnswerTooLargeError):
            await build_client(build_transport(harness)).list_tools()


async def test_a_server_that_says_nothing_ends_with_the_time_of_the_call(harness: GateHarness) -> None:  # noqa: F811
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with harness.serve(HOST, answer):
        with pytest.raises(CallRefusedError, match="timed out"):
            await build_client(build_transport(harness, within_s=0.2)).call_tool(TOOL, {})


async def test_a_call_that_ends_here_closes_its_connection(harness: GateHarness) -> None:  # noqa: F811
    called, closed = asyncio.Event(), asyncio.Event()

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        called.set()
        while not writer.transport.is_closing():
            writer.write(b"HTTP/1.1 102 Processing\r\n\r\n")
            await writer.drain()
            await asyncio.sleep(0)
        closed.set()

    async with harness.serve(HOST, answer):
        task = asyncio.ensure_future(build_client(build_transport(harness)).call_tool(TOOL, {}))
        await called.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await closed.wait()
