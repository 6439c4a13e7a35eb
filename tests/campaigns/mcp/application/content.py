"""Content of the fixtures: texts, a picture of one pixel, a sound of one sample."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

from ferryman.serving.mcp import Complete


def write_chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


_PIXEL = zlib.compress(b"\x00\xff\x00\x00")  # one row without a filter: a red pixel
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n"
    + write_chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + write_chunk(b"IDAT", _PIXEL)
    + write_chunk(b"IEND", b"")
).decode()
WAV = base64.b64encode(
    b"RIFF"
    + struct.pack("<I", 38)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    + b"data"
    + struct.pack("<I", 2)
    + b"\x00\x00"
).decode()
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}


def text(content: str) -> dict[str, Any]:
    """Return content of a text."""
    return {"type": "text", "text": content}


def answer(*content: Any, is_error: bool = False) -> Complete:
    """Return a tool's result of texts and other content."""
    listed = [text(part) if isinstance(part, str) else part for part in content]
    return Complete({"content": listed, **({"isError": True} if is_error else {})})
