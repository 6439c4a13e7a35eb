"""The transport over a process that does not read: every wait has an end."""

from __future__ import annotations

import asyncio

import pytest

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.tools.mcp.protocol.answer_reader import AnswerReader
from ferryman.tools.mcp.protocol.eras import ClientCapabilities, write_meta
from ferryman.tools.mcp.protocol.transport import HttpMessage
from ferryman.tools.stdio.process import ServerProcess
from ferryman.tools.stdio.transport import StdioTransport

MODERN = "2026-07-28"


@pytest.mark.parametrize("has_answer", [True, False])
async def test_a_process_that_reads_nothing_holds_no_call_beyond_its_time(has_answer: bool) -> None:
    async with await ServerProcess.start(("/bin/sleep", "60"), cwd="/", env={}) as process:
        meta = write_meta(MODERN, ClientCapabilities(), progress_token=None)
        body = {"jsonrpc": "2.0", "method": "tools/call", "params": {"_meta": meta, "text": "x" * 1_000_000}}
        message = HttpMessage(
            headers={}, body={**body, **({"id": 1} if has_answer else {})}, bytes_max=1_000, within_s=0.1, idle_s=0.1
        )
        async with asyncio.timeout(8):
            with pytest.raises(CallRefusedError):
                await StdioTransport(process, owner="o").exchange(message, AnswerReader("o", 1))
