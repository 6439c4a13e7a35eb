"""The transport of MCP over the standard streams of a process, in both revisions: one request at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.mcp_revisions import PROTOCOL_VERSION
from ferryman.ports.gate import ResponseReader
from ferryman.tools.mcp.protocol.errors import InvalidServerAnswerError
from ferryman.tools.mcp.protocol.messages import parse_message, write_notification
from ferryman.tools.mcp.protocol.transport import HttpMessage
from ferryman.tools.stdio.process import ServerEndedError, ServerProcess

PROBE, PROBE_S = "server/discover", 5.0
"""A server of 2025-11-25 may not answer it at all: after so many seconds it is taken for one."""

CANCEL_S = 1.0
"""How long the process may take to read that nobody waits any longer."""

_STREAM = (("content-type", "text/event-stream"),)
_LEGACY_STATUS, _TAKEN_STATUS = 400, 202


class StdioTransport:
    """Sends messages to the server's process, as `protocol.Transport` says, for `owner`.

    All that comes until the answer to a request is read as the event stream of that request, with its bounds; answers to
    others, which nobody waits for any longer, are passed over.
    """

    def __init__(self, process: ServerProcess, *, owner: str) -> None:
        self._process, self._owner = process, owner
        self._asking = asyncio.Lock()

    async def exchange(self, message: HttpMessage, reader: ResponseReader) -> bool:
        """Send `message` and have `reader` read what comes of it. Raise `CallRefusedError`."""
        body = message.body
        if body is None:
            raise CallRefusedError(refusal.report_failure("an event stream of a process cannot be taken up again"))
        try:
            if "id" not in body or "method" not in body:
                async with asyncio.timeout(message.within_s):
                    await self._write(body)
                await reader.begin(_TAKEN_STATUS, ())
                return True
            async with self._asking:
                return await self._ask(message, body, reader)
        except ServerEndedError as ended:
            raise CallRefusedError(refusal.report_failure(str(ended))) from None
        except TimeoutError:
            raise CallRefusedError(refusal.report_timeout(message.within_s)) from None

    async def _ask(self, message: HttpMessage, body: Mapping[str, Any], reader: ResponseReader) -> bool:
        is_probe = body["method"] == PROBE
        within_s = min(PROBE_S, message.within_s) if is_probe else message.within_s
        try:
            async with asyncio.timeout(within_s):
                await self._write(body)
                return await self._read(message, body["id"], reader)
        except TimeoutError:
            if is_probe:
                await reader.begin(_LEGACY_STATUS, ())
                return True
            await self._cancel(body)
            raise CallRefusedError(refusal.report_timeout(within_s)) from None
        except asyncio.CancelledError:
            await self._cancel(body)
            raise

    async def _read(self, message: HttpMessage, number: Any, reader: ResponseReader) -> bool:
        size_bytes, wants = 0, await reader.begin(200, _STREAM)
        while wants:
            line = await asyncio.wait_for(self._process.read_line(), message.idle_s)
            size_bytes += len(line)
            if size_bytes > message.bytes_max:
                return False
            if not await self._answers_another(line, number):
                # a carriage return is white space in JSON, and the end of a line in an event stream
                wants = await reader.feed(b"data: " + line.replace(b"\r", b" ") + b"\n\n")
        return True

    async def _answers_another(self, line: bytes, number: Any) -> bool:
        try:
            read = await parse_message(self._owner, line)
        except InvalidServerAnswerError:
            return False  # the reader says what is wrong with it
        return "method" not in read and read.get("id") not in (number, None)

    async def _cancel(self, body: Mapping[str, Any]) -> None:
        """Tell the server of 2026-07-28 that nobody waits any longer; one of 2025-11-25 is told by the client itself."""
        params = body.get("params")
        meta = params.get("_meta") if isinstance(params, Mapping) else None
        if isinstance(meta, Mapping) and PROTOCOL_VERSION in meta:
            with contextlib.suppress(TimeoutError):  # it may read nothing any more
                async with asyncio.timeout(CANCEL_S):
                    await self._write(write_notification("notifications/cancelled", {"requestId": body["id"]}))

    async def _write(self, body: Mapping[str, Any]) -> None:
        # in ASCII: then no line ends within a text
        await self._process.write_line(json.dumps(body, separators=(",", ":")).encode("ascii"))
