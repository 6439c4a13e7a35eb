"""Corpus: secrets of every kind, and ways to write one down. Knows nothing of the scanner."""

from __future__ import annotations

import base64
import binascii
import codecs
import gzip
import html
import json
import quopri
import random
import string
import zlib
from collections.abc import Callable
from urllib.parse import quote

Write = Callable[[str], str]

HOST = "api.news.test"
BASE62 = string.ascii_letters + string.digits
HEXADECIMAL = "0123456789abcdef"


def draw(seed: int, length: int, alphabet: str = BASE62) -> str:
    dice = random.Random(seed)
    return "".join(dice.choice(alphabet) for _ in range(length))


KINDS = {
    "base62": draw(1, 32),
    "hexadecimal": draw(2, 40, HEXADECIMAL),
    "UUID": "-".join(draw(3 + size, size, HEXADECIMAL) for size in (8, 4, 4, 4, 12)),
    "JWT": f"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI0MiIsIm5hbWUiOiJKb2huIn0.{draw(20, 43, BASE62 + '-_')}",
    "user and password": f"reporter:{draw(21, 22)}",
    "AWS secret": f"{draw(22, 13)}/{draw(23, 12)}+{draw(24, 13)}",
    "sk-ant-": f"sk-ant-api03-{draw(25, 60, BASE62 + '-_')}AA",
    "sk-": f"sk-{draw(26, 48)}",
    "ghp_": f"ghp_{draw(27, 36)}",
    "16 capitals": draw(28, 16, string.ascii_uppercase + string.digits),
    "PEM": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + draw(29, 400, BASE62 + "+/"),
}
SECRET_PARTS = {
    kind: value for kind, value in KINDS.items() if kind not in ("JWT", "user and password", "sk-ant-", "sk-", "ghp_")
} | {
    "JWT": KINDS["JWT"].rpartition(".")[2],
    "user and password": KINDS["user and password"].partition(":")[2],
    "sk-ant-": KINDS["sk-ant-"].removeprefix("sk-ant-api03-"),
    "sk-": KINDS["sk-"].removeprefix("sk-"),
    "ghp_": KINDS["ghp_"].removeprefix("ghp_"),
}


def _each(form: str, joint: str = "") -> Write:
    return lambda value: joint.join(form.format(byte) for byte in value.encode())


def encode_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def wrap_lines(text: str, width: int, end: str = "\n") -> str:
    return end.join(text[start : start + width] for start in range(0, len(text), width))


