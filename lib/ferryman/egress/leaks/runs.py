"""Runs: stretches of a text that are bytes written out in base64, base32, hexadecimal, decimal, octal or binary."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator

from ferryman.egress.leaks.escapes import mended
from ferryman.egress.leaks.skeleton import skeleton

INFLATED_MAX = 1_048_576
INFLATIONS_MAX = 8
"""Compressed streams looked into, in one run."""

COMPRESSED_MIN = 28
"""Characters of base64 from which on a compressed stream is looked for in every alignment."""

BEYOND_ASCII_MIN = 40
SHORT = 512

_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\n\r"
_SAMPLE = 24
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SECOND = "".join(character for index, character in enumerate(_ALPHABET) if not index & 8)
_THIRD = "".join(character for index, character in enumerate(_ALPHABET) if not index & 2)
# Each is anchored by what may not stand before it, or possessive: hostile text cannot make them backtrack.
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}+")
_BASE64_ASCII = re.compile(rf"(?:[A-Za-f][{_SECOND}][{_THIRD}][A-Za-z0-9+/]){{4,}}+")
"""Base64 of ASCII shows in the bits that ASCII leaves empty, and so does its alignment."""

_BASE64_LINES = re.compile(r"(?m)^[ \t]*+[A-Za-z0-9+/]{4,}+={0,2}[ \t]*\r?\n[ \t]*+[A-Za-z0-9+/]{4,}+={0,2}[ \t]*\r?$")
_BASE64_BLOCK = re.compile(r"[A-Za-z0-9+/]{4,}+(?:[ \t]*+\r?\n[ \t]*+[A-Za-z0-9+/]{4,}+)+")
_BREAK = re.compile(r"\s+")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,}+|[a-z2-7]{16,}+)(?![A-Za-z0-9])")
_HEX = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{16,}+")
_HEX_APART = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{2}(?:[^0-9A-Za-z]{1,4}[0-9A-Fa-f]{2}(?![0-9A-Fa-f])){7,}+")
_HEX_MARK = re.compile(r"0[xX]|\\x")
_CODES = re.compile(r"(?<![0-9])[0-9]{2,3}(?:[^0-9A-Za-z]{1,8}[0-9]{2,3}(?![0-9])){7,}+")
_CODE_MARK = re.compile(r"(?i)(?:chr|char|0o)(?=[^A-Za-z]?[0-9])")
_DIGITS = re.compile(r"(?<![0-9])[0-9]{24,}+")
_BITS = re.compile(r"(?<![01])[01]{7,8}(?:[^0-9A-Za-z]{0,4}[01]{7,8}){7,}+")
_UNPRINTED = bytes((*range(0x09), *range(0x0E, 0x20), 0x7F))
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_COMPRESSED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]", re.DOTALL)
_HEX_SHAPE = bytes.maketrans(b"0123456789abcdef", b"x" * 16)
_BIT_SHAPE = bytes.maketrans(b"01", b"bb")
_DIGIT_SHAPE = bytes.maketrans(b"0123456789", b"d" * 10)


def decoded(text: str, seen: set[str]) -> Iterator[tuple[bytes, bool]]:
    """What the runs of `text` stand for, and whether it is worth decoding further. `seen` grows by the runs of base64.

    The runs of one notation come together: a secret may be split over neighbouring ones.
    """
    bare = skeleton(text)
    yield from _pooled(_base64_runs(text, seen))
    if b"x" * 16 in bare.translate(_HEX_SHAPE) or text.count("0x") + text.count("0X") + text.count("\\x") >= 8:
        for pool in _hexadecimal(text):
            yield from _pooled((each, readable(each)) for each in pool)
    if b"d" * 16 in bare.translate(_DIGIT_SHAPE) or text.count("(") >= 8:
        yield from ((each, readable(each)) for each in _codes(text))
        if b"b" * 56 in bare.translate(_BIT_SHAPE):
            yield from ((each, readable(each)) for each in _bits(text))
    yield from _pooled((each, readable(each)) for each in (_base32(found[0]) for found in _BASE32.finditer(text)))


def _pooled(contents: Iterator[tuple[bytes, bool]]) -> Iterator[tuple[bytes, bool]]:
    pools: dict[bool, list[bytes]] = {True: [], False: []}
    for content, promising in contents:
        pools[promising].append(content)
    for promising, pool in pools.items():
        if pool:
            yield b"\n".join(pool), promising


def readable(content: bytes) -> bool:
    """Whether the head, the middle or the end of `content` reads as text, so that looking further into it is worth while."""
    if content.count(0) * 3 > len(content):
        content = content.replace(b"\0", b"")  # UTF-16
    middle = len(content) // 2
    for sample in (content[:_SAMPLE], content[middle : middle + _SAMPLE], content[-_SAMPLE:]):
        if _plain(sample) if sample.isascii() else _utf8(sample):
            return True
    return False


def text_of(content: bytes) -> str:
    """`content` as text, whatever it is."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        content = content[2:]
    if content.count(0) * 3 > len(content):
        content = content.replace(b"\0", b"")
    return mended(content.decode("latin-1"))


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


