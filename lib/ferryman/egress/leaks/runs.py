"""Runs: stretches of a text that are bytes written out in base64, base32, hexadecimal, decimal, octal or binary."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator

INFLATED_MAX = 1_048_576
INFLATIONS_MAX = 8
"""Compressed streams looked into, in one run."""

_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\n\r"
_SAMPLE = 24
# Each is anchored by what may not stand before it, and possessive: hostile text cannot make them backtrack.
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{8,}+")
_BASE64_LINES = re.compile(r"(?m)^[ \t]*+[A-Za-z0-9+/_-]{16,}+={0,2}[ \t]*\r?$")
_BREAK = re.compile(r"\s+")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,}+|[a-z2-7]{16,}+)(?![A-Za-z0-9])")
_HEX = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{16,}+")
_HEX_APART = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{2}(?:[^0-9A-Za-z]{1,4}[0-9A-Fa-f]{2}(?![0-9A-Fa-f])){7,}+")
_HEX_MARK = re.compile(r"0[xX]|\\x|(?<=[0-9A-Fa-f]{2})h(?![0-9A-Za-z])")
_CODES = re.compile(r"(?<![0-9])[0-9]{2,3}(?:[^0-9A-Za-z]{1,8}[0-9]{2,3}(?![0-9])){7,}+")
_CODE_MARK = re.compile(r"(?i)\bchr\b|\bchar\b|\bu?n?ichr\b|0o")
_DIGITS = re.compile(r"(?<![0-9])[0-9]{24,}+")
_BITS = re.compile(r"(?<![01])[01]{7,8}(?:[^0-9A-Za-z]{0,4}[01]{7,8}){7,}+")
_URLSAFE = str.maketrans("-_", "+/")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_COMPRESSED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]", re.DOTALL)


def decoded(text: str) -> Iterator[bytes]:
    """What the runs of `text` stand for, one sequence of bytes for each notation and alignment."""
    yield from _base64_runs(text)
    yield from _hexadecimal(text)
    yield from _numbers(text)
    base32 = [_base32(found[0]) for found in _BASE32.finditer(text)]
    if base32:
        yield b"\n".join(base32)


def readable(content: bytes) -> bool:
    """Whether the head, the middle or the end of `content` reads as text, so that looking further into it is worth while."""
    if content.count(0) * 3 > len(content):
        content = content.replace(b"\0", b"")  # UTF-16
    middle = len(content) // 2
    samples = (content[:_SAMPLE], content[middle : middle + _SAMPLE], content[-_SAMPLE:])
    return any(len(sample) >= 6 and (not sample.translate(None, _PRINTABLE) or _utf8(sample)) for sample in samples)


def text_of(content: bytes) -> str:
    """`content` as text, whatever it is."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        content = content[2:]
    if content.count(0) * 3 > len(content):
        content = content.replace(b"\0", b"")
    text = content.decode("utf-8", "replace")
    return text if text.count("\ufffd") * 8 <= len(text) else content.decode("latin-1")


def inflated(content: bytes) -> Iterator[bytes]:
    """The compressed streams in `content`, opened, each to at most `INFLATED_MAX` bytes."""
    for count, found in enumerate(_COMPRESSED.finditer(content)):
        if count == INFLATIONS_MAX:
            return
        try:
            opened = zlib.decompressobj(32 + zlib.MAX_WBITS).decompress(content[found.start() :], INFLATED_MAX)
        except zlib.error:
            continue
        if opened:
            yield opened


def _utf8(sample: bytes) -> bool:
    # A character may be cut at either end of the sample.
    text = sample.decode("utf-8", "ignore")
    return not text.isascii() and len(text.encode()) >= len(sample) - 6 and not _CONTROL.search(text)


def _base64_runs(text: str) -> Iterator[bytes]:
    if "\n" in text and _BASE64_LINES.search(text):
        text = f"{text}\n\n{_BREAK.sub('', text)}"
    runs = _BASE64.findall(text.translate(_URLSAFE) if "-" in text or "_" in text else text)
    for offset in range(4):
        pool = [content for run in runs if (content := _base64(run[offset:]))]
        # One pool for all, since a secret may be split over neighbouring runs; one for what is worth decoding further.
        if pool:
            yield b"\n".join(pool)
            reading = [content for content in pool if readable(content)]
            if reading and len(reading) < len(pool):
                yield b"\n".join(reading)


def _base64(run: str) -> bytes:
    if len(run) % 4 == 1:
        run = run[:-1]
    return binascii.a2b_base64(run + "=" * (-len(run) % 4)) if len(run) >= 8 else b""


def _base32(run: str) -> bytes:
    run = run[: len(run) - (len(run) % 8 in (1, 3, 6))]
    try:
        return base64.b32decode(run.upper() + "=" * (-len(run) % 8))
    except binascii.Error:
        return b""


def _hexadecimal(text: str) -> Iterator[bytes]:
    runs = _HEX.findall(text)
    marked = _HEX_MARK.sub(" ", text) if "x" in text or "X" in text or "h" in text else text
    apart = [re.sub(r"[^0-9A-Fa-f]", "", found[0]) for found in _HEX_APART.finditer(marked)]
    for offset in (0, 1):
        pool = [bytes.fromhex(run[offset : len(run) - (len(run) - offset) % 2]) for run in (*runs, *(() if offset else apart))]
        if pool:
            yield b"\n".join(pool)


def _numbers(text: str) -> Iterator[bytes]:
    marked = _CODE_MARK.sub("", text) if "h" in text or "H" in text or "0o" in text else text
    for found in _CODES.finditer(marked):
        numbers = re.findall(r"[0-9]+", found[0])
        yield bytes(int(each) for each in numbers if int(each) < 256)
        if not any(digit in found[0] for digit in "89"):
            yield bytes(code for each in numbers if (code := int(each, 8)) < 256)
    for found in _DIGITS.finditer(text):
        yield bytes(code for start in range(0, len(found[0]) - 2, 3) if (code := int(found[0][start : start + 3])) < 256)
    for found in _BITS.finditer(text):
        bits = re.sub(r"[^01]", "", found[0])
        for width in (8, 7):
            yield bytes(int(bits[start : start + width], 2) for start in range(0, len(bits) - width + 1, width))
