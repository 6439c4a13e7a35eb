"""Spelling: ways to write a text so that a search does not find it; a scenario names these after a bar."""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import lzma
import quopri
import re
import string
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _number(raw: bytes, digits: str) -> str:
    number, digits_text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, len(digits))
        digits_text = digits[digit] + digits_text
    return digits_text


def _base32(text: str, digits: str) -> str:
    standard = base64.b32encode(text.encode()).decode().rstrip("=")
    return standard.translate(str.maketrans(string.ascii_uppercase + "234567", digits))


def _widen(text: str) -> str:
    return "".join(chr(ord(part) + 0xFEE0) for part in text)


def _typewrite(text: str) -> str:
    firsts = (("0", 0x1D7F6, 10), ("A", 0x1D670, 26), ("a", 0x1D68A, 26))
    return text.translate({ord(first) + place: code + place for first, code, count in firsts for place in range(count)})


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_RADIO = (
    *("alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett", "kilo", "lima", "mike"),
    *("november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor", "whiskey", "x-ray", "yankee"),
    "zulu",
)

WAYS: Mapping[str, Callable[[str], str]] = {
    "reversed": lambda text: text[::-1],
    "upper": str.upper,
    "lower": str.lower,
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "hex": lambda text: text.encode().hex(),
    "HEX": lambda text: text.encode().hex().upper(),
    "colonhex": lambda text: text.encode().hex(":"),
    "slashx": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "base64": lambda text: _base64(text.encode()),
    "base64url": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64in": lambda text: _base64(f"the key is {text}, keep it".encode()),
    "basic": lambda text: _base64(f"client:{text}".encode()),
    "base64utf16": lambda text: _base64(text.encode("utf-16-le")),
    "halfmark": lambda text: _base64(b"xx\xff" + f"\ufeff{_typewrite(text)}".encode("utf-16-be")),
    "decoymark": lambda text: _base64(
        "\ufeffharmless1".encode("utf-16-le") + b"Z" + f"\ufeff{_widen(text)}".encode("utf-16-le")
    ),
    "decoymarks": lambda text: _base64((("\ufeff" + "\u4e41" * 22) * 17 + f"\ufeff{_widen(text)}").encode("utf-16-le")),
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "bare": lambda text: text.rstrip("="),
    "ascii85": lambda text: base64.a85encode(text.encode()).decode(),
    "gzip64": lambda text: _base64(gzip.compress(text.encode(), mtime=0)),
    "broken64": lambda text: _base64(gzip.compress(text.encode(), mtime=0)[:-8] + b"no check"),
    "percent": _percent,
    "quote": lambda text: quote(text, safe=""),
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "xentities": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "ampentities": lambda text: "".join(f"&amp;#{ord(letter)};" for letter in text),
    "bits": lambda text: " ".join(f"{byte:08b}" for byte in text.encode()),
    "padded": lambda text: ("\u200b" * 12).join(text),
    "unicode": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "decimal": lambda text: " ".join(str(ord(letter)) for letter in text),
    "quoted": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "soft": lambda text: quopri.encodestring((text[:9] + "=\n" + text[9:]).encode()).decode(),
    "wide": _widen,
    "hidden": lambda text: "\u200b".join(text),
    "spaced": lambda text: " ".join(text),
    "dashed": lambda text: "-".join(text[at : at + 4] for at in range(0, len(text), 4)),
    "dotted": lambda text: ".".join(text[at : at + 11] for at in range(0, len(text), 11)),
    "tags": lambda text: "".join(chr(0xE0000 + ord(part)) for part in text),
    "head": lambda text: text[:16],
    "tail": lambda text: text[16:],
    "first": lambda text: text[:11],
    "second": lambda text: text[11:22],
    "third": lambda text: text[22:],
    "middle": lambda text: text[8:25],
    "most": lambda text: text[:15],
    "start": lambda text: text[:8],
    "end": lambda text: text[8:16],
    "eight": lambda text: text[24:32],
    "sixteen": lambda text: text[12:20],
    "words64": lambda text: " and ".join(_base64(part.encode()) for part in _pieces(text, 4)),
    "wordshex": lambda text: ", ".join(part.encode().hex() for part in _pieces(text, 5)),
    "radio": lambda text: " ".join(_RADIO[ord(part.lower()) - 97] if part.isalpha() else part for part in text),
    "digits": lambda text: " ".join(_DIGITS[int(part)] if part.isdigit() else part for part in text),
    "parts": lambda text: "&".join(f"part{at}={part}" for at, part in reversed(list(enumerate(_pieces(text, 6), start=1)))),
    "base36": lambda text: _number(text.encode(), string.digits + string.ascii_lowercase),
    "base62": lambda text: _number(text.encode(), string.digits + string.ascii_letters),
    "crockford": lambda text: _base32(text, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"),
    "zbase32": lambda text: _base32(text, "ybndrfg8ejkmcpqxot1uwisza345h769"),
    "bz2": lambda text: _base64(bz2.compress(text.encode())),
    "xz": lambda text: _base64(lzma.compress(text.encode())),
}

_DROPPED = bytes(code for code in range(256) if not (code < 128 and chr(code).isalnum()))


def reduce_to_letters(raw: bytes) -> bytes:
    """Return letters and digits alone, in lower case: separators, case and escapes' own signs do not hide anything from it."""
    return raw.translate(None, _DROPPED).lower()


_SLOT = re.compile(r"\{([a-z_]+)((?:\|[A-Za-z0-9]+)*)\}")


def fill(value: Any, words: Mapping[str, str]) -> Any:
    """Return `value` with every `{word|way|way}` in its texts and keys written out; an unknown word or way is a KeyError.

    `⟨` and `⟩` come out as braces: in what a tool's declaration has, these mean something else.
    """
    if isinstance(value, str):
        return _SLOT.sub(lambda slot: _write(slot, words), value).replace("⟨", "{").replace("⟩", "}")
    if isinstance(value, dict):
        return {fill(key, words): fill(inner, words) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [fill(inner, words) for inner in value]
    return value


def list_spellings(value: Any, words: Mapping[str, str]) -> set[str]:
    """List every spelling in `value`, as it will be written."""
    if isinstance(value, dict):
        return list_spellings(list(value), words) | list_spellings(list(value.values()), words)
    if isinstance(value, list | tuple):
        return set().union(*(list_spellings(inner, words) for inner in value))
    if not isinstance(value, str):
        return set()
    return {_write(slot, words) for slot in _SLOT.finditer(value) if slot[1] in words}


def _write(slot: re.Match[str], words: Mapping[str, str]) -> str:
    text = words[slot[1]]
    for way in slot[2].split("|")[1:]:
        text = WAYS[way](text)
    return text
