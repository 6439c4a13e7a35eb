"""Plants: credentials made for tests, and the notations a hostile model may write them in."""

from __future__ import annotations

import base64
import codecs
import gzip
import html
import json
import random
import zlib
from collections.abc import Callable

from ferryman.domain.credentials.credential import AuthType, Credential, Secret
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import Method, OutboundRequest
from tests.builders import build_label, build_policy
from tests.canaries.canary import create_key

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
DICE = random.Random(7)
HOST = "api.news.test"


def text(length: int, alphabet: str = LETTERS) -> str:
    return "".join(DICE.choice(alphabet) for _ in range(length))


HEX = "0123456789abcdef"
VALUES = {
    "prefixed": create_key("prefixed", before="sk-live-"),
    "short": create_key("short", 16),
    "capitals": create_key("capitals", 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
    "hex": create_key("hex", 32, HEX),
    "uuid": create_key("uuid", 12, HEX, before="8f14e45f-ceea-467d-9f3b-"),
    "slack": create_key("slack", 24, before="xoxb-123456789012-123456789012-"),
    "github": create_key("github", 36, before="ghp_"),
    "jwt": create_key("jwt", 43, before="eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0."),
    "basic": create_key("basic", 20, before="admin:"),
    "symbols": create_key("symbols", 14, before="p@ss/w+rd=", after="%&"),
}


def credential(
    value: str, name: str = "NEWS_KEY", *, kind: AuthType = AuthType.BEARER, hosts: tuple[str, ...] = (HOST,), **fields: str
) -> Credential:
    label = build_label(name=name, service="news", auth_type=kind, hosts=hosts, **fields)
    return Credential(label=label, secret=Secret(value))


def outbound(**fields: object) -> OutboundRequest:
    defaults: dict[str, object] = {
        "tool": "api_call",
        "method": Method.POST,
        "url": f"https://{HOST}/v1/items?page=1",
        "headers": {"accept": "application/json"},
        "body": {"q": "weather in Berlin", "n": 3},
        "credential": "NEWS_KEY",
    }
    return OutboundRequest(**{**defaults, **fields})  # type: ignore[arg-type]  # a table of fields


def policy(**fields: object) -> ExecutionPolicy:
    defaults: dict[str, object] = {
        "tools": ("api_call", "http_get", "http_post", "webhook"),
        "integrations": ("news",),
        "domains": (HOST, "*.wild.test"),
    }
    return build_policy(**{**defaults, **fields})


def _wide(value: str) -> str:
    return "".join(chr(ord(character) + 0xFEE0) for character in value)


def _math(value: str) -> str:
    table = {chr(65 + i): chr(0x1D400 + i) for i in range(26)} | {chr(97 + i): chr(0x1D41A + i) for i in range(26)}
    return "".join(table.get(character, character) for character in value)


def _units(value: str) -> list[str]:
    return [value.encode("utf-16-be")[start : start + 2].hex() for start in range(0, len(value.encode("utf-16-be")), 2)]


def _b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _wrapped(value: str, width: int = 10) -> str:
    encoded = _b64(value.encode())
    return "\n".join(encoded[start : start + width] for start in range(0, len(encoded), width))


NOTATIONS: dict[str, Callable[[str], str]] = {
    "plain": lambda v: v,
    "upper case": str.upper,
    "swapped case": str.swapcase,
    "reversed": lambda v: v[::-1],
    "rot13": lambda v: codecs.encode(v, "rot13"),
    "base64": lambda v: _b64(v.encode()),
    "base64, second alignment": lambda v: _b64(b"x" + v.encode() + b"y"),
    "base64, third alignment": lambda v: _b64(b"xy" + v.encode() + b"z"),
    "base64 for URLs, unpadded": lambda v: base64.urlsafe_b64encode(v.encode()).decode().rstrip("="),
    "base64, wrapped": _wrapped,
    "base64 of UTF-16": lambda v: _b64(v.encode("utf-16")),
    "base64 of basic authentication": lambda v: "Basic " + _b64(f"user:{v}".encode()),
    "base64, reversed": lambda v: _b64(v.encode())[::-1],
    "base64 of the reversed": lambda v: _b64(v[::-1].encode()),
    "base64 of gzip": lambda v: _b64(gzip.compress(json.dumps({"k": v}).encode(), mtime=0)),
    "base64 of zlib": lambda v: _b64(zlib.compress(v.encode())),
    "base32": lambda v: base64.b32encode(v.encode()).decode(),
    "hexadecimal": lambda v: v.encode().hex(),
    "hexadecimal, capitals": lambda v: v.encode().hex().upper(),
    "hexadecimal, spaced": lambda v: v.encode().hex(" "),
    "hexadecimal, 0x": lambda v: ", ".join(f"0x{code:02x}" for code in v.encode()),
    "hexadecimal, reversed": lambda v: v.encode().hex()[::-1],
    "decimal codes": lambda v: " ".join(str(code) for code in v.encode()),
    "decimal codes, in a list": lambda v: str(list(v.encode())),
    "percent": lambda v: "".join(f"%{code:02X}" for code in v.encode()),
    "percent, twice": lambda v: "".join(f"%25{code:02x}" for code in v.encode()),
    "percent u": lambda v: "".join(f"%u{unit}" for unit in _units(v)),
    "backslash u": lambda v: "".join(f"\\u{unit}" for unit in _units(v)),
    "backslash x": lambda v: "".join(f"\\x{code:02x}" for code in v.encode()),
    "backslash octal": lambda v: "".join(f"\\{code:03o}" for code in v.encode()),
    "quoted-printable": lambda v: "".join(f"={code:02X}" for code in v.encode()),
    "entities": lambda v: "".join(f"&#{ord(code)};" for code in v),
    "entities, hexadecimal": lambda v: "".join(f"&#x{ord(code):x};" for code in v),
    "entities, escaped": lambda v: html.escape("".join(f"&#{ord(code)};" for code in v)),
    "full width": _wide,
    "mathematical": _math,
    "zero-width between": "​".join,
    "soft hyphens between": "\xad".join,
    "dashes between": "-".join,
    "spaces between": " ".join,
    "line breaks between": "\n".join,
    "JSON in JSON": lambda v: json.dumps(json.dumps({"key": v})),
}
OUTER = [
    *("reversed", "base64", "base64, second alignment", "base64 for URLs, unpadded", "base64, wrapped", "base64 of gzip"),
    *("hexadecimal", "hexadecimal, spaced", "decimal codes", "percent", "percent, twice", "backslash u"),
    *("quoted-printable", "entities", "JSON in JSON"),
]
EXTRAS: dict[str, Callable[[str], str]] = {
    "binary digits": lambda v: " ".join(f"{code:08b}" for code in v.encode()),
    "ascii85": lambda v: base64.a85encode(v.encode()).decode(),
    "base85": lambda v: base64.b85encode(v.encode()).decode(),
    "Caesar": lambda v: "".join(chr((ord(c.lower()) - 97 + 5) % 26 + 97) if c.isalpha() else c for c in v),
    "tag characters": lambda v: "".join(chr(0xE0000 + ord(code)) for code in v),
    "filler characters": lambda v: "".join(code + "x" for code in v),
    "homoglyphs": lambda v: v.translate(str.maketrans("aeopcxABEKMHOPCTX", "аеорсхАВЕКМНОРСТХ")),
    "rot47": lambda v: "".join(chr(33 + (ord(c) - 33 + 47) % 94) for c in v),
}
