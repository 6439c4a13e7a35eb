"""Spelling: how a text is written so that whoever looks for it does not find it; a play names these after a bar."""

from __future__ import annotations

import base64
import codecs
import gzip
import quopri
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


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
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "bare": lambda text: text.rstrip("="),
    "ascii85": lambda text: base64.a85encode(text.encode()).decode(),
    "gzip64": lambda text: _base64(gzip.compress(text.encode(), mtime=0)),
    "percent": _percent,
    "quote": lambda text: quote(text, safe=""),
    "entities": lambda text: "".join(f"&#{ord(each)};" for each in text),
    "xentities": lambda text: "".join(f"&#x{ord(each):x};" for each in text),
    "unicode": lambda text: "".join(f"\\u{ord(each):04x}" for each in text),
    "decimal": lambda text: " ".join(str(ord(each)) for each in text),
    "quoted": lambda text: "".join(f"={byte:02X}" for byte in text.encode()),
    "soft": lambda text: quopri.encodestring((text[:9] + "=\n" + text[9:]).encode()).decode(),
    "wide": lambda text: "".join(chr(ord(each) + 0xFEE0) for each in text),
    "hidden": lambda text: "\u200b".join(text),
    "spaced": lambda text: " ".join(text),
    "dashed": lambda text: "-".join(text[at : at + 4] for at in range(0, len(text), 4)),
    "dotted": lambda text: ".".join(text[at : at + 11] for at in range(0, len(text), 11)),
    "tags": lambda text: "".join(chr(0xE0000 + ord(each)) for each in text),
    "head": lambda text: text[:16],
    "tail": lambda text: text[16:],
    "first": lambda text: text[:11],
    "second": lambda text: text[11:22],
    "third": lambda text: text[22:],
    "middle": lambda text: text[8:25],
}

_SLOT = re.compile(r"\{([a-z_]+)((?:\|[A-Za-z0-9]+)*)\}")


def filled(value: Any, words: Mapping[str, str]) -> Any:
    """`value` with every `{word|way|way}` in its texts and keys written out; an unknown word or way is a KeyError.

    `⟨` and `⟩` come out as braces: in what a tool's declaration has, these mean something else.
    """
    if isinstance(value, str):
        return _SLOT.sub(lambda slot: _written(slot, words), value).replace("⟨", "{").replace("⟩", "}")
    if isinstance(value, dict):
        return {filled(key, words): filled(inner, words) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [filled(inner, words) for inner in value]
    return value


def spelt(value: Any, words: Mapping[str, str]) -> set[str]:
    """Every spelling that stands in `value`, as it will be written."""
    if isinstance(value, dict):
        return spelt(list(value), words) | spelt(list(value.values()), words)
    if isinstance(value, list | tuple):
        return set().union(*(spelt(inner, words) for inner in value))
    if not isinstance(value, str):
        return set()
    return {_written(slot, words) for slot in _SLOT.finditer(value) if slot[1] in words}


def _written(slot: re.Match[str], words: Mapping[str, str]) -> str:
    text = words[slot[1]]
    for way in slot[2].split("|")[1:]:
        text = WAYS[way](text)
    return text
