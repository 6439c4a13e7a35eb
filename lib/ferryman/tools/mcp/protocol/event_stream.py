"""Server-sent events (WHATWG HTML, 9.2), read as they arrive: in linear time, whatever pieces they come in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ferryman.tools.mcp.protocol.bounds import EVENTS_MAX, ID_CHARACTERS_MAX, LINES_MAX, RETRY_S_MAX
from ferryman.tools.mcp.protocol.errors import AnswerTooLargeError

_MARK = b"\xef\xbb\xbf"
_VISIBLE = re.compile(rb"[\x21-\x7e]+")
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event: its type, `message` where it has none, and its data."""

    type: str
    data: bytes


class EventStreamReader:
    """Takes in the bytes of one stream, and yields its events (HTML standard, 9.2.6).

    `last_id` is where the stream can be taken up again, None where the server does not say; `retry_s` how long to wait before.
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.retry_s: float | None = None
        self._lines = self._events = 0
        self.restart()

    def restart(self) -> None:
        """Begin with the next connection of the same stream: what was not complete is forgotten, the counts are not."""
        self._buffer = bytearray()
        self._position = 0
        self._skips_lf = False
        self._is_first = True
        self._data: list[bytes] = []
        self._type = b""

    def feed(self, content: bytes) -> Iterator[StreamEvent]:
        """Yield the events that `content` completes. Raise `AnswerTooLargeError` for too many lines or events."""
        if self._skips_lf and content:
            self._skips_lf = False
            content = content.removeprefix(b"\n")  # the second half of an end that came in two pieces
        self._buffer += content
        start = 0
        while (end := _LINE_END.search(self._buffer, self._position)) is not None:
            line = bytes(memoryview(self._buffer)[start : end.start()])
            self._skips_lf = end[0] == b"\r" and end.end() == len(self._buffer)
            start = self._position = end.end()
            del end  # it holds the buffer
            if (event := self._take_line(line)) is not None:
                yield event
        del self._buffer[:start]
        self._position = len(self._buffer)

    def _take_line(self, line: bytes) -> StreamEvent | None:
        self._lines += 1
        if self._lines > LINES_MAX:
            raise AnswerTooLargeError(f"the MCP server sent more than {LINES_MAX:,} lines in one event stream")
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(_MARK)
        if not line:
            return self._end_event()
        name, _, value = line.partition(b":")
        self._take_field(name, value.removeprefix(b" "))
        return None

    def _take_field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value
        elif name == b"id":
            is_usable = len(value) <= ID_CHARACTERS_MAX and _VISIBLE.fullmatch(value) is not None
            self.last_id = value.decode() if is_usable else None
        elif name == b"retry" and value.isdigit() and len(value) <= 9:
            self.retry_s = min(int(value) / 1_000, RETRY_S_MAX)

    def _end_event(self) -> StreamEvent | None:
        data, kind = b"\n".join(self._data), self._type
        self._data, self._type = [], b""
        if not data:
            return None
        self._events += 1
        if self._events > EVENTS_MAX:
            raise AnswerTooLargeError(f"the MCP server sent more than {EVENTS_MAX:,} events in one stream")
        return StreamEvent(kind.decode("latin-1") or "message", data)
