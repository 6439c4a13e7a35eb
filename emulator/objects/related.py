"""multipart/related (RFC 2387), as simple uploads with metadata use it: a JSON part, then the content, read as it comes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from email.message import Message

from emulator.objects.errors import invalid

HEAD = 128 * 1024
"""Bytes before the content at most: the first part, and the headers of both."""

BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{1,70}")


def read_boundary(content_type: str) -> bytes:
    """Return the line that divides the parts, without its line end; raise StorageError."""
    message = Message()
    message["content-type"] = content_type
    boundary = message.get_param("boundary")
    if message.get_content_type() != "multipart/related" or not isinstance(boundary, str) or not BOUNDARY.fullmatch(boundary):
        raise invalid("The Content-Type must be multipart/related with a boundary.")
    return b"--" + boundary.encode()


class RelatedReader:
    """Reads two parts: `read_head` returns the first, and the content type of the second; `stream` yields the second."""

    def __init__(self, body: AsyncIterator[bytes], boundary: bytes) -> None:
        self._body = body
        self._boundary = boundary
        self._buffer = b""

    async def read_head(self) -> tuple[bytes, str | None]:
        """Return the JSON of the first part and the content type of the second; raise StorageError."""
        await self._take_until(self._boundary + b"\r\n")
        await self._take_until(b"\r\n\r\n", or_now=b"\r\n")
        metadata = await self._take_until(b"\r\n" + self._boundary + b"\r\n")
        headers = await self._take_until(b"\r\n\r\n", or_now=b"\r\n")
        for line in headers.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-type":
                return metadata, value.strip().decode("latin-1")
        return metadata, None

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the content; raise StorageError where it is cut off."""
        end = b"\r\n" + self._boundary + b"--"
        while (at := self._buffer.find(end)) < 0:
            sure = max(len(self._buffer) - len(end) + 1, 0)
            if sure:
                yield self._buffer[:sure]
                self._buffer = self._buffer[sure:]
            await self._fill()
        if at:
            yield self._buffer[:at]
        async for _ in self._body:  # its end may tell that it was another body than was signed
            pass

    async def _take_until(self, mark: bytes, *, or_now: bytes | None = None) -> bytes:
        """Return what comes before a mark, and go on after it; `or_now` is one that ends nothing where it comes at once."""
        while True:
            if or_now and self._buffer.startswith(or_now):
                self._buffer = self._buffer[len(or_now) :]
                return b""
            at = self._buffer.find(mark)
            if at >= 0:
                before = self._buffer[:at]
                self._buffer = self._buffer[at + len(mark) :]
                return before
            if len(self._buffer) > HEAD:
                raise invalid(f"The metadata before the content is longer than {HEAD} bytes.")
            await self._fill()

    async def _fill(self) -> None:
        try:
            self._buffer += await anext(self._body)
        except StopAsyncIteration:
            raise invalid("The body ends before its parts do.") from None
