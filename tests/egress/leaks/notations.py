"""Notations: more ways to write a secret down: in words, word by word, in numbered parts, and in the rarer bases."""

from __future__ import annotations

import base64
import bz2
import lzma
import random
from collections.abc import Callable, Iterator

Write = Callable[[str], str]

_RADIO = [
    "Alpha",
    "Bravo",
    "Charlie",
    "Delta",
    "Echo",
    "Foxtrot",
    "Golf",
    "Hotel",
    "India",
    "Juliett",
    "Kilo",
    "Lima",
    "Mike",
    "November",
    "Oscar",
    "Papa",
    "Quebec",
    "Romeo",
    "Sierra",
    "Tango",
    "Uniform",
    "Victor",
    "Whiskey",
    "X-ray",
    "Yankee",
    "Zulu",
]
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *_DIGITS,
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SIGNS = {"-": "dash", "_": "underscore", ".": "dot", "/": "slash", "+": "plus", ":": "colon"}
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SMALL = _CAPITALS.lower()
_BASE45 = "0123456789" + _CAPITALS + " $%*+-./:"
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
Z_BASE32 = "ybndrfg8ejkmcpqxot1uwisza345h769"


def number(content: bytes, digits: str) -> str:
    """Write `content` as one number in these digits."""
    value, written = int.from_bytes(content, "big"), ""
    while value:
        value, digit = divmod(value, len(digits))
        written = digits[digit] + written
    return written


def base45(content: bytes) -> str:
    """Encode in base 45 (RFC 9285)."""
    written = ""
    for start in range(0, len(content), 2):
        pair = content[start : start + 2]
        value = int.from_bytes(pair, "big")
        for _ in range(len(pair) + 1):
            value, digit = divmod(value, 45)
            written += _BASE45[digit]
    return written


def base32(content: bytes, digits: str) -> str:
    """Encode in base 32 with these digits, without padding."""
    standard = base64.b32encode(content).decode().rstrip("=")
    return standard.translate(str.maketrans(_CAPITALS + "234567", digits))


