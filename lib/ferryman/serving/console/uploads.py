"""Uploads: a form with a file (multipart/form-data), read as it comes: of the file, one piece at a time is in memory.

A form's fields come before its file, which is its last part: so the CSRF token is checked before a byte of the file is read.
What follows the file is not read as fields.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartParser

MULTIPART = "multipart/form-data"
FIELDS_MAX = 20
FIELD_BYTES_MAX = 4_000
BOUNDARY_BYTES_MAX = 70
"""As of RFC 2046."""

HEADERS_MAX = 8
HEADER_BYTES_MAX = 4_000
PIECE_BYTES = 65_536
"""The bytes that are parsed at a time."""

REST_S = 60
"""How many seconds the rest of a file that is refused is waited for: a browser reads the answer once it has sent all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that comes: its name as the browser says it, its media type, and its bytes, which can be read once."""

    name: str
    content_type: str
    pieces: AsyncIterator[bytes] = field(repr=False)

    async def drop(self) -> None:
        """Read the rest of the body, for at most `REST_S` seconds."""
        with suppress(TimeoutError, HTTPException, ClientDisconnect):
            async with asyncio.timeout(REST_S):
                async for _ in self.pieces:
                    pass


@dataclass(frozen=True, slots=True)
class _Part:
    """The head of a part: the name of its field, and of a file the file's name and media type."""

    name: str
    file: str | None
    content_type: str


class _PartReader:
    """Turns the callbacks of the parser into a queue: the head of a part, pieces of its content, and None at its end."""

    def __init__(self, boundary: bytes) -> None:
        from python_multipart.multipart import MultipartParser

        self.queue: deque[_Part | bytes | None] = deque()
        self.is_over = False
        self.is_file_over = False
        self._name, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._parser: MultipartParser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": self._add_name,
                "on_header_value": self._add_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._begin_content,
                "on_part_data": lambda data, start, end: self.queue.append(bytes(data[start:end])),
                "on_part_end": lambda: self.queue.append(None),
                "on_end": self._end,
            },
            max_header_count=HEADERS_MAX,
            max_header_size=HEADER_BYTES_MAX,
        )

    def parse(self, piece: bytes) -> None:
        """Parse a piece of the body. Raise 400 where it is no such form."""
        from python_multipart.exceptions import FormParserError

        try:
            self._parser.write(piece)
        except FormParserError:
            raise _build_error() from None

    def _add_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name, self._value = b"", b""

    def _begin_content(self) -> None:
        from python_multipart.multipart import parse_options_header

        kind, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if kind != b"form-data" or b"name" not in options:
            raise _build_error()
        file = options.get(b"filename")
        self.queue.append(
            _Part(
                name=_decode(options[b"name"]),
                file=None if file is None else _decode(file),
                content_type=self._headers.get(b"content-type", b"").decode("latin-1"),
            )
        )

    def _end(self) -> None:
        self.is_over = True


async def read_upload(request: Request) -> tuple[dict[str, tuple[str, ...]], Upload | None]:
    """Return the fields before the file, and the file, None where there is none. Raise 400 where the body is not such a form.

    The file's bytes are read with `Upload.pieces`, which raise 400 where the form breaks off.
    """
    from python_multipart.multipart import parse_options_header

    _, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if not 0 < len(boundary) <= BOUNDARY_BYTES_MAX:
        raise _build_error()
    reader = _PartReader(boundary)
    parts = _iterate(request, reader)
    fields: dict[str, tuple[str, ...]] = {}
    name, content = "", bytearray()
    async for item in parts:
        if isinstance(item, _Part):
            if item.file is not None:
                pieces = _read_file(parts, reader)
                return fields, Upload(name=item.file, content_type=item.content_type, pieces=pieces)
            name, content = item.name, bytearray()
        elif isinstance(item, bytes):
            content += item
            if len(content) > FIELD_BYTES_MAX:
                raise HTTPException(413, f"{name}: has more than {FIELD_BYTES_MAX} bytes")
        else:
            fields[name] = (*fields.get(name, ()), _decode(bytes(content)))
            if sum(map(len, fields.values())) > FIELDS_MAX:
                raise HTTPException(413, f"the form has more than {FIELDS_MAX} fields")
    return fields, None


async def _read_file(parts: AsyncIterator[_Part | bytes | None], reader: _PartReader) -> AsyncIterator[bytes]:
    """Yield the bytes of the part that has begun; then have the rest of the form read, which is of no use."""
    async for item in parts:
        if item is None:
            reader.is_file_over = True
        elif not reader.is_file_over and isinstance(item, bytes):
            yield item


async def _iterate(request: Request, reader: _PartReader) -> AsyncIterator[_Part | bytes | None]:
    async for chunk in request.stream():
        if reader.is_file_over:
            continue
        for start in range(0, len(chunk), PIECE_BYTES):
            # in a thread: a piece of many small parts takes the parser some ten milliseconds
            await asyncio.to_thread(reader.parse, chunk[start : start + PIECE_BYTES])
            while reader.queue:
                yield reader.queue.popleft()
    if not reader.is_over and not reader.is_file_over:
        raise _build_error()


def _decode(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise _build_error() from None


def _build_error() -> HTTPException:
    return HTTPException(400, "the body is no form with a file, or it broke off")
