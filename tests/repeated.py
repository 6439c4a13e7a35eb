"""Bombs: long repetitions, compressed once for all of their parts."""

from __future__ import annotations

import struct
import zlib

GZIP, ZLIB, RAW = 31, 15, -15
"""The window bits by which zlib knows each container."""


def compress_repeated(unit: bytes, times: int, *, before: bytes = b"", wbits: int = GZIP) -> bytes:
    """Return `before` and so many of `unit` as one stream of DEFLATE, in the container of `wbits`.

    The unit is compressed once: its blocks are whole bytes, and refer to nothing before them (`Z_FULL_FLUSH`).
    """
    body = _deflate(before) + _deflate(unit) * times + zlib.compressobj(wbits=RAW).flush()
    if wbits == RAW:
        return body
    checksum, check = (zlib.crc32, zlib.crc32(before)) if wbits == GZIP else (zlib.adler32, zlib.adler32(before))
    for _ in range(times):
        check = checksum(unit, check)
    if wbits == ZLIB:
        return b"\x78\xda" + body + struct.pack(">I", check)
    size = (len(before) + len(unit) * times) % 2**32
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + body + struct.pack("<II", check, size)


def _deflate(data: bytes) -> bytes:
    deflater = zlib.compressobj(9, zlib.DEFLATED, RAW)
    return deflater.compress(data) + deflater.flush(zlib.Z_FULL_FLUSH)
