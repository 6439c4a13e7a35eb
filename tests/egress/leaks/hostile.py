"""Hostile: bodies of 50,000 characters, made to cost a scanner as much as they can."""

from __future__ import annotations

import base64
import gzip
import json
import random
import string
import zlib
from collections.abc import Callable
from functools import cache

SIZE = 50_000


def _noise(seed: int, alphabet: str, length: int = SIZE) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def _b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _nested(text: str, depth: int) -> str:
    for _ in range(depth):
        text = _b64(text.encode())
    return text


def _fill(piece: str, tail: str = "") -> str:
    return (piece * (SIZE // len(piece) + 1))[: SIZE - len(tail)] + tail


_BYTES = random.Random(1).randbytes(SIZE)
BODIES: dict[str, Callable[[], str]] = {
    "one letter": lambda: _fill("A"),
    "V, which is text in every alignment": lambda: _fill("V"),
    "base64 of noise": lambda: _b64(_BYTES)[:SIZE],
    "base64 of words": lambda: _b64(_fill("all is well and ").encode())[:SIZE],
    "short runs of base64": lambda: _fill("QUJDREVGR0hJSktM "),
    "base64 in lines": lambda: _fill("QUJD" * 19 + "\n"),
    "base64 eight deep": lambda: _nested("x" * 4_900, 8)[:SIZE],
    "base64 and base64 for URLs in turn": lambda: _fill(_noise(2, string.ascii_letters + "+/-_", 64) + "-_"),
    "hexadecimal": lambda: _noise(3, "0123456789abcdef"),
    "hexadecimal of words": lambda: _fill("all is well and ").encode().hex()[:SIZE],
    "hexadecimal in pairs": lambda: _fill("4a b7 "),
    "0x and 0x": lambda: _fill("0x41,0x"),
    "digits": lambda: _noise(4, string.digits),
    "codes": lambda: _fill("115, 107, 45, "),
    "ones and zeros": lambda: _noise(5, "01"),
    "percents": lambda: _fill("%25", "41"),
    "percents of all": lambda: _fill("%41%4a%7a"),
    "ampersands": lambda: _fill("&amp;", "#65;"),
    "entities": lambda: _fill("&#65;&#x42;"),
    "backslashes": lambda: "\\" * (SIZE - 5) + "u0041",
    "escapes": lambda: _fill("\\u0041\\x42"),
    "quoted JSON in quoted JSON": lambda: _fill(json.dumps(json.dumps(json.dumps({"a": 'b"c\\d'})))),
    "equals": lambda: _fill("=\n"),
    "quoted-printable": lambda: _fill("=41=4A"),
    "ligatures": lambda: _fill("ﷺ"),
    "mathematical letters": lambda: _fill("𝐚𝐛𝐜"),
    "single letters beyond ASCII": lambda: _fill("aéb"),
    "noise beyond ASCII": lambda: "".join(chr(random.Random(6).randrange(0x20, 0x3000)) for _ in range(2)) * (SIZE // 2),
    "separators": lambda: _fill("a-b."),
    "one after another": lambda: _fill("a,b,"),
    "brackets": lambda: _fill("["),
    "nested JSON": lambda: "[" * (SIZE // 2) + "]" * (SIZE // 2),
    "base32": lambda: _noise(7, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "heads of zlib": lambda: _b64(b"x\x9c" * SIZE)[:SIZE],
    "heads of gzip": lambda: _b64(b"\x1f\x8b\x08\x00" * SIZE)[:SIZE],
    "byte order marks": lambda: _b64(b"\xff\xfe" * SIZE)[:SIZE],
    "byte order marks in turn": lambda: _b64(b"\xff\xfe\xfe\xffa\xff\xfe\xfe\xff" * SIZE)[:SIZE],
    "full-width letters after marks of each kind": lambda: _b64(b"\xff\xfe\xfe\xffa\xff\xfe\xfe\xff" + b"\x41\xff" * SIZE)[
        :SIZE
    ],
    "heads of streams without a head": lambda: _fill("Aw" + _noise(8, string.ascii_letters, 22) + " "),
    "a bomb": lambda: _b64(gzip.compress(b"A" * 40_000_000, 9))[:SIZE],
    "many bombs": lambda: _fill(_b64(zlib.compress(b"A" * 1_000_000, 9)) + " "),
    "a bomb in a bomb": lambda: _b64(gzip.compress(gzip.compress(b"A" * 200_000_000, 9), 9))[:SIZE],
    "a bomb of base64": lambda: _b64(gzip.compress(_b64(b"all is well " * 60_000).encode(), 9))[:SIZE],
    "a bomb of escapes": lambda: _b64(gzip.compress(b"%2541" * 200_000, 9))[:SIZE],
    "small bombs": lambda: _fill(_b64(zlib.compress(b"V" * 40_000, 9)) + "\n"),
}


@cache
def filler(kind: str) -> str:
    """Return the body of a kind in `BODIES`: some are slow to make."""
    return BODIES[kind]()
