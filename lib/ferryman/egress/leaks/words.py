"""Words: each word of a text decoded by itself and the results joined, numbered ones in their order, spelt ones as letters."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from operator import itemgetter

from ahocorasick_rs import BytesAhoCorasick

from ferryman.egress.leaks import bases, text_pieces
from ferryman.egress.leaks.fragments import ALONE_MIN, COUNTED_MIN
from ferryman.egress.leaks.text_pieces import ORDER, UNITS

WORD_MAX = 64  # a longer word is found when the whole text is decoded; one of fewer than 6 characters encodes fewer than 4
_WORD = re.compile(rb"[A-Za-z0-9]{6,}+")
_UNSIGNED = bytes(code if bytes((code,)).isalnum() else 0x20 for code in range(256))
_SIGNED = bytes(code if bytes((code,)).isalnum() or code in b"+/_-" else 0x20 for code in range(256))
"""Tables that leave words alone, and words with the signs of base64, between blanks."""

_HEXADECIMAL = b"0123456789abcdefABCDEF"
_LEADING_BASE64, _LEADING_HEXADECIMAL = b"IJKLMNOPQRSTUVWXYZabcdef", b"234567"
"""What every group begins with that encodes printable characters: the first bits are those of the codes 0x20 to 0x7f."""

_BASE32 = re.compile(rb"(?=[A-Za-z]*[2-7])(?:[A-Z2-7]{7,}+|[a-z2-7]{7,}+)")
_FOR_URLS = bytes.maketrans(b"-_", b"+/")
_PADDING = (b"AAAA", b"", b"AAAAAA", b"AAAAA")
"""Completes the last group of a base64 word, by its number of characters, and adds a group of zeros as a separator."""

_WHOLE = re.compile(rb"(?<![^\0])[!-~]++(?![^\0])")
_SEPARATED = r"[\])]?[\"']?[ \t]{0,4}[=:]"
_SET = _SEPARATED + r"[ \t]{0,4}[\"']?([^\s\"'&,;<>{}()\[\]]{1,256})"
_NUMBERED = re.compile(r"([0-9]++)" + _SET)
_SET_BACKWARDS = re.compile(r"[=:][ \t]{0,4}[\"']?[\])]?[0-9]++")
_SETTING, _BEFORE_SIGN = bytes.maketrans(b"0123456789:", b"dddddddddd="), b"])\"' \t"
"""A table that shows a number that is set as `d=`, and what may stand between the two."""

_ORDINAL = re.compile("(" + "|".join(ORDER) + ")" + _SET, re.IGNORECASE)
_FIRSTS = ("one", "One", "ONE", "two", "Two", "TWO", "irst", "IRST", "econd", "ECOND")
"""In a text without any of these, nothing is numbered in words."""

_LABEL = re.compile(r"[A-Za-z]{0,16}[^A-Za-z]{0,2}$")
LABEL_MAX = 18

TEXT_MIN = 8  # a shorter text in base64 holds no piece that is counted


def join_words(*texts: str, small: bool) -> Iterator[tuple[str, bool]]:
    """Yield the words of `texts` in other forms, joined: decoded one by one, spelt, and numbered ones in their order.

    Each with whether it may be decoded further. In `small` texts, words that may be of a language are decoded as well.
    """
    texts = tuple(text for text in texts if len(text) >= TEXT_MIN)
    plains = _select_different([text.encode("ascii", "replace") for text in texts])
    plain = b"\n".join(plains)
    words = [word for word in plain.translate(_UNSIGNED).split() if COUNTED_MIN <= len(word) <= WORD_MAX]
    unlike = [word for word in words if not word.isalpha() or not word[1:].islower()]
    for joined, further in (
        *((joined, small) for joined in _decode_words(plain, words, unlike, small=small)),
        *read_spelled(plain, least=1 if small else DIFFERENT_MIN),
        *((joined, small) for text in texts for joined in _join_numbered(text)),
        *((joined, False) for joined in (_replace_words(plain, unlike) if small else ())),
    ):
        if len(joined) >= COUNTED_MIN and joined not in plains:
            yield joined.decode("ascii"), further and len(joined) >= ALONE_MIN


def _select_different(plains: list[bytes]) -> list[bytes]:
    """Return those of `plains` whose words, with their signs, are not those of another one."""
    return [*{plain.translate(_SIGNED): plain for plain in reversed(plains)}.values()][::-1]


def _replace_words(plain: bytes, unlike: list[bytes]) -> Iterator[bytes]:
    """Yield the text with its words in base64, or in hexadecimal, decoded, and the others unchanged."""
    for decode, leading, step in ((_decode_base64, _LEADING_BASE64, 4), (_decode_hexadecimal, _LEADING_HEXADECIMAL, 2)):
        likely = _select_leading(unlike, leading, step)
        contents = {word: content for word in likely if (content := decode(word)) and _WHOLE.fullmatch(content)}
        if contents:
            yield _WORD.sub(lambda word, contents=contents: contents.get(word[0], word[0]), plain)  # type: ignore[misc]  # bound per turn


def _select_leading(words: list[bytes], leading: bytes, step: int) -> list[bytes]:
    """Return those of `words` whose every `step`th character is one of `leading`: no other is text in that encoding."""
    return [word for word in words if word[0] in leading and not word[::step].translate(None, leading)]


def _decode_words(plain: bytes, words: list[bytes], unlike: list[bytes], *, small: bool) -> Iterator[bytes]:
    likely = _select_leading(unlike, _LEADING_BASE64, 4)
    yield _decode_all_base64(likely)
    hexadecimal = _select_leading(unlike, _LEADING_HEXADECIMAL, 2)
    yield _select_printable(binascii.unhexlify(b"00".join([word for word in hexadecimal if _is_hexadecimal(word)])))
    if small:
        all_likely = _select_leading(words, _LEADING_BASE64, 4)
        if all_likely != likely:
            yield _decode_all_base64(all_likely)
        signed = [word for word in plain.translate(_SIGNED).split() if COUNTED_MIN <= len(word) <= WORD_MAX]
        if signed != words:
            yield _decode_all_base64(_select_leading(signed, _LEADING_BASE64, 4))
        base32 = [word.upper() for word in unlike if _BASE32.fullmatch(word)]
        if base32:
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


def _join_numbered(text: str) -> Iterator[bytes]:
    """Yield the values after numbers, in their order, for each label before the numbers and for all: `part2=…&part1=…`."""
    # numbers are in every text, and those that are set to something in few: a match of the whole takes ten times as long
    numbers_set = text.encode("ascii", "replace").translate(_SETTING, _BEFORE_SIGN).count(b"d=")
    in_words = any(word in text for word in _FIRSTS)
    if numbers_set + text.count("=") + text.count(":") < 2 or not (numbers_set > 1 or in_words):
        return
    numbered = [*_list_numbered(text)] if numbers_set else []
    if in_words:
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


def _list_numbered(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield the numbers that are set to something, with their values and places, in the order of the text.

    They are looked for from their signs backwards: there are far fewer signs than numbers.
    """
    starts = [len(text) - match.end() for match in _SET_BACKWARDS.finditer(text[::-1])][::-1]
    done = 0
    for start in starts:
        match = _NUMBERED.match(text, max(start, done))
        if match:
            yield int(match[1][-9:]), match[2], match.start()
            done = match.end()