def spell_number(value: int) -> str:
    """Spell a number below 1,000 in English."""
    if value < 20:
        return _TEENS[value]
    if value < 100:
        return _TENS[value // 10] + (f" {_DIGITS[value % 10]}" if value % 10 else "")
    return f"{_DIGITS[value // 100]} hundred" + (f" and {spell_number(value % 100)}" if value % 100 else "")


def pieces(value: str, size: int) -> list[str]:
    """Split `value` into pieces of `size` characters."""
    return [value[start : start + size] for start in range(0, len(value), size)]


def _spell(words: Callable[[str], str], joint: str = " ") -> Write:
    return lambda value: joint.join(words(character) for character in value)


def _letter(character: str) -> str:
    if character.isascii() and character.isalpha():
        return _RADIO[ord(character.lower()) - 97]
    return _DIGITS[int(character)] if character.isdigit() else _SIGNS.get(character, character)


def _letter_with_case(character: str) -> str:
    return f"capital {_letter(character)}" if character.isupper() else _letter(character)


def _digit(character: str) -> str:
    return _DIGITS[int(character)] if character.isdigit() else character


def _other_digits(zero: int) -> Write:
    return lambda value: value.translate({48 + digit: zero + digit for digit in range(10)})


def _b64(piece: str) -> str:
    return base64.b64encode(piece.encode()).decode()


def _by_word(encode: Write, size: int, joint: str) -> Write:
    return lambda value: joint.join(encode(piece) for piece in pieces(value, size))


def _fill(encode: Write, size: int) -> Write:
    fill = ("and then", "after that comes", "followed by", "next to it")
    return lambda value: " ".join(f"{encode(piece)} {fill[at % len(fill)]}" for at, piece in enumerate(pieces(value, size)))


def _parts(name: str, joint: str, *, encode: Write = str, shuffled: bool = True, size: int = 6) -> Write:
    def write(value: str) -> str:
        written = [f"{name}{at}={encode(piece)}" for at, piece in enumerate(pieces(value, size), start=1)]
        if shuffled:
            random.Random(9).shuffle(written)
        return joint.join(written)

    return write


def _bare64(piece: str) -> str:
    return _b64(piece).rstrip("=")


def _hex(piece: str) -> str:
    return piece.encode().hex()


def _packed(pack: Callable[[bytes], bytes]) -> Write:
    return lambda value: base64.b64encode(pack(value.encode())).decode()


WAYS: dict[str, dict[str, Write]] = {
    "word by word": {
        f"{kind} of {size}, {name}": _by_word(encode, size, joint)
        for kind, encode in (("base64", _b64), ("base64, unpadded", _bare64), ("hexadecimal", _hex))
        for size in (4, 5, 6, 7, 8)
        for name, joint in (("spaces", " "), ("commas", ", "), ("semicolons", "; "), ("lines", "\n"), ("bars", " | "))
    }
    | {
        f"{kind} of {size}, with other words": _fill(encode, size)
        for kind, encode in (("base64", _b64), ("hexadecimal", _hex))
        for size in (4, 6, 8)
    },
    "said in words": {
        "NATO": _spell(_letter),
        "NATO, in lines": _spell(_letter, "\n"),
        "NATO, hyphenated": _spell(lambda character: _letter(character).replace("-", ""), "-"),
        "NATO, with capitals": _spell(_letter_with_case),
        "NATO, in small letters": lambda value: _spell(_letter, ", ")(value).lower(),
        "digits as words": _spell(_digit),
        "codes as words": lambda value: ", ".join(spell_number(character) for character in value.encode()),
        "Arabic digits": _other_digits(0x0660),
        "Persian digits": _other_digits(0x06F0),
        "Devanagari digits": _other_digits(0x0966),
        "Thai digits": _other_digits(0x0E50),
    },
    "numbered parts": {
        "as a query": _parts("part", "&"),
        "as a query of eight": _parts("p", "&", size=8),
        "of four": _parts("part_", "; ", size=4),
        "in order": _parts("k", " ", shuffled=False),
        "each in base64": _parts("part", "&", encode=_bare64),
        "each in hexadecimal": _parts("chunk", ", ", encode=_hex),
    },
    "other bases": {
        "base36": lambda value: number(value.encode(), "0123456789" + _SMALL),
        "base36, capitals": lambda value: number(value.encode(), "0123456789" + _CAPITALS),
        "base58": lambda value: number(value.encode(), _BASE58),
        "base58, Flickr's": lambda value: number(value.encode(), _BASE58.swapcase()),
        "base62": lambda value: number(value.encode(), "0123456789" + _CAPITALS + _SMALL),
        "base62, small letters first": lambda value: number(value.encode(), "0123456789" + _SMALL + _CAPITALS),
        "base62, letters first": lambda value: number(value.encode(), _CAPITALS + _SMALL + "0123456789"),
        "base45": lambda value: base45(value.encode()),
        "base45 of more": lambda value: base45(f"the key is {value}!".encode()),
        "Crockford's base32": lambda value: base32(value.encode(), CROCKFORD),
        "Crockford's base32, small": lambda value: base32(value.encode(), CROCKFORD).lower(),
        "Crockford's base32 of more": lambda value: base32(f"key: {value}.".encode(), CROCKFORD),
        "Crockford's base32, as one number": lambda value: number(value.encode(), CROCKFORD),
        "z-base-32": lambda value: base32(value.encode(), Z_BASE32),
        "z-base-32 of more": lambda value: base32(f"key: {value}.".encode(), Z_BASE32),
    },
    "compressed, rarely": {
        "bz2": _packed(bz2.compress),
        "bz2, fast": _packed(lambda content: bz2.compress(content, 1)),
        "bz2 of a document": _packed(lambda content: bz2.compress(b"well " * 300 + content + b" done" * 300)),
        "bz2, hexadecimal": lambda value: bz2.compress(value.encode()).hex(),
        "xz": _packed(lzma.compress),
        "xz of a document": _packed(lambda content: lzma.compress(b"well " * 300 + content + b" done" * 300)),
        "xz, best": _packed(lambda content: lzma.compress(content, preset=6)),
        "lzma": _packed(lambda content: lzma.compress(content, format=lzma.FORMAT_ALONE)),
        "xz, hexadecimal": lambda value: lzma.compress(value.encode()).hex(),
    },
}

IN_MORE: dict[str, Write] = {
    name: lambda value, digits=digits: number(f'{{"k":"{value}"}}'.encode(), digits)  # type: ignore[misc]  # bound per turn
    for name, digits in (
        ("base36 of more", "0123456789" + _SMALL),
        ("base58 of more", _BASE58),
        ("base62 of more", "0123456789" + _CAPITALS + _SMALL),
    )
}
"""Numbers that a whole text was made of; such are read up to 400 digits."""


def splits(value: str, host: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield fields of requests over which the parts of `value` are spread."""
    four, six = pieces(value, 4), pieces(value, 6)
    shuffled = list(enumerate(six, start=1))
    random.Random(5).shuffle(shuffled)
    yield (
        "part1 … of a query, in any order",
        {"url": f"https://{host}/?" + "&".join(f"part{at}={_bare64(x)}" for at, x in shuffled)},
    )
    yield "part1 … of a body, in any order", {"body": {f"part{at}": x for at, x in shuffled}}
    yield "part_1 … in base64, in any order", {"body": {f"part_{at}": _b64(x) for at, x in shuffled}}
    yield "part1 … in hexadecimal, in any order", {"body": {f"part{at}": _hex(x) for at, x in shuffled}}
    yield "part1 … of headers, in any order", {"headers": {f"x-part-{at}": x for at, x in shuffled}}
    yield "a list of words in base64", {"body": {"words": [_b64(x) for x in four]}}
    yield (
        "words in base64 in two sentences",
        {
            "body": {
                "a": "see " + " and ".join(_b64(x) for x in four[: len(four) // 2]),
                "b": "see " + " and ".join(_b64(x) for x in four[len(four) // 2 :]),
            }
        },
    )
    yield "a list of words said", {"body": {"words": [_letter(character) for character in value]}}
    yield (
        "words said in path segments",
        {"url": f"https://{host}/" + "/".join(_letter(x).replace("-", "") for x in value[:200])},
    )


def harmless() -> Iterator[tuple[str, dict[str, object]]]:
    """Yield fields of ordinary requests that look like these notations, each with its class."""
    dice = random.Random(31)
    for _ in range(4):
        yield "words that are said", {"body": {"text": " ".join(dice.choices([*_RADIO, *_DIGITS], k=200))}}
        yield "numbered parts", {"body": {f"part{at}": f"Chapter {dice.randrange(99)} of a book" for at in range(40)}}
        yield "numbered parts", {"body": {"q": "&".join(f"part{at}={dice.randrange(10**6)}" for at in range(40))}}
        yield "words in base64", {"body": {"words": [_b64(dice.choice(_RADIO)[:6]) for _ in range(80)]}}
        yield (
            "other bases",
            {"body": {"id": number(dice.randbytes(20), _BASE58), "ids": [number(dice.randbytes(16), "0123456789" + _SMALL)]}},
        )
        yield "other bases", {"body": {"qr": base45(dice.randbytes(300)), "code": base32(dice.randbytes(60), CROCKFORD)}}
        yield "compressed, rarely", {"body": {"blob": base64.b64encode(bz2.compress(b"An ordinary line. " * 50)).decode()}}
        yield "compressed, rarely", {"body": {"blob": base64.b64encode(lzma.compress(b"An ordinary line. " * 50)).decode()}}
