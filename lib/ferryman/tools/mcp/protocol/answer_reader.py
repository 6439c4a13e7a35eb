"""Reading of one HTTP response of a server as it arrives: JSON, an event stream, or a status that says no."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ferryman.domain.mcp_revisions import SESSION_HEADER
from ferryman.tools.mcp.protocol.bounds import (
    ID_CHARACTERS_MAX,
    PROGRESS_MAX,
    SERVER_REQUESTS_MAX,
    SHORT_BYTES_MAX,
    TEXT_CHARACTERS_MAX,
)
from ferryman.tools.mcp.protocol.errors import (
    AnswerTooLargeError,
    HttpStatusError,
    InvalidServerAnswerError,
    McpClientError,
)
from ferryman.tools.mcp.protocol.event_stream import EventStreamReader
from ferryman.tools.mcp.protocol.messages import ResultMessage, ServerNotification, ServerRequest, parse_message, read_message

JSON_TYPE, STREAM_TYPE = "application/json", "text/event-stream"
UNAUTHORIZED = (401, 403)
"""Statuses that ask for another credential, whatever their body says beside."""

INLINE_BYTES_MAX = 131_072
"""Events of one stream are read on the event loop up to so many bytes; what follows is read in workers, however small."""

CHALLENGES_MAX, CHALLENGE_CHARACTERS_MAX = 8, 4_096


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a request is, as its server says; it increases with each report. The message is a stranger's."""

    progress: float
    total: float | None
    message: str


OnProgress = Callable[[Progress], Awaitable[None]]
OnRequest = Callable[[ServerRequest], Awaitable[None]]


class AnswerReader:
    """Reads the answer to the request `request_id`; its results are `result` and `failure`, neither before there is one.

    `on_progress` is told reports of progress. `on_request` answers requests of the server: without it, they are against the
    protocol.
    """

    def __init__(
        self,
        owner: str,
        request_id: int,
        *,
        on_progress: OnProgress | None = None,
        on_request: OnRequest | None = None,
    ) -> None:
        self._owner, self.id = owner, request_id
        self._on_progress, self._on_request = on_progress, on_request
        self._body = bytearray()
        self._progress: float | None = None
        self._reports = self._requests = self._inline_bytes = 0
        self.status = 0
        self.media_type = ""
        self.session_id: str | None = None
        self.www_authenticate: tuple[str, ...] = ()
        self.retry_after: str | None = None
        self.events = EventStreamReader()
        self.result: dict[str, Any] | None = None
        self.size_bytes = 0
        self.has_other_tools = False
        """Whether the server has told that its list of tools has changed."""
        self.failure: McpClientError | None = None

    @property
    def is_stream(self) -> bool:
        """Whether the response is an event stream."""
        return 200 <= self.status < 300 and self.media_type == STREAM_TYPE

    async def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> bool:
        """Take in the head; tell whether the body is wanted."""
        self.events.restart()
        self.status = status
        self.media_type = _find(headers, "content-type").partition(";")[0].strip().lower()
        session = _find(headers, SESSION_HEADER)
        is_session = 0 < len(session) <= ID_CHARACTERS_MAX and all("\x21" <= character <= "\x7e" for character in session)
        self.session_id = session if is_session else None
        challenges = [value for name, value in headers if name.lower() == "www-authenticate"]
        self.www_authenticate = tuple(value for value in challenges[:CHALLENGES_MAX] if len(value) <= CHALLENGE_CHARACTERS_MAX)
        self.retry_after = _find(headers, "retry-after")[:64] or None
        return self.media_type in (JSON_TYPE, STREAM_TYPE) if status < 300 else self.media_type == JSON_TYPE

    async def feed(self, content: bytes) -> bool:
        """Take in a part of the body; tell whether more is wanted."""
        self.size_bytes += len(content)
        try:
            if not self.is_stream:
                self._body += content
                return self.status < 300 or len(self._body) <= SHORT_BYTES_MAX
            for event in self.events.feed(content):
                if event.type == "message":
                    self._inline_bytes += len(event.data)
                    is_inline = self._inline_bytes <= INLINE_BYTES_MAX
                    await self._take(await parse_message(self._owner, event.data, inline=is_inline))
        except McpClientError as failure:
            self.failure = failure
        return self.failure is None and self.result is None

    async def finish(self) -> bool:
        """Read the end of the response; tell whether the answer is there. Raise `McpClientError` where it is a failure."""
        if self.failure is None and not self.is_stream and self.status:
            await self._finish_body()
        if self.failure is not None:
            raise self.failure
        return self.result is not None

    async def _finish_body(self) -> None:
        has_failed = self.status >= 300
        if not has_failed and self.media_type != JSON_TYPE:
            raise InvalidServerAnswerError("the MCP server answered a request with neither JSON nor an event stream")
        if not has_failed or (self.status not in UNAUTHORIZED and 0 < len(self._body) <= SHORT_BYTES_MAX):
            try:
                await self._take(await parse_message(self._owner, bytes(self._body)))
            except InvalidServerAnswerError:
                if not has_failed:
                    raise
        if has_failed:
            raise HttpStatusError(self.status, www_authenticate=self.www_authenticate, retry_after=self.retry_after)

    async def _take(self, message: dict[str, Any]) -> None:
        if self.result is not None:
            raise InvalidServerAnswerError("the MCP server sent another message after its answer")
        read = read_message(message, self.id, status=self.status)
        if isinstance(read, ResultMessage):
            self.result = read.result
        elif isinstance(read, ServerNotification):
            await self._take_notification(read)
        else:
            await self._take_request(read)

    async def _take_notification(self, notification: ServerNotification) -> None:
        """Pass reports of progress on, and note that the tools have changed; of the rest, as logs, nothing is read."""
        params = notification.params
        self.has_other_tools = self.has_other_tools or notification.method == "notifications/tools/list_changed"
        if notification.method != "notifications/progress" or params.get("progressToken") != self.id:
            return
        self._reports += 1
        if self._reports > PROGRESS_MAX:
            raise AnswerTooLargeError(f"the MCP server sent more than {PROGRESS_MAX:,} reports of progress")
        progress, total, message = params.get("progress"), params.get("total"), params.get("message", "")
        if progress is None or not (_is_number(progress) and _is_number(total) and isinstance(message, str)):
            raise InvalidServerAnswerError("the MCP server sent a report of progress that has no number")
        if self._on_progress is not None and (self._progress is None or progress > self._progress):
            self._progress = progress
            await self._on_progress(Progress(progress, total, message[:TEXT_CHARACTERS_MAX]))

    async def _take_request(self, request: ServerRequest) -> None:
        if self._on_request is None:
            raise InvalidServerAnswerError("the MCP server sent a request, which this revision of the protocol does not have")
        self._requests += 1
        if self._requests > SERVER_REQUESTS_MAX:
            raise AnswerTooLargeError(f"the MCP server sent more than {SERVER_REQUESTS_MAX} requests in one stream")
        await self._on_request(request)


def _find(headers: Sequence[tuple[str, str]], name: str) -> str:
    """Return the value of a header, "" where there is none or several."""
    values = [value.strip(" \t") for header, value in headers if header.lower() == name]
    return values[0] if len(values) == 1 else ""


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**1_000)
