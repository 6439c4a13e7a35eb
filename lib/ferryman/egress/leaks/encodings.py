"""Encodings of bytes in a text, from base64 to binary digits, wherever they are and however they are wrapped.

A text is reduced to the characters of one encoding and decoded as a whole, in every alignment. Characters of other content
become noise; readable text among it is scanned further. That is faster than a search for encoded words, and no separator hides
one.
"""

from __future__ import annotations

import binascii
import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import repeat

from ferryman.egress.escapes import replace_lookalikes
from ferryman.egress.leaks import bases, inflate
from ferryman.egress.leaks.skeleton import reduce_to_skeleton

_END = re.compile(rb"[^p]")


def build_shape_table(**signs: bytes) -> bytes:
    """Return a table for `bytes.translate` that replaces each byte by the sign of its class, others by a dot."""
    table = bytearray(b"." * 256)
    for sign, members in signs.items():
        for code in members:
            table[code] = ord(sign)
    return bytes(table)


def find_spans(shape: bytes, least: int) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sequence of at least `least` signs p in `shape`, in order."""
    mark = b"p" * least
    start = shape.find(mark)
    while start >= 0:
        other = _END.search(shape, start + least)
        end = other.start() if other else len(shape)
        yield start, end
        start = shape.find(mark, end)


LEAST = 10
LEAST_OF_MANY = 14
"""The least bytes of a span, in short and in long content. Shorter ones occur everywhere by chance."""

MANY = 8_192

BEYOND_ASCII_LEAST = 20

# p: printable, l: leads a character of UTF-8, c: continues one, _: zero.
_SHAPE = build_shape_table(
    p=bytes((*b"\t\n\r", *range(0x20, 0x7F))), l=bytes(range(0xC2, 0xF5)), c=bytes(range(0x80, 0xC0)), _=b"\0"
)
_EITHER = bytes.maketrans(b"lc", b"pp")
_BEYOND_ASCII_MARK = b"p" * BEYOND_ASCII_LEAST
_BETWEEN = b"\xff"
"""Between contents that are read together: no byte of any text or stream."""

_ASCII = re.compile(r"[!-~]{8}")
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_WIDE = (b"p_" * 6, b"p___" * 6)
_UTF8 = re.compile(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){8,}+")


def find_text_spans(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the bytes of each span of ASCII text in `content`."""
    shape = content.translate(_SHAPE)
    for start, end in find_spans(shape, LEAST if len(content) <= MANY else LEAST_OF_MANY):
        yield start, content[start:end]


def find_non_ascii_text(content: bytes) -> str:
    """Return the spans of `content` that are text in UTF-8 beyond ASCII, in UTF-16 or in UTF-32, a line each."""
    shape = content.translate(_SHAPE)
    texts = [
        text.decode("utf-8", "ignore")
        for start, end in find_spans(_join_shapes(shape), BEYOND_ASCII_LEAST)
        if b"lc" in shape[start:end]
        for text in _UTF8.findall(content, start, end)
        if not text.isascii()
    ]
    texts += _decode_marked(content)
    if any(sequence in shape for sequence in _WIDE):
        texts += [text.decode() for _, text in find_text_spans(content.replace(b"\0", b""))]
    return "\n".join(texts)


def _join_shapes(shape: bytes) -> bytes:
    """Return a shape whose characters of UTF-8 are all p; sequences that are not UTF-8 end a span, which removes most noise."""
    return shape.replace(b"lp", b".p").replace(b"pc", b"p.").translate(_EITHER)


def _decode_marked(content: bytes) -> Iterator[str]:
    for mark, name in _MARKS:
        start = content.find(mark)
        if start >= 0 and _ASCII.search(replace_lookalikes(content[start + 2 : start + 42].decode(name, "ignore"))):
            yield content[start + 2 :].decode(name, "ignore")


_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_HEX = b"0123456789abcdefABCDEF"
_DIGITS = b"0123456789"
_EVERY = bytes(range(256))
_FOR_URLS = bytes.maketrans(b"-_", b"+/")
_NO_BASE64 = _EVERY.translate(None, _BASE64)
_NO_HEX = _EVERY.translate(None, _HEX)
_SPACED = bytes(code if code in _DIGITS else 0x20 for code in range(256))
_CONTROLS = bytes((*range(1, 0x09), *range(0x0B, 0x20), 0x7F))
_HEX_MARKS = ("0x", "0X", "\\x", "\\X")
_BASE64_SHAPE = build_shape_table(p=_BASE64)
_BASE45_SHAPE = build_shape_table(p=bases.BASE45.encode())
_HEX_SHAPE = build_shape_table(p=_HEX)
_BIT_SHAPE = build_shape_table(p=b"01")
_DIGIT_SHAPE = build_shape_table(p=_DIGITS)
_RAW = {
    bytes((_BASE64[first], _BASE64[second]))
    for first in range(64)
    for second in range(64)
    if ((first & 1) << 2 | second >> 4) in inflate.RAW_HEADERS
}
"""The first two characters of base64 that may be a compressed stream without a header."""

