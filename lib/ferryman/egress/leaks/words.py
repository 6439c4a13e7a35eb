"""Words: each word of a text decoded by itself, and the results joined; numbered words in the order of their numbers."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from operator import itemgetter

from ferryman.egress.leaks import bases, text_pieces
from ferryman.egress.leaks.fragments import ALONE_MIN, COUNTED_MIN
from ferryman.egress.leaks.ordering import ORDER
from ferryman.egress.leaks.spelling import DIFFERENT_MIN, read_spelled

WORD_MAX = 64  # a longer word is found when the whole text is decoded; one of fewer than 6 characters encodes fewer than 4
_WORD = re.compile(rb"[A-Za-z0-9]{6,}+")
_WORD_WITH_SIGNS = re.compile(rb"[A-Za-z0-9+/_-]{6,}+")
_HEXADECIMAL = b"0123456789abcdefABCDEF"
_BASE32 = re.compile(rb"(?=[A-Za-z]*[2-7])(?:[A-Z2-7]{7,}+|[a-z2-7]{7,}+)")
_FOR_URLS = bytes.maketrans(b"-_", b"+/")
_PADDING = (b"AAAA", b"", b"AAAAAA", b"AAAAA")
"""Completes the last group of a base64 word, by its number of characters, and adds a group of zeros as a separator."""

_WHOLE = re.compile(rb"(?<![^\0])[!-~]++(?![^\0])")
_SET = r"[\])]?[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?([^\s\"'&,;<>{}()\[\]]{1,256})"
_NUMBERED = re.compile(r"([0-9]{1,9}+)" + _SET)
_ORDINAL = re.compile("(" + "|".join(ORDER) + ")" + _SET, re.IGNORECASE)
_FIRSTS = ("one", "One", "ONE", "two", "Two", "TWO", "irst", "IRST", "econd", "ECOND")
"""In a text without any of these, nothing is numbered in words."""

_LABEL = re.compile(r"[A-Za-z]{0,16}[^A-Za-z]{0,2}$")
LABEL_MAX = 18

TEXT_MIN = 8  # a shorter text in base64 holds no piece that is counted


def join_words(text: str, *, small: bool) -> Iterator[tuple[str, bool]]:
    """Yield the words of `text` in other forms, joined: decoded one by one, spelt, and numbered ones in their order.

    Each with whether it may be decoded further. In a `small` text, words that may be of a language are decoded as well.
    """
    if len(text) < TEXT_MIN:
        return
    plain = text.encode("ascii", "replace")
    for joined, further in (
        *((words, small) for words in _decode_words(plain, small=small)),
        *read_spelled(plain, least=1 if small else DIFFERENT_MIN),
        *((words, small) for words in _join_numbered(text)),
        *((words, False) for words in (_replace_words(plain) if small else ())),
    ):
        if len(joined) >= COUNTED_MIN and joined != plain:
            yield joined.decode("ascii"), further and len(joined) >= ALONE_MIN


def _replace_words(plain: bytes) -> Iterator[bytes]:
    """Yield the text with its words in base64, or in hexadecimal, decoded, and the others unchanged."""
    yield _WORD.sub(lambda word: _choose_content(word[0], _decode_base64(word[0])), plain)
    yield _WORD.sub(lambda word: _choose_content(word[0], _decode_hexadecimal(word[0])), plain)


def _decode_words(plain: bytes, *, small: bool) -> Iterator[bytes]:
    words = [word for word in _WORD.findall(plain) if len(word) <= WORD_MAX]
    unlike = [word for word in words if not word.isalpha() or not word[1:].islower()]
    yield _decode_all_base64(unlike)
    yield _select_printable(binascii.unhexlify(b"00".join([word for word in unlike if _is_hexadecimal(word)])))
    if small:
        yield _decode_all_base64(words)
        yield _decode_all_base64([word for word in _WORD_WITH_SIGNS.findall(plain) if len(word) <= WORD_MAX])
        base32 = [word.decode().upper() for word in unlike if _BASE32.fullmatch(word)]
        yield _select_printable(b"\0".join([bases.read_base32(word, 0) for word in base32]))


def _decode_all_base64(words: list[bytes]) -> bytes:
    padded = b"".join([word + _PADDING[len(word) & 3] for word in words if len(word) & 3 != 1])
    return _select_printable(binascii.a2b_base64(padded.translate(_FOR_URLS)))


def _is_hexadecimal(word: bytes) -> bool:
    return not len(word) & 1 and not word.translate(None, _HEXADECIMAL)


def _decode_base64(word: bytes) -> bytes:
    if len(word) & 3 == 1 or (word.isalpha() and word[1:].islower()):
        return b""
    return binascii.a2b_base64(word + b"=" * (-len(word) & 3))


def _decode_hexadecimal(word: bytes) -> bytes:
    return binascii.unhexlify(word) if _is_hexadecimal(word) else b""


def _select_printable(content: bytes) -> bytes:
    """Return the words of `content`, which zeros separate, that are wholly printable."""
    return b"".join(_WHOLE.findall(content))


def _choose_content(word: bytes, content: bytes) -> bytes:
    return content if len(word) <= WORD_MAX and _WHOLE.fullmatch(content) else word


def _join_numbered(text: str) -> Iterator[bytes]:
    """Yield the values after numbers, in their order, for each label before the numbers and for all: `part2=…&part1=…`."""
    if text.count("=") + text.count(":") < 2:
        return
    numbered = [(int(match[1]), match[2], match.start()) for match in _NUMBERED.finditer(text)]
    if any(word in text for word in _FIRSTS):
        numbered += [(ORDER[match[1].lower()], match[2], match.start()) for match in _ORDINAL.finditer(text)]
    if len(numbered) < 2:
        return
    numbered.sort(key=itemgetter(0))
    labels: dict[str, list[str]] = {}
    for _, value, start in numbered:
        label = _LABEL.search(text, max(0, start - LABEL_MAX), start)
        labels.setdefault(label[0] if label else "", []).append(value)
    for values in (
        [value for _, value, _ in numbered],
        *(group for group in labels.values() if 1 < len(group) < len(numbered)),
    ):
        yield "".join(values).encode("ascii", "ignore")
        yield "".join(map(text_pieces.decode_piece, values)).encode("ascii", "ignore")
