"""Encodings of bytes in a text, from base64 to binary digits, wherever they are and however they are wrapped.

A text is reduced to the characters of one encoding and decoded as a whole, in every alignment. Characters of other content
become noise; readable text among it is scanned further. That is faster than a search for encoded words, and no separator hides
one.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator
from itertools import islice, repeat

from ferryman.egress.escapes import replace_lookalikes
from ferryman.egress.leaks import bases, inflate
from ferryman.egress.leaks.shapes import build_shape_table, find_spans
from ferryman.egress.leaks.skeleton import find_occurrences, reduce_to_skeleton

LEAST = 10
LEAST_OF_MANY = 14
"""The least bytes of a span, in short and in long content. Shorter ones occur everywhere by chance."""

MANY = 8_192

BEYOND_ASCII_LEAST = 20
MARKS_MAX = 16  # byte order marks in one content that are tried: two bytes occur in noise

# p: printable, l: leads a character of UTF-8, c: continues one, _: zero.
_SHAPE = build_shape_table(
    p=bytes((*b"\t\n\r", *range(0x20, 0x7F))), l=bytes(range(0xC2, 0xF5)), c=bytes(range(0x80, 0xC0)), _=b"\0"
)
_TEXT_SHAPE = build_shape_table(p=bytes((*b"\t\n\r", *range(0x20, 0x7F))))
_EITHER = bytes.maketrans(b"lc_", b"pp.")
_BEYOND_ASCII_MARK = b"p" * BEYOND_ASCII_LEAST
_BETWEEN = b"\xff"
"""Between contents that are read together: no byte of any text or stream."""

_ASCII = re.compile(r"[!-~]{8}")
_MARKS = tuple(zip(inflate.MARKS, ("utf-16-le", "utf-16-be"), strict=True))
_WIDE = (b"p_" * 6, b"p___" * 6)
_UTF8 = re.compile(rb"(?:[\t\n\r\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}){8,}+")


def choose_least(length: int) -> int:
    """Return the least bytes of a span of text in content of `length` bytes."""
    return LEAST if length <= MANY else LEAST_OF_MANY


def find_text_spans(content: bytes, least: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the place and the bytes of each span of ASCII text in `content`, of `least` bytes or as its length has it."""
    shape = content.translate(_TEXT_SHAPE)
    for start, end in find_spans(shape, least or choose_least(len(content))):
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
        for start in islice(find_occurrences(content, mark), MARKS_MAX):
            if _ASCII.search(replace_lookalikes(content[start + 2 : start + 42].decode(name, "ignore"))):
                yield content[start + 2 :].decode(name, "ignore")
                break


_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_HEX = b"0123456789abcdefABCDEF"
_DIGITS = b"0123456789"
_EVERY = bytes(range(256))
_FOR_URLS = bytes.maketrans(b"-_", b"+/")
_NO_BASE64_FOR_URLS = _EVERY.translate(None, _BASE64 + b"-_")
_NO_HEX = _EVERY.translate(None, _HEX)
_SPACED = bytes(code if code in _DIGITS else 0x20 for code in range(256))
_CONTROLS = bytes((*range(1, 0x09), *range(0x0B, 0x20), 0x7F))
_HEX_MARKS = (b"0x", b"0X", b"\\x", b"\\X")
_BASE64_SHAPE = build_shape_table(p=_BASE64)
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
LONG_NUMBER_MIN = 24
_TRIPLET = re.compile(rb"[0-9]{3}")
_UNSPACED = re.compile(rb"1[0-9][0-9]|[3-9][0-9]|[0-9]")
_SINGLE: dict[bytes, int | None] = {digit.encode(): None for digit in "0123456789"}
_DECIMAL = {f"{code:0{width}}".encode(): code for code in range(256) for width in (2, 3)} | _SINGLE
_OCTAL = {f"{code:0{width}o}".encode(): code for code in range(256) for width in (2, 3)} | _SINGLE
"""Character codes by their digits. A single digit numbers them and is left out; any other number separates them."""