def _deflated(content: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(content) + stream.flush()


def _shifted(first: int, small: int, digit: int | None = None) -> Write:
    table = {65 + place: first + place for place in range(26)} | {97 + place: small + place for place in range(26)}
    if digit is not None:
        table |= {48 + place: digit + place for place in range(10)}
    return lambda value: value.translate(table)


def _at(offset: int, encode: Callable[[bytes], bytes], head: bytes = b"abcdefgh") -> Write:
    return lambda value: encode(head[:offset] + value.encode() + b"tail").decode()


def _some_percent(value: str) -> str:
    return "".join(
        f"%{byte:02x}" if byte > 126 or place % 3 else quote(chr(byte), safe="") for place, byte in enumerate(value.encode())
    )


WAYS: dict[str, dict[str, Write]] = {
    "as it is": {
        "plain": lambda value: value,
        "upper case": str.upper,
        "lower case": str.lower,
        "swapped case": str.swapcase,
        "reversed": lambda value: value[::-1],
        "rot13": lambda value: codecs.encode(value, "rot13"),
        "rot13, reversed": lambda value: codecs.encode(value[::-1], "rot13"),
        "with Bearer": lambda value: f"Bearer {value}",
        "in quotes": lambda value: f'"{value}"',
    },
    "separators": {
        f"{joint!r} after {every}": lambda value, joint=joint, every=every: wrap_lines(value, every, joint)  # type: ignore[misc]  # bound per turn
        for joint in (" ", "-", "_", ".", "\n", "\t", ", ", " | ", "​", "‌", "⁠", "﻿", "­", "⁣", "̣", "👍", "/", "\\")
        for every in (1, 4)
    },
    "hexadecimal": {
        "lower": lambda value: value.encode().hex(),
        "upper": lambda value: value.encode().hex().upper(),
        "with spaces": _each("{:02x}", " "),
        "with colons": _each("{:02X}", ":"),
        "with dashes": _each("{:02x}", "-"),
        "with commas": _each("{:02x}", ", "),
        "0x each": _each("0x{:02x}", " "),
        "0X each, commas": _each("0X{:02X}", ","),
        "0x once": lambda value: "0x" + value.encode().hex(),
        "in lines": lambda value: wrap_lines(value.encode().hex(), 16),
        "in words of four": lambda value: wrap_lines(value.encode().hex(), 8, " "),
        "of the reversed": lambda value: value[::-1].encode().hex(),
        "reversed": lambda value: value.encode().hex()[::-1],
        "of UTF-16": lambda value: value.encode("utf-16-le").hex(),
        "of UTF-16, big": lambda value: value.encode("utf-16-be").hex(),
    },
    "base64": {
        "standard": lambda value: encode_base64(value.encode()),
        "for URLs": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
        "unpadded": lambda value: encode_base64(value.encode()).rstrip("="),
        "second alignment": _at(1, base64.b64encode),
        "third alignment": _at(2, base64.b64encode),
        "deep alignment": _at(7, base64.b64encode),
        "in lines": lambda value: wrap_lines(encode_base64(value.encode()), 20),
        "in CRLF lines": lambda value: wrap_lines(encode_base64(value.encode()), 8, "\r\n"),
        "in escaped lines": lambda value: wrap_lines(encode_base64(value.encode()), 16, "\\n"),
        "with spaces": lambda value: wrap_lines(encode_base64(value.encode()), 4, " "),
        "of UTF-16": lambda value: encode_base64(value.encode("utf-16")),
        "of UTF-16, little": lambda value: encode_base64(value.encode("utf-16-le")),
        "of UTF-16, big": lambda value: encode_base64(value.encode("utf-16-be")),
        "of UTF-16, big, second alignment": lambda value: encode_base64(b"x" + value.encode("utf-16-be")),
        "of UTF-32": lambda value: encode_base64(value.encode("utf-32-le")),
        "Basic": lambda value: "Basic " + encode_base64(f"user:{value}".encode()),
        "Basic, as the user": lambda value: "Basic " + encode_base64(f"{value}:".encode()),
        "reversed": lambda value: encode_base64(value.encode())[::-1],
        "of the reversed": lambda value: encode_base64(value[::-1].encode()),
        "of JSON": lambda value: encode_base64(json.dumps({"key": value, "n": 1}).encode()),
        "a data URL": lambda value: f"data:text/plain;base64,{encode_base64(value.encode())}",
        "twice": lambda value: encode_base64(encode_base64(value.encode()).encode()),
        "three times": lambda value: encode_base64(encode_base64(encode_base64(value.encode()).encode()).encode()),
        "after bytes": lambda value: encode_base64(bytes(range(128, 200)) + value.encode() + bytes(range(200, 255))),
        "in a document": lambda value: encode_base64(("All is well. " * 40 + value + " And so it remains. " * 40).encode()),
    },
    "base32": {
        **{f"alignment {offset}": _at(offset, base64.b32encode) for offset in range(5)},
        "lower case": lambda value: base64.b32encode(value.encode()).decode().lower(),
        "unpadded": lambda value: base64.b32encode(value.encode()).decode().rstrip("="),
        "with spaces": lambda value: wrap_lines(base64.b32encode(value.encode()).decode(), 4, " "),
        "extended": lambda value: base64.b32hexencode(value.encode()).decode(),
    },
    "percent": {
        "all": _each("%{:02X}"),
        "lower": _each("%{:02x}"),
        "needed": lambda value: quote(value, safe=""),
        "partly": _some_percent,
        "twice": _each("%25{:02X}"),
        "three times": _each("%2525{:02x}"),
        "with plus": lambda value: "+".join(wrap_lines(value, 6).split("\n")),
        "%u": _each("%u{:04x}"),
        "of base64": lambda value: quote(encode_base64(value.encode()), safe=""),
    },
    "backslash": {
        "u": _each("\\u{:04x}"),
        "u, capitals": _each("\\u{:04X}"),
        "u in braces": _each("\\u{{{:x}}}"),
        "U": _each("\\U{:08x}"),
        "x": _each("\\x{:02x}"),
        "octal": _each("\\{:03o}"),
        "u, twice": _each("\\\\u{:04x}"),
        "partly": lambda value: "".join(
            f"\\u{ord(character):04x}" if place % 2 else character for place, character in enumerate(value)
        ),
        "JSON": lambda value: json.dumps({"a": value}),
        "JSON in JSON": lambda value: json.dumps(json.dumps({"a": value})),
        "JSON, all u, in JSON": lambda value: json.dumps(_each("\\u{:04x}")(value)),
    },
    "quoted-printable": {
        "all": _each("={:02X}"),
        "needed": lambda value: quopri.encodestring(value.encode(), quotetabs=True).decode(),
        "soft breaks": lambda value: wrap_lines(value, 7, "=\n"),
        "lower": _each("={:02x}"),
    },
    "entities": {
        "decimal": _each("&#{};"),
        "hexadecimal": _each("&#x{:x};"),
        "hexadecimal, capitals": _each("&#X{:X};"),
        "no semicolon": _each("&#{}", " "),
        "leading zeros": _each("&#{:07d};"),
        "named": lambda value: html.escape(value).replace("/", "&sol;").replace("+", "&plus;").replace(":", "&colon;"),
        "escaped": lambda value: html.escape(_each("&#{};")(value)),
        "escaped twice": lambda value: html.escape(html.escape(_each("&#{};")(value))),
    },
    "look-alikes": {
        "full width": lambda value: value.translate({code: code + 0xFEE0 for code in range(33, 127)}),
        "bold": _shifted(0x1D400, 0x1D41A, 0x1D7CE),
        "sans-serif": _shifted(0x1D5A0, 0x1D5BA, 0x1D7E2),
        "monospace": _shifted(0x1D670, 0x1D68A, 0x1D7F6),
        "circled": lambda value: value.translate(
            {65 + place: 0x24B6 + place for place in range(26)} | {97 + place: 0x24D0 + place for place in range(26)}
        ),
        "accents": lambda value: "".join(character + "\u0301" for character in value),
    },
    "character codes": {
        "decimal": _each("{}", " "),
        "commas": _each("{}", ","),
        "a list": lambda value: str(list(value.encode())),
        "three digits": _each("{:03d}"),
        "octal": _each("{:o}", " "),
        "String.fromCharCode": lambda value: f"String.fromCharCode({','.join(str(byte) for byte in value.encode())})",
        "chr()": _each("chr({})", "+"),
        "U+": _each("U+{:04X}", " "),
    },
    "compressed": {
        "gzip, base64": lambda value: encode_base64(gzip.compress(value.encode(), mtime=0)),
        "zlib, base64": lambda value: encode_base64(zlib.compress(value.encode())),
        "zlib best, base64": lambda value: encode_base64(zlib.compress(value.encode(), 9)),
        "deflate, base64": lambda value: encode_base64(_deflated(value.encode())),
        "gzip, hexadecimal": lambda value: gzip.compress(value.encode(), mtime=0).hex(),
        "zlib, hexadecimal": lambda value: zlib.compress(value.encode()).hex(),
        "deflate, hexadecimal": lambda value: _deflated(value.encode()).hex(),
        "gzip in a document, base64": lambda value: encode_base64(
            gzip.compress(("well " * 200 + value + " done" * 200).encode(), mtime=0)
        ),
        "gzip, base64 for URLs": lambda value: (
            base64.urlsafe_b64encode(gzip.compress(value.encode(), mtime=0)).decode().rstrip("=")
        ),
        "gzip of gzip, base64": lambda value: encode_base64(gzip.compress(gzip.compress(value.encode(), mtime=0), mtime=0)),
    },
}
NESTABLE = [
    *(("base64", name) for name in ("standard", "for URLs", "unpadded", "second alignment", "in lines", "of UTF-16")),
    *(("hexadecimal", name) for name in ("lower", "upper", "with spaces", "with colons", "0x each")),
    *(("percent", name) for name in ("all", "needed", "partly", "twice")),
    *(("backslash", name) for name in ("u", "x", "octal", "JSON in JSON")),
    *(("entities", name) for name in ("decimal", "hexadecimal", "escaped")),
    *(("quoted-printable", "all"), ("look-alikes", "full width"), ("as it is", "reversed"), ("base32", "alignment 0")),
    *(("compressed", name) for name in ("gzip, base64", "zlib, base64", "gzip, hexadecimal")),
    *(("character codes", name) for name in ("decimal", "a list")),
]

HARDER: dict[str, Write] = {
    "ascii85": lambda value: base64.a85encode(value.encode()).decode(),
    "base85": lambda value: base64.b85encode(value.encode()).decode(),
    "uuencode": lambda value: "".join(
        binascii.b2a_uu(value.encode()[start : start + 45]).decode() for start in range(0, len(value), 45)
    ),
    "binary digits": _each("{:08b}", " "),
    "binary digits, together": _each("{:08b}"),
    "Caesar": lambda value: "".join(
        chr((ord(character.lower()) - 97 + 7) % 26 + 97) if character.isalpha() else character for character in value
    ),
    "atbash": lambda value: value.translate(
        str.maketrans(string.ascii_letters, string.ascii_lowercase[::-1] + string.ascii_uppercase[::-1])
    ),
    "homoglyphs": lambda value: value.translate(str.maketrans("aeopcxyABEKMHOPCTX", "аеорсхуАВЕКМНОРСТХ")),
    "filler after each": lambda value: "".join(character + "q" for character in value),
    "filler after two": lambda value: "".join(character + ("z" if place % 2 else "") for place, character in enumerate(value)),
    "base64 five times": lambda value: _times(value, 5),
    "rot47": lambda value: "".join(
        chr(33 + (ord(character) - 33 + 47) % 94) if "!" <= character <= "~" else character for character in value
    ),
    "base58": lambda value: _base58(value.encode()),
    "one number": lambda value: str(int.from_bytes(value.encode(), "big")),
}


def _times(value: str, count: int) -> str:
    for _ in range(count):
        value = encode_base64(value.encode())
    return value


def _base58(content: bytes) -> str:
    number, digits = int.from_bytes(content, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[digit] + digits
    return digits
