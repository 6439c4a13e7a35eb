"""One request and its answer, with what may come between them: progress, requests of the server, a stream that breaks off."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import Method
from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.mcp_revisions import MODERN
from ferryman.tools.mcp.protocol.answer_reader import STREAM_TYPE, AnswerReader, OnProgress
from ferryman.tools.mcp.protocol.bounds import HANDSHAKE_S, IDLE_S, RESUMPTIONS_MAX, SHORT_BYTES_MAX
from ferryman.tools.mcp.protocol.eras import (
    ACCEPT,
    ClientCapabilities,
    write_headers,
    write_meta,
    write_session_headers,
)
from ferryman.tools.mcp.protocol.errors import (
    AnswerLostError,
    AnswerTooLargeError,
    HttpStatusError,
    InvalidServerAnswerError,
    ServerError,
)
from ferryman.tools.mcp.protocol.messages import (
    ServerRequest,
    write_notification,
    write_refusal,
    write_request,
    write_response,
)
from ferryman.tools.mcp.protocol.results import Elicitation, read_elicitation
from ferryman.tools.mcp.protocol.sessions import ClientSession
from ferryman.tools.mcp.protocol.transport import HttpMessage, Transport

FIRST_ID_MAX = 2**30
"""Ids of 2026-07-28 begin anywhere below: a call that is answered goes on in another process, and under another id. Some
servers read ids of 32 bits alone."""

INITIALIZE_ID = 1
"""No id is 0, which servers take for none."""

OnElicitation = Callable[[Elicitation], Awaitable[Mapping[str, Any]]]
"""Answers a question to a person while the server waits (2025-11-25): `{"action": "decline"}` for instance."""

CANCEL_S = 1.0
RETRY_S = 1.0
"""How long to wait before a stream is taken up again where its server does not say."""

_TIMED_OUT, _BROKEN = "timed_out", "request_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolRequest:
    """A request of the client: its method and params without `_meta`, the headers that repeat arguments, and its bounds."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)
    bytes_max: int = SHORT_BYTES_MAX
    within_s: float = HANDSHAKE_S
    has_effect: bool = False
    on_progress: OnProgress | None = field(default=None, repr=False)


class HeadReader:
    """Reads the head of a response, and nothing of its body."""

    def __init__(self) -> None:
        self.status = 0

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> bool:  # noqa: ARG002 - the port's signature
        """Take in the status."""
        self.status = status
        return False

    async def feed(self, content: bytes) -> bool:  # noqa: ARG002 - the port's signature
        """Want nothing."""
        return False


