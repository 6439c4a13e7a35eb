"""Server-sent events, read as their bytes arrive: in linear time, and in bounded memory whatever the provider sends."""

from __future__ import annotations

from collections.abc import Iterator

EVENT_BYTES_MAX = 2**20
STREAM_BYTES_MAX = 32 * 2**20
"""A whole answer's bytes: 64,000 tokens, each in an event of its own, take about a third of it."""

_ENDS = (b"\n", b"\r")


class UnreadableReplyError(ValueError):
    """The provider's answer cannot be used; the text is ours, and quotes nothing of it."""


class EventReader:
    """Splits a stream of bytes into events, as the HTML standard says, and returns the data of each.

    The names, ids and comments of events are left out: the Messages API says everything in the data.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        """The beginning of a line whose end has not arrived."""
        self._data = bytearray()
        """The data of the event that has not ended, with a line break behind each of its lines."""
        self._received = 0
        self._is_after_return = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the data of every event that ends in `chunk`. Raise `UnreadableReplyError` where it grows too large."""
        self._received += len(chunk)
        if self._received > STREAM_BYTES_MAX:
            raise UnreadableReplyError(f"the model's reply takes more than {STREAM_BYTES_MAX} bytes")
        if self._is_after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a line end
        if not chunk:
            return
        self._is_after_return = chunk.endswith(b"\r")
        for line in chunk.splitlines(keepends=True):
            if not line.endswith(_ENDS):
                self._line += line
            elif self._line:
                self._line += line
                yield from self._end_line(bytes(self._line).rstrip(b"\r\n"))
                self._line.clear()
            else:
                yield from self._end_line(line.rstrip(b"\r\n"))
            if len(self._line) + len(self._data) > EVENT_BYTES_MAX:
                raise UnreadableReplyError(f"one event of the model's reply takes more than {EVENT_BYTES_MAX} bytes")

    def _end_line(self, line: bytes) -> Iterator[bytes]:
        if not line:
            if self._data:
                yield bytes(self._data[:-1])
                self._data.clear()
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data += value.removeprefix(b" ")
            self._data += b"\n"