_CODES = {number: code or 0 for number, code in _DECIMAL.items()}
_CODES_LEAST = 8
_BITS_MARK, _LONG_MARK = b"p" * 56, b"p" * 16
SHORTEST = 14  # characters, of base 64: any other encoding takes more for the fewest bytes that are read
_READABLE = frozenset(number for table in (_DECIMAL, _OCTAL) for number, code in table.items() if (code or 0) > 0x1F)
_OF_STREAMS = frozenset(number for table in (_DECIMAL, _OCTAL) for number, code in table.items() if code in inflate.FIRST_BYTES)
"""Codes of what can be read, of which a text has eight, and of what a compressed stream begins with: few texts have either."""


def decode(*texts: str, known: set[bytes] | None = None) -> Iterator[str | bytes]:
    """Yield the decoded forms of `texts`, which are read together: texts, which are decoded further, and bytes, only scanned.

    Readable text is joined in its order: a secret may be split over neighbouring words. `known` are the digits that have been
    decoded before, in other views of the same text; they are not decoded again, and those of `texts` are added.
    """
    plains = [text.encode("ascii", "replace") for text in texts if len(text) >= SHORTEST]
    if not plains:
        return
    known = set() if known is None else known
    whole = b"\n".join(plains)
    yield from _decode_base64(plains, whole, known)
    yield from _decode_other_bases(plains, whole, known)
    yield from _decode_hexadecimal(plains, whole, known)
    yield from _decode_codes(plains, whole, known)
    if _BITS_MARK in reduce_to_skeleton(whole).translate(_BIT_SHAPE):
        yield from _extract_texts(_decode_bits(whole.decode()))


