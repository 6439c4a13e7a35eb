"""Corpus: ways to write a secret down, places to put it, and harmless text that resembles one. Knows nothing of the scanner."""

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
from collections.abc import Callable, Iterator
from urllib.parse import quote

Write = Callable[[str], str]

HOST = "api.news.test"
BASE62 = string.ascii_letters + string.digits
HEXADECIMAL = "0123456789abcdef"


def _drawn(seed: int, length: int, alphabet: str = BASE62) -> str:
    dice = random.Random(seed)
    return "".join(dice.choice(alphabet) for _ in range(length))


KINDS = {
    "base62": _drawn(1, 32),
    "hexadecimal": _drawn(2, 40, HEXADECIMAL),
    "UUID": "-".join(_drawn(3 + size, size, HEXADECIMAL) for size in (8, 4, 4, 4, 12)),
    "JWT": f"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI0MiIsIm5hbWUiOiJKb2huIn0.{_drawn(20, 43, BASE62 + '-_')}",
    "user and password": f"reporter:{_drawn(21, 22)}",
    "AWS secret": f"{_drawn(22, 13)}/{_drawn(23, 12)}+{_drawn(24, 13)}",
    "sk-ant-": f"sk-ant-api03-{_drawn(25, 60, BASE62 + '-_')}AA",
    "sk-": f"sk-{_drawn(26, 48)}",
    "ghp_": f"ghp_{_drawn(27, 36)}",
    "16 capitals": _drawn(28, 16, string.ascii_uppercase + string.digits),
    "PEM": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + _drawn(29, 400, BASE62 + "+/"),
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


def _b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _lines(text: str, width: int, end: str = "\n") -> str:
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
        f"{joint!r} after {every}": lambda value, joint=joint, every=every: _lines(value, every, joint)  # type: ignore[misc]  # bound per turn
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
        "in lines": lambda value: _lines(value.encode().hex(), 16),
        "in words of four": lambda value: _lines(value.encode().hex(), 8, " "),
        "of the reversed": lambda value: value[::-1].encode().hex(),
        "reversed": lambda value: value.encode().hex()[::-1],
        "of UTF-16": lambda value: value.encode("utf-16-le").hex(),
        "of UTF-16, big": lambda value: value.encode("utf-16-be").hex(),
    },
    "base64": {
        "standard": lambda value: _b64(value.encode()),
        "for URLs": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
        "unpadded": lambda value: _b64(value.encode()).rstrip("="),
        "second alignment": _at(1, base64.b64encode),
        "third alignment": _at(2, base64.b64encode),
        "deep alignment": _at(7, base64.b64encode),
        "in lines": lambda value: _lines(_b64(value.encode()), 20),
        "in CRLF lines": lambda value: _lines(_b64(value.encode()), 8, "\r\n"),
        "in escaped lines": lambda value: _lines(_b64(value.encode()), 16, "\\n"),
        "with spaces": lambda value: _lines(_b64(value.encode()), 4, " "),
        "of UTF-16": lambda value: _b64(value.encode("utf-16")),
        "of UTF-16, little": lambda value: _b64(value.encode("utf-16-le")),
        "of UTF-16, big": lambda value: _b64(value.encode("utf-16-be")),
        "of UTF-16, big, second alignment": lambda value: _b64(b"x" + value.encode("utf-16-be")),
        "of UTF-32": lambda value: _b64(value.encode("utf-32-le")),
        "Basic": lambda value: "Basic " + _b64(f"user:{value}".encode()),
        "Basic, as the user": lambda value: "Basic " + _b64(f"{value}:".encode()),
        "reversed": lambda value: _b64(value.encode())[::-1],
        "of the reversed": lambda value: _b64(value[::-1].encode()),
        "of JSON": lambda value: _b64(json.dumps({"key": value, "n": 1}).encode()),
        "a data URL": lambda value: f"data:text/plain;base64,{_b64(value.encode())}",
        "twice": lambda value: _b64(_b64(value.encode()).encode()),
        "three times": lambda value: _b64(_b64(_b64(value.encode()).encode()).encode()),
        "after bytes": lambda value: _b64(bytes(range(128, 200)) + value.encode() + bytes(range(200, 255))),
        "in a document": lambda value: _b64(("All is well. " * 40 + value + " And so it remains. " * 40).encode()),
    },
    "base32": {
        **{f"alignment {offset}": _at(offset, base64.b32encode) for offset in range(5)},
        "lower case": lambda value: base64.b32encode(value.encode()).decode().lower(),
        "unpadded": lambda value: base64.b32encode(value.encode()).decode().rstrip("="),
        "with spaces": lambda value: _lines(base64.b32encode(value.encode()).decode(), 4, " "),
        "extended": lambda value: base64.b32hexencode(value.encode()).decode(),
    },
    "percent": {
        "all": _each("%{:02X}"),
        "lower": _each("%{:02x}"),
        "needed": lambda value: quote(value, safe=""),
        "partly": _some_percent,
        "twice": _each("%25{:02X}"),
        "three times": _each("%2525{:02x}"),
        "with plus": lambda value: "+".join(_lines(value, 6).split("\n")),
        "%u": _each("%u{:04x}"),
        "of base64": lambda value: quote(_b64(value.encode()), safe=""),
    },
    "backslash": {
        "u": _each("\\u{:04x}"),
        "u, capitals": _each("\\u{:04X}"),
        "u in braces": _each("\\u{{{:x}}}"),
        "U": _each("\\U{:08x}"),
        "x": _each("\\x{:02x}"),
        "octal": _each("\\{:03o}"),
        "u, twice": _each("\\\\u{:04x}"),
        "partly": lambda value: "".join(f"\\u{ord(each):04x}" if place % 2 else each for place, each in enumerate(value)),
        "JSON": lambda value: json.dumps({"a": value}),
        "JSON in JSON": lambda value: json.dumps(json.dumps({"a": value})),
        "JSON, all u, in JSON": lambda value: json.dumps(_each("\\u{:04x}")(value)),
    },
    "quoted-printable": {
        "all": _each("={:02X}"),
        "needed": lambda value: quopri.encodestring(value.encode(), quotetabs=True).decode(),
        "soft breaks": lambda value: _lines(value, 7, "=\n"),
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
        "accents": lambda value: "".join(each + "\u0301" for each in value),
    },
    "character codes": {
        "decimal": _each("{}", " "),
        "commas": _each("{}", ","),
        "a list": lambda value: str(list(value.encode())),
        "three digits": _each("{:03d}"),
        "octal": _each("{:o}", " "),
        "String.fromCharCode": lambda value: f"String.fromCharCode({','.join(str(each) for each in value.encode())})",
        "chr()": _each("chr({})", "+"),
        "U+": _each("U+{:04X}", " "),
    },
    "compressed": {
        "gzip, base64": lambda value: _b64(gzip.compress(value.encode(), mtime=0)),
        "zlib, base64": lambda value: _b64(zlib.compress(value.encode())),
        "zlib best, base64": lambda value: _b64(zlib.compress(value.encode(), 9)),
        "deflate, base64": lambda value: _b64(_deflated(value.encode())),
        "gzip, hexadecimal": lambda value: gzip.compress(value.encode(), mtime=0).hex(),
        "zlib, hexadecimal": lambda value: zlib.compress(value.encode()).hex(),
        "deflate, hexadecimal": lambda value: _deflated(value.encode()).hex(),
        "gzip in a document, base64": lambda value: _b64(
            gzip.compress(("well " * 200 + value + " done" * 200).encode(), mtime=0)
        ),
        "gzip, base64 for URLs": lambda value: (
            base64.urlsafe_b64encode(gzip.compress(value.encode(), mtime=0)).decode().rstrip("=")
        ),
        "gzip of gzip, base64": lambda value: _b64(gzip.compress(gzip.compress(value.encode(), mtime=0), mtime=0)),
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
    "Caesar": lambda value: "".join(chr((ord(each.lower()) - 97 + 7) % 26 + 97) if each.isalpha() else each for each in value),
    "atbash": lambda value: value.translate(
        str.maketrans(string.ascii_letters, string.ascii_lowercase[::-1] + string.ascii_uppercase[::-1])
    ),
    "homoglyphs": lambda value: value.translate(str.maketrans("aeopcxyABEKMHOPCTX", "аеорсхуАВЕКМНОРСТХ")),
    "filler after each": lambda value: "".join(each + "q" for each in value),
    "filler after two": lambda value: "".join(each + ("z" if place % 2 else "") for place, each in enumerate(value)),
    "base64 five times": lambda value: _times(value, 5),
    "rot47": lambda value: "".join(chr(33 + (ord(each) - 33 + 47) % 94) if "!" <= each <= "~" else each for each in value),
    "base58": lambda value: _base58(value.encode()),
    "one number": lambda value: str(int.from_bytes(value.encode(), "big")),
}


