"""Hostile: bodies of 50,000 characters, made to cost a scanner as much as they can."""

from __future__ import annotations

import base64
import gzip
import json
import random
import string
import zlib

SIZE = 50_000


def _noise(seed: int, alphabet: str, length: int = SIZE) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def _b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _nested(text: str, depth: int) -> str:
    for _ in range(depth):
        text = _b64(text.encode())
    return text


def _filled(piece: str, tail: str = "") -> str:
    return (piece * (SIZE // len(piece) + 1))[: SIZE - len(tail)] + tail


_BYTES = random.Random(1).randbytes(SIZE)
BODIES = {
    "one letter": _filled("A"),
    "V, which is text in every alignment": _filled("V"),
    "base64 of noise": _b64(_BYTES)[:SIZE],
    "base64 of words": _b64(_filled("all is well and ").encode())[:SIZE],
    "short runs of base64": _filled("QUJDREVGR0hJSktM "),
    "base64 in lines": _filled("QUJD" * 19 + "\n"),
    "base64 eight deep": _nested("x" * 4_900, 8)[:SIZE],
    "base64 and base64 for URLs in turn": _filled(_noise(2, string.ascii_letters + "+/-_", 64) + "-_"),
    "hexadecimal": _noise(3, "0123456789abcdef"),
    "hexadecimal of words": _filled("all is well and ").encode().hex()[:SIZE],
    "hexadecimal in pairs": _filled("4a b7 "),
    "0x and 0x": _filled("0x41,0x"),
    "digits": _noise(4, string.digits),
    "codes": _filled("115, 107, 45, "),
    "ones and zeros": _noise(5, "01"),
    "percents": _filled("%25", "41"),
    "percents of all": _filled("%41%4a%7a"),
    "ampersands": _filled("&amp;", "#65;"),
    "entities": _filled("&#65;&#x42;"),
    "backslashes": "\\" * (SIZE - 5) + "u0041",
    "escapes": _filled("\\u0041\\x42"),
    "quoted JSON in quoted JSON": _filled(json.dumps(json.dumps(json.dumps({"a": 'b"c\\d'})))),
    "equals": _filled("=\n"),
    "quoted-printable": _filled("=41=4A"),
    "ligatures": _filled("ﷺ"),
    "mathematical letters": _filled("𝐚𝐛𝐜"),
    "single letters beyond ASCII": _filled("aéb"),
    "noise beyond ASCII": "".join(chr(random.Random(6).randrange(0x20, 0x3000)) for _ in range(2)) * (SIZE // 2),
    "separators": _filled("a-b."),
    "one after another": _filled("a,b,"),
    "brackets": _filled("["),
    "nested JSON": "[" * (SIZE // 2) + "]" * (SIZE // 2),
    "base32": _noise(7, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "heads of zlib": _b64(b"x\x9c" * SIZE)[:SIZE],
    "heads of gzip": _b64(b"\x1f\x8b\x08\x00" * SIZE)[:SIZE],
    "heads of streams without a head": _filled("Aw" + _noise(8, string.ascii_letters, 22) + " "),
    "a bomb": _b64(gzip.compress(b"A" * 40_000_000, 9))[:SIZE],
    "many bombs": _filled(_b64(zlib.compress(b"A" * 1_000_000, 9)) + " "),
    "a bomb in a bomb": _b64(gzip.compress(gzip.compress(b"A" * 200_000_000, 9), 9))[:SIZE],
    "a bomb of base64": _b64(gzip.compress(_b64(b"all is well " * 60_000).encode(), 9))[:SIZE],
    "a bomb of escapes": _b64(gzip.compress(b"%2541" * 200_000, 9))[:SIZE],
    "small bombs": _filled(_b64(zlib.compress(b"V" * 40_000, 9)) + "\n"),
}