@dataclass(kw_only=True)
class ServerConversation:
    """Exchanges messages with one server. `clock` counts seconds, `sleep` waits for some.

    `has_other_tools` tells that the server has said, in any answer, that its list of tools has changed.
    """

    transport: Transport
    owner: str
    capabilities: ClientCapabilities = field(default_factory=ClientCapabilities)
    on_elicitation: OnElicitation | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    has_other_tools: bool = False
    _count: int = field(default_factory=lambda: secrets.randbelow(FIRST_ID_MAX), repr=False)

    async def ask(self, request: ProtocolRequest, session: ClientSession | None) -> AnswerReader:
        """Send `request`, in a session of 2025-11-25 or as one of 2026-07-28; return the reader that has its result.

        Raise `McpClientError`, and `CallRefusedError` where it was not sent or its answer did not come.
        """
        if session is None:
            self._count += 1
            return await self._ask_modern(request, self._count)
        reader = self._read(request, session.number(), on_request=lambda asking: self._answer(asking, session))
        try:
            await self._ask_in_session(request, session, reader)
        except CallRefusedError as refused:
            if refused.refusal.reason == _TIMED_OUT:
                await self._report_cancelled(session, reader.id)
            raise
        except asyncio.CancelledError:
            await self._report_cancelled(session, reader.id)
            raise
        return reader

    async def initialize(self, request: ProtocolRequest) -> AnswerReader:
        """Send the first request of 2025-11-25, which no session is known for yet; raise as `ask` does."""
        reader = self._read(request, INITIALIZE_ID)
        await self._exchange(self._write(request, INITIALIZE_ID, headers=ACCEPT, meta={}), reader)
        return await _require(reader)

    async def notify(self, method: str, params: Mapping[str, Any] | None, session: ClientSession) -> int:
        """Send a notification in `session`; return the HTTP status it is answered with. Raise `CallRefusedError`."""
        return await self._post(write_notification(method, params), session, within_s=HANDSHAKE_S)

    async def _ask_modern(self, request: ProtocolRequest, number: int) -> AnswerReader:
        # where this side stops waiting, its transport closes the connection: that cancels the request
        reader = self._read(request, number)
        token = None if request.on_progress is None else number
        headers = write_headers(request.method, request.params, request.parameters)
        meta = write_meta(MODERN, self.capabilities, progress_token=token)
        await self._exchange(self._write(request, number, headers=headers, meta=meta), reader)
        return await _require(reader)

    async def _ask_in_session(self, request: ProtocolRequest, session: ClientSession, reader: AnswerReader) -> None:
        token = None if request.on_progress is None else reader.id
        headers = write_session_headers(session)
        meta = write_meta(session.revision, self.capabilities, progress_token=token)
        message = self._write(request, reader.id, headers=headers, meta=meta)
        ends_s = self.clock() + request.within_s
        for attempt in range(RESUMPTIONS_MAX + 1):
            broken = None
            try:
                await self._exchange(message, reader)
            except CallRefusedError as refused:
                if refused.refusal.reason != _BROKEN or not reader.is_stream:
                    raise (_lose(refused) if attempt else refused) from None
                broken = refused
            try:
                if await reader.finish():
                    return
            except (HttpStatusError, ServerError) as error:
                # a GET that is refused says nothing about the request, which the server has received
                raise (_lose(error) if attempt and reader.status >= 300 else error) from None
            if reader.events.last_id is None or not reader.is_stream:
                raise broken or AnswerLostError("the MCP server ended its event stream before the answer")
            await self.sleep(RETRY_S if reader.events.retry_s is None else reader.events.retry_s)
            message = HttpMessage(
                method=Method.GET,
                headers={**headers, "accept": STREAM_TYPE, "last-event-id": reader.events.last_id},
                bytes_max=request.bytes_max,
                within_s=ends_s - self.clock(),
                idle_s=IDLE_S,
            )
            if message.within_s <= 0:
                break
        await self._report_cancelled(session, reader.id)
        raise AnswerLostError("the MCP server ended its event stream again and again before the answer")

    async def _exchange(self, message: HttpMessage, reader: AnswerReader) -> None:
        try:
            is_whole = await self.transport.exchange(message, reader)
        finally:
            self.has_other_tools = self.has_other_tools or reader.has_other_tools
        if not is_whole and reader.result is None and reader.failure is None:
            reader.failure = AnswerTooLargeError(f"the MCP server sent an answer of more than {message.bytes_max:,} bytes")

    def _read(self, request: ProtocolRequest, number: int, **how: Any) -> AnswerReader:
        return AnswerReader(self.owner, number, on_progress=request.on_progress, **how)

    def _write(
        self,
        request: ProtocolRequest,
        number: int,
        *,
        headers: Mapping[str, str],
        meta: Mapping[str, Any],
    ) -> HttpMessage:
        params = {**request.params, **({"_meta": meta} if meta else {})}
        return HttpMessage(
            headers=headers,
            body=write_request(number, request.method, params),
            bytes_max=request.bytes_max,
            within_s=request.within_s,
            idle_s=IDLE_S,
            has_effect=request.has_effect,
        )

    async def _answer(self, request: ServerRequest, session: ClientSession) -> None:
        """Answer a request of the server's: a ping, or a question to a person. Roots and sampling are declined."""
        if request.method == "ping":
            response = write_response(request.id, {})
        elif request.method == "elicitation/create" and self.on_elicitation is not None:
            try:
                elicitation = read_elicitation(request.params, self.capabilities)
            except InvalidServerAnswerError:
                response = write_refusal(request.id, ErrorCode.INVALID_PARAMS, "not an elicitation that this client offers")
            else:
                response = write_response(request.id, await self.on_elicitation(elicitation))
        else:
            response = write_refusal(request.id, ErrorCode.METHOD_NOT_FOUND, "this client does not offer it")
        try:
            await self._post(response, session, within_s=HANDSHAKE_S)
        except CallRefusedError as refused:
            raise _lose(refused) from None

    async def _report_cancelled(self, session: ClientSession, number: int) -> None:
        """Tell the server, within a second, that nobody waits for its answer; it may not hear of it."""
        notification = write_notification("notifications/cancelled", {"requestId": number})
        with suppress(CallRefusedError, TimeoutError):
            async with asyncio.timeout(CANCEL_S):
                await self._post(notification, session, within_s=CANCEL_S)

    async def _post(self, body: Mapping[str, Any], session: ClientSession, *, within_s: float) -> int:
        reader = HeadReader()
        message = HttpMessage(
            headers=write_session_headers(session), body=body, bytes_max=SHORT_BYTES_MAX, within_s=within_s, idle_s=within_s
        )
        await self.transport.exchange(message, reader)
        return reader.status


def _lose(_: Exception) -> AnswerLostError:
    """Return the failure of a request that the server has received, where something after it failed."""
    return AnswerLostError("the MCP server received the request, and what came after it failed")


async def _require(reader: AnswerReader) -> AnswerReader:
    if not await reader.finish():
        raise AnswerLostError("the MCP server ended its event stream before the answer")
    return reader