def _extract_texts(
    contents: Iterable[bytes], *, digits: tuple[int, int] | None = None, least: int | None = None
) -> Iterator[str | bytes]:
    """Yield `contents`, joined, and the readable text in them.

    `digits` are so many for so many bytes, where each of the contents is decoded from one digit later than the one before.
    `least` is the length of a span of text; without it, that of `choose_least` for each of the contents.
    """
    contents = list(contents)
    joined = _BETWEEN.join([content for content in contents if len(content) >= LEAST])
    if joined:
        yield joined
    # nearly all content is noise: all of it together is asked what it may hold before each is read
    shape = joined.translate(_SHAPE)
    has_text = b"p" * (least or choose_least(min(map(len, contents), default=0))) in shape
    has_stream, has_mark = inflate.find_heads(joined)
    has_more = has_mark or _WIDE[0] in shape or _WIDE[1] in shape or _BEYOND_ASCII_MARK in _join_shapes(shape)
    if not (has_text or has_stream or has_more):
        return
    spans: list[tuple[int, bytes]] = []
    for offset, content in enumerate(contents):
        if has_text:
            for start, span in find_text_spans(content, least):
                spans.append((offset + start * digits[0] // digits[1] if digits else start, span))
        if has_more:
            yield find_non_ascii_text(content)
        if has_stream:
            yield from _decompress_all(inflate.open_streams(content))
    if spans:
        spans.sort()
        yield b"\n".join(span for _, span in spans).decode()


def _select_new(parts: Iterable[bytes], known: set[bytes], kind: bytes = b"") -> list[bytes]:
    """Return those of `parts` that are new in `known`, to which they are added, and in no other one as they are.

    `kind`, which is in none of them, tells equal ones of several notations apart.
    """
    selected: list[bytes] = []
    for part in parts:
        if part + kind not in known:
            known.add(part + kind)
            if not any(part in other for other in selected):
                selected.append(part)
    return selected


def _decode_base64(plains: list[bytes], whole: bytes, known: set[bytes]) -> Iterator[str | bytes]:
    digits = [plain.translate(_FOR_URLS, _NO_BASE64_FOR_URLS) for plain in plains]
    if new := _select_new((part for part in digits if len(part) >= 14), known):
        # parts that are read together are as long as each is: what is noise in one of them does not depend on the others
        least = choose_least(max(map(len, new)) * 3 // 4)
        yield from _extract_texts(_decode_alignments(b"".join(new)), digits=(4, 3), least=least)
    joined = whole.translate(_FOR_URLS)
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


def _decode_other_bases(plains: list[bytes], whole: bytes, known: set[bytes]) -> Iterator[str | bytes]:
    """Yield the bytes that are written in base 32, 36, 45, 58 or 62."""
    # the patterns of these bases read long words only, and take long to pass over others
    long = _select_new(filter(None, map(_join_long_words, plains)), known, b"\n")
    if long:
        words = b"".join(long)
        yield from _extract_texts(bases.decode_base32(words))
        numbers = [word for word in words.split() if bases.NUMBER_MIN <= len(word) <= bases.NUMBER_MAX and word.isalnum()]
        if numbers:
            yield from _extract_texts(bases.decode_numbers(b" ".join(numbers).decode()))
    yield from _extract_texts(bases.decode_base45(whole))


def _join_long_words(plain: bytes) -> bytes:
    """Return the long words of `plain`, a blank before and behind each; nothing where it has none."""
    shape = plain.translate(_BASE64_SHAPE)
    words = [plain[start:end] for start, end in find_spans(shape, 16)] if _LONG_MARK in shape else []
    return b" %b " % b" ".join(words) if words else b""


def _decode_hexadecimal(plains: list[bytes], whole: bytes, known: set[bytes]) -> Iterator[str | bytes]:
    for mark in _HEX_MARKS:
        if mark in whole:
            plains, whole = [plain.replace(mark, b" ") for plain in plains], whole.replace(mark, b" ")
    digits = [plain.translate(None, _NO_HEX) for plain in plains]
    # base 64 has these digits too: a separator, which neither has, tells them apart
    if new := _select_new((part for part in digits if len(part) >= 20), known, _BETWEEN):
        joined = b"".join(new)
        contents = [binascii.unhexlify(joined[offset : len(joined) - (len(joined) - offset) % 2]) for offset in (0, 1)]
        yield from _extract_texts(contents, digits=(2, 1), least=choose_least(max(map(len, new)) // 2))
    for start, end in find_spans(whole.translate(_HEX_SHAPE), 32):
        content = binascii.unhexlify(whole[start : end - (end - start) % 2])
        yield from _decompress_all(inflate.open_raw_stream(content))


def _decompress_all(streams: Iterable[bytes]) -> Iterator[str | bytes]:
    """Yield decompressed `streams` as text, also nested ones; bytes above the limit are only scanned."""
    for content in streams:
        if len(content) > inflate.INFLATED_MAX:
            yield content
        else:
            yield content.decode("utf-8", "replace")
            yield from _decompress_all(inflate.open_streams(content))


def _decode_codes(plains: list[bytes], whole: bytes, known: set[bytes]) -> Iterator[str | bytes]:
    coded: list[bytes] = []
    for plain in plains:
        numbers = plain.translate(_SPACED).split()
        if sum(map(_READABLE.__contains__, numbers)) >= _CODES_LEAST or not _OF_STREAMS.isdisjoint(numbers):
            coded.append(b" %b " % b" ".join(numbers))
    if coded := _select_new(coded, known, b"."):
        numbers = b"".join(coded).split()
        for table in (_DECIMAL, _OCTAL):
            content = bytes([code for code in map(table.get, numbers, repeat(0)) if code is not None])
            if len(content) >= _CODES_LEAST:
                yield from _extract_texts([content.translate(None, _CONTROLS)])
                if inflate.find_heads(content)[0]:
                    yield from _decompress_all(inflate.open_streams(content))
    spans = find_spans(whole.translate(_DIGIT_SHAPE), LONG_NUMBER_MIN)
    for number in dict.fromkeys([whole[start:end] for start, end in spans]):
        codes = (*(_TRIPLET.findall(number, offset) for offset in range(3)), _UNSPACED.findall(number))
        yield from _extract_texts([bytes(map(_CODES.get, kind, repeat(0))) for kind in codes])


def _decode_bits(text: str) -> Iterator[bytes]:
    for match in _BITS.finditer(text):
        bits = re.sub(r"[^01]", "", match[0])
        yield (int(bits, 2) >> len(bits) % 8).to_bytes(len(bits) // 8, "big")
        yield bytes(int(bits[start : start + 7], 2) for start in range(0, len(bits) - 6, 7))