_BITS = re.compile(r"(?<![01])[01]{7,8}(?:[^0-9A-Za-z]{0,4}[01]{7,8}){7,}+")
_LONG_NUMBER = re.compile(rb"[0-9]{24,}+")
_UNSPACED = re.compile(rb"1[0-9][0-9]|[3-9][0-9]|[0-9]")
_SINGLE: dict[bytes, int | None] = {digit.encode(): None for digit in "0123456789"}
_DECIMAL = {f"{code:0{width}}".encode(): code for code in range(256) for width in (2, 3)} | _SINGLE
_OCTAL = {f"{code:0{width}o}".encode(): code for code in range(256) for width in (2, 3)} | _SINGLE
"""Character codes by their digits. A single digit numbers them and is left out; any other number separates them."""

_CODES_LEAST = 8
SHORTEST = 14  # characters, of base 64: any other encoding takes more for the fewest bytes that are read
_READABLE = frozenset(number for table in (_DECIMAL, _OCTAL) for number, code in table.items() if (code or 0) > 0x1F)
_OF_STREAMS = frozenset(number for table in (_DECIMAL, _OCTAL) for number, code in table.items() if code in inflate.FIRST_BYTES)
"""Codes of what can be read, of which a text has eight, and of what a compressed stream begins with: few texts have either."""


def decode(text: str, known: set[bytes] | None = None) -> Iterator[str | bytes]:
    """Yield the decoded forms of `text`: texts, which are decoded further, and bytes, which are only scanned.

    Readable text is joined in its order: a secret may be split over neighbouring words. `known` are the digits that have been
    decoded before, in other views of the same text; they are not decoded again, and those of `text` are added.
    """
    if len(text) < SHORTEST:
        return
    known = set() if known is None else known
    plain = text.encode("ascii", "replace")
    yield from _decode_base64(plain, known)
    yield from _decode_other_bases(text, plain)
    yield from _decode_hexadecimal(text, plain, known)
    yield from _decode_codes(plain)
    if b"p" * 56 in reduce_to_skeleton(plain).translate(_BIT_SHAPE):
        yield from _extract_texts(_decode_bits(text))