def _times(value: str, count: int) -> str:
    for _ in range(count):
        value = _b64(value.encode())
    return value


def _base58(content: bytes) -> str:
    number, found = int.from_bytes(content, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        found = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[digit] + found
    return found


def places(written: str) -> dict[str, dict[str, object]]:
    """Fields of a request that carries `written`, by where."""
    escaped = quote(written, safe="", errors="replace")
    return {
        "body value": {"body": {"note": written}},
        "body value, in a sentence": {"body": {"q": "weather", "note": f"see {written} there", "n": 4}},
        "body, nested": {"body": {"a": [{"b": [1, None, {"c": written}]}]}},
        "body key": {"body": {written: 1}},
        "path": {"url": f"https://{HOST}/v1/{escaped}/x"},
        "query value": {"url": f"https://{HOST}/v1?a=b&q={escaped}"},
        "query name": {"url": f"https://{HOST}/v1?{escaped}"},
        "fragment": {"url": f"https://{HOST}/v1#{escaped}"},
        "query_params": {"query_params": {"q": written}},
        "query_params, in a list": {"query_params": {"q": ["a", written]}},
        "query_params name": {"query_params": {written: "a"}},
        "header value": {"headers": {"x-note": written}},
        "header name": {"headers": {written: "a"}},
        "credential": {"credential": written},
        "method": {"method": written},
        "tool": {"tool": written},
    }


def labels(value: str) -> Iterator[tuple[str, str]]:
    """URLs that carry `value` in the labels of their host."""
    hexadecimal, base32 = value.encode().hex(), base64.b32encode(value.encode()).decode().rstrip("=").lower()
    bare = "".join(each for each in value if each.isalnum())
    for name, written in (("plain", bare), ("hexadecimal", hexadecimal), ("base32", base32)):
        for width in (60, 10):
            yield f"{name} of {width}", f"https://{_lines(written, width, '.')}.{HOST}/"


def splits(value: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Fields of requests over whose parts `value` is spread."""
    middle = len(value) // 2
    head, tail = value[:middle], value[middle:]
    thirds = _lines(value, -(-len(value) // 3), "\0").split("\0")
    eights = _lines(value, 8, "\0").split("\0")
    yield "path segments", {"url": f"https://{HOST}/{quote(head, safe='')}/{quote(tail, safe='')}"}
    yield "path segments of eight", {"url": f"https://{HOST}/" + "/".join(quote(each, safe="") for each in eights)}
    yield "query parameters", {"url": f"https://{HOST}/?a={quote(head, safe='')}&b={quote(tail, safe='')}"}
    yield (
        "query parameters of eight",
        {"url": f"https://{HOST}/?" + "&".join(f"p{place}={quote(each, safe='')}" for place, each in enumerate(eights))},
    )
    yield "query_params", {"query_params": {f"k{place}": each for place, each in enumerate(eights)}}
    yield "path and query", {"url": f"https://{HOST}/{quote(head, safe='')}?x={quote(tail, safe='')}"}
    yield "headers", {"headers": {"x-a": head, "x-b": tail}}
    yield "three headers", {"headers": {f"x-{place}": each for place, each in enumerate(thirds)}}
    yield "header and body", {"headers": {"x-a": head}, "body": {"a": tail}}
    yield "path and body", {"url": f"https://{HOST}/{quote(head, safe='')}", "body": {"a": tail}}
    yield "body leaves", {"body": {"a": head, "b": tail}}
    yield "body leaves, deep", {"body": {"a": {"b": [head]}, "c": {"d": {"e": tail}}}}
    yield "a list of parts", {"body": {"parts": eights}}
    yield "a list of characters", {"body": {"parts": list(value)}}
    yield "a list of codes", {"body": {"parts": list(value.encode())}}
    yield "numbered parts", {"body": {"parts": [{"n": place, "part": each} for place, each in enumerate(eights)]}}
    yield "keys", {"body": {each: place for place, each in enumerate(thirds)}}
    yield "lists of two", {"body": {"parts": [[place, each] for place, each in enumerate(thirds)]}}
    yield "each part in base64", {"body": {"a": _b64(head.encode()), "b": _b64(tail.encode())}}
    yield "each part in hexadecimal", {"body": {"a": head.encode().hex(), "b": tail.encode().hex()}}
    yield "each part reversed", {"body": {"a": tail[::-1], "b": head[::-1]}}
    coded = _b64(value.encode())
    yield "base64 over leaves", {"body": {"a": coded[:10], "b": coded[10:31], "c": coded[31:]}}
    coded = value.encode().hex()
    yield "hexadecimal over leaves", {"body": {"a": coded[:15], "b": coded[15:33], "c": coded[33:]}}
    yield "hexadecimal over segments", {"url": f"https://{HOST}/{coded[:15]}/{coded[15:33]}/{coded[33:]}"}


def fragments(secret: str) -> Iterator[str]:
    """Every other contiguous 16 letters and digits of `secret`."""
    bare = "".join(each for each in secret if each.isalnum())
    yield from (bare[start : start + 16] for start in range(0, len(bare) - 15, 2))


def crumbs(secret: str) -> Iterator[str]:
    """Eight letters and digits of `secret`: too few to matter."""
    bare = "".join(each for each in secret if each.isalnum())
    yield from (bare[start : start + 8] for start in range(0, len(bare) - 7, 4))


def harmless() -> Iterator[tuple[str, dict[str, object]]]:
    """Fields of ordinary requests, each with its class."""
    dice = random.Random(77)
    for _ in range(8):
        yield (
            "hashes",
            {
                "body": {
                    "sha256": dice.randbytes(32).hex(),
                    "md5": dice.randbytes(16).hex(),
                    "etag": f'"{dice.randbytes(10).hex()}"',
                }
            },
        )
        yield "UUIDs", {"body": {"ids": ["-".join(dice.randbytes(size).hex() for size in (4, 2, 2, 2, 6)) for _ in range(20)]}}
        yield "base64", {"body": {"image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg" + _b64(dice.randbytes(3_000))}}
        yield "compressed", {"body": {"blob": _b64(gzip.compress(("An ordinary log line. " * dice.randrange(5, 90)).encode()))}}
        yield (
            "numbers",
            {"body": {"series": [dice.randrange(256) for _ in range(300)], "prices": [dice.random() for _ in range(60)]}},
        )
        yield (
            "other tokens",
            {"body": {"jwt": f"{KINDS['JWT'].rpartition('.')[0]}.{_drawn(dice.randrange(10**6), 43)}"}},
        )
        yield (
            "other tokens",
            {
                "body": {
                    "key": f"sk-ant-api03-{_drawn(dice.randrange(10**6), 60)}",
                    "user": f"reporter:{_drawn(dice.randrange(10**6), 22)}",
                }
            },
        )
    for prefix in (
        "sk-ant-api03-",
        "sk-ant-",
        "sk-proj-",
        "ghp_",
        "github_pat_",
        "AKIA",
        "xoxb-",
        "AIza",
        "glpat-",
        "Bearer ",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
    ):
        yield "public prefixes", {"body": {"help": f"Keys of this service begin with {prefix} and are secret."}}
        yield "public prefixes", {"headers": {"x-kind": prefix}}
    yield "public parts", {"body": {"head": KINDS["JWT"].rpartition(".")[0]}}
    yield "public parts", {"body": {"head": KINDS["JWT"].split(".")[1]}}
    yield "public parts", {"body": {"user": "reporter"}}
    for name in (
        "NEWS_KEY",
        "{{NEWS_KEY}}",
        "${NEWS_KEY}",
        "<YOUR_API_KEY>",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
        "[redacted:NEWS_KEY]",
        "********",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "0" * 64,
        "a" * 500,
    ):
        yield "names and placeholders", {"body": {"key": name}}
        yield "names and placeholders", {"headers": {"x-key": name}}
    for text in (
        "Ein ganz gewöhnlicher Satz über das Wetter in Köln, mit Umlauten und ß. " * 30,
        "これは普通の日本語の文章です。秘密は何もありません。" * 40,
        "Обычный русский текст о погоде и ничего больше. " * 40,
        "مرحبا بالعالم هذا نص عادي " * 40,
        "👍🏽 👩‍👩‍👧‍👦 ＦＵＬＬ ｗｉｄｔｈ 𝐛𝐨𝐥𝐝 " * 40,
    ):
        yield "other scripts", {"body": {"text": text}}
        yield "other scripts", {"url": f"https://{HOST}/s?q={quote(text)[:1_500]}"}
    for code in (
        "for (let i = 0; i < 10; i++) { console.log(`${i}: ${'x'.repeat(i)}`); } // \\u0041 &amp; %20\n" * 30,
        "def f(x):\n    return base64.b64encode(x.encode()).decode()  # noqa\n" * 30,
        '<div class="a-b_c"><a href="/x?y=1&amp;z=%2F">caf&eacute;</a></div>\n' * 40,
        "SELECT id, name FROM users WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 65, 66, 67) -- 0x41 0x42\n" * 20,
        "-----BEGIN CERTIFICATE-----\n" + _lines(_b64(random.Random(5).randbytes(900)), 64) + "\n-----END CERTIFICATE-----",
    ):
        yield "code and documents", {"body": {"source": code}}
    yield (
        "ordinary calls",
        {"url": f"https://{HOST}/v1/forecast?latitude=52.52&longitude=13.41&hourly=temperature_2m&timezone=Europe%2FBerlin"},
    )
    yield (
        "ordinary calls",
        {
            "headers": {
                "accept": "application/json",
                "if-none-match": 'W/"0815-abc"',
                "x-request-id": "b5c1e2a0-5a6e-4f6e-9d6b-0f6f0a0c1a11",
            }
        },
    )
    yield (
        "ordinary calls",
        {
            "body": {
                "rows": [{"id": row, "name": f"Row {row}", "at": f"2026-01-{row % 28 + 1:02}T00:00:00Z"} for row in range(200)]
            }
        },
    )
