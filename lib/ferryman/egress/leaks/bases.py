"""Bases: bytes written as one number in base 36, 58 or 62, or in groups in base 45 and the variants of base 32."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator

from ferryman.egress.leaks.shapes import build_shape_table, find_spans

NUMBER_MIN, NUMBER_MAX = 22, 400
"""The length of a word that is read as one number: 16 bytes take 22 digits, and the cost is the square of the length."""

_DIGITS = "0123456789"
_SMALL = "abcdefghijklmnopqrstuvwxyz"
_CAPITAL = _SMALL.upper()
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
NUMBERS = (_DIGITS + _SMALL, _BASE58, _DIGITS + _CAPITAL + _SMALL, _CAPITAL + _SMALL + _DIGITS)
"""The digits of base 36, 58 and 62. Orders with small letters first are equal once the case of all letters is changed."""

BASE45 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
_BASE32 = _CAPITAL + "234567"
BASE32_KINDS = (
    _BASE32,
    "0123456789ABCDEFGHIJKLMNOPQRSTUV",
    "0123456789ABCDEFGHJKMNPQRSTVWXYZ",  # Crockford's
    "YBNDRFG8EJKMCPQXOT1UWISZA345H769",  # z-base-32
)
"""The digits of the variants of base 32 in capitals, the standard one first."""

_CHUNK = 10
_WORD = re.compile(rf"(?<![A-Za-z0-9+/])[A-Za-z0-9]{{{NUMBER_MIN},{NUMBER_MAX}}}+(?![A-Za-z0-9+/])")
RUN32_MIN, RUN45_MIN, RUN45_MAX = 16, 24, 8_192
"""A longer sequence is not decoded: it is mostly text in capitals."""

_NO_CAPITAL = bytes(code for code in range(256) if code not in _CAPITAL.encode())
_LETTERS45_MIN = 6
_NUMERALS32 = [bytes.maketrans(kind.encode(), b"0123456789ABCDEFGHIJKLMNOPQRSTUV") for kind in BASE32_KINDS]
_CROCKFORD = bytes.maketrans(b"OIL", b"011")
_VALUES = [{ord(digit): value for value, digit in enumerate(digits)} for digits in NUMBERS]
_VALUES45 = bytes.maketrans(BASE45.encode(), bytes(range(45)))
_SHAPE45 = build_shape_table(p=BASE45.encode())
_SMALL_SHAPE = build_shape_table(p=(_DIGITS + _SMALL).encode())
_CAPITAL_SHAPE = build_shape_table(p=(_DIGITS + _CAPITAL).encode())
_MARK32, _MARK45 = b"p" * RUN32_MIN, b"p" * RUN45_MIN
_PRINTABLE = bytes((*b"\t\n\r", *range(0x20, 0x7F)))


def write_number(content: bytes, digits: str) -> str:
    """Return `content` as one number, its most significant byte first."""
    number, base = int.from_bytes(content, "big"), len(digits)
    chunk, written = base**_CHUNK, []
    while number:
        number, rest = divmod(number, chunk)
        for _ in range(_CHUNK):
            rest, digit = divmod(rest, base)
            written.append(digits[digit])
    return "".join(reversed(written)).lstrip(digits[0])


def write_base45(content: bytes) -> str:
    """Return the groups of three digits for every two whole bytes of `content`."""
    groups = []
    for start in range(0, len(content) - 1, 2):
        rest, first = divmod(content[start] * 256 + content[start + 1], 45)
        third, second = divmod(rest, 45)
        groups.append(BASE45[first] + BASE45[second] + BASE45[third])
    return "".join(groups)


def decode_numbers(text: str) -> Iterator[bytes]:
    """Yield the printable bytes that a word of `text` is when it is read as one number."""
    for word in dict.fromkeys(_WORD.findall(text)):
        # a word in letters of one case can be a number in base 36 alone: a few keys in 100,000 have one
        has_one_case = word.isalpha() and (word.islower() or word.isupper())
        for place, values in enumerate(_VALUES[:1] if has_one_case else _VALUES):
            content = read_number(word, place, values)
            if content and not content.translate(None, _PRINTABLE):
                yield content


def read_number(word: str, place: int, values: dict[int, int]) -> bytes:
    """Return the bytes of `word` in the base of `NUMBERS[place]`; nothing where a character is not one of its digits."""
    base = len(NUMBERS[place])
    if base == 36:
        number = int(word, 36)
    else:
        read = [values.get(code, -1) for code in word.encode("ascii")]
        if min(read) < 0:
            return b""
        number, chunk = 0, base**_CHUNK
        head = len(read) % _CHUNK
        for start in range(head - _CHUNK if head else 0, len(read), _CHUNK):
            part = 0
            for digit in read[max(0, start) : start + _CHUNK]:
                part = part * base + digit
            number = number * chunk + part
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def decode_base45(plain: bytes) -> Iterator[bytes]:
    """Yield the decoded sequences of base 45 in `plain`, from each of their first three characters on."""
    shape = plain.translate(_SHAPE45)
    for start, end in find_spans(shape, RUN45_MIN) if _MARK45 in shape else ():
        run = plain[start:end]
        if len(run) > RUN45_MAX or len(run.translate(None, _NO_CAPITAL)) < _LETTERS45_MIN:
            continue
        values = run.translate(_VALUES45)
        for offset in range(3):
            groups = zip(values[offset::3], values[offset + 1 :: 3], values[offset + 2 :: 3], strict=False)
            content = array("H", [first + 45 * second + 2_025 * third & 0xFFFF for first, second, third in groups])
            if sys.byteorder == "little":
                content.byteswap()
            yield content.tobytes()


def decode_base32(plain: bytes) -> Iterator[bytes]:
    """Yield the decoded sequences of each variant of base 32 in `plain`, in letters of one case."""
    spans: set[tuple[int, int]] = set()
    for shape in (plain.translate(_SMALL_SHAPE), plain.translate(_CAPITAL_SHAPE)):
        if _MARK32 in shape:
            spans.update(find_spans(shape, RUN32_MIN))
    runs = [plain[start:end] for start, end in sorted(spans)]
    # one sequence in 27 has no digit among sixteen, so that a long word may be one; that all are digits is no sequence
    runs = [run.upper() for run in runs if not run.isdigit()]
    for place in range(len(BASE32_KINDS) if runs else 0):
        kind = [run.translate(_CROCKFORD) for run in runs] if place == 2 else runs
        if read := [content for run in kind if (content := read_base32(run, place))]:
            yield b"\xff".join(read)


def read_base32(word: bytes, place: int) -> bytes:
    """Return the whole bytes of a word in capitals in `BASE32_KINDS[place]`; nothing where a character is no digit of it."""
    if word.translate(None, BASE32_KINDS[place].encode()):
        return b""
    bits = len(word) * 5
    return (int(word.translate(_NUMERALS32[place]), 32) >> bits % 8).to_bytes(bits // 8, "big") if word else b""
