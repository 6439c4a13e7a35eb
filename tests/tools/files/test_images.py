"""Image headers: format and size by the first bytes alone, of whatever a stranger uploads."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.tools.files.image_header import HEADER_BYTES, ImageHeader, read_image_header

from .conftest import Desktop


def build_png(width: int, height: int) -> bytes:
    head = struct.pack(">II", width, height) + b"\x08\x02\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + head + struct.pack(">I", zlib.crc32(b"IHDR" + head))


def build_jpeg(width: int, height: int, before: bytes = b"\xff\xe0\x00\x04ab") -> bytes:
    return b"\xff\xd8" + before + b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03"


def build_webp(kind: bytes, content: bytes) -> bytes:
    return b"RIFF\x00\x00\x00\x00WEBP" + kind + content


VP8 = build_webp(b"VP8 ", b"\0\0\0\0" + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640 | 0x4000, 480))
VP8L = build_webp(b"VP8L", b"\0\0\0\0\x2f" + struct.pack("<I", (640 - 1) | (480 - 1) << 14))
VP8X = build_webp(b"VP8X", b"\x0a\0\0\0\0\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"))
GIF = b"GIF89a" + struct.pack("<HH", 640, 480)
BMP = b"BM" + bytes(16) + struct.pack("<ii", 640, -480)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (build_png(640, 480), "png"),
        (build_jpeg(640, 480), "jpeg"),
        (build_jpeg(640, 480, b"\xff\xff\xff\xe1\xff\xff" + bytes(65_533) + b"\xff\xdb\x00\x02"), "jpeg"),
        (VP8, "webp"),
        (VP8L, "webp"),
        (VP8X, "webp"),
        (GIF, "gif"),
        (BMP, "bmp"),
    ],
)
def test_the_size_is_read_from_the_header(content: bytes, name: str) -> None:
    assert read_image_header(content) == ImageHeader(name, 640, 480)


@pytest.mark.parametrize(
    "text", ["<svg/>", '<?xml version="1.0"?>\n<!-- a -->\n<svg width="1">', "\ufeff <!DOCTYPE svg><SVG >"]
)
def test_an_svg_is_named_and_not_read(text: str) -> None:
    assert read_image_header(text.encode()) == ImageHeader("svg")


@pytest.mark.parametrize("content", [b"", b"<html><svg>", b"%PDF-1.7", b"RIFF\0\0\0\0WAVE", b"\x1f\x8b", b"PK\x03\x04"])
def test_what_is_no_picture_is_none(content: bytes) -> None:
    assert read_image_header(content) is None


@given(
    st.sampled_from([build_png(1, 1), build_jpeg(1, 1), VP8, VP8L, VP8X, GIF, BMP]), st.integers(0, 40), st.binary(max_size=60)
)
def test_a_broken_header_is_read_without_an_error(content: bytes, at: int, more: bytes) -> None:
    header = read_image_header(content[:at] + more)
    assert header is None or header.format in ("png", "jpeg", "gif", "webp", "bmp", "svg")


def test_parts_without_end_take_bounded_steps() -> None:
    assert read_image_header(b"\xff\xd8" + b"\xff\xe0\x00\x02" * (HEADER_BYTES // 4)) == ImageHeader("jpeg")


async def test_a_decompression_bomb_is_told_by_its_header(tools: Desktop) -> None:
    bomb = build_png(60_000, 60_000) + zlib.compress(bytes(1_000_000))
    await tools.put("bomb.png", bomb, "image/png")
    header = await tools.read("image_info", key="bomb.png")
    assert (header["format"], header["width"], header["height"], header["size_bytes"]) == ("png", 60_000, 60_000, len(bomb))


async def test_what_is_no_picture_is_told(tools: Desktop) -> None:
    await tools.put("a.txt", "hello")
    answered = await tools.ask("image_info", key="a.txt")
    assert (answered.code, answered.content) == (
        "invalid_arguments",
        "Error: key: is no picture in PNG, JPEG, GIF, WebP, BMP or SVG",
    )
