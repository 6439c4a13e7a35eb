"""Image headers: the format and the size of a picture, from its first bytes alone.

Nothing is decoded or unpacked, so that a decompression bomb does nothing here.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

HEADER_BYTES = 512 * 1024
"""What is read of a file: a JPEG's size comes after its metadata, which may have some hundred kilobytes."""

_PARTS_MAX = 4_096
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of a JPEG's frame, which tell its size (ITU-T T.81, table B.1)."""

_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^<]{0,200}|<!--[^<]{0,2000}|<!DOCTYPE svg[^<]{0,500}|\s){0,4}<svg[\s/>]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """A format, and the size in pixels as the header tells it; None where that is not among what was read."""

    format: str
    width: int | None = None
    height: int | None = None


def read_image_header(content: bytes) -> ImageHeader | None:
    """Return what the first `HEADER_BYTES` of a file tell of a picture: PNG, JPEG, GIF, WebP, BMP or SVG; None for no picture.

    An SVG is a text that draws: it has no size in pixels, and none of it is read.
    """
    for begin, (name, read) in _READERS.items():
        if content.startswith(begin):
            try:
                return read(content)
            except (struct.error, IndexError):
                return ImageHeader(name)
    return ImageHeader("svg") if _SVG.match(content[:4_096]) else None


def _read_png(content: bytes) -> ImageHeader:
    return ImageHeader("png", *struct.unpack_from(">II", content, 16)) if content[12:16] == b"IHDR" else ImageHeader("png")


def _read_gif(content: bytes) -> ImageHeader:
    return ImageHeader("gif", *struct.unpack_from("<HH", content, 6))


def _read_bmp(content: bytes) -> ImageHeader:
    width, height = struct.unpack_from("<ii", content, 18)
    return ImageHeader("bmp", abs(width), abs(height))


def _read_webp(content: bytes) -> ImageHeader:
    kind = content[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return ImageHeader("webp", width & 0x3FFF, height & 0x3FFF)
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return ImageHeader("webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8X" and len(content) >= 30:
        return ImageHeader("webp", *(int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27)))
    return ImageHeader("webp")


def _read_jpeg(content: bytes) -> ImageHeader:
    at = 2
    for _ in range(_PARTS_MAX):
        if content[at] != 0xFF:
            break
        marker = content[at + 1]
        if marker == 0xFF:  # a filling byte
            at += 1
        elif marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return ImageHeader("jpeg", width, height)
        elif marker == 0x01 or marker in range(0xD0, 0xD9):
            at += 2
        else:
            (size,) = struct.unpack_from(">H", content, at + 2)
            at += 2 + max(2, size)
    return ImageHeader("jpeg")


def _read_riff(content: bytes) -> ImageHeader | None:
    return _read_webp(content) if content[8:12] == b"WEBP" else None


_READERS: dict[bytes, tuple[str, Callable[[bytes], ImageHeader | None]]] = {
    b"\x89PNG\r\n\x1a\n": ("png", _read_png),
    b"\xff\xd8\xff": ("jpeg", _read_jpeg),
    b"GIF87a": ("gif", _read_gif),
    b"GIF89a": ("gif", _read_gif),
    b"RIFF": ("webp", _read_riff),
    b"BM": ("bmp", _read_bmp),
}
