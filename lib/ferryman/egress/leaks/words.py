"""Words: each word of a text decoded by itself, and what comes of it joined; words in the order of the numbers before them."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from operator import itemgetter

from ferryman.egress.leaks import bases, walk
from ferryman.egress.leaks.fragments import ALONE_MIN, COUNTED_MIN
from ferryman.egress.leaks.ordering import ORDER
from ferryman.egress.leaks.spelled import DIFFERENT_MIN, read_spelled

WORD_MAX = 64
"""A longer word is long enough to be found in the run that it is part of; one of fewer than 6 holds less than 4 characters."""

_WORD = re.compile(rb"[A-Za-z0-9]{6,}+")
_WORD_WITH_SIGNS = re.compile(rb"[A-Za-z0-9+/_-]{6,}+")
_HEXADECIMAL = b"0123456789abcdefABCDEF"
_BASE32 = re.compile(rb"(?=[A-Za-z]*[2-7])(?:[A-Z2-7]{7,}+|[a-z2-7]{7,}+)")
_FOR_URLS = bytes.maketrans(b"-_", b"+/")
_PADDING = (b"AAAA", b"", b"AAAAAA", b"AAAAA")
"""What makes a word of base64 whole groups, by how many characters its last one has, and a group of zeros to part it."""

_WHOLE = re.compile(rb"(?<![^\0])[!-~]++(?![^\0])")
_SET = r"[\])]?[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?([^\s\"'&,;<>{}()\[\]]{1,256})"
_NUMBERED = re.compile(r"([0-9]{1,9}+)" + _SET)
_ORDINAL = re.compile("(" + "|".join(ORDER) + ")" + _SET, re.IGNORECASE)
_FIRSTS = ("one", "One", "ONE", "two", "Two", "TWO", "irst", "IRST", "econd", "ECOND")
"""Without any of these nothing is numbered in words."""

_LABEL = re.compile(r"[A-Za-z]{0,16}[^A-Za-z]{0,2}$")
LABEL_MAX = 18

TEXT_MIN = 8
"""A shorter text holds no piece that is counted, in base64."""


def join_words(text: str, *, small: bool) -> Iterator[tuple[str, bool]]:
    """Yield the words of `text` in other forms, put together: decoded one by one, spelt, and numbered ones in their order.

    Each with whether it may be decoded further. In a `small` text such words are looked at as well that may be of a language.
    """
    if len(text) < TEXT_MIN:
        return
    plain = text.encode("ascii", "replace")
    for found, further in (
        *((each, small) for each in _decoded(plain, small=small)),
        *read_spelled(plain, least=1 if small else DIFFERENT_MIN),
        *((each, small) for each in _numbered(text)),
        *((each, False) for each in (_replaced(plain) if small else ())),
    ):
        if len(found) >= COUNTED_MIN and found != plain:
            yield found.decode("ascii"), further and len(found) >= ALONE_MIN


def _replaced(plain: bytes) -> Iterator[bytes]:
    """Yield the text with the words decoded that are in base64, or in hexadecimal, and the others as they are."""
    yield _WORD.sub(lambda word: _instead(word[0], _base64(word[0])), plain)
    yield _WORD.sub(lambda word: _instead(word[0], _hexadecimal(word[0])), plain)


def _decoded(plain: bytes, *, small: bool) -> Iterator[bytes]:
    words = [word for word in _WORD.findall(plain) if len(word) <= WORD_MAX]
    unlike = [word for word in words if not word.isalpha() or not word[1:].islower()]
    yield _from_base64(unlike)
    yield _printable(binascii.unhexlify(b"00".join([word for word in unlike if _is_hexadecimal(word)])))
    if small:
        yield _from_base64(words)
        yield _from_base64([word for word in _WORD_WITH_SIGNS.findall(plain) if len(word) <= WORD_MAX])
        base32 = [word.decode().upper() for word in unlike if _BASE32.fullmatch(word)]
        yield _printable(b"\0".join([bases.read_base32(word, 0) for word in base32]))


def _from_base64(words: list[bytes]) -> bytes:
    padded = b"".join([word + _PADDING[len(word) & 3] for word in words if len(word) & 3 != 1])
    return _printable(binascii.a2b_base64(padded.translate(_FOR_URLS)))


def _is_hexadecimal(word: bytes) -> bool:
    return not len(word) & 1 and not word.translate(None, _HEXADECIMAL)


def _base64(word: bytes) -> bytes:
    if len(word) & 3 == 1 or (word.isalpha() and word[1:].islower()):
        return b""
    return binascii.a2b_base64(word + b"=" * (-len(word) & 3))


def _hexadecimal(word: bytes) -> bytes:
    return binascii.unhexlify(word) if _is_hexadecimal(word) else b""


def _printable(content: bytes) -> bytes:
    """Return the words among `content`, which zeros part, that are printable as a whole."""
    return b"".join(_WHOLE.findall(content))


def _instead(word: bytes, content: bytes) -> bytes:
    return content if len(word) <= WORD_MAX and _WHOLE.fullmatch(content) else word


def _numbered(text: str) -> Iterator[bytes]:
    """Yield what stands behind numbers, in the order of those, for each word before them and for all: `part2=…&part1=…`."""
    if text.count("=") + text.count(":") < 2:
        return
    found = [(int(each[1]), each[2], each.start()) for each in _NUMBERED.finditer(text)]
    if any(word in text for word in _FIRSTS):
        found += [(ORDER[each[1].lower()], each[2], each.start()) for each in _ORDINAL.finditer(text)]
    if len(found) < 2:
        return
    found.sort(key=itemgetter(0))
    labels: dict[str, list[str]] = {}
    for _, value, start in found:
        label = _LABEL.search(text, max(0, start - LABEL_MAX), start)
        labels.setdefault(label[0] if label else "", []).append(value)
    for values in ([value for _, value, _ in found], *(each for each in labels.values() if 1 < len(each) < len(found))):
        yield "".join(values).encode("ascii", "ignore")
        yield "".join(map(walk.decode_piece, values)).encode("ascii", "ignore")