def _extract_texts(contents: Iterable[bytes], *, digits: tuple[int, int] | None = None) -> Iterator[str | bytes]:
    """Yield `contents`, joined, and the readable text in them.

    `digits` are so many for so many bytes, where each of the contents is decoded from one digit later than the one before.
    """
    contents = list(contents)
    joined = _BETWEEN.join([content for content in contents if len(content) >= LEAST])
    if joined:
        yield joined
    # nearly all content is noise: all of it together is asked whether it holds anything before each is read
    least = LEAST if min(map(len, contents), default=0) <= MANY else LEAST_OF_MANY
    if not _may_hold_text(joined, least):
        return
    spans: list[tuple[int, bytes]] = []
    for offset, content in enumerate(contents):
        for start, span in find_text_spans(content):
            spans.append((offset + start * digits[0] // digits[1] if digits else start, span))
        yield find_non_ascii_text(content)
        yield from _decompress_all(inflate.open_streams(content))
    if spans:
        spans.sort()
        yield b"\n".join(span for _, span in spans).decode()


def _may_hold_text(content: bytes, least: int) -> bool:
    """Tell whether `content` may hold a span of at least `least` characters, text beyond ASCII, or a compressed stream."""
    shape = content.translate(_SHAPE)
    if b"p" * least in shape or any(sequence in shape for sequence in _WIDE) or inflate.may_hold_stream(content):
        return True
    return _BEYOND_ASCII_MARK in _join_shapes(shape) or any(mark in content for mark, _ in _MARKS)


def _decode_base64(plain: bytes, known: set[bytes]) -> Iterator[str | bytes]:
    joined = plain.translate(_FOR_URLS)
    digits = joined.translate(None, _NO_BASE64)
    if len(digits) < 14:
        return
    if digits not in known:
        known.add(digits)
        yield from _extract_texts(_decode_alignments(digits), digits=(4, 3))
    for start, end in find_spans(joined.translate(_BASE64_SHAPE), 20):
        if joined[start : start + 2] in _RAW:
            yield from _decompress_all(inflate.open_raw_stream(_pad_and_decode(joined[start:end])))


def _decode_alignments(digits: bytes) -> list[bytes]:
    """Return the bytes of base64 `digits` read from each of the first four on.

    Decoded once, and shifted by six bits for each further digit, which takes a third of the time of decoding again.
    """
    whole = binascii.a2b_base64(digits + b"A" * (-len(digits) % 4))
    number, size = int.from_bytes(whole, "big"), len(whole) + 3
    return [(number << 6 * offset).to_bytes(size, "big")[3 : 3 + (len(digits) - offset) * 3 // 4] for offset in range(4)]


def _pad_and_decode(digits: bytes) -> bytes:
    if len(digits) % 4 == 1:
        digits = digits[:-1]
    return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))


def _decode_other_bases(text: str, plain: bytes) -> Iterator[str | bytes]:
    """Yield the bytes that are written in base 32, 36, 45, 58 or 62."""
    # the patterns of these bases read long words only, and take long to pass over others
    long = b" ".join([plain[start:end] for start, end in find_spans(plain.translate(_BASE64_SHAPE), 16)]).decode()
    if long:
        yield from _extract_texts(bases.decode_base32(long))
        yield from _extract_texts(bases.decode_numbers(long))
    if b"p" * 24 in plain.translate(_BASE45_SHAPE):
        yield from _extract_texts(bases.decode_base45(text))


def _decode_hexadecimal(text: str, plain: bytes, known: set[bytes]) -> Iterator[str | bytes]:
    for mark in _HEX_MARKS:
        if mark in text:
            plain = plain.replace(mark.encode(), b" ")
    digits = plain.translate(None, _NO_HEX)
    if len(digits) >= 20:
        # base 64 has these digits too: a separator, which neither has, tells them apart
        if digits + _BETWEEN not in known:
            known.add(digits + _BETWEEN)
            contents = [binascii.unhexlify(digits[offset : len(digits) - (len(digits) - offset) % 2]) for offset in (0, 1)]
            yield from _extract_texts(contents, digits=(2, 1))
        for start, end in find_spans(plain.translate(_HEX_SHAPE), 32):
            content = binascii.unhexlify(plain[start : end - (end - start) % 2])
            yield from _decompress_all(inflate.open_raw_stream(content))


def _decompress_all(streams: Iterable[bytes]) -> Iterator[str | bytes]:
    """Yield decompressed `streams` as text, also nested ones; bytes above the limit are only scanned."""
    for content in streams:
        if len(content) > inflate.INFLATED_MAX:
            yield content
        else:
            yield content.decode("utf-8", "replace")
            yield from _decompress_all(inflate.open_streams(content))


def _decode_codes(plain: bytes) -> Iterator[str | bytes]:
    numbers = plain.translate(_SPACED).split()
    if sum(map(_READABLE.__contains__, numbers)) >= _CODES_LEAST or not _OF_STREAMS.isdisjoint(numbers):
        for table in (_DECIMAL, _OCTAL):
            content = bytes([code for code in map(table.get, numbers, repeat(0)) if code is not None])
            if len(content) >= _CODES_LEAST:
                yield from _extract_texts([content.translate(None, _CONTROLS)])
                if inflate.may_hold_stream(content):
                    yield from _decompress_all(inflate.open_streams(content))
    if b"p" * 24 in plain.translate(_DIGIT_SHAPE):
        for number in _LONG_NUMBER.findall(plain):
            triplets = [[number[start : start + 3] for start in range(offset, len(number) - 2, 3)] for offset in range(3)]
            yield from _extract_texts(
                [bytes([_DECIMAL.get(code) or 0 for code in codes]) for codes in (*triplets, _UNSPACED.findall(number))]
            )


def _decode_bits(text: str) -> Iterator[bytes]:
    for match in _BITS.finditer(text):
        bits = re.sub(r"[^01]", "", match[0])
        yield (int(bits, 2) >> len(bits) % 8).to_bytes(len(bits) // 8, "big")
        yield bytes(int(bits[start : start + 7], 2) for start in range(0, len(bits) - 6, 7))