def _plain(sample: bytes) -> bool:
    return len(sample) >= 6 and not sample.translate(None, _PRINTABLE)


def _utf8(sample: bytes) -> bool:
    # An ASCII control character is no part of any other: most of what is not text ends here, at a fraction of the price.
    if len(sample) < 12 or len(sample.translate(None, _UNPRINTED)) < len(sample):
        return False
    # A character may be cut at either end of the sample.
    text = sample.decode("utf-8", "ignore")
    return len(text.encode()) >= len(sample) - 6 and not _CONTROL.search(text)


def _base64_runs(text: str, seen: set[str]) -> Iterator[tuple[bytes, bool]]:
    if "-" in text or "_" in text:
        text = text.replace("-", "+").replace("_", "/")
    runs = _BASE64.findall(text)
    if "\n" in text and _BASE64_LINES.search(text):
        runs += [_BREAK.sub("", found[0]) for found in _BASE64_BLOCK.finditer(text)]
    # What is all hexadecimal is read as that.
    fresh = [run for run in runs if run not in seen and run.strip("0123456789abcdef")]
    seen.update(fresh)
    for run in fresh:
        yield from _short(run) if len(run) <= SHORT else _long(run)


def _short(run: str) -> Iterator[tuple[bytes, bool]]:
    offsets = {found.start() % 4 for found in _BASE64_ASCII.finditer(run)}
    for offset in range(4):
        if offset in offsets:
            yield _base64(run[offset:]), True
        elif len(run) >= COMPRESSED_MIN:
            content = _base64(run[offset:])
            promising = len(run) >= BEYOND_ASCII_MIN and readable(content)
            if promising or _COMPRESSED.search(content):
                yield content, promising


def _long(run: str) -> Iterator[tuple[bytes, bool]]:
    for offset in range(4):
        content = _base64(run[offset:])
        yield content, readable(content)
    # Of a picture or an archive only what reads as text, with what stands around it.
    for found in _BASE64_ASCII.finditer(run):
        if found.end() - found.start() >= 24:
            yield _base64(run[max(found.start() % 4, found.start() - 64) : found.end() + 64]), True


def _base64(run: str) -> bytes:
    if len(run) % 4 == 1:
        run = run[:-1]
    return binascii.a2b_base64(run + "=" * (-len(run) % 4))


def _base32(run: str) -> bytes:
    run = run[: len(run) - (len(run) % 8 in (1, 3, 6))]
    try:
        return base64.b32decode(run.upper() + "=" * (-len(run) % 8))
    except binascii.Error:
        return b""


def _hexadecimal(text: str) -> Iterator[list[bytes]]:
    runs = _HEX.findall(text) if b"x" * 16 in text.lower().encode("ascii", "replace").translate(_HEX_SHAPE) else []
    marked = _HEX_MARK.sub(" ", text) if text.count("0x") + text.count("0X") + text.count("\\x") >= 8 else text
    apart = [re.sub(r"[^0-9A-Fa-f]", "", found[0]) for found in _HEX_APART.finditer(marked)]
    for offset in (0, 1):
        pool = [bytes.fromhex(run[offset : len(run) - (len(run) - offset) % 2]) for run in (*runs, *(() if offset else apart))]
        if pool:
            yield pool


def _codes(text: str) -> Iterator[bytes]:
    lower = text.lower()
    marked = _CODE_MARK.sub("", text) if lower.count("ch") >= 8 or lower.count("0o") >= 8 else text
    shape = text.encode("ascii", "replace").translate(_DIGIT_SHAPE)
    for found in _CODES.finditer(marked):
        numbers = re.findall(r"[0-9]+", found[0])
        yield bytes(int(each) for each in numbers if int(each) < 256)
        if not any(digit in found[0] for digit in "89"):
            yield bytes(code for each in numbers if (code := int(each, 8)) < 256)
    for found in _DIGITS.finditer(text) if b"d" * 24 in shape else ():
        yield bytes(code for start in range(0, len(found[0]) - 2, 3) if (code := int(found[0][start : start + 3])) < 256)


def _bits(text: str) -> Iterator[bytes]:
    for found in _BITS.finditer(text):
        bits = re.sub(r"[^01]", "", found[0])
        for width in (8, 7):
            yield bytes(int(bits[start : start + width], 2) for start in range(0, len(bits) - width + 1, width))