DIFFERENT_MIN = 3  # the different words that a long text must have: one and two are in every text
_LETTERS = (
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima", "mike"),
    *("november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor", "whiskey", "xray", "yankee"),
    "zulu",
)
_TEENS = (*("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_CHARACTERS = (
    {word: word[0] for word in _LETTERS}
    | {"alfa": "a", "juliett": "j", "whisky": "w"}
    | {word: str(value) for value, word in enumerate(UNITS)}
    | {"oh": "0", "niner": "9", "fower": "4", "fife": "5"}
)
_NUMBERS = (
    {word: value for value, word in enumerate(UNITS)}
    | {word: value for value, word in enumerate(_TEENS, start=10)}
    | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
)
_WORDS = {*_CHARACTERS, *_NUMBERS, "hundred"}
_FINDER = BytesAhoCorasick([word.encode() for word in sorted(_WORDS)])
_SILENT = frozenset(
    (
        *("capital", "upper", "uppercase", "lower", "lowercase", "small", "big", "letter", "digit", "number", "dash", "hyphen"),
        *("minus", "underscore", "dot", "point", "period", "slash", "comma", "space", "then", "and", "ray", "followed", "by"),
    )
)
"""Words between letters that mean none of them, or a separator."""


def read_spelled(plain: bytes, *, least: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the characters that the words of `plain` spell, with its other words and alone, and its numbers.

    Each with whether it may be decoded further. Nothing is yielded for fewer than `least` different words that spell something.
    """
    small = plain.lower()
    if len({index for index, _, _ in _FINDER.find_matches_as_indexes(small)}) < least:
        return
    words = small.translate(_UNSIGNED).decode("ascii").split()
    if len(_WORDS.intersection(words)) < least:
        return
    yield "".join([_CHARACTERS.get(word, "" if word in _SILENT else word) for word in words]).encode(), False
    yield "".join([_CHARACTERS.get(word, word if len(word) == 1 or word.isdigit() else "") for word in words]).encode(), False
    yield "".join(_read_numbers(words, 999)).encode(), True
    yield " ".join(_read_numbers(words, 999)).encode(), True
    yield " ".join(_read_numbers(words, 127)).encode(), True  # codes of characters: "one hundred fifty" is d2


def _read_numbers(words: list[str], most: int) -> list[str]:
    """Return the numbers among `words` in digits, up to `most`; a number ends where the next word cannot continue it."""
    numbers: list[int] = []
    room = 0  # the limit of what may be added to the last number: 100 after hundreds, 10 after tens
    for word, after in zip(words, [*words[1:], ""], strict=True):
        value = _NUMBERS.get(word)
        if word == "hundred" and numbers and 0 < numbers[-1] < len(UNITS):
            numbers[-1] *= 100
            room = 100
        elif value is None:
            room = room if word == "and" else 0
        else:
            if 0 < value < room and numbers[-1] + value <= most and after != "hundred":
                numbers[-1] += value
            else:
                numbers.append(value)
            room = 10 if value >= 2 * len(UNITS) else 0
    return [*map(str, numbers)]
