"""Encodings of bytes in a text, from base64 to binary digits, wherever they are and however they are wrapped.

A text is reduced to the characters of one encoding and decoded as a whole, in every alignment. Characters of other content
become noise; readable text among it is scanned further. That is faster than a search for encoded words, and no separator hides
one.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator
from itertools import repeat

from ferryman.egress.leaks import bases, inflate
from ferryman.egress.leaks.contents import Contents, decompress_all, extract_texts
from ferryman.egress.leaks.shapes import build_shape_table, find_spans
from ferryman.egress.leaks.skeleton import reduce_to_skeleton
from ferryman.egress.leaks.text_spans import choose_least

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_HEX = b"0123456789abcdefABCDEF"
_DIGITS = b"0123456789"
_EVERY = bytes(range(256))
_FOR_URLS = bytes.maketrans(b"-_", b"+/")
_NO_BASE64_FOR_URLS = _EVERY.translate(None, _BASE64 + b"-_\xff")
_NO_HEX = _EVERY.translate(None, _HEX + b"\xff")
_SPACED = bytes(code if code in _DIGITS else 0x20 for code in range(256))
_CONTROLS = bytes((*range(1, 0x09), *range(0x0B, 0x20), 0x7F))
_HEX_MARKS = (b"0x", b"0X")  # the others, with a backslash, have no digit
_BASE64_SHAPE, _BASE64_FOR_URLS_SHAPE = build_shape_table(p=_BASE64), build_shape_table(p=_BASE64 + b"-_")
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
_SINGLE = {digit.encode(): b"" for digit in "0123456789"}
_DECIMAL = {f"{code:0{width}}".encode(): bytes((code,)) for code in range(256) for width in (2, 3)} | _SINGLE
_OCTAL = {f"{code:0{width}o}".encode(): bytes((code,)) for code in range(256) for width in (2, 3)} | _SINGLE
"""Character codes by their digits. A single digit numbers them and is left out; any other number separates them."""

_CODES = {number: code or b"\0" for number, code in _DECIMAL.items()}
_CODES_LEAST = 8
_BITS_MARK, _LONG_MARK, _LONG_HEX_MARK = b"p" * 56, b"p" * 16, b"p" * 32
_BETWEEN = b"\xff"
"""Between texts that are read together: no character of ASCII."""

SHORTEST = 14  # characters, of base 64: any other encoding takes more for the fewest bytes that are read
_CODED = [(number, code) for table in (_DECIMAL, _OCTAL) for number, code in table.items() if code]
_READABLE = frozenset(number for number, code in _CODED if code > b"\x1f")
_OF_STREAMS = frozenset(number for number, code in _CODED if code[0] in inflate.FIRST_BYTES)
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
    whole = _BETWEEN.join(plains)
    notations = (_decode_base64, _decode_other_bases, _decode_hexadecimal, _decode_codes, _decode_bits)
    yield from extract_texts(contents for decode_all in notations for contents in decode_all(plains, whole, known))
    yield from _open_raw_streams(whole)


def _select_new(parts: Iterable[bytes], known: set[bytes], kind: bytes = b"") -> list[bytes]:
    """Return those of `parts` that are new in `known`, to which they are added, and in no other one as they are.

    `kind`, which is in none of them, tells equal ones of several notations apart.
    """
    selected: list[bytes] = []
    for part in parts:
        if part + kind not in known:
            known.add(part + kind)
            for other in selected:
                if part in other:
                    break
            else:
                selected.append(part)
    return selected


def _decode_base64(_: list[bytes], whole: bytes, known: set[bytes]) -> Iterator[Contents]:
    digits = whole.translate(_FOR_URLS, _NO_BASE64_FOR_URLS).split(_BETWEEN)
    if new := _select_new((part for part in digits if len(part) >= 14), known):
        # parts that are read together are as long as each is: what is noise in one of them does not depend on the others
        least = choose_least(max(map(len, new)) * 3 // 4)
        yield Contents(_decode_alignments(b"".join(new)), digits=(4, 3), least=least)


def _decode_alignments(digits: bytes) -> list[bytes]:
    """Return the bytes of base64 `digits` read from each of the first four on.

    Decoded once, and shifted by six bits for each further digit, which takes a third of the time of decoding again.
    """
    whole = binascii.a2b_base64(digits + b"A" * (-len(digits) % 4))
    number, size = int.from_bytes(whole, "big"), len(whole) + 3
    return [(number << 6 * offset).to_bytes(size, "big")[3 : 3 + (len(digits) - offset) * 3 // 4] for offset in range(4)]


def _decode_other_bases(plains: list[bytes], whole: bytes, known: set[bytes]) -> Iterator[Contents]:
    """Yield the bytes that are written in base 32, 36, 45, 58 or 62."""
    # the patterns of these bases read long words only, and take long to pass over others
    if long := _select_new(filter(None, map(_join_long_words, plains)), known, b"\n"):
        words = b"".join(long)
        yield Contents([*bases.decode_base32(words)])
        numbers = [word for word in words.split() if bases.NUMBER_MIN <= len(word) <= bases.NUMBER_MAX and word.isalnum()]
        if numbers:
            yield Contents([*bases.decode_numbers(b" ".join(numbers).decode())])
    yield Contents([*bases.decode_base45(whole)])


def _join_long_words(plain: bytes) -> bytes:
    """Return the long words of `plain`, a blank before and behind each; nothing where it has none."""
    shape = plain.translate(_BASE64_SHAPE)
    words = [plain[start:end] for start, end in find_spans(shape, 16)] if _LONG_MARK in shape else []
    return b" %b " % b" ".join(words) if words else b""


def _decode_hexadecimal(_: list[bytes], whole: bytes, known: set[bytes]) -> Iterator[Contents]:
    for mark in _HEX_MARKS:
        whole = whole.replace(mark, b" ")
    digits = whole.translate(None, _NO_HEX).split(_BETWEEN)
    # base 64 has these digits too: a separator, which neither has, tells them apart
    if new := _select_new((part for part in digits if len(part) >= 20), known, _BETWEEN):
        joined = b"".join(new)
        contents = [binascii.unhexlify(joined[offset : len(joined) - (len(joined) - offset) % 2]) for offset in (0, 1)]
        yield Contents(contents, digits=(2, 1), least=choose_least(max(map(len, new)) // 2))


def _open_raw_streams(whole: bytes) -> Iterator[str | bytes]:
    """Yield what words of base64 and of hexadecimal digits are that are streams without a header."""
    words = [whole[start:end] for start, end in find_spans(whole.translate(_BASE64_FOR_URLS_SHAPE), 20)]
    for word in words:
        digits = word.translate(_FOR_URLS)
        if digits[:2] in _RAW:
            yield from decompress_all(inflate.open_raw_stream(_pad_and_decode(digits)))
    # hexadecimal digits are among those of base 64, and so are their marks but for the backslash
    long = b" ".join([word for word in words if len(word) >= 32])
    if _LONG_HEX_MARK not in long.translate(_HEX_SHAPE):
        return
    for mark in _HEX_MARKS:
        long = long.replace(mark, b" ")
    for start, end in find_spans(long.translate(_HEX_SHAPE), 32):
        content = binascii.unhexlify(long[start : end - (end - start) % 2])
        yield from decompress_all(inflate.open_raw_stream(content))


def _pad_and_decode(digits: bytes) -> bytes:
    if len(digits) % 4 == 1:
        digits = digits[:-1]
    return binascii.a2b_base64(digits + b"=" * (-len(digits) % 4))


def _decode_codes(plains: list[bytes], whole: bytes, known: set[bytes]) -> Iterator[Contents]:
    shape = b"".join((_BETWEEN, whole, _BETWEEN)).translate(_DIGIT_SHAPE)
    numbered: dict[bytes, list[bytes]] = {}
    start = 0
    for plain in plains:
        end = start + 1 + len(plain)
        # of two or three digits: no other number is a code
        if shape.find(b".pp.", start, end + 1) >= 0 or shape.find(b".ppp.", start, end + 1) >= 0:
            numbers = plain.translate(_SPACED).split()
            numbered[b" %b " % b" ".join(numbers)] = numbers
        start = end
    coded = [written for written, numbers in numbered.items() if _may_be_codes(numbers)]
    if coded := _select_new(coded, known, b"."):
        numbers = b"".join(coded).split()
        for table in (_DECIMAL, _OCTAL):
            content = b"".join(map(table.get, numbers, repeat(b"\0")))
            if len(content) >= _CODES_LEAST:
                read = content.translate(None, _CONTROLS)
                yield Contents([read, content] if inflate.find_heads(content).streams else [read])
    for number in dict.fromkeys([whole[start - 1 : end - 1] for start, end in find_spans(shape, LONG_NUMBER_MIN)]):
        codes = (*(_TRIPLET.findall(number, offset) for offset in range(3)), _UNSPACED.findall(number))
        yield Contents([b"".join(map(_CODES.get, kind, repeat(b"\0"))) for kind in codes])


def _may_be_codes(numbers: list[bytes]) -> bool:
    different = set(numbers)
    if not different.isdisjoint(_OF_STREAMS):
        return True
    return not different.isdisjoint(_READABLE) and sum(map(_READABLE.__contains__, numbers)) >= _CODES_LEAST


def _decode_bits(_: list[bytes], whole: bytes, __: set[bytes]) -> Iterator[Contents]:
    if _BITS_MARK not in reduce_to_skeleton(whole).translate(_BIT_SHAPE):
        return
    contents = []
    for match in _BITS.finditer(whole.decode("latin-1")):
        bits = re.sub(r"[^01]", "", match[0])
        contents.append((int(bits, 2) >> len(bits) % 8).to_bytes(len(bits) // 8, "big"))
        contents.append(bytes(int(bits[start : start + 7], 2) for start in range(0, len(bits) - 6, 7)))
    yield Contents(contents)
